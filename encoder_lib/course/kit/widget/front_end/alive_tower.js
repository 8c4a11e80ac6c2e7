// The towers of the encoder's picture: names at the left, a lane for each token, ribbons, residual connections, norms.

import { d } from "./alive_drawing.js";
import { along, distanceOf, ribbonOf } from "./alive_layout.js";
import { focusOf, headIn, isCut, isOut, PARTS, reachOf, SPECIAL } from "./alive_state.js";
import { clamp } from "./numbers.js";

const [THICKEST, GHOST] = [22, 30]; // pixels: of a ribbon, and of a distance of 1 between a lane and its old self

/** @param {Curve} c */
export const curve = (c) => d`M${c[0]} ${c[1]}C${c[2]} ${c[3]} ${c[4]} ${c[5]} ${c[6]} ${c[7]}`;

/**
 * The colour of the followed word: one for both sentences while its two vectors are one, and the sentence's own as they
 * part.
 * @param {number} cosine
 * @param {Side} side
 */
export function hueOf(cosine, side) {
  const share = Math.round(100 * clamp(distanceOf(cosine) / 0.45, [0, 1]));
  return `color-mix(in oklab, var(--sentence-${side + 1}) ${share}%, var(--shared))`;
}

/** @param {AliveView} view */
export function drawNames(view) {
  const { drawing, plan, state } = view;
  plan.layers.forEach((layer, n) => {
    drawing.put("bands", `${n}`, "rect", {
      ...{
        class: n === state.layer ? "alive-band alive-lit" : "alive-band",
        rx: 8,
        x: plan.gutter - 5,
        y: layer.end + 2,
      },
      ...{ width: plan.right - plan.gutter + 10, height: layer.begin - layer.end - 2 },
    });
    drawLayerNames(view, layer, n);
  });
  const x = plan.gutter - 12;
  drawing.text("names", "table", "alive-name alive-embedding", [x, plan.table.y + 6], "embedding");
  nameOf(view, "position", null, "position", [x, plan.table.plus + 1]);
  if (plan.wide) drawing.text("names", "mean", "alive-name alive-stream", [x, plan.top - 32], "mean of all tokens");
}

/** @param {AliveView} view @param {LayerPlan} layer @param {number} n */
function drawLayerNames(view, layer, n) {
  const { drawing, plan, state } = view;
  const { ribbons, plus1, gate1, plus2, gate2, open } = layer;
  const x = plan.gutter - 12;
  const lit = n === state.layer;
  const seams = [(plus1 + gate1) / 2 + 4, (plus2 + gate2) / 2 + 4];
  const heights = [(ribbons[0] + ribbons[1]) / 2 + 6, seams[0], seams[0], (gate1 + plus2) / 2 + 4, seams[1], seams[1]];
  PARTS.forEach(([part, name], i) => {
    const small = i % 3 > 0; // named only in the layer at hand
    if (small && !lit && !isOut(state, part, n)) return;
    const left = i % 3 === 1 ? 33 : 0;
    nameOf(view, part, n, left && !plan.wide ? "+" : name, [x - left, heights[i]]);
  });
  const opened = state.open === n;
  drawing.text("names", `layer${n}`, "alive-numeral", [3, heights[0] + 1], `${n + 1}`, {
    ...{ role: "button", "data-act": "open", "data-layer": n, "aria-expanded": `${opened}` },
    "aria-label": `Layer ${n + 1}: ${opened ? "close" : "open"} its attention`,
  });
  if (lit || opened) drawing.text("names", `open${n}`, "alive-quiet", [3, heights[0] + 14], opened ? "close" : "open");
  if (open < 0.6) return;
  const rows = [
    [27, "query", "query"],
    [91, "key", "key"],
    [139, plan.wide ? "score: q · k ÷ √32" : "score", "quiet"],
    [204, plan.wide ? "softmax: weight" : "weight", "attention"],
    [252, "value", "value"],
  ];
  for (const [up, name, role] of rows) {
    drawing.text("names", `row${n}${up}`, `alive-name alive-${role}`, [x, layer.begin - Number(up) + 4], `${name}`);
  }
  drawing.text("names", `row${n}sum`, "alive-name alive-value", [x, plus1 + 28], "weighted sum");
}

/** @param {AliveView} view @param {Part} part @param {number | null} layer @param {string} name @param {XY} at */
function nameOf({ drawing, state }, part, layer, name, at) {
  const [, , spoken, role] = PARTS.find(([id]) => id === part) ?? [part, name, name, part];
  const out = isOut(state, part, layer);
  const where = layer === null ? "" : ` of layer ${layer + 1}`;
  drawing.text("names", `${layer}${part}`, `alive-name alive-part alive-${role}${out ? " alive-out" : ""}`, at, name, {
    ...{ role: "button", "aria-pressed": `${out}`, "data-act": "part", "data-part": part, "data-layer": layer ?? "" },
    "aria-label": `Take out ${spoken}${where}`,
  });
}

