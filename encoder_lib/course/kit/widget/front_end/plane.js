// Points in a plane on the page: arrows, hands of a clock, a grid that folds; they glide from frame to frame.

import { isLight } from "./colour.js";
import { element, isCalm, penOf } from "./dom.js";
import { Handles } from "./handles.js";
import { clamp } from "./numbers.js";
import { captionWidths, writeCaption } from "./text.js";
import { niceStep } from "./ticks.js";

const GLIDE = 150; // milliseconds from one frame to the next
const ROWS = 5; // as many square cells high as a heatmap that takes all the height there is
export const NARROW = 560; // CSS pixels for all panels, below which none is wider than high
const CLOCK = 84; // the least width of a plot with a circle
const HEAD = 8; // length of an arrow's head, in CSS pixels as all lengths here
const [LABEL, GAP_TO_LABEL, LEADER] = [13, 8, 9]; // height of a label, its distance from its point, and the shift from which on a line leads to it
const ARC = 34; // the radius at which an angle is drawn
const [NARROW_ANGLE, BESIDE] = [0.7, 0.4]; // radians: up to this angle, its number has no room between the arrows and is beside the first
/** Colours of words, at least 4.5 to 1 on a light and on a dark ground; a null takes the colour of text. */
export const WORD_COLOURS = [
  { light: "#1a4fb8", dark: "#6fa8ff" },
  { light: "#b25c00", dark: "#e8bb62" },
  { light: "#008058", dark: "#8cc48f" },
  { light: "#730d62", dark: "#b673b3" },
  null,
];

/**
 * Move labels up and down until none overlaps another; those that would meet share the way. Each is [left, right, y].
 * @param {number[][]} labels
 */
export function spread(labels) {
  const places = labels.map(([, , y]) => y);
  const order = [...labels.keys()].sort((a, b) => places[a] - places[b] || a - b);
  for (let round = 0; round < 60; round++) {
    let moved = false;
    for (let i = 0; i < order.length; i++) {
      for (let j = i + 1; j < order.length; j++) {
        const [upper, lower] = [order[i], order[j]];
        const apart = places[lower] - places[upper];
        const beside = labels[upper][1] <= labels[lower][0] || labels[lower][1] <= labels[upper][0];
        if (beside || apart >= LABEL - 0.01) continue;
        places[upper] -= (LABEL - apart) / 2;
        places[lower] += (LABEL - apart) / 2;
        moved = true;
      }
    }
    if (!moved) break;
  }
  return places;
}

/**
 * Where points are, a share of the way from some places to others: straight, or around the origin.
 * @param {ArrayLike<number>} from
 * @param {ArrayLike<number>} to
 * @param {number} share
 * @param {boolean} turns
 */
export function between(from, to, share, turns) {
  const points = Float32Array.from(to, (goal, i) => from[i] + share * (goal - from[i]));
  for (let i = 0; turns && i < to.length; i += 2) {
    const [start, end] = [from, to].map((places) => Math.atan2(places[i + 1], places[i]));
    const length = (1 - share) * Math.hypot(from[i], from[i + 1]) + share * Math.hypot(to[i], to[i + 1]);
    const angle = start + share * turnOf(start, end);
    points.set([length * Math.cos(angle), length * Math.sin(angle)], i);
  }
  return points;
}

/**
 * The shorter way around from one angle to another, in radians: from -π to π.
 * @param {number} from
 * @param {number} to
 */
function turnOf(from, to) {
  const turn = to - from;
  return turn - 2 * Math.PI * Math.round(turn / (2 * Math.PI));
}

export class Plane {
  /** No cell of it is pointed at, and no row of it is marked. @type {Cell | null} */
  cursor = null;
  /** @type {number | null} */
  marked = null;
  /** @type {{ layout: PanelLayout, style: Style } | null} */
  place = null;
  gliding = 0; // the timer of the next picture of a glide
  ground = "white"; // behind the picture

