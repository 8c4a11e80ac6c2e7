// The towers of the encoder's picture: names, a lane for each token, ribbons, the parts of a layer, and it from within.

import { curve, markup } from "./alive_drawing.js";
import { along, distanceOf, ribbonOf } from "./alive_layout.js";
import { focusOf, isCut, isOut, isSpecial, PARTS, reachOf } from "./alive_state.js";
import { weightsOf } from "./alive_words.js";
import { fixed } from "./format.js";
import { clamp } from "./numbers.js";

const PITCH = 1.08; // pixels between two numbers of a vector
const INSIDE = { query: 25, key: 81, "score: q · k ÷ √K": 125, "softmax: weight": 183, value: 232 }; // and how far up

/** The colour of the followed word: one while its two vectors are one, each sentence's own as they part. @param {number} cosine @param {number} side */
export const hueOf = (cosine, side) => {
  const share = Math.round(100 * clamp(distanceOf(cosine) / 0.45, [0, 1]));
  return `stroke:color-mix(in oklab, var(--sentence-${side + 1}) ${share}%, var(--shared))`;
};

/** The names at the left: most take their part out, and a layer's number opens it. @type {Draw} */
export const drawNames = ({ to, plan, state }) => {
  const { gutter, wide, right, table } = plan;
  const mean = wide ? "weighted mean" : "mean";
  /** @param {string} role @param {number} y @param {string} text */
  const write = (role, y, text) =>
    to.names`<text class="alive-name alive-${role}" x="${gutter - 12}" y="${y}">${text}</text>`;
  /** @param {typeof PARTS[0]} part @param {number | null} layer @param {number} y @param {number} left */
  const name = ([part, text, spoken, role], layer, y, left = 0) => {
    const out = isOut(state, part, layer);
    const short = wide ? text : text.replace("residual ", "");
    to.names`<text role="button" tabindex="-1" aria-pressed="${out}" data-layer="${layer}" data-act="part ${part} ${layer}"
      aria-label="${short}: take out ${spoken}${layer === null ? "" : ` of layer ${layer + 1}`}"
      class="alive-name alive-part alive-${role}${out ? " alive-out" : ""}" x="${gutter - 12 - left}" y="${y}">${short}</text>`;
  };
  to.names`<rect class="alive-ground" width="${gutter - 6}" height="${plan.height}"/>`;
  plan.layers.forEach(({ ribbons, plus1, gate1, plus2, gate2, begin, end, open }, n) => {
    const [lit, opened, middle] = [n === state.layer, n === state.open, (ribbons[0] + ribbons[1]) / 2 + 6];
    to.bands`<rect class="alive-band${lit ? " alive-lit" : ""}" rx="8" x="${gutter - 5}" y="${end + 2}"
      width="${right - gutter + 10}" height="${begin - end - 2}"/>`;
    const [low, high] = [(plus1 + gate1) / 2 + 6, (plus2 + gate2) / 2 + 2];
    const heights = [middle, low, low, (gate1 + plus2) / 2 + 4, high, high];
    PARTS.forEach((part, i) => {
      const named = lit || i % 3 === 0 || isOut(state, part[0], n); // the others only in the layer at hand
      if (named) name(part, n, heights[i], i % 3 === 1 ? 36 : 0);
    });
    const act = opened ? "close" : "open";
    to.names`<text role="button" tabindex="-1" aria-expanded="${opened}" data-act="open ${n}" data-layer="${n}"
      aria-label="Layer ${n + 1}: ${act} its attention" class="alive-numeral" x="3" y="${middle + 1}">${n + 1}</text>`;
    if (lit || opened) to.names`<text class="alive-quiet" x="3" y="${middle + 14}">${act}</text>`;
    if (open < 0.6) return;
    for (const [inside, up] of Object.entries(INSIDE)) {
      const [role] = inside.split(":");
      write(role, begin - up + 4, wide ? inside : role);
    }
    write("value", plus1 + 26, mean);
  });
  write("embedding", table.y + 6, "embedding");
  name(["position", "position", "the positions", "position"], null, table.plus + 1);
  write("stream", plan.top - 32, wide ? "mean of all tokens" : "mean");
};

/** @type {DrawSide} */
export const drawTower = (view, side) => {
  const { plan, answer, state } = view;
  const { tokens, place } = answer.sentences[side];
  const focus = focusOf(state, answer, side);
  tokens.forEach((name, token) => {
    const lit = `${token === place ? " alive-followed" : ""}${token === focus ? " alive-lit" : ""}`;
    drawLane(view, side, token, lit);
    drawFoot(view, side, token, isSpecial(name) ? `${lit} alive-special` : lit);
  });
  plan.layers.forEach((_, n) => {
    drawParts(view, side, n);
    drawTexture(view, side, n);
    drawRibbons(view, side, n);
  });
  drawInside(view, side);
};

