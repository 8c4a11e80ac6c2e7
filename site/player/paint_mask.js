// The explorer `paint_mask` of 04: the weights and outputs of a few words, for a mask that the reader paints.

import { percent } from "./format.js";
import { decimals } from "./one_query.js";

/**
 * @param {Record<string, any>} given
 * @param {PanelSpec[]} panels
 */
export function paint_mask({ words, scores, points, names, ...values }, [map, plane]) {
  const mask = /** @type {string[][]} */ (names).map((row) => row.map((name) => Boolean(values[name])));
  const weights = mask.map((allowed, i) => softmax(scores[i], allowed));
  const outputs = weights.map((row) =>
    [0, 1].map((axis) => row.reduce((sum, weight, j) => sum + weight * points[j][axis], 0)),
  );
  const rows = words.map((/** @type {string} */ word, /** @type {number} */ i) => {
    const seen = words.flatMap((/** @type {string} */ other, /** @type {number} */ j) =>
      mask[i][j] ? `${other} ${percent(weights[i][j])}` : [],
    );
    const place = `(${outputs[i].map(decimals).join(", ")})`;
    return `${word} attends to ${seen.join(", ") || "nothing"}, and its output is ${place}`;
  });
  return {
    _panels: [map, plane],
    _limits: [[0, 1], plane.plane?.y_limits],
    _data: [
      ...weights.map((row, i) => row.map((weight, j) => (mask[i][j] ? weight : Number.NaN))),
      ...points,
      ...outputs,
    ],
    _descriptions: [`Under this mask, ${rows.join("; ")}.`],
  };
}

/**
 * The softmax of a row over the keys that the mask allows; all weights are 0 where it allows none.
 * @param {number[]} scores
 * @param {boolean[]} allowed
 */
function softmax(scores, allowed) {
  const most = Math.max(...scores.filter((_, j) => allowed[j]));
  const exponentials = scores.map((score, j) => (allowed[j] ? Math.exp(score - most) : 0));
  const sum = exponentials.reduce((all, value) => all + value, 0);
  return exponentials.map((value) => (sum ? value / sum : 0));
}
