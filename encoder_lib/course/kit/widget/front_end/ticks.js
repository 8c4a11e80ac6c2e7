// Which rows and columns have a label, and what it says.

/**
 * The smallest of 1, 2, 5, 10, 20, 50, … that is at least `least`.
 * @param {number} least
 */
export function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return power * ([1, 2, 5].find((factor) => factor * power >= least) ?? 10);
}

/**
 * The rows or columns that have a label: every so many; or one for each tile, in its middle. With `shift` rows that have
 * left at the top, the labels travel along with the others.
 * @param {number} count
 * @param {number} every
 * @param {number | null} tile
 * @param {number} shift
 */
export function labelled(count, every, tile, shift = 0) {
  const step = tile ?? every;
  const places = [];
  for (let i = tile ? tile >> 1 : (step - (shift % step)) % step; i < count; i += step) places.push(i);
  return places;
}

/**
 * How many cells of a tile are drawn, along each side: it ends in a gap, which the last one lacks. A cell without tiles
 * stands by itself.
 * @param {PanelSpec} spec
 */
export const tileSize = ({ rows, tile, picks }) => (tile && picks ? rows % tile || tile : 1);

/**
 * The label of a row ("y") or a column ("x").
 * @param {Matrix} matrix
 * @param {"x" | "y"} axis
 * @param {number} index
 */
export function labelOf({ spec, shift }, axis, index) {
  const place = axis === "y" && spec.shift_rows ? index + shift : index;
  return spec[`${axis}_ticks`]?.[place] ?? String(place);
}