/** How the upper part of a station's lane looks: thin where its layer is open, broken where its residual connection is out. @param {AliveView} view @param {number} station */
const looksIn = ({ plan, state }, station) => {
  const [n, first] = [(station - 1) >> 1, station % 2 === 1];
  if (!plan.layers[n]) return "";
  if (isOut(state, first ? "residual1" : "residual2", n)) return " alive-broken";
  return first && plan.layers[n].open ? " alive-thin" : "";
};

/** A lane, station by station. @type {DrawToken} */
const drawLane = (view, side, token, lit) => {
  const { to, plan, answer, state } = view;
  const [{ x }, { place }, cosines] = [plan.lanes[side][token], answer.sentences[side], answer.word_cosines];
  plan.stretches.forEach(([low, branch, high], i) => {
    const own = cosines ? hueOf(state.asking ? 1 : cosines[i], side) : `stroke:var(--sentence-${side + 1})`;
    const [look, hue] = [looksIn(view, i), token === place ? own : ""];
    to.lanes`<path class="alive-lane${lit}" style="${hue}" d="M${x} ${low}V${look ? branch : high}"/>`;
    if (look) to.lanes`<path class="alive-lane${lit}${look}" style="${hue}" d="M${x} ${branch}V${high}"/>`;
  });
};

/** Below a lane its embedding, its position and its name; above it its share in the mean. @type {DrawToken} */
const drawFoot = ({ to, plan, answer, state }, side, token, lit) => {
  const { top, bottom, table } = plan;
  const [lanes, name] = [plan.lanes[side], answer.sentences[side].tokens[token]];
  const { x, width } = lanes[token];
  const mean = (lanes[0].x + lanes[lanes.length - 1].x) / 2;
  const share = curve([x, top, x, top - 22, mean, top - 14, mean, top - 36]);
  const out = isOut(state, "position", null) ? " alive-hollow" : "";
  to.parts`<rect class="alive-row" x="${x - 6}" y="${table.y - 4}" width="12" height="11" rx="2"/>
    <circle class="alive-place${out}" cx="${x}" cy="${table.plus}" r="4.2"/>`;
  to.lanes`<path class="alive-mean" d="${share}"/>`;
  if (!token) to.parts`<circle class="alive-fill-${side + 1}" cx="${mean}" cy="${top - 36}" r="6.5"/>`;
  const label = `${name}, token ${token + 1} of sentence ${side + 1}: show its attention`;
  to.labels`<text role="button" tabindex="-1" aria-label="${label}" data-act="token ${side} ${token}"
    class="alive-token alive-word-${side + 1}${lit} alive-${plan.turned ? "end" : "middle"}"
    transform="translate(${x + (plan.turned ? 4 : 0)} ${bottom + 16}) rotate(${plan.turned ? -50 : 0})">${name}</text>`;
  to.hits`<rect class="alive-hit" data-act="token ${side} ${token}" x="${x - width / 2}" y="${top}"
    width="${width}" height="${bottom - top + 4}"/>`;
};

