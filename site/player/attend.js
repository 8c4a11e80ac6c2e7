// The explorer `attend` of 04: scores, weights and output of a sentence, for random vectors.

import { percent } from "./format.js";
import { crc32, randn } from "./random.js";

const [MOST_WORDS, LONGEST_WORD] = [12, 16]; // words of a sentence, characters of a word
const [WIDEST, VALUES] = [512, 8]; // components of the widest query or key, and of a value
const SILENT = ["no word", "the first word", "the second word", "the third word", "the last word"];
const PADDED = 2; // words at the end that the padding mask masks out

/**
 * @param {Record<string, any>} values
 * @param {PanelSpec[]} panels
 */
export function attend({ sentence, similarity, temperature, d_head, scaled, padding, causal, silent }, panels) {
  const words = wordsOf(sentence);
  const vectors = words.map((word) => vectorsOf(word, similarity));
  const scale = (scaled ? d_head ** -0.5 : 1) / temperature;
  const scores = vectors.map(({ query }) => vectors.map(({ key }) => scale * dot(query, key, d_head))); // (T, T)
  const mask = maskOf(words.length, { padding, causal, silent });
  const weights = scores.map((row, t) => softmax(row, mask[t]));
  const output = weights.map((row) =>
    Array.from({ length: VALUES }, (_, v) => row.reduce((sum, w, t) => sum + w * vectors[t].value[v], 0)),
  );
  const [T, seen] = [words.length, scores.flatMap((row, t) => row.filter((_, other) => mask[t][other]))];
  const square = { rows: T, columns: T, stride: T * T, x_ticks: words, y_ticks: words };
  const title = scaled ? "Scores: query · key / √K" : "Scores: query · key";
  return {
    _panels: [
      { ...panels[0], ...square, title },
      { ...panels[1], ...square },
      { ...panels[2], rows: T, stride: T * VALUES, y_ticks: words },
    ],
    _limits: [limits(seen), [0, 1], [-3, 3]],
    _tokens: {
      panel: 1,
      title: "Point at a word, or walk with the arrow keys: where does it look?",
      chosen: Math.min(1, T - 1),
    },
    _data: [
      ...scores.map((row, t) => row.map((score, other) => (mask[t][other] ? score : Number.NaN))),
      ...weights,
      ...output,
    ],
    _descriptions: [inWords(words, seen, weights, mask)],
  };
}

/** @param {string} sentence */
function wordsOf(sentence) {
  const words = sentence.split(/\s+/).filter(Boolean).slice(0, MOST_WORDS);
  return words.length ? words.map(short) : ["(nothing)"];
}

/** @param {string} word */
function short(word) {
  const letters = [...word];
  return letters.length > LONGEST_WORD ? `${letters.slice(0, LONGEST_WORD - 1).join("")}…` : word;
}

/** @type {Map<string, Float64Array>} */
const drawn = new Map();

/**
 * The query, key and value of a word, drawn at random and the same at every position. The key is mixed with the query.
 * @param {string} word
 * @param {number} similarity
 */
function vectorsOf(word, similarity) {
  const name = word.toUpperCase().toLowerCase(); // so that ß is ss
  const numbers = drawn.get(name) ?? randn(crc32(name), 2 * (WIDEST + VALUES));
  drawn.set(name, numbers);
  const [query, other] = [numbers.subarray(0, WIDEST), numbers.subarray(WIDEST + VALUES, 2 * WIDEST + VALUES)];
  const key = query.map((value, i) => similarity * value + Math.sqrt(1 - similarity ** 2) * other[i]);
  return { query, key, value: numbers.subarray(WIDEST, WIDEST + VALUES) };
}

/**
 * @param {Float64Array} a
 * @param {Float64Array} b
 * @param {number} length
 */
function dot(a, b, length) {
  let sum = 0;
  for (let i = 0; i < length; i++) sum += a[i] * b[i];
  return sum;
}

/**
 * Which word may attend to which (T, T). At least one word is not padding.
 * @param {number} T
 * @param {{ padding?: boolean, causal?: boolean, silent?: string }} masks
 */
function maskOf(T, { padding, causal, silent = SILENT[0] }) {
  const row = SILENT.indexOf(silent);
  const mute = row === 4 ? T - 1 : Math.min(row, T) - 1; // -1 for none
  const real = padding ? Math.max(1, T - PADDED) : T;
  return Array.from({ length: T }, (_, t) =>
    Array.from({ length: T }, (_, other) => t !== mute && other < real && !(causal && other > t)),
  );
}

/**
 * The softmax of a row over the keys that the mask allows; all weights are 0 where it allows none.
 * @param {number[]} scores
 * @param {boolean[]} mask
 */
function softmax(scores, mask) {
  const most = Math.max(...scores.filter((_, other) => mask[other]));
  const exponentials = scores.map((score, other) => (mask[other] ? Math.exp(score - most) : 0));
  const sum = exponentials.reduce((all, value) => all + value, 0);
  return exponentials.map((value) => (sum ? value / sum : 0));
}

/**
 * The smallest round number (1, 2 or 5 times a power of ten) that no score exceeds, as limits below and above zero.
 * @param {number[]} scores
 */
function limits(scores) {
  const largest = Math.max(0.1, ...scores.map(Math.abs));
  const power = 10 ** Math.floor(Math.log10(largest));
  const bound = ([1, 2, 5].find((factor) => factor * power >= largest) ?? 10) * power;
  return [-bound, bound];
}

/**
 * @param {string[]} words
 * @param {number[]} scores those that are not masked out
 * @param {number[][]} weights
 * @param {boolean[][]} mask
 */
function inWords(words, scores, weights, mask) {
  const T = words.length;
  const attends = mask.map((row) => row.some(Boolean));
  const mute = attends.indexOf(false);
  const nothing = mute < 0 ? "" : ` “${words[mute]}” may attend to nothing: its weights and its output are 0.`;
  const rows = weights.filter((_, t) => attends[t]);
  if (!rows.length) return `There is nothing to see.${nothing}`;
  const centre = mean(scores);
  const variance = mean(scores.map((score) => (score - centre) ** 2));
  const all = weights.flat();
  const strongest = all.indexOf(Math.max(...all));
  const [i, j] = [Math.floor(strongest / T), strongest % T];
  const hidden = rows.length * T - scores.length;
  const masked = hidden ? ` ${hidden} of the ${rows.length * T} weights are masked out.` : "";
  return (
    `Scores from ${Math.min(...scores).toFixed(2)} to ${Math.max(...scores).toFixed(2)}, with variance ${variance.toFixed(2)}. ` +
    `On average, a word's largest weight is ${percent(mean(rows.map((row) => Math.max(...row))))}; equal weights would be ` +
    `${percent(1 / T)} each. The largest weight of all: “${words[i]}” attends to “${words[j]}”, ${percent(all[strongest])}.${masked}${nothing}`
  );
}

/** @param {number[]} numbers */
const mean = (numbers) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
