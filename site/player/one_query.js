// The explorer `one_query` of 04: the scores, weights and output of one query, for keys that the reader drags.

import { percent } from "./format.js";

const [WORD, SCORE, BAR, SHARE, HIGH, STEP] = [2, 2.2, 4, 1.6, 1.3, 1.6]; // as in encoder_lib/course/attention/explorers.py
const BEGIN = WORD + SCORE;

/**
 * @param {Record<string, any>} given
 * @param {PanelSpec[]} panels
 */
export function one_query({ words, points, ...places }, [plane, bars, mean]) {
  /** @param {string} arrow */
  const at = (arrow) => [places[`${arrow}_x`], places[`${arrow}_y`]];
  const query = at("query");
  const keys = /** @type {string[]} */ (words).map((_, i) => at(`key_${i + 1}`));
  const scores = keys.map(([x, y]) => (query[0] * x + query[1] * y) / Math.SQRT2);
  const exponentials = scores.map((score) => Math.exp(score - Math.max(...scores)));
  const sum = exponentials.reduce((all, value) => all + value, 0);
  const weights = exponentials.map((value) => value / sum);
  const output = [0, 1].map((axis) => weights.reduce((all, weight, i) => all + weight * points[i][axis], 0));
  const labels = ["score", "weight", ...words.flatMap(labelsOf)];
  /** @param {string} word @param {number} i */
  function labelsOf(word, i) {
    return [word, decimals(scores[i]), "", "", percent(weights[i])];
  }
  /** @param {number} weight @param {number} i */
  const row = (weight, i) => {
    const top = STEP * (i + 1);
    return [
      [0, top, WORD, HIGH, 1],
      [WORD, top, SCORE, HIGH, 1],
      [BEGIN, top, BAR, HIGH, 1],
      [BEGIN, top, BAR * weight, HIGH, 1],
      [BEGIN + BAR, top, SHARE, HIGH, 1],
    ].flat();
  };
  const heads = [WORD, 0, SCORE, HIGH, 1, BEGIN, 0, BAR, HIGH, 1];
  const boxes = { .../** @type {BoxesSpec} */ (bars.boxes), labels: [labels] };
  const said = words.map(
    (/** @type {string} */ word, /** @type {number} */ i) =>
      `${word} the score ${decimals(scores[i])} and the weight ${percent(weights[i])}`,
  );
  return {
    _panels: [plane, { ...bars, boxes }, mean],
    _limits: [plane, bars, mean].map(limitsOf),
    _data: [...keys, query, heads, ...weights.map(row), ...points, output],
    _descriptions: [`The query gives ${said.join("; it gives ")}. The output is (${output.map(decimals).join(", ")}).`],
  };
}

/** @param {PanelSpec} panel @returns {Limits} */
const limitsOf = ({ plane }) => plane?.y_limits ?? [0, 1];

/**
 * A number with two decimals, a real minus, and none before a zero.
 * @param {number} number
 */
export function decimals(number) {
  return (Number(number.toFixed(2)) + 0).toFixed(2).replace("-", "−");
}