  /**
   * @param {Matrix} matrix
   * @param {Ranges | null} ranges with which points can be dragged
   */
  constructor(matrix, ranges = null) {
    this.canvas = element("canvas", { class: "explorer-picture", role: "img" });
    this.pen = penOf(this.canvas);
    this.caption = element("figcaption");
    this.figure = element("figure", { class: "explorer-panel" }, this.caption, this.canvas);
    this.matrix = matrix;
    this.points = matrix.values;
    this.handles = ranges && this.spec.drags ? new Handles(this, ranges) : null;
    writeCaption(this.caption, matrix);
  }

  /**
   * Take what there is to see, and glide there.
   * @param {Matrix} matrix
   */
  show(matrix) {
    const from = this.points;
    const same = from.length === matrix.values.length && from.every((value, i) => value === matrix.values[i]);
    this.matrix = matrix;
    writeCaption(this.caption, matrix);
    this.stop();
    if (same) return;
    if (!this.place || this.handles || isCalm() || from.length !== matrix.values.length) {
      this.points = matrix.values;
      return;
    }
    const began = performance.now() - 16; // so that the first picture differs
    /** @param {number} now */
    const next = (now) => {
      const share = clamp((now - began) / GLIDE, [0, 1]);
      this.points = between(from, matrix.values, share, this.spec.turns);
      this.gliding = share < 1 ? requestAnimationFrame(next) : 0;
      this.paint();
    };
    this.gliding = requestAnimationFrame(next);
  }

  stop() {
    cancelAnimationFrame(this.gliding);
    this.gliding = 0;
  }

  get spec() {
    return /** @type {PlaneSpec} */ (this.matrix.spec.plane);
  }

  /**
   * The sizes that a layout depends on.
   * @param {Style} style
   * @param {number} total
   * @returns {PanelSizes}
   */
  sizes(style, total) {
    const columns = total < NARROW ? ROWS : Math.round(ROWS * this.spec.wide);
    const { title } = captionWidths(this.pen, this.matrix, style);
    const named = { x: false, y: false };
    const least = this.spec.circle ? { least: CLOCK } : {};
    return { rows: ROWS, columns, columnLabels: 0, rowLabels: 0, numbers: 0, title, named, ...least };
  }

  /**
   * Take one's place on the page, and paint.
   * @param {PanelLayout} layout
   * @param {Style} style
   */
  arrange(layout, style) {
    const { width, height } = layout.size;
    const [wide, high] = [width, height].map((length) => Math.round(length * style.ratio));
    this.place = { layout, style };
    this.ground = getComputedStyle(this.figure.closest(".explorer") ?? this.figure).backgroundColor;
    if (this.canvas.width !== wide) this.canvas.width = wide; // a size that is set anew costs time
    if (this.canvas.height !== high) this.canvas.height = high;
    Object.assign(this.canvas.style, { width: `${width}px`, height: `${height}px` });
    this.figure.style.width = `${width}px`;
    this.caption.style.minHeight = `${1.5 * layout.titleLines}em`;
    this.paint();
  }

  /** There is nothing to point at. */
  reading() {
    return "";
  }

  /** Paint, once there is a place to paint at. */
  paint() {
    if (!this.place) return;
    const { pen } = this;
    const { style, layout } = this.place;
    pen.setTransform(style.ratio, 0, 0, style.ratio, 0, 0);
    pen.clearRect(0, 0, layout.size.width, layout.size.height);
    Object.assign(pen, { font: style.font, textBaseline: "middle", lineCap: "round", lineJoin: "round" });
    this.paintPicture();
  }

  /** Axes, lines, marks and names. */
  paintPicture() {
    const { spec } = this;
    this.paintAxes();
    for (const [path, look] of spec.paths) this.paintPath(path, look);
    if (spec.angle) this.paintAngle(spec.angle);
    const named = [...spec.names.keys()].filter((i) => spec.names[i] && this.isInside(this.pixel(i)));
    for (const i of spec.names.keys()) if (spec.dots && !spec.names[i]) this.paintDot(i);
    for (const i of named) this.paintMark(i);
    this.paintNames(named);
    this.handles?.place();
  }

  /** How many pixels a unit takes. */
  get unit() {
    const { x_limits, y_limits } = this.spec;
    const { width, height } = /** @type {{ layout: PanelLayout }} */ (this.place).layout;
    return Math.min(width / (x_limits[1] - x_limits[0]), height / (y_limits[1] - y_limits[0]));
  }