/** What stands in the lanes of a layer, in two sizes: each is one path for all its lanes. @type {DrawLayer} */
const drawParts = ({ to, plan, answer, state }, side, n) => {
  const { plus1, gate1, plus2, gate2, scale } = plan.layers[n];
  const [large, high] = [[answer.sentences[side].place, focusOf(state, answer, side)], gate1 - plus2];
  for (const lit of ["", " alive-lit"]) {
    const lanes = plan.lanes[side].filter((_, token) => large.includes(token) === (lit !== ""));
    const [r, wide] = [(lit ? 6.6 : 4.6) * Math.max(0.7, scale), lit ? 14 : 10];
    const [c, arm] = [0.8 * r, r - 2.4]; // of the box and of the +
    const loop = markup`c${1.5 * wide} -2 ${1.5 * wide} ${6 - high} 0 ${2 - high}`;
    const box = markup`m${wide - c} ${-c}h${2 * c}v${2 * c}h${-2 * c}z`;
    const circle = markup`m${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
    const plus = circle + markup`m2.4 0h${2 * arm}m${-arm} ${-arm}v${2 * arm}`;
    const gate = markup`m${-1.9 * r} 0h${0.9 * r}m${2 * r} 0h${0.9 * r}`;
    /** @param {Part} part @param {string} kind @param {number} y @param {string} shape @param {string} without */
    const put = (part, kind, y, shape, without = shape) => {
      const out = isOut(state, part, n);
      const path = lanes.map(({ x }) => markup`M${x} ${y}${out ? without : shape}`).join("");
      to.parts`<path class="alive-${kind}${lit}${out ? " alive-hollow" : ""}" d="${path}"/>`;
    };
    put("feed_forward", "loop", gate1 - 2, loop);
    put("feed_forward", "box", (gate1 + plus2) / 2, box);
    put("residual1", "plus", plus1, plus, circle);
    put("residual2", "plus", plus2, plus, circle);
    put("norm1", "gate", gate1, gate);
    put("norm2", "gate", gate2, gate);
  }
};

/** The ribbons of the other tokens, faint, in one path for each width. @type {DrawLayer} */
const drawTexture = ({ to, plan, answer, state }, side, n) => {
  const { T, width } = reachOf(answer, state, side, n);
  const [lanes, focus, { open, ribbons }] = [plan.lanes[side], focusOf(state, answer, side), plan.layers[n]];
  /** @type {Record<number, string>} */
  const paths = {};
  for (let i = 0; open < 0.5 && i < T * T; i++) {
    const [query, key] = [Math.floor(i / T), i % T];
    const step = Math.round(width(query, key) / 1.5);
    if (query === focus || step < 1) continue;
    paths[step] = (paths[step] ?? "") + curve(ribbonOf(lanes[key].x, lanes[query].x, ribbons));
  }
  for (const [step, path] of Object.entries(paths)) {
    to.texture`<path class="alive-texture" stroke-width="${1.5 * Number(step)}" d="${path}"/>`;
  }
};

/** The ribbons of the token at hand. @type {DrawLayer} */
const drawRibbons = ({ to, plan, answer, before, state }, side, n) => {
  const query = focusOf(state, answer, side);
  const [now, old] = [answer, before].map((from) => reachOf(from, state, side, n));
  plan.lanes[side].forEach((lane, key) => {
    const id = [side, n, query, key].join(" ");
    const c = ribbonOf(lane.x, plan.lanes[side][query].x, plan.layers[n].ribbons);
    const cut = isCut(state, [side, n, query, key]);
    const [width, was] = [now, old].map((reach) => reach.width(query, key));
    if (was - width > 1) to.ghosts`<path class="alive-was-ribbon" stroke-width="${was}" d="${curve(c)}"/>`;
    if (!cut && width < 0.5) return;
    const [x, y] = along(c, 0.5);
    if (cut) to.marks`<path class="alive-cross" d="M${x - 5} ${y - 5}l10 10m0 -10l-10 10"/>`;
    const kind = cut ? "cut" : state.pointed === id ? "ribbon alive-pointed" : "ribbon";
    to.ribbons`<path class="alive-${kind}" stroke-width="${cut ? 1.4 : width}" d="${curve(c)}"/>`;
    to.targets`<path class="alive-target" data-act="ribbon ${id}" d="${curve(c)}"/>`;
  });
};

/** @param {Float32Array} numbers */
const largest = (numbers) =>
  numbers.reduce((most, v) => (Number.isFinite(v) ? Math.max(most, Math.abs(v)) : most), 1e-6);

/** An open layer from within: a query, all keys, the scores, their softmax, the values, their weighted mean. @type {DrawSide} */
const drawInside = (view, side) => {
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
  /** @param {number} x @param {number} y @param {string} text @param {string} lit */
  const write = (x, y, text, lit) =>
    to.inside`<text class="alive-figure alive-small alive-middle${lit}" x="${x}" y="${y}">${text}</text>`;
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
    const lit = weights[key] === largest(weights) ? " alive-lit" : "";
    put("fan", curve([x, y - 43, x, y - 56, lane.x, y - 46, lane.x, y - 62]));
    vector("key", key, y - 65);
    put(`score${lit}`, markup`M${lane.x - 5} ${zero}v${-bar || -1}h10V${zero}z`);
    put("weight", markup`M${lane.x - 6} ${base}v${-Math.max(0.8, tall)}h12V${base}z`);
    if (room > 11) write(lane.x, zero - Math.max(bar, 0) - 4, fixed(scores[key], room > 13 ? 1 : 0), lit);
    if (room > 10 && tall > 0.12) write(lane.x, base - tall - 4, weights[key].toFixed(2).replace(/^0/, ""), lit);
    vector("value", key, y - 216, out ? 10 : 25 + 75 * Math.sqrt(weights[key]));
  });
  if (!out) vector("mixed", focus, layer.plus1 + 42);
};
