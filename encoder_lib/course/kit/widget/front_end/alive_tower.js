// The towers of the encoder's picture: names at the left, a lane for each token, ribbons, residual connections, norms.

import { circle, curve, d, press } from "./alive_drawing.js";
import { along, distanceOf, ribbonOf } from "./alive_layout.js";
import { focusOf, isCut, isOut, isSpecial, PARTS, reachOf } from "./alive_state.js";
import { clamp } from "./numbers.js";

const [THICKEST, GHOST] = [22, 30]; // pixels: of a ribbon, and of a distance of 1 between a lane and its old self
const ROWS_INSIDE = /** @type {[up: number, name: string, role: string][]} */ ([
  [25, "query", "query"],
  [81, "key", "key"],
  [125, "score: q · k ÷ √K", "quiet"],
  [183, "softmax: weight", "attention"],
  [224, "value", "value"],
]);

/** The colour of the followed word: one while its two vectors are one, each sentence's own as they part. @param {number} cosine @param {number} side */
export const hueOf = (cosine, side) => {
  const share = Math.round(100 * clamp(distanceOf(cosine) / 0.45, [0, 1]));
  return `stroke:color-mix(in oklab, var(--sentence-${side + 1}) ${share}%, var(--shared))`;
};

/** @type {Draw} */
export const drawNames = (view) => {
  const { drawing, plan, state } = view;
  const x = plan.gutter - 12;
  plan.layers.forEach(({ begin, end }, n) => {
    const size = {
      x: plan.gutter - 5,
      y: end + 2,
      width: plan.right - plan.gutter + 10,
      height: begin - end - 2,
      rx: 8,
    };
    drawing.put("bands", `${n}`, "rect", { class: `alive-band${n === state.layer ? " alive-lit" : ""}`, ...size });
    drawLayerNames(view, 0, n);
  });
  drawing.text("names", "table", "alive-name alive-embedding", [x, plan.table.y + 6], "embedding");
  drawPart(view, ["position", "position", "the positions", "position"], null, [x, plan.table.plus + 1]);
  drawing.text(
    "names",
    "mean",
    "alive-name alive-stream",
    [x, plan.top - 32],
    plan.wide ? "mean of all tokens" : "mean",
  );
};

/** @type {DrawLayer} */
const drawLayerNames = (view, _, n) => {
  const { drawing, plan, state } = view;
  const { ribbons, plus1, gate1, plus2, gate2, begin, open } = plan.layers[n];
  const [x, lit, opened] = [plan.gutter - 12, n === state.layer, n === state.open];
  const [middle, low, high] = [(ribbons[0] + ribbons[1]) / 2 + 6, (plus1 + gate1) / 2 + 6, (plus2 + gate2) / 2 + 2];
  const heights = [middle, low, low, (gate1 + plus2) / 2 + 4, high, high];
  PARTS.forEach((part, i) => {
    const always = i % 3 === 0; // the others are named only in the layer at hand
    if (always || lit || isOut(state, part[0], n)) drawPart(view, part, n, [x - (i % 3 === 1 ? 36 : 0), heights[i]]);
  });
  const label = `Layer ${n + 1}: ${opened ? "close" : "open"} its attention`;
  const told = { ...press(`open ${n}`, label), "aria-expanded": `${opened}`, "data-layer": n };
  drawing.text("names", `layer${n}`, "alive-numeral", [3, middle + 1], `${n + 1}`, told);
  if (lit || opened) drawing.text("names", `open${n}`, "alive-quiet", [3, middle + 14], opened ? "close" : "open");
  if (open < 0.6) return;
  for (const [up, name, role] of ROWS_INSIDE) {
    drawing.text(
      "names",
      `${n}${name}`,
      `alive-name alive-${role}`,
      [x, begin - up + 4],
      plan.wide ? name : name.split(":")[0],
    );
  }
  drawing.text("names", `${n}sum`, "alive-name alive-value", [x, plus1 + 26], "weighted sum");
};

/** A name that takes its part out. @param {AliveView} view @param {PARTS[0]} part @param {number | null} layer @param {XY} at */
const drawPart = ({ drawing, plan, state }, [part, name, spoken, role], layer, at) => {
  const out = isOut(state, part, layer);
  const act = press(
    `part ${part} ${layer ?? ""}`,
    `Take out ${spoken}${layer === null ? "" : ` of layer ${layer + 1}`}`,
  );
  const kind = `alive-name alive-part alive-${role}${out ? " alive-out" : ""}`;
  const told = { ...act, "aria-pressed": `${out}`, "data-layer": layer ?? "" };
  drawing.text("names", `${layer}${part}`, kind, at, plan.wide ? name : name.replace("residual ", ""), told);
};