  /**
   * The pixel of a place in the plane.
   * @param {number} x
   * @param {number} y
   * @returns {[x: number, y: number]}
   */
  at(x, y) {
    const { left, top, width, height } = /** @type {{ layout: PanelLayout }} */ (this.place).layout;
    const { x_limits, y_limits } = this.spec;
    const [middle, centre] = [x_limits, y_limits].map(([low, high]) => (low + high) / 2);
    return [left + width / 2 + (x - middle) * this.unit, top + height / 2 - (y - centre) * this.unit];
  }

  /**
   * The place in the plane of a pixel.
   * @param {number} right
   * @param {number} down
   */
  placeOf(right, down) {
    const [x, y] = this.at(0, 0);
    return [(right - x) / this.unit, (y - down) / this.unit];
  }

  /**
   * The pixel of a point.
   * @param {number} i
   */
  pixel(i) {
    return this.at(this.points[2 * i], this.points[2 * i + 1]);
  }

  /**
   * Whether a pixel is in the picture; a point outside it has neither mark nor name.
   * @param {[x: number, y: number]} pixel
   */
  isInside([x, y]) {
    const { left, top, width, height } = /** @type {{ layout: PanelLayout }} */ (this.place).layout;
    return x >= left && x <= left + width && y >= top && y <= top + height;
  }

  /** @param {number} i */
  colour(i) {
    const text = /** @type {{ style: Style }} */ (this.place).style.colour;
    const pair = WORD_COLOURS[this.spec.colours[i] % WORD_COLOURS.length];
    return pair ? pair[isLight(text) ? "dark" : "light"] : text;
  }

  /** The two axes with their numbers and names, and the circle. */
  paintAxes() {
    const { pen, spec, unit } = this;
    const { style, layout } = /** @type {{ style: Style, layout: PanelLayout }} */ (this.place);
    const { left, top, width, height } = layout;
    const [x, y] = this.at(0, 0);
    const ink = { strokeStyle: style.colour, fillStyle: style.colour, lineWidth: 1, textAlign: "center" };
    Object.assign(pen, ink, { globalAlpha: 0.3 });
    strokeLine(pen, [left, y], [left + width, y]);
    strokeLine(pen, [x, top], [x, top + height]);
    if (spec.circle) {
      pen.beginPath();
      pen.arc(x, y, spec.circle * unit, 0, 2 * Math.PI);
      pen.stroke();
    }
    pen.globalAlpha = 0.75;
    const { x_label, y_label } = this.matrix.spec;
    const step = niceStep(26 / unit);
    const numbers = spec.circle ? [] : [-3, -2, -1, 1, 2, 3].map((n) => n * step);
    for (const n of numbers) {
      const [right, up] = this.at(n, n);
      const number = String(n).replace("-", "−");
      if (right > left + 8 && right < left + width - 8) pen.fillText(number, right, y + 9);
      if (up > top + 8 && up < top + height - 8) pen.fillText(number, x - 12, up);
    }
    pen.textAlign = "right";
    if (x_label) pen.fillText(`${x_label} →`, left + width, top + height - 6);
    pen.textAlign = "left";
    if (y_label) pen.fillText(`↑ ${y_label}`, left, top + 6);
    pen.globalAlpha = 1;
  }

  /**
   * @param {number[]} path
   * @param {PathLook} look
   */
  paintPath(path, look) {
    const { pen } = this;
    pen.globalAlpha = { thin: 0.28, thick: 0.45, dashed: 1 }[look];
    pen.lineWidth = { thin: 1, thick: 4, dashed: 2 }[look];
    pen.setLineDash(look === "dashed" ? [7, 5] : []);
    pen.beginPath();
    for (const i of path) pen.lineTo(...this.pixel(i));
    pen.stroke();
    pen.setLineDash([]);
    pen.globalAlpha = 1;
  }

