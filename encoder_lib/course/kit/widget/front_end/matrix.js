// What a panel shows, and how it is read: its numbers cut out of all that came, a cell in words, the way among cells.

import { formatValue } from "./format.js";
import { clamp } from "./numbers.js";
import { labelOf } from "./ticks.js";

/**
 * Cut the numbers of all panels, one after another in `data`, into what each panel shows in one frame.
 * @param {PanelSpec[]} specs
 * @param {Uint32Array[]} palettes
 * @param {Limits[]} limits
 * @param {Float32Array} data
 * @param {number} frame
 * @returns {Matrix[]}
 */
export function cutOut(specs, palettes, limits, data, frame) {
  let start = 0;
  return specs.map((spec, i) => {
    const { rows, columns, frames, stride } = spec;
    const shift = Math.min(frame, frames - 1);
    const from = start + shift * stride;
    start += (frames - 1) * stride + rows * columns;
    const title = spec.bars?.titles[shift] ?? spec.title.replace("{frame}", String(frame + 1));
    const values = data.subarray(from, from + rows * columns);
    return { spec, title, palette: palettes[i], limits: limits[i], values, shift };
  });
}

/**
 * The numbers of one row.
 * @param {Matrix} matrix
 * @param {number} row
 */
export function rowOf({ spec, values }, row) {
  return values.subarray(row * spec.columns, (row + 1) * spec.columns);
}

/**
 * A value as it is read out; what NaN stands for is the panel's to say.
 * @param {PanelSpec} spec
 * @param {string} value
 */
export const inWords = (spec, value) => (value === "NaN" ? spec.missing : value);

/**
 * A cell and its value, in words.
 * @param {Matrix} matrix
 * @param {Cell} cell
 */
export function reading(matrix, [row, column]) {
  const { spec } = matrix;
  const value = inWords(spec, formatValue(rowOf(matrix, row)[column]));
  const [y, x] = [labelOf(matrix, "y", row), labelOf(matrix, "x", column)];
  const place = `${spec.y_label || "row"} ${y}, ${spec.x_label || "column"} ${x}`;
  if (spec.picks) return `${place}. Click it, or press Enter, to see it large.`;
  return `${place}: ${value}${spec.toggles ? ". A click, or Enter, switches it." : ""}`;
}

/**
 * The cell at a point of the picture; null beside the plot.
 * @param {PanelSpec} spec
 * @param {PanelLayout} layout
 * @param {{ offsetX: number, offsetY: number }} point
 * @returns {Cell | null}
 */
export function cellAt({ rows, columns }, { left, top, width, height }, { offsetX, offsetY }) {
  const row = Math.floor(((offsetY - top) / height) * rows);
  const column = Math.floor(((offsetX - left) / width) * columns);
  return row >= 0 && row < rows && column >= 0 && column < columns ? [row, column] : null;
}

/**
 * The first cell of the tile that a cell is in, where tiles can be picked; else the cell itself.
 * @param {PanelSpec} spec
 * @param {Cell | null} cell
 * @returns {Cell | null}
 */
export function toTile({ tile, picks }, cell) {
  if (!tile || !picks || !cell) return cell;
  return [cell[0] - (cell[0] % tile), cell[1] - (cell[1] % tile)];
}

/**
 * The cell that a key leads to; the first press shows the first cell. Null for a key that leads nowhere.
 * @param {PanelSpec} spec
 * @param {Cell | null} cursor
 * @param {{ key: string, ctrlKey: boolean }} press
 * @returns {Cell | null}
 */
export function nextCell({ rows, columns, tile, picks }, cursor, { key, ctrlKey }) {
  const step = (picks && tile) || 1; // from tile to tile, or from cell to cell
  const [lastRow, lastColumn] = [rows - 1, columns - 1].map((last) => last - (last % step));
  const page = step * Math.max(1, Math.round(rows / step / 8));
  /** @type {Record<string, Cell>} */
  const steps = {
    ArrowUp: [-step, 0],
    ArrowDown: [step, 0],
    ArrowLeft: [0, -step],
    ArrowRight: [0, step],
    PageUp: [-page, 0],
    PageDown: [page, 0],
    Home: [ctrlKey ? -lastRow : 0, -lastColumn],
    End: [ctrlKey ? lastRow : 0, lastColumn],
  };
  if (!Object.hasOwn(steps, key)) return null;
  if (!cursor) return [0, 0];
  const [down, right] = steps[key];
  return [clamp(cursor[0] + down, [0, lastRow]), clamp(cursor[1] + right, [0, lastColumn])];
}
