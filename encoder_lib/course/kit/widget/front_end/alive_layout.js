// Where everything of the encoder's picture is: pure functions of the width, the tokens and how far layers are open.

import { clamp } from "./numbers.js";

const [TOP, TABLE, GAP, FOOT, TURNED] = [98, 38, 6, 34, 70]; // CSS pixels, as are all lengths here
const LAYER = { attention: 39, gate: 7, forward: 20 };
const INSIDE = { rows: 258, sum: 46 }; // what an open layer takes below its ribbons and above them
const SQUEEZE = 0.42; // how much the other layers give way to an open one
const LEAST = 20; // the width of a lane
const WIDE = 680; // where both towers fit side by side

/** @param {number} a @param {number} b @param {number} t */
export const mix = (a, b, t) => a + (b - a) * t;

/**
 * How far apart two vectors of length 1 are.
 * @param {number} cosine
 */
export const distanceOf = (cosine) => Math.sqrt(Math.max(0, 2 - 2 * cosine));

/**
 * The lanes of the towers, each as wide as its word where there is room, and how wide all of it gets.
 * @param {number[][]} words how wide each token's label is
 * @param {Side[]} sides
 * @param {{ left: number, room: number, centre: number }} frame
 */
function lanesOf(words, sides, { left, room, centre }) {
  const shown = sides.flatMap((side) => words[side]);
  const natural = shown.reduce((sum, width) => sum + width + 10, 0);
  const turned = natural > room * 1.02;
  const each = Math.max(LEAST, room / shown.length);
  const stretch = Math.min(1.45, room / natural);
  /** @type {Plan["lanes"]} */
  const lanes = words.map(() => []);
  let x = left + (turned ? 0 : (room - natural * stretch) / 2);
  sides.forEach((side, i) => {
    if (i) x += centre;
    for (const word of words[side]) {
      const width = turned ? each : (word + 10) * stretch;
      lanes[side].push({ x: x + width / 2, width });
      x += width;
    }
  });
  return { lanes, turned, right: turned ? x : left + room + centre * (sides.length - 1) };
}

/**
 * One layer, upwards from `begin`.
 * @param {number} begin
 * @param {number} open
 * @param {number} scale
 * @returns {LayerPlan}
 */
function layerOf(begin, open, scale) {
  const rows = begin - open * INSIDE.rows;
  const plus1 = rows - LAYER.attention * scale - open * INSIDE.sum;
  const gate1 = plus1 - LAYER.gate * scale;
  const plus2 = gate1 - LAYER.forward * scale;
  const gate2 = plus2 - LAYER.gate * scale;
  const high = rows - (LAYER.attention - 3) * scale - open * 6;
  return { begin, rows, ribbons: [rows - 1, high], plus1, gate1, plus2, gate2, end: gate2 - GAP / 2, open, scale };
}

/**
 * @param {{ width: number, words: number[][], open: number[], side: Side }} given
 * @returns {Plan}
 */
export function planOf({ width, words, open, side }) {
  const wide = words.length === 1 ? width >= 520 : width >= WIDE;
  const gutter = wide ? 122 : 84;
  const centre = words.length === 1 ? 12 : wide ? 150 : 78;
  /** @type {Side[]} */
  const sides = words.length === 1 ? [0] : wide ? [0, 1] : [side];
  const found = lanesOf(words, sides, { left: gutter, room: width - gutter - centre, centre });
  const { lanes, turned } = found;
  const inner = lanes[sides[0]].at(-1) ?? { x: 0, width: 0 };
  const opened = Math.max(...open);
  const scales = open.map((own) => mix(1 - SQUEEZE * opened, 1, own));
  let y = TOP;
  const each = LAYER.attention + 2 * LAYER.gate + LAYER.forward;
  open.forEach((own, n) => {
    y += each * scales[n] + GAP + own * (INSIDE.rows + INSIDE.sum);
  });
  const bottom = y + TABLE;
  const table = { y: bottom - 8, plus: bottom - 23, gate: bottom - 33 };
  const layers = open.map((own, n) => {
    const layer = layerOf(y - GAP / 2, own, scales[n]);
    y = layer.end;
    return layer;
  });
  const radius = wide ? 100 : 44;
  const middle = inner.x + inner.width / 2 + centre / 2;
  const right = sides.length === 2 || words.length === 1 ? found.right : found.right;
  const size = {
    width: Math.max(width, right + (sides.length === 1 ? centre : 0)),
    height: bottom + (turned ? TURNED : FOOT),
  };
  const frame = { ...size, wide, gutter, centre, middle, sides, lanes, turned, right, bottom, table, layers, top: y };
  return { ...frame, radius, stretches: stretchesOf(table, layers, y), bends: bendsOf(table, layers) };
}

/** @param {Plan["table"]} table @param {LayerPlan[]} layers @param {number} top @returns {Plan["stretches"]} */
function stretchesOf(table, layers, top) {
  const edges = [table.y, table.plus, ...layers.flatMap(({ plus1, plus2 }) => [plus1, plus2]), top];
  return edges.slice(1).map((high, i) => [edges[i], high]);
}

/** @param {Plan["table"]} table @param {LayerPlan[]} layers @returns {Plan["bends"]} */
function bendsOf(table, layers) {
  return [
    [table.y + 8, table.y],
    [table.y, table.plus],
    ...layers.flatMap(
      ({ ribbons, plus1, gate1, plus2 }) =>
        /** @type {Plan["bends"]} */ ([
          [ribbons[0], plus1],
          [gate1, plus2],
        ]),
    ),
  ];
}

/**
 * The way of a ribbon: from the lane of the key, below, to the + in the lane of the query.
 * @param {number} from
 * @param {number} to
 * @param {[number, number]} heights
 * @returns {Curve}
 */
export function ribbonOf(from, to, [low, high]) {
  const h = low - high;
  if (from === to) return [from, low, from - 15, low - 0.25 * h, from - 15, high + 0.3 * h, to, high];
  return [from, low, from, low - 0.62 * h, to, high + 0.55 * h, to, high];
}

/** @param {Curve} curve @param {number} t @returns {XY} */
export function along(curve, t) {
  const [a, b, c, e] = [(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t ** 3];
  const at = (/** @type {number} */ i) => a * curve[i] + b * curve[i + 2] + c * curve[i + 4] + e * curve[i + 6];
  return [at(0), at(1)];
}

/** @param {Plan} plan @param {number} at */
export const frontOf = ({ bottom, top }, at) => mix(bottom + 4, top - 46, at);

/**
 * The station that has been reached at a height; one more than the last is the mean.
 * @param {Plan} plan
 * @param {number} y
 */
export function stationAt({ bends, top }, y) {
  if (y < top) return bends.length;
  const above = bends.findIndex(([low]) => y > low);
  return clamp((above < 0 ? bends.length : above) - 1, [0, bends.length - 1]);
}
