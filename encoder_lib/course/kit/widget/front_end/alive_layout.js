// Where everything of the encoder's picture is: pure functions of the width, the tokens and how far layers are open.

import { clamp } from "./numbers.js";

const [TOP, TABLE, GAP, FOOT, TURNED] = [98, 38, 6, 36, 70]; // CSS pixels, as are all lengths here
const [ATTENTION, GATE, FORWARD] = [36, 7, 19]; // the parts of a layer
const [ROWS, SUM] = [250, 42]; // what an open layer takes below its ribbons and above them
const SQUEEZE = 0.42; // how much the other layers give way to an open one
const [LEAST, AIR] = [17, 6]; // the width of a lane, and the air around its word
const WIDE = 680; // where both towers fit side by side
const SLOW = 2.2; // how many times as long Play takes for attention as for as many pixels elsewhere

/** @param {number} a @param {number} b @param {number} t */
export const mix = (a, b, t) => a + (b - a) * t;

/** How far apart two vectors of length 1 are. @param {number} cosine */
export const distanceOf = (cosine) => Math.sqrt(Math.max(0, 2 - 2 * cosine));

/** Lanes as wide as their words, so that tokens read as a sentence; where there is no room, all alike. @type {LanesOf} */
const lanesOf = (words, sides, { left, room, centre }) => {
  const shown = sides.flatMap((side) => words[side]);
  const natural = shown.reduce((sum, word) => sum + word + AIR, 0);
  const turned = natural > room;
  const stretch = Math.min(sides.length > 1 ? 1.5 : 2, room / natural);
  let right = left + (turned ? 0 : (room - natural * stretch) / 2);
  const lanes = words.map((row, side) => {
    if (!sides.includes(side)) return [];
    if (side !== sides[0]) right += centre;
    return row.map((word) => {
      const width = turned ? Math.max(LEAST, room / shown.length) : (word + AIR) * stretch;
      right += width;
      return { x: right - width / 2, width };
    });
  });
  return { lanes, turned, right: turned ? right : left + room + centre * (sides.length - 1) };
};

/** One layer, upwards from `begin`. @param {number} begin @param {number} open @param {number} scale @returns {LayerPlan} */
const layerOf = (begin, open, scale) => {
  const rows = begin - open * ROWS;
  const plus1 = rows - ATTENTION * scale - open * SUM;
  const gate1 = plus1 - GATE * scale;
  const plus2 = gate1 - FORWARD * scale;
  const gate2 = plus2 - GATE * scale;
  const high = rows - (ATTENTION - 3) * scale - open * 6;
  return { begin, ribbons: [rows - 1, high], plus1, gate1, plus2, gate2, end: gate2 - GAP / 2, open, scale };
};

/** Where everything is; `words` says how wide each token's label is. @type {PlanOf} */
export const planOf = ({ width, words, open, side }) => {
  const pair = words.length > 1;
  const wide = width >= (pair ? WIDE : 520);
  const [gutter, centre] = [wide ? 122 : 92, !pair ? 16 : wide ? 150 : 88];
  const room = width - gutter - centre;
  const both = pair && wide && words.flat().length * LEAST <= room;
  const sides = both ? [0, 1] : [pair ? side : 0];
  const { lanes, turned, right } = lanesOf(words, sides, { left: gutter, room, centre });
  const last = lanes[sides[0]][lanes[sides[0]].length - 1];
  const scales = open.map((own) => mix(1 - SQUEEZE * Math.max(...open), 1, own));
  const each = open.map((own, n) => (ATTENTION + 2 * GATE + FORWARD) * scales[n] + GAP + own * (ROWS + SUM));
  const top = pair ? TOP : TOP / 2;
  let y = top + each.reduce((sum, height) => sum + height);
  const bottom = y + TABLE;
  const table = { y: bottom - 8, plus: bottom - 23 };
  const layers = open.map((own, n) => {
    const layer = layerOf(y - GAP / 2, own, scales[n]);
    y = layer.end;
    return layer;
  });
  const edges = [table.y, table.plus, ...layers.flatMap(({ plus1, plus2 }) => [plus1, plus2]), top];
  const branches = [table.plus, ...layers.flatMap(({ begin, gate1 }) => [begin, gate1]), top];
  const bends = layers.flatMap(({ ribbons, plus1, gate1, plus2 }) => [ribbons[0], plus1, gate1, plus2]);
  const heights = [table.y + 8, table.y, table.y, table.plus, ...bends];
  return {
    ...{ wide, gutter, centre, sides, lanes, turned, right, bottom, table, layers, top, radius: wide ? 100 : 38 },
    ...{ width: Math.max(width, right + (both ? 4 : centre)), height: bottom + (turned ? TURNED : FOOT) },
    middle: (both ? last.x + last.width / 2 : right) + centre / 2,
    stretches: edges.slice(1).map((high, i) => [edges[i], branches[i], high]),
    bends: Array.from({ length: heights.length / 2 }, (_, i) => [heights[2 * i], heights[2 * i + 1]]),
  };
};

/** The way of a ribbon, from the lane of the key, below, to the + in the lane of the query. @param {number} from @param {number} to @param {Heights} heights */
export const ribbonOf = (from, to, [low, high]) => {
  const h = low - high;
  if (from === to) return [from, low, from - 15, low - 0.25 * h, from - 15, high + 0.3 * h, to, high];
  return [from, low, from, low - 0.62 * h, to, high + 0.55 * h, to, high];
};

/** A point of a curve. @param {Curve} c @param {number} t @returns {XY} */
export const along = (c, t) => {
  const shares = [(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t ** 3];
  const at = (/** @type {number} */ i) => shares.reduce((sum, share, k) => sum + share * c[2 * k + i], 0);
  return [at(0), at(1)];
};

/** The height that Play has reached; attention takes its time. @param {Plan} plan @param {number} at */
export const frontOf = ({ bottom, top, layers }, at) => {
  const edges = [bottom + 4, ...layers.flatMap(({ begin, plus1 }) => [begin, plus1]), top - 46];
  const times = edges.slice(1).map((high, i) => (edges[i] - high) * (i % 2 ? SLOW : 1));
  let left = at * times.reduce((sum, time) => sum + time);
  const reached = times.findIndex((time) => {
    left -= time;
    return left < 0;
  });
  return reached < 0 ? top - 46 : edges[reached + 1] - left / (reached % 2 ? SLOW : 1);
};

/** The station that is reached at a height; one more than the last is the mean. @param {Plan} plan @param {number} y */
export const stationAt = ({ bends, top }, y) => {
  const reached = bends.filter(([low]) => y <= low).length;
  return y < top ? bends.length : clamp(reached - 1, [0, bends.length - 1]);
};
