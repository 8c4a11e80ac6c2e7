// What the explorer `heads` shows of a text; with a kernel, encoder_lib/course/pretrained/explorers.py computes the same.

import { percent } from "./format.js";
import { packed } from "./traits.js";

/**
 * The panels of one layer, with their numbers and words. The names of the axes are those that were recorded.
 * @param {Record<string, any>} values of the explorer; layers count from 1
 * @param {Pick<Reading, "tokens" | "weights">[]} readings one
 */
export function showHeads({ _panels, layer }, [{ tokens, weights }]) {
  const [T, chosen] = [tokens.length, weights[layer - 1]];
  const heads = chosen.length / T ** 2;
  const drawn = /** @type {PanelSpec[]} */ (_panels).map((panel) => {
    if (panel.tile !== null) return tiled(panel, weights, T, heads);
    const title = `Layer ${layer}, head {frame}: attention weights`;
    const ticks = { x_ticks: tokens, y_ticks: tokens };
    return { spec: { ...panel, ...ticks, title, rows: T, columns: T, stride: T * T }, numbers: chosen };
  });
  return {
    _panels: drawn.map(({ spec }) => spec),
    _data: packed(drawn.map(({ numbers }) => numbers)),
    _descriptions: Array.from({ length: heads }, (_, head) => {
      const map = chosen.subarray(head * T * T, (head + 1) * T * T);
      return `Layer ${layer}, head ${head + 1}: ${habit(map, tokens)}`;
    }),
  };
}

/**
 * What a head (T, T) mostly does, in words: where the weight of its tokens goes, and its largest single weight.
 * @param {Float32Array} weights
 * @param {string[]} tokens
 */
function habit(weights, tokens) {
  const T = tokens.length;
  const received = new Float64Array(T); // the weight on each token, averaged over all queries
  /** @type {Map<number, number>} */
  const stepped = new Map(); // the average weight on the token so many steps later
  weights.forEach((weight, i) => {
    const [query, key] = [Math.floor(i / T), i % T];
    received[key] += weight / T;
    stepped.set(key - query, (stepped.get(key - query) ?? 0) + weight / T);
  });
  const favourite = largest(received);
  const places = ["the token itself", "the token before", "the token after", `“${tokens[favourite]}”`];
  const average = [0, -1, 1].map((step) => stepped.get(step) ?? 0).concat(received[favourite]);
  const most = largest(average);
  const words = `on average over all tokens, ${percent(average[most])} of its weight, the most, goes to ${places[most]}.`;
  if (T < 4) return words;
  const inner = weights.map((w, i) => {
    const [query, key] = [Math.floor(i / T), i % T];
    const special = Math.min(query, key) === 0 || Math.max(query, key) === T - 1; // [CLS] or [SEP]
    return query === key || special ? -1 : w;
  });
  const strongest = largest(inner);
  const [query, key] = [tokens[Math.floor(strongest / T)], tokens[strongest % T]];
  return `${words} Its largest weight from one word to another: from “${query}” to “${key}”, ${percent(inner[strongest])}.`;
}

/**
 * The index of the largest number, or of the first of several equal ones.
 * @param {ArrayLike<number>} numbers
 */
function largest(numbers) {
  let best = 0;
  for (let i = 1; i < numbers.length; i++) if (numbers[i] > numbers[best]) best = i;
  return best;
}

/**
 * All maps in one, with a row for each layer and a column for each head. Of a long sentence, only some tokens are shown.
 * @param {PanelSpec} panel
 * @param {Float32Array[]} weights
 * @param {number} T
 * @param {number} heads
 */
function tiled(panel, weights, T, heads) {
  const step = Math.max(1, Math.ceil(((T + 1 + Math.floor(T / 6)) * heads) / 480));
  const kept = Math.ceil(T / step);
  const gap = 1 + Math.floor(kept / 6);
  const tile = kept + gap;
  const [rows, columns] = [weights.length * tile - gap, heads * tile - gap];
  const numbers = Float32Array.from({ length: rows * columns }, (_, i) => {
    const [row, column] = [Math.floor(i / columns), i % columns];
    const [query, key] = [row % tile, column % tile];
    if (Math.max(query, key) >= kept) return Number.NaN;
    return weights[Math.floor(row / tile)][(Math.floor(column / tile) * T + query * step) * T + key * step];
  });
  /** @param {number} length */
  const ticks = (length) => Array.from({ length }, (_, i) => String(Math.floor(i / tile) + 1));
  const spec = { ...panel, rows, columns, stride: rows * columns, tile, x_ticks: ticks(columns), y_ticks: ticks(rows) };
  return { spec, numbers };
}