/** @param {AliveView} view @param {Side} side */
export function drawTower(view, side) {
  const { plan, answer, state } = view;
  const focus = focusOf(state, answer, side);
  answer.sentences[side].tokens.forEach((_, token) => {
    drawLane(view, side, token, token === focus);
  });
  plan.layers.forEach((layer, n) => {
    drawParts(view, side, layer, n, focus);
    if (!isOut(state, "attention", n)) drawTexture(view, side, layer, n, focus);
    drawRibbons(view, side, layer, n, focus);
  });
}

/** @param {AliveView} view @param {Side} side @param {number} token @param {boolean} lit */
function drawLane(view, side, token, lit) {
  const { drawing, plan, answer, state } = view;
  const { tokens, place, kept } = answer.sentences[side];
  const { x, width } = plan.lanes[side][token];
  const followed = token === place;
  const kind = `alive-lane${followed ? " alive-followed" : ""}${lit ? " alive-lit" : ""}`;
  let old = d`M${x} ${plan.bottom}`;
  let moved = 0;
  plan.stretches.forEach(([low, high], station) => {
    const layer = plan.layers[(station - 1) >> 1];
    const around = station % 2 ? "residual1" : "residual2";
    const broken = station > 0 && layer && isOut(state, around, (station - 1) >> 1);
    const open = station % 2 ? (layer?.open ?? 0) : 0;
    const until = broken ? (station % 2 ? layer.begin : layer.gate1) : open ? layer.begin : high;
    const hue = answer.word_cosines && !state.asking ? hueOf(answer.word_cosines[station], side) : "var(--shared)";
    const more = { style: followed ? `stroke:${answer.word_cosines ? hue : `var(--sentence-${side + 1})`}` : "" };
    const key = `${side}.${token}.${station}`;
    drawing.path("lanes", key, kind, d`M${x} ${low}V${until}`, more);
    if (until > high)
      drawing.path("lanes", `${key}+`, `${kind} alive-${broken ? "broken" : "thin"}`, d`M${x} ${until}V${high}`, more);
    const gone = distanceOf(kept[station * tokens.length + token]);
    moved = Math.max(moved, gone);
    old += d`L${x + GHOST * gone} ${low - 4}V${high + 4}`;
  });
  if (moved > 0.02) drawing.path("ghosts", `${side}.${token}`, "alive-ghost", old);
  drawFoot(view, side, token, kind);
  drawing.put("hits", `${side}.${token}`, "rect", {
    ...{ class: "alive-hit", x: x - width / 2, y: plan.top, width, height: plan.bottom - plan.top + 30 },
    ...{ "data-act": "token", "data-side": side, "data-token": token },
  });
}

/** The embedding of a token, its position, its name and its share in the mean. @param {AliveView} view @param {Side} side @param {number} token @param {string} kind */
function drawFoot({ drawing, plan, answer, state }, side, token, kind) {
  const { x } = plan.lanes[side][token];
  const { y, plus } = plan.table;
  const name = answer.sentences[side].tokens[token];
  const key = `${side}.${token}`;
  const out = isOut(state, "position", null) ? " alive-hollow" : "";
  drawing.path("parts", `${key}row`, "alive-row", d`M${x - 6} ${y - 4}h12v11h-12z`);
  drawing.path("parts", `${key}place`, `alive-place${out}`, circle(x, plus, 4.2));
  const label = plan.turned
    ? { x: 0, y: 0, transform: d`translate(${x + 4} ${plan.bottom + 12}) rotate(-50)`, "text-anchor": "end" }
    : { "text-anchor": "middle" };
  const special = SPECIAL.test(name) ? " alive-special" : "";
  drawing.text(
    "labels",
    key,
    `alive-token${kind.slice(10)}${special} alive-word-${side + 1}`,
    [x, plan.bottom + 17],
    name,
    {
      ...{ role: "button", "aria-label": `${name}, token ${token + 1} of sentence ${side + 1}: show its attention` },
      ...{ "data-act": "token", "data-side": side, "data-token": token, ...label },
    },
  );
  const [lanes, last] = [plan.lanes[side], plan.lanes[side].length - 1];
  const mean = (lanes[0].x + lanes[last].x) / 2;
  drawing.path(
    "lanes",
    `${key}mean`,
    "alive-mean",
    curve([x, plan.top, x, plan.top - 22, mean, plan.top - 14, mean, plan.top - 36]),
  );
  if (!token) drawing.path("parts", `${side}mean`, `alive-sentence-${side + 1}`, circle(mean, plan.top - 36, 6.5));
}

