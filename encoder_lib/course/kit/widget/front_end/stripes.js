// The stripes of values that have no colour.

import { element, penOf } from "./dom.js";
import { NOT_FINITE } from "./not_finite.js";

/** @type {Map<NotFinite, CanvasPattern | null>} */
const PATTERNS = new Map(NOT_FINITE.map((kind) => [kind, patternOf(kind)]));

/** @param {NotFinite} kind */
function patternOf({ ground, stripe, down }) {
  const tile = element("canvas", { width: 8, height: 8 });
  const pen = penOf(tile);
  pen.fillStyle = ground;
  pen.fillRect(0, 0, 8, 8);
  pen.strokeStyle = stripe;
  pen.lineWidth = 2;
  for (const x of [-8, 0, 8]) {
    pen.moveTo(x, down ? 0 : 8);
    pen.lineTo(x + 8, down ? 8 : 0);
  }
  pen.stroke();
  return pen.createPattern(tile, "repeat");
}

/**
 * What fills the cells of one kind of value.
 * @param {NotFinite} kind
 */
export const stripesOf = (kind) => PATTERNS.get(kind) ?? kind.ground;

/**
 * A square of the stripes for one kind of value, with its name.
 * @param {NotFinite} kind
 * @param {string} name
 */
export function keyEntry(kind, name) {
  const swatch = element("canvas", { width: 12, height: 12, class: "explorer-swatch" });
  const pen = penOf(swatch);
  pen.fillStyle = stripesOf(kind);
  pen.fillRect(0, 0, 12, 12);
  return element("span", {}, swatch, name);
}
