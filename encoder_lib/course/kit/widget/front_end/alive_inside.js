// An open layer from within: the query of one token, all keys, the scores, their softmax, the values, the weighted sum.

import { curve, d } from "./alive_drawing.js";
import { focusOf, isOut } from "./alive_state.js";
import { score, weightsOf } from "./alive_words.js";
import { clamp } from "./numbers.js";

const PITCH = 1.08; // pixels between two numbers of a vector

/** @param {Float32Array} numbers */
const largest = (numbers) =>
  numbers.reduce((most, v) => (Number.isFinite(v) ? Math.max(most, Math.abs(v)) : most), 1e-6);

/** @type {DrawSide} */
export const drawInside = (view, side) => {
  const { drawing, plan, answer, state } = view;
  const { detail, tokens } = answer.sentences[side];
  const layer = plan.layers[detail?.layer ?? -1];
  if (!detail || !layer || layer.open < 0.4) return;
  const [T, focus, lanes] = [tokens.length, focusOf(state, answer, side), plan.lanes[side]];
  const [weights, scores] = [weightsOf(view, side), detail.scores.subarray(focus * T, (focus + 1) * T)];
  const room = Math.min(...lanes.map(({ width }) => width)) / 2;
  const [reach, K, out] = [clamp(room - 2, [6, 16]), detail.query.length / T, isOut(state, "attention", detail.layer)];
  /** @param {string} key @param {string} kind @param {string} path @param {number} opacity */
  const put = (key, kind, path, opacity = 1) =>
    drawing.path("inside", `${side}${key}`, kind, path, { opacity: opacity * (layer.open - 0.4) * 1.66 });
  /** @param {string} key @param {XY} at @param {string} text */
  const label = (key, at, text) => drawing.text("inside", `${side}${key}`, "alive-figure alive-middle", at, text);
  /** A vector: its numbers one above the other, to the left or to the right. @param {"query" | "key" | "value" | "mixed"} name @param {number} token @param {number} y @param {number} opacity */
  const vector = (name, token, y, opacity = 1) => {
    const scale = reach / largest(detail[name]);
    const numbers = [...detail[name].subarray(token * K, (token + 1) * K)];
    const path = numbers.map((v, k) => d`M${lanes[token].x} ${y - PITCH * k}h${v * scale}`).join("");
    put(`${name}${token}`, `alive-vector alive-${name}`, path, opacity);
  };
  const [{ x }, y] = [lanes[focus], layer.begin];
  const [zero, base, most] = [y - 122, y - 173, Math.max(1, largest(scores))];
  lanes.forEach((lane, key) => {
    const [bar, weight] = [Number.isFinite(scores[key]) ? (scores[key] / most) * 13 : 0, weights[key]];
    vector("key", key, y - 65);
    put(`fan${key}`, "alive-fan", curve([x, y - 43, x, y - 56, lane.x, y - 46, lane.x, y - 62]));
    put(`score${key}`, "alive-score", d`M${lane.x - 5} ${zero}v${-bar || -1}h10V${zero}z`);
    if (room > 14) label(`s${key}`, [lane.x, zero - Math.max(bar, 0) - 4], score(scores[key]));
    put(`weight${key}`, "alive-weight", d`M${lane.x - 6} ${base}v${-Math.max(0.8, 24 * weight)}h12V${base}z`);
    if (room > 11 && weight > 0.005)
      label(`w${key}`, [lane.x, base - 24 * weight - 4], weight.toFixed(2).replace(/^0/, ""));
    vector("value", key, y - 210, out ? 0.1 : 0.25 + 0.75 * Math.sqrt(weight));
  });
  put("ground", "alive-query-ground", d`M${x - reach - 3} ${y - 43}h${2 * reach + 6}v40h${-2 * reach - 6}z`);
  vector("query", focus, y - 6);
  if (!out) vector("mixed", focus, plan.layers[detail.layer].plus1 + 42);
};
