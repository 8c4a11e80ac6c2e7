// Boxes on the page: cells, bars and notes, which the style sheet lets glide from frame to frame.

import { element, penOf, say } from "./dom.js";
import { NARROW, WORD_COLOURS } from "./plane.js";
import { captionWidths, writeCaption } from "./text.js";

const SQUARES = 5; // as many square cells high as a heatmap that takes all the height there is
const WIDEST = 1.4; // how much wider than high a picture is at most where the page is narrow
const LOOKS = ["note", "heading", "ghost", "rule", "grey", "round", "right", "down"];

/**
 * What a box is filled with: the colour of a role, or of a word; "" where its look says it. Where something is written
 * on a role's box, it is the ground with a little of the role's colour, in a frame of that colour.
 * @param {string | number} colour
 * @param {string} label
 */
export function fillOf(colour, label) {
  if (typeof colour === "string") {
    const share = label ? 14 : 100;
    return LOOKS.includes(colour) ? "" : `color-mix(in srgb, var(--${colour}) ${share}%, var(--ground))`;
  }
  const pair = WORD_COLOURS[colour];
  return pair ? `light-dark(${pair.light}, ${pair.dark})` : "var(--ink)";
}

export class Boxes {
  /** No box is pointed at, and no row is marked. @type {Cell | null} */
  cursor = null;
  /** @type {number | null} */
  marked = null;

  /**
   * @param {Matrix} matrix
   * @param {(frame: number) => void} go is called with the frame that a click leads to
   */
  constructor(matrix, go) {
    this.pen = penOf(element("canvas")); // measures the title
    this.picture = element("div", { class: "explorer-picture explorer-boxes", role: "img" });
    this.caption = element("figcaption");
    this.figure = element("figure", { class: "explorer-panel" }, this.caption, this.picture);
    this.matrix = matrix;
    this.picture.addEventListener("click", ({ target }) => {
      const i = [...this.picture.children].indexOf(/** @type {Element} */ (target));
      const frame = this.spec.steps[i] ?? -1;
      if (frame >= 0) go(frame);
    });
    this.show(matrix);
  }

  get spec() {
    return /** @type {BoxesSpec} */ (this.matrix.spec.boxes);
  }

  /**
   * Take what there is to see, and glide there.
   * @param {Matrix} matrix
   */
  show(matrix) {
    this.matrix = matrix;
    writeCaption(this.caption, matrix);
    const { size, colours, labels, steps, large, slim } = this.spec;
    this.picture.classList.toggle("explorer-large", large);
    const { values, shift } = matrix;
    const boxes = this.picture.children;
    while (boxes.length > colours.length) this.picture.lastChild?.remove();
    while (boxes.length < colours.length) this.picture.append(element("div"));
    colours.forEach((colour, i) => {
      const box = /** @type {HTMLElement} */ (boxes[i]);
      const label = labels[Math.min(shift, labels.length - 1)][i];
      const place = [...values.subarray(5 * i, 5 * i + 4)];
      if (!label) place.splice(1, 3, place[1] + (place[3] * (1 - slim)) / 2, place[2], place[3] * slim);
      const [left, top, width, height] = place.map((length, n) => `${(100 * length) / size[n % 2]}%`);
      const background = fillOf(colour, label);
      const tinted = label !== "" && background !== "" && typeof colour === "string";
      const strength = values[5 * i + 4];
      const cursor = (steps[i] ?? -1) < 0 ? "" : "pointer";
      const visibility = strength || cursor ? "visible" : "hidden"; // else it would lie over what can be seen
      box.style.cssText = ""; // the same look is the same text, whatever the box was before
      Object.assign(box.style, { left, top, width, height, background, visibility, opacity: String(strength), cursor });
      if (tinted) Object.assign(box.style, { border: `1.5px solid var(--${colour})`, color: "var(--ink)" });
      box.className = background ? "" : `explorer-box-${colour}`;
      say(box, strength ? label : "");
    });
  }

  /**
   * The sizes that a layout depends on.
   * @param {Style} style
   * @param {number} total
   * @returns {PanelSizes}
   */
  sizes(style, total) {
    const [width, height] = this.spec.size;
    const wide = total < NARROW ? Math.min(width / height, WIDEST) : width / height;
    const { title } = captionWidths(this.pen, this.matrix, style);
    const named = { x: false, y: false };
    return {
      rows: SQUARES,
      columns: SQUARES * wide,
      columnLabels: 0,
      rowLabels: 0,
      numbers: 0,
      title,
      named,
      least: this.spec.least,
    };
  }

  /**
   * Take one's place on the page.
   * @param {PanelLayout} layout
   */
  arrange({ size, top, height, titleLines }) {
    Object.assign(this.picture.style, { width: `${size.width}px`, height: `${top + height}px` });
    this.figure.style.width = `${size.width}px`;
    this.caption.style.minHeight = `${1.5 * titleLines}em`;
  }

  /** There is nothing to point at. */
  reading() {
    return "";
  }

  /** The page paints by itself. */
  paint() {}
}
