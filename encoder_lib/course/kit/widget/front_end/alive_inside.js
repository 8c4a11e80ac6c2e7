// An open layer from within: the query of one token, all keys, the scores, their softmax, the values, the weighted sum.

import { d } from "./alive_drawing.js";
import { focusOf, isOut } from "./alive_state.js";
import { curve } from "./alive_tower.js";
import { clamp } from "./numbers.js";

const PITCH = 1.25; // pixels between two numbers of a vector

/** @param {Float32Array} numbers */
const largest = (numbers) => numbers.reduce((most, v) => Math.max(most, Math.abs(v)), 1e-6);

/** @param {AliveView} view @param {Side} side */
export function drawInside(view, side) {
  const { drawing, plan, answer, state } = view;
  const { detail, tokens, weights } = answer.sentences[side];
  const layer = detail && plan.layers[detail.layer];
  if (!detail || !layer || layer.open < 0.4) return;
  const [T, focus, lanes] = [tokens.length, focusOf(state, answer, side), plan.lanes[side]];
  const row = weights[detail.layer].subarray((detail.head * T + focus) * T, (detail.head * T + focus + 1) * T);
  const scores = detail.scores.subarray(focus * T, (focus + 1) * T);
  const room = Math.min(...lanes.map(({ width }) => width)) / 2;
  const reach = clamp(room - 2, [6, 16]);
  const K = detail.query.length / T;
  const out = isOut(state, "attention", detail.layer);
  /** @param {string} key @param {string} kind @param {string} path @param {number} opacity */
  const put = (key, kind, path, opacity = 1) =>
    drawing.path("inside", side + key, kind, path, { opacity: Math.round(opacity * (layer.open - 0.4) * 166) / 100 });
  /** @param {string} key @param {XY} at @param {string} text */
  const figure = (key, at, text) => drawing.text("inside", side + key, "alive-figure alive-middle", at, text);
  /** Its numbers one above the other, to the left or to the right. @param {"query" | "key" | "value" | "mixed"} name @param {number} token @param {number} y @param {number} opacity */
  const vector = (name, token, y, opacity = 1) => {
    const scale = reach / largest(detail[name]);
    let path = "";
    for (let k = 0; k < K; k++) {
      path += d`M${lanes[token].x} ${y - PITCH * k}h${detail[name][token * K + k] * scale || 0.1}`;
    }
    put(`${name}${token}`, `alive-vector alive-${name}`, path, opacity);
  };
  const { x } = lanes[focus];
  const y = layer.begin;
  const [zero, base] = [y - 136, y - 193];
  const most = Math.max(1, largest(scores.map((v) => (Number.isFinite(v) ? v : 0))));
  lanes.forEach((lane, key) => {
    vector("key", key, y - 72);
    put(`fan${key}`, "alive-fan", curve([x, y - 49, x, y - 62, lane.x, y - 52, lane.x, y - 69]));
    const score = scores[key];
    const bar = Number.isFinite(score) ? (score / most) * 13 : 0;
    put(`score${key}`, "alive-score", d`M${lane.x - 5} ${zero}v${-bar || -1}h10v${bar || 1}z`);
    if (room > 14)
      figure(
        `s${key}`,
        [lane.x, zero - Math.max(bar, 0) - 4],
        Number.isFinite(score) ? score.toFixed(1).replace("-", "−") : "−∞",
      );
    put(`weight${key}`, "alive-weight", d`M${lane.x - 6} ${base}v${-Math.max(0.8, 26 * row[key])}h12V${base}z`);
    if (room > 11 && row[key] > 0.005)
      figure(`w${key}`, [lane.x, base - 26 * row[key] - 4], row[key].toFixed(2).replace(/^0/, ""));
    vector("value", key, y - 236, out ? 0.1 : 0.25 + 0.75 * Math.sqrt(row[key]));
  });
  put("ground", "alive-query-ground", d`M${x - reach - 3} ${y - 49}h${2 * reach + 6}v46h${-2 * reach - 6}z`);
  vector("query", focus, y - 7);
  if (!out) vector("mixed", focus, layer.plus1 + 46);
}