/** @type {DrawSide} */
export const drawTower = (view, side) => {
  const { plan, answer, state } = view;
  const { tokens, place } = answer.sentences[side];
  const focus = focusOf(state, answer, side);
  tokens.forEach((name, token) => {
    const kind = [
      [token === place, "followed"],
      [token === focus, "lit"],
      [isSpecial(name), "special"],
    ];
    const kinds = kind.map(([is, name]) => (is ? ` alive-${name}` : "")).join("");
    drawLane(view, side, token, kinds);
    drawFoot(view, side, token, kinds);
  });
  plan.layers.forEach((_, n) => {
    drawParts(view, side, n);
    drawTexture(view, side, n);
    drawRibbons(view, side, n);
  });
};

/** A lane, station by station: solid, thin where its layer is open, broken where its residual connection is out. @type {DrawToken} */
const drawLane = ({ drawing, plan, answer, state }, side, token, kinds) => {
  const { tokens, place, kept } = answer.sentences[side];
  const { x } = plan.lanes[side][token];
  const { word_cosines } = answer;
  const gone = plan.stretches.map((_, i) => distanceOf(kept[i * tokens.length + token]));
  plan.stretches.forEach(([low, high], i) => {
    const [n, before] = [(i - 1) >> 1, i % 2 > 0]; // its layer, and whether it leads to attention
    const layer = plan.layers[n];
    const broken = layer && isOut(state, before ? "residual1" : "residual2", n);
    const until = broken || (before && layer?.open) ? (before ? layer.begin : layer.gate1) : high;
    const own = word_cosines ? hueOf(state.asking ? 1 : word_cosines[i], side) : `stroke:var(--sentence-${side + 1})`;
    const style = { style: token === place ? own : "" };
    const key = `${side} ${token} ${i}`;
    drawing.path("lanes", key, `alive-lane${kinds}`, d`M${x} ${low}V${until}`, style);
    const rest = `alive-lane${kinds} alive-${broken ? "broken" : "thin"}`;
    if (until > high) drawing.path("lanes", `${key}+`, rest, d`M${x} ${until}V${high}`, style);
  });
  if (Math.max(...gone) < 0.02) return;
  const old = plan.stretches.map(([low, high], i) => d`${x + GHOST * gone[i]} ${low - 4}V${high + 4}`);
  drawing.path("ghosts", `${side} ${token}`, `alive-ghost${kinds}`, `M${old.join("L")}`);
};

/** Below a lane its embedding, its position and its name; above it its share in the mean. @type {DrawToken} */
const drawFoot = ({ drawing, plan, answer, state }, side, token, kinds) => {
  const lanes = plan.lanes[side];
  const { x, width } = lanes[token];
  const [top, mean, key] = [plan.top, (lanes[0].x + lanes[lanes.length - 1].x) / 2, `${side} ${token}`];
  const name = answer.sentences[side].tokens[token];
  const out = isOut(state, "position", null) ? " alive-hollow" : "";
  drawing.path("parts", `${key}row`, "alive-row", d`M${x - 6} ${plan.table.y - 4}h12v11h-12z`);
  drawing.path("parts", `${key}place`, `alive-place${out}`, circle(x, plan.table.plus, 4.2));
  drawing.path("lanes", `${key}mean`, "alive-mean", curve([x, top, x, top - 22, mean, top - 14, mean, top - 36]));
  if (!token) drawing.path("parts", `${side}mean`, `alive-fill-${side + 1}`, circle(mean, top - 36, 6.5));
  const turn = plan.turned
    ? { transform: d`translate(${x + 4} ${plan.bottom + 14}) rotate(-50)` }
    : { transform: d`translate(${x} ${plan.bottom + 17})` };
  const kind = `alive-token alive-word-${side + 1}${kinds} alive-${plan.turned ? "end" : "middle"}`;
  const label = press(`token ${key}`, `${name}, token ${token + 1} of sentence ${side + 1}: show its attention`);
  drawing.text("labels", key, kind, [0, 0], name, { ...turn, ...label });
  const box = { x: x - width / 2, y: top, width, height: plan.bottom - top + 4 };
  drawing.put("hits", key, "rect", { class: "alive-hit", "data-act": `token ${key}`, ...box });
};

/** @param {number} x @param {number} y @param {number} r */
const gateOf = (x, y, r) => d`M${x - 1.9 * r} ${y}h${0.9 * r}M${x + r} ${y}h${0.9 * r}`;

