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
const [ONE_WAY, BESIDE_LONGER] = [0.02, 7]; // radians between arrows in one direction, and the pixels between them
const [ASIDE, OVER, LABEL_HIGH] = [14, 19, 15]; // from a tip to a name beside it or above it, and a name's height
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
 * How far each arrow from the origin is moved, so that a longer one in its direction doesn't cover it: to its own right,
 * with y downwards.
 * @param {number[][]} tips
 */
export function besideLonger(tips) {
  const lengths = tips.map(([x, y]) => Math.hypot(x, y));
  return tips.map(([x, y], i) => {
    const covered = tips.filter(([otherX, otherY], j) => {
      const apart = Math.abs(Math.atan2(x * otherY - y * otherX, x * otherX + y * otherY));
      const longer = lengths[j] > lengths[i] || (lengths[j] === lengths[i] && j < i);
      return lengths[i] && longer && apart < ONE_WAY;
    });
    const way = (BESIDE_LONGER * covered.length) / (lengths[i] || 1);
    return [way * y, way * x];
  });
}

/**
 * The left end and the middle height of each arrow's name, where it meets the least: beside its tip, above, below or at
 * its other side, in this order, or farther away; but an arrow that was moved has it on the side to which it was moved.
 * @param {number[][]} arrows from x, from y, tip x and tip y, in pixels from the origin, y downwards
 * @param {number[]} widths of the names
 * @param {number[]} box the left, upper, right and lower edge of the plot
 */
export function namesNearTips(arrows, widths, box) {
  /** @type {number[][]} */
  const placed = [];
  arrows.forEach(([fromX, fromY, x, y], i) => {
    const width = widths[i];
    const [right, left] = [x + ASIDE, x - ASIDE - width];
    const over = Math.min(Math.max(x - width / 2, box[0]), box[2] - width);
    const sides = x < -1 ? [left, right] : [right, left];
    const places = [
      [sides[0], y],
      [over, y - OVER],
      [over, y + OVER],
      [sides[1], y],
      [over, y - 2 * OVER],
      [over, y + 2 * OVER],
    ];
    if (fromX || fromY) places.unshift(...places.splice(fromY > 0 ? 2 : 1, 1));
    const costs = places.map(([start, middle]) => {
      const edges = [start - 2, middle - LABEL_HIGH / 2, start + width + 2, middle + LABEL_HIGH / 2];
      const out = start < box[0] || start + width > box[2] || edges[1] < box[1] || edges[3] > box[3];
      const onAxes = Number(edges[1] < 0 && edges[3] > 0) + Number(edges[0] < 0 && edges[2] > 0);
      const crossed = arrows.filter((arrow) => crosses(arrow, edges)).length;
      const met = placed.filter(([other, height], j) => {
        const apart = start + width < other || other + widths[j] < start || Math.abs(middle - height) >= LABEL_HIGH;
        return !apart;
      });
      return 8 * Number(out) + onAxes + 3 * crossed + 5 * met.length;
    });
    placed.push(places[costs.indexOf(Math.min(...costs))]);
  });
  return placed;
}

/**
 * Whether an arrow leads through a rectangle.
 * @param {number[]} arrow
 * @param {number[]} edges
 */