/** @param {number} x @param {number} y @param {number} r */
export const circle = (x, y, r) => d`M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;

/** @param {number} x @param {number} y @param {number} r @param {boolean} out */
const plusOf = (x, y, r, out) =>
  circle(x, y, r) + (out ? "" : d`M${x - r + 2.4} ${y}h${2 * r - 4.8}M${x} ${y - r + 2.4}v${2 * r - 4.8}`);

/** @param {number} x @param {number} y @param {number} r */
const gateOf = (x, y, r) => d`M${x - 1.9 * r} ${y}h${0.9 * r}M${x + r} ${y}h${0.9 * r}`;

/** What stands in the lanes of a layer: two sizes, each one path for all its lanes. @param {AliveView} view @param {Side} side @param {LayerPlan} layer @param {number} n @param {number} focus */
function drawParts({ drawing, plan, answer, state }, side, layer, n, focus) {
  const { place } = answer.sentences[side];
  const { plus1, gate1, plus2, gate2, scale } = layer;
  const middle = (gate1 + plus2) / 2;
  for (const large of [false, true]) {
    const lanes = plan.lanes[side].filter((_, token) => (token === place || token === focus) === large);
    const r = (large ? 6.6 : 4.6) * Math.max(0.7, scale);
    /** @param {Part} part @param {string} kind @param {(x: number) => string} shape */
    const put = (part, kind, shape) => {
      const out = isOut(state, part, n) ? " alive-hollow" : "";
      const path = lanes.map(({ x }) => shape(x)).join("");
      drawing.path(
        "parts",
        `${side}.${n}.${part}${kind}${large}`,
        `alive-${kind}${large ? " alive-lit" : ""}${out}`,
        path,
      );
    };
    const side4 = large ? 14 : 10;
    put("feed_forward", "loop", (x) =>
      curve([x, gate1 - 2, x + 1.5 * side4, gate1 - 4, x + 1.5 * side4, plus2 + 4, x, plus2]),
    );
    put(
      "feed_forward",
      "box",
      (x) => d`M${x + side4 - r * 0.8} ${middle - r * 0.8}h${r * 1.6}v${r * 1.6}h${-r * 1.6}z`,
    );
    put("residual1", "plus", (x) => plusOf(x, plus1, r, isOut(state, "residual1", n)));
    put("residual2", "plus", (x) => plusOf(x, plus2, r, isOut(state, "residual2", n)));
    put("norm1", "gate", (x) => gateOf(x, gate1, r));
    put("norm2", "gate", (x) => gateOf(x, gate2, r));
  }
}

/** The ribbons of the other tokens, faint, in one path for each width. @param {AliveView} view @param {Side} side @param {LayerPlan} layer @param {number} n @param {number} focus */
function drawTexture({ drawing, plan, answer, state }, side, layer, n, focus) {
  if (layer.open > 0.5) return;
  const { T, amount, scale } = reachOf(answer, side, n, { head: headIn(state, n), measure: state.measure });
  const lanes = plan.lanes[side];
  /** @type {Record<number, string>} */
  const paths = {};
  for (let query = 0; query < T; query++) {
    for (let key = 0; query !== focus && key < T; key++) {
      const width = Math.min(THICKEST, amount(query, key) * scale);
      if (width < 1.2 || isCut(state, { side, layer: n, head: headIn(state, n), query, key })) continue;
      const step = Math.round(width / 1.5);
      paths[step] = (paths[step] ?? "") + curve(ribbonOf(lanes[key].x, lanes[query].x, layer.ribbons));
    }
  }
  for (const [step, path] of Object.entries(paths)) {
    drawing.path("texture", `${side}.${n}.${step}`, "alive-texture", path, { "stroke-width": 1.5 * Number(step) });
  }
}

/** The ribbons of the token at hand. @param {AliveView} view @param {Side} side @param {LayerPlan} layer @param {number} n @param {number} query */
function drawRibbons({ drawing, plan, answer, before, state }, side, layer, n, query) {
  const shown = { head: headIn(state, n), measure: state.measure };
  const { T, amount, scale } = reachOf(answer, side, n, shown);
  const old = reachOf(before, side, n, shown);
  const lanes = plan.lanes[side];
  for (let key = 0; key < T; key++) {
    const id = `${side}.${n}.${query}.${key}`;
    const c = ribbonOf(lanes[key].x, lanes[query].x, layer.ribbons);
    const path = curve(c);
    const cut = isCut(state, { side, layer: n, head: shown.head, query, key });
    const [width, was] = [amount(query, key), old.amount(query, key)].map((value) => Math.min(THICKEST, value * scale));
    if (was - width > 1) drawing.path("ghosts", `ribbon${id}`, "alive-was-ribbon", path, { "stroke-width": was });
    if (!cut && width < 0.5) continue;
    const [x, y] = along(c, 0.5);
    if (cut) drawing.path("marks", id, "alive-cross", d`M${x - 5} ${y - 5}l10 10m0 -10l-10 10`);
    const kind = cut ? "alive-cut" : `alive-ribbon${state.pointed === id ? " alive-pointed" : ""}`;
    drawing.path("ribbons", id, kind, path, cut ? {} : { "stroke-width": width });
    const act = { "data-act": "ribbon", "data-side": side, "data-layer": n, "data-token": query, "data-key": key };
    drawing.path("targets", id, "alive-target", path, act);
  }
}
