// An open layer from within: the query of one token, all keys, the scores, their softmax, the values, the weighted sum.

import { curve, markup } from "./alive_drawing.js";
import { focusOf, isOut } from "./alive_state.js";
import { weightsOf } from "./alive_words.js";
import { fixed } from "./format.js";
import { clamp } from "./numbers.js";

const PITCH = 1.08; // pixels between two numbers of a vector

/** @param {Float32Array} numbers */
const largest = (numbers) =>
  numbers.reduce((most, v) => (Number.isFinite(v) ? Math.max(most, Math.abs(v)) : most), 1e-6);

/** @type {DrawSide} */
export const drawInside = (view, side) => {
  const { to, plan, answer, state } = view;
  const { detail, tokens } = answer.sentences[side];
  const layer = plan.layers[detail?.layer ?? -1];
  if (!detail || !layer || layer.open < 0.4) return;
  const [T, focus, lanes] = [tokens.length, focusOf(state, answer, side), plan.lanes[side]];
  const [weights, scores] = [weightsOf(view, side), detail.scores.subarray(focus * T, (focus + 1) * T)];
  const room = Math.min(...lanes.map(({ width }) => width)) / 2;
  const [reach, K, out] = [clamp(room - 2, [6, 16]), detail.query.length / T, isOut(state, "attention", detail.layer)];
  /** @param {string} kind @param {string} path @param {number} opacity */
  const put = (kind, path, opacity = 100) => to.inside`<path class="alive-${kind}" opacity="${opacity}%" d="${path}"/>`;
  /** @param {number} x @param {number} y @param {string} text */
  const write = (x, y, text) =>
    to.inside`<text class="alive-figure alive-small alive-middle" x="${x}" y="${y}">${text}</text>`;
  /** A vector: its numbers one above the other, to the left or to the right. @param {"query" | "key" | "value" | "mixed"} name @param {number} token @param {number} y @param {number} opacity */
  const vector = (name, token, y, opacity = 100) => {
    const scale = reach / largest(detail[name]);
    const numbers = [...detail[name].subarray(token * K, (token + 1) * K)];
    const path = numbers.map((v, k) => markup`M${lanes[token].x} ${y - PITCH * k}h${v * scale}`);
    put(`vector alive-${name}`, path.join(""), opacity);
  };
  const [{ x }, y, most] = [lanes[focus], layer.begin, Math.max(1, largest(scores))];
  const [zero, base] = [y - 122, y - 173];
  put("query-ground", markup`M${x - reach - 3} ${y - 43}h${2 * reach + 6}v40h${-2 * reach - 6}z`);
  vector("query", focus, y - 6);
  lanes.forEach((lane, key) => {
    const [bar, tall] = [Number.isFinite(scores[key]) ? (scores[key] / most) * 13 : 0, 24 * weights[key]];
    put("fan", curve([x, y - 43, x, y - 56, lane.x, y - 46, lane.x, y - 62]));
    vector("key", key, y - 65);
    put("score", markup`M${lane.x - 5} ${zero}v${-bar || -1}h10V${zero}z`);
    put("weight", markup`M${lane.x - 6} ${base}v${-Math.max(0.8, tall)}h12V${base}z`);
    if (room > 11) write(lane.x, zero - Math.max(bar, 0) - 4, fixed(scores[key], room > 13 ? 1 : 0));
    if (room > 10 && tall > 0.12) write(lane.x, base - tall - 4, weights[key].toFixed(2).replace(/^0/, ""));
    vector("value", key, y - 216, out ? 10 : 25 + 75 * Math.sqrt(weights[key]));
  });
  if (!out) vector("mixed", focus, layer.plus1 + 42);
};