  /**
   * The angle from one arrow to another, as an arc with its degrees.
   * @param {[from: number, to: number]} pair
   */
  paintAngle(pair) {
    const { pen } = this;
    const [start, end] = pair.map((i) => Math.atan2(this.points[2 * i + 1], this.points[2 * i]));
    const turn = turnOf(start, end);
    const [x, y] = this.at(0, 0);
    pen.lineWidth = 2;
    pen.beginPath();
    pen.arc(x, y, ARC, -start, -start - turn, turn > 0);
    pen.stroke();
    const middle = Math.abs(turn) < NARROW_ANGLE ? start - Math.sign(turn || 1) * BESIDE : start + turn / 2;
    const degrees = Math.round((turn * 180) / Math.PI);
    pen.textAlign = "center";
    pen.font = pen.font.replace("11px", "bold 14px");
    const way = ARC + 22;
    pen.fillText(`${String(degrees).replace("-", "−")}°`, x + way * Math.cos(middle), y - way * Math.sin(middle));
    pen.font = pen.font.replace("bold 14px", "11px");
  }

  /** @param {number} i */
  paintDot(i) {
    const { pen } = this;
    Object.assign(pen, { fillStyle: this.colour(i), globalAlpha: 0.6 });
    pen.beginPath();
    pen.arc(...this.pixel(i), 2.4, 0, 2 * Math.PI);
    pen.fill();
    pen.globalAlpha = 1;
  }

  /** @param {number} i */
  paintMark(i) {
    const { pen } = this;
    const [[x, y], end] = [this.at(0, 0), this.pixel(i)];
    Object.assign(pen, { strokeStyle: this.colour(i), fillStyle: this.colour(i) });
    pen.lineWidth = this.spec.circle ? 3 : this.handles ? 2.4 : 1.6;
    pen.beginPath();
    if (!this.spec.arrows) {
      pen.arc(...end, 5.5, 0, 2 * Math.PI);
      pen.fill();
      return;
    }
    const length = Math.hypot(end[0] - x, end[1] - y);
    const head = Math.min(this.spec.circle ? 1.5 * HEAD : HEAD, length);
    const [right, down] = length ? [(end[0] - x) / length, (end[1] - y) / length] : [0, 0];
    const [neckX, neckY] = [end[0] - head * right, end[1] - head * down];
    strokeLine(pen, [x, y], [neckX, neckY]);
    pen.beginPath();
    for (const side of [-0.42, 0.42]) pen.lineTo(neckX - side * head * down, neckY + side * head * right);
    pen.lineTo(...end);
    pen.fill();
  }

  /**
   * The names, each beside its point and away from the origin, and spread where they would meet.
   * @param {number[]} named
   */
  paintNames(named) {
    const { pen, spec } = this;
    const { left, width, top, height } = /** @type {{ layout: PanelLayout }} */ (this.place).layout;
    pen.font = pen.font.replace("11px", "600 12px");
    const [x] = this.at(0, 0);
    const labels = named.map((i) => {
      const wide = pen.measureText(spec.names[i]).width;
      const [tipX, tipY] = this.pixel(i);
      const side = tipX < x - 1 ? -1 : 1;
      const from = clamp(tipX + (side < 0 ? -GAP_TO_LABEL - wide : GAP_TO_LABEL), [left, left + width - wide + 24]);
      return [from - 2, from + wide + 2, tipY];
    });
    const heights = spread(labels);
    pen.textAlign = "left";
    named.forEach((i, n) => {
      const [tip, y] = [this.pixel(i), clamp(heights[n], [top + 4, top + height - 4])];
      const [from, to] = labels[n];
      if (Math.abs(y - tip[1]) >= LEADER) {
        Object.assign(pen, { strokeStyle: this.colour(i), lineWidth: 0.7 });
        strokeLine(pen, tip, [from > tip[0] ? from : to, y]);
      }
      Object.assign(pen, { strokeStyle: this.ground, fillStyle: this.colour(i), lineWidth: 3 });
      pen.strokeText(spec.names[i], from + 2, y); // so that an arrow below does not cross the letters
      pen.fillText(spec.names[i], from + 2, y);
    });
    pen.font = pen.font.replace("600 12px", "11px");
  }
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {[x: number, y: number]} from
 * @param {[x: number, y: number]} to
 */
function strokeLine(pen, from, to) {
  pen.beginPath();
  pen.moveTo(...from);
  pen.lineTo(...to);
  pen.stroke();
}