function crosses([fromX, fromY, x, y], edges) {
  for (let n = 0; n <= 40; n++) {
    const [right, down] = [fromX + (n * (x - fromX)) / 40, fromY + (n * (y - fromY)) / 40];
    if (edges[0] < right && right < edges[2] && edges[1] < down && down < edges[3]) return true;
  }
  return false;
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
    const named = [...spec.names.keys()].filter((i) => spec.names[i] && this.isInside(this.pixel(i)));
    const arrows = this.handles ? this.namesOfArrows(named) : null;
    this.paintAxes(arrows ?? []);
    this.paintArea();
    for (const [path, look] of spec.paths) this.paintPath(path, look);
    if (spec.angle) this.paintAngle(spec.angle);
    for (const i of spec.rings) this.paintRing(i);
    for (const i of spec.names.keys()) if (spec.dots && !spec.names[i]) this.paintDot(i);
    for (const i of named) if (!spec.rings.includes(i)) this.paintMark(i);
    if (arrows) this.paintNamesOfArrows(arrows);
    else this.paintNames(named);
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

  /**
   * The two axes with their numbers and names, and the circle; without the numbers that a name is on.
   * @param {PlacedName[]} covering
   */
  paintAxes(covering) {
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
    const yName = y_label ? [{ x: left, y: top + 6, width: pen.measureText(`↑ ${y_label}`).width }] : [];
    const step = niceStep(26 / unit);
    const numbers = spec.circle ? [] : [-3, -2, -1, 1, 2, 3].map((n) => n * step);
    for (const n of numbers) {
      const [right, up] = this.at(n, n);
      const number = String(n).replace("-", "−");
      for (const [across, down, fits] of /** @type {[number, number, boolean][]} */ ([
        [right, y + 9, right > left + 8 && right < left + width - 8],
        [x - 12, up, up > top + 8 && up < top + height - 8],
      ])) {
        const covered = [...covering, ...yName].some(
          (name) => across > name.x - 8 && across < name.x + name.width + 8 && Math.abs(down - name.y) < 12,
        );
        if (fits && !covered) pen.fillText(number, across, down);
      }
    }
    pen.textAlign = "right";
    if (x_label) pen.fillText(`${x_label} →`, left + width, top + height - 6);
    pen.textAlign = "left";
    if (y_label) pen.fillText(`↑ ${y_label}`, left, top + 6);
    pen.globalAlpha = 1;
  }

  /** The tinted area between some points. */
  paintArea() {
    const { pen, spec } = this;
    if (!spec.area.length) return;
    Object.assign(pen, { globalAlpha: 0.07 });
    pen.beginPath();
    for (const i of spec.area) pen.lineTo(...this.pixel(i));
    pen.fill();
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
  paintRing(i) {
    const { pen } = this;
    Object.assign(pen, { strokeStyle: this.colour(i), fillStyle: this.ground, lineWidth: 2 });
    pen.beginPath();
    pen.arc(...this.pixel(i), 5, 0, 2 * Math.PI);
    pen.fill();
    pen.stroke();
  }

  /** How far each arrow is painted beside its place. */
  get beside() {
    const tips = this.spec.names.map((_, i) => [this.points[2 * i], this.points[2 * i + 1]]);
    return this.handles ? besideLonger(tips) : tips.map(() => [0, 0]);
  }

  /** @param {number} i */
  paintMark(i) {
    const { pen } = this;
    const [moveX, moveY] = this.spec.arrows ? this.beside[i] : [0, 0];
    const [x, y] = this.at(0, 0).map((length, n) => length + [moveX, moveY][n]);
    const [tipX, tipY] = this.pixel(i);
    /** @type {[x: number, y: number]} */
    const end = [tipX + moveX, tipY + moveY];
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
   * The names of arrows that are dragged, and where they are on no arrow.
   * @param {number[]} named
   * @returns {PlacedName[]}
   */
  namesOfArrows(named) {
    const { pen, spec, beside } = this;
    const { left, width, top, height } = /** @type {{ layout: PanelLayout }} */ (this.place).layout;
    pen.font = pen.font.replace("11px", "600 13px");
    const widths = named.map((i) => pen.measureText(spec.names[i]).width);
    pen.font = pen.font.replace("600 13px", "11px");
    const [x, y] = this.at(0, 0);
    const arrows = named.map((i) => {
      const [[right, down], [tipX, tipY]] = [beside[i], this.pixel(i)];
      return [right, down, tipX - x + right, tipY - y + down];
    });
    const box = [left - x, top - y, left + width - x, top + height - y];
    const places = namesNearTips(arrows, widths, box);
    return named.map((i, n) => ({ i, x: x + places[n][0], y: y + places[n][1], width: widths[n] }));
  }

  /** @param {PlacedName[]} names */
  paintNamesOfArrows(names) {
    const { pen, spec } = this;
    pen.font = pen.font.replace("11px", "600 13px");
    pen.textAlign = "left";
    for (const { i, x, y } of names) {
      Object.assign(pen, { strokeStyle: this.ground, fillStyle: this.colour(i), lineWidth: 3 });
      pen.strokeText(spec.names[i], x, y);
      pen.fillText(spec.names[i], x, y);
    }
    pen.font = pen.font.replace("600 13px", "11px");
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