/** @param {number} x @param {number} y @param {number} r @param {boolean} out */
const plusOf = (x, y, r, out) =>
  circle(x, y, r) + (out ? "" : d`M${x - r + 2.4} ${y}h${2 * r - 4.8}M${x} ${y - r + 2.4}v${2 * r - 4.8}`);

/** What stands in the lanes of a layer, in two sizes: each is one path for all its lanes. @type {DrawLayer} */
const drawParts = ({ drawing, plan, answer, state }, side, n) => {
  const { plus1, gate1, plus2, gate2, scale } = plan.layers[n];
  const { place } = answer.sentences[side];
  const focus = focusOf(state, answer, side);
  for (const size of ["", " alive-lit"]) {
    const lanes = plan.lanes[side].filter((_, token) => (token === place || token === focus) === Boolean(size));
    const [r, wide, middle] = [(size ? 6.6 : 4.6) * Math.max(0.7, scale), size ? 14 : 10, (gate1 + plus2) / 2];
    /** @param {Part} part @param {string} kind @param {(x: number, out: boolean) => string} shape */
    const put = (part, kind, shape) => {
      const out = isOut(state, part, n);
      const path = lanes.map(({ x }) => shape(x, out)).join("");
      drawing.path(
        "parts",
        `${side} ${n} ${part}${kind}${size}`,
        `alive-${kind}${size}${out ? " alive-hollow" : ""}`,
        path,
      );
    };
    put("feed_forward", "loop", (x) =>
      curve([x, gate1 - 2, x + 1.5 * wide, gate1 - 4, x + 1.5 * wide, plus2 + 4, x, plus2]),
    );
    put("feed_forward", "box", (x) => d`M${x + wide - r * 0.8} ${middle - r * 0.8}h${r * 1.6}v${r * 1.6}h${-r * 1.6}z`);
    put("residual1", "plus", (x, out) => plusOf(x, plus1, r, out));
    put("residual2", "plus", (x, out) => plusOf(x, plus2, r, out));
    put("norm1", "gate", (x) => gateOf(x, gate1, r));
    put("norm2", "gate", (x) => gateOf(x, gate2, r));
  }
};

/** The ribbons of the other tokens, faint, in one path for each width. @type {DrawLayer} */
const drawTexture = ({ drawing, plan, answer, state }, side, n) => {
  const { T, amount, scale } = reachOf(answer, state, side, n);
  const [lanes, focus, layer] = [plan.lanes[side], focusOf(state, answer, side), plan.layers[n]];
  /** @type {Record<number, string>} */
  const paths = {};
  for (let i = 0; layer.open < 0.5 && i < T * T; i++) {
    const [query, key] = [Math.floor(i / T), i % T];
    const width = Math.min(THICKEST, amount(query, key) * scale);
    if (query === focus || width < 1.2) continue;
    const step = Math.round(width / 1.5);
    paths[step] = (paths[step] ?? "") + curve(ribbonOf(lanes[key].x, lanes[query].x, layer.ribbons));
  }
  for (const [step, path] of Object.entries(paths)) {
    drawing.path("texture", `${side} ${n} ${step}`, "alive-texture", path, { "stroke-width": 1.5 * Number(step) });
  }
};

/** The ribbons of the token at hand. @type {DrawLayer} */
const drawRibbons = ({ drawing, plan, answer, before, state }, side, n) => {
  const { T, amount, scale } = reachOf(answer, state, side, n);
  const [old, query, lanes] = [reachOf(before, state, side, n), focusOf(state, answer, side), plan.lanes[side]];
  for (let key = 0; key < T; key++) {
    const id = [side, n, query, key].join(" ");
    const c = ribbonOf(lanes[key].x, lanes[query].x, plan.layers[n].ribbons);
    const cut = isCut(state, [side, n, query, key]);
    const [width, was] = [amount(query, key), old.amount(query, key)].map((value) => Math.min(THICKEST, value * scale));
    if (was - width > 1) drawing.path("ghosts", id, "alive-was-ribbon", curve(c), { "stroke-width": was });
    if (!cut && width < 0.5) continue;
    const [x, y] = along(c, 0.5);
    if (cut) drawing.path("marks", id, "alive-cross", d`M${x - 5} ${y - 5}l10 10m0 -10l-10 10`);
    const kind = cut ? "alive-cut" : `alive-ribbon${state.pointed === id ? " alive-pointed" : ""}`;
    drawing.path("ribbons", id, kind, curve(c), { "stroke-width": cut ? 1.4 : width });
    drawing.path("targets", id, "alive-target", curve(c), { "data-act": `ribbon ${id}` });
  }
};
