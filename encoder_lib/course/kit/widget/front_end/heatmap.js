// One heatmap on the page: a canvas, its caption and its key. It keeps what it shows, where it stands and the cursor.

import { toPixels } from "./colour.js";
import { element, penOf } from "./dom.js";
import { cellAt, inWords, nextCell, reading, toTile } from "./matrix.js";
import { NOT_FINITE } from "./not_finite.js";
import { paint } from "./painting.js";
import { keyEntry } from "./stripes.js";
import { captionWidths, labelWidths, writeCaption } from "./text.js";

export class Heatmap {
  /** @type {Cell | null} */
  cursor = null;
  /** @type {number | null} */
  marked = null;
  /** The first cell of the tile that is shown large. @type {Cell | null} */
  chosen = null;
  /** @type {NotFinite[]} */
  strange = [];
  /** @type {{ layout: PanelLayout, style: Style } | null} */
  place = null;
  /** @type {{ spec: PanelSpec, font: string, widths: ReturnType<typeof labelWidths> } | null} */
  measured = null;

  /**
   * @param {Matrix} matrix
   * @param {() => void} announce is called when the cursor has moved
   * @param {(cell: Cell) => void} pick is called with the first cell of a tile that the reader wants to see large
   */
  constructor(matrix, announce, pick) {
    this.announce = announce;
    this.pick = pick;
    this.canvas = element("canvas", { class: "explorer-picture", tabindex: 0, role: "application" });
    this.pen = penOf(this.canvas);
    this.caption = element("figcaption");
    this.key = element("p", { class: "explorer-key" });
    this.figure = element("figure", { class: "explorer-panel" }, this.caption, this.canvas, this.key);
    this.cells = element("canvas");
    this.canvas.addEventListener("pointermove", (event) => this.point(this.cellAt(event)));
    this.canvas.addEventListener("click", (event) => this.open(this.cellAt(event)));
    this.canvas.addEventListener("pointerleave", () => this.point(null));
    this.canvas.addEventListener("keydown", (event) => this.press(event));
    this.canvas.addEventListener("blur", () => this.point(null));
    this.matrix = matrix;
    this.show(matrix);
  }

  /**
   * Take what there is to see; `arrange` or `paint` then shows it.
   * @param {Matrix} matrix
   */
  show(matrix) {
    const { spec, values } = matrix;
    const { rows, columns } = spec;
    this.matrix = matrix;
    this.canvas.classList.toggle("explorer-picks", this.opens);
    this.canvas.classList.toggle("explorer-paints", Boolean(spec.toggles));
    writeCaption(this.caption, matrix);
    if (this.cursor) this.cursor = [Math.min(this.cursor[0], rows - 1), Math.min(this.cursor[1], columns - 1)];
    const pixels = toPixels(matrix);
    const image = new ImageData(new Uint8ClampedArray(pixels.buffer), columns, rows);
    if (this.cells.width !== columns) this.cells.width = columns; // a size that is set anew costs time
    if (this.cells.height !== rows) this.cells.height = rows;
    penOf(this.cells).putImageData(image, 0, 0);
    const strange = pixels.includes(0) && !spec.picks; // between tiles that can be picked, the ground is seen
    this.strange = strange ? NOT_FINITE.filter((kind) => values.some(kind.is)) : [];
    const names = this.strange.map(({ name }) => inWords(spec, name));
    if (this.key.textContent !== names.join("")) {
      this.key.replaceChildren(...this.strange.map((kind, i) => keyEntry(kind, names[i])));
    }
  }

  /**
   * The sizes that a layout depends on.
   * @param {Style} style
   * @returns {PanelSizes}
   */
  sizes(style) {
    const { spec } = this.matrix;
    if (this.measured?.spec !== spec || this.measured.font !== style.font) {
      this.measured = { spec, font: style.font, widths: labelWidths(this.pen, spec, style.font) };
    }
    const named = { x: spec.x_label !== "", y: spec.y_label !== "" };
    const { rows, columns, tile } = spec;
    return {
      rows,
      columns,
      named,
      alone: tile !== null,
      ...this.measured.widths,
      ...captionWidths(this.pen, this.matrix, style),
    };
  }

  /**
   * Take one's place on the page, and paint.
   * @param {PanelLayout} layout
   * @param {Style} style
   */
  arrange(layout, style) {
    const { width, height } = layout.size;
    this.place = { layout, style };
    Object.assign(this.canvas, { width: Math.round(width * style.ratio), height: Math.round(height * style.ratio) });
    Object.assign(this.canvas.style, { width: `${width}px`, height: `${height}px` });
    this.figure.style.width = `${width}px`;
    this.caption.style.minHeight = `${1.5 * layout.titleLines}em`;
    this.paint();
  }

  /** Paint, once there is a place to paint at. */
  paint() {
    if (!this.place) return;
    const { matrix, cells, strange, marked, cursor, chosen } = this;
    paint(this.pen, { matrix, cells, strange, marked, cursor, chosen, ...this.place });
  }

  /** @param {MouseEvent} event */
  cellAt(event) {
    return this.place && toTile(this.matrix.spec, cellAt(this.matrix.spec, this.place.layout, event));
  }

  /** Whether a click does something. */
  get opens() {
    const { picks, toggles } = this.matrix.spec;
    return Boolean(picks || toggles);
  }

  /** @param {Cell | null} cell */
  open(cell) {
    if (cell && this.opens) this.pick(cell);
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    if (event.key === "Escape") this.point(null);
    if ((event.key === "Enter" || event.key === " ") && this.opens) {
      event.preventDefault();
      this.open(this.cursor);
    }
    const cell = nextCell(this.matrix.spec, this.cursor ?? this.chosen, event);
    if (!cell) return;
    event.preventDefault();
    this.point(cell);
  }

  /** @param {Cell | null} cell */
  point(cell) {
    if (String(cell) === String(this.cursor)) return;
    this.cursor = cell;
    this.paint();
    this.announce();
  }

  /** Where the cursor is and the value there, in words. */
  reading() {
    return this.cursor ? reading(this.matrix, this.cursor) : "";
  }
}
