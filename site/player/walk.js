// What the explorer `walk` shows of two texts; with a kernel, encoder_lib/course/start_here/explorers.py computes the same.

import { percent } from "./format.js";
import { D } from "./minilm.js";
import { packed } from "./traits.js";

/** @typedef {Pick<Reading, "tokens" | "stations" | "weights">} Read */
/** @typedef {Read & { place: number }} Visit a text, and the position of the word in it */
/** @typedef {[short: string, layer: number, joined: boolean]} Station */

/**
 * The way of a word that two sentences have in common.
 * @param {Record<string, any>} values of the explorer
 * @param {Read[]} readings of the two sentences
 */
export function showWalk({ _panels, _timeline }, [first, second]) {
  const shared = first.tokens.filter((token) => second.tokens.includes(token) && isWord(token));
  const longest = (/** @type {string} */ a, /** @type {string} */ b) => (b.length > a.length ? b : a);
  const word = shared.reduce(longest, shared[0] ?? first.tokens[0]);
  const said = shared.length
    ? ""
    : `The sentences have no word in common: followed is ${word}, which begins every text. `;
  const visits = [first, second].map((reading) => ({ ...reading, place: reading.tokens.indexOf(word) }));
  /** @type {Station[]} */
  const stations = _timeline.stations;
  const cosines = stations.map((_, i) => cosine(vectorAt(visits[0], i), vectorAt(visits[1], i)));
  const title = `Cosine: ● of the two vectors of “${word}”, ■ of what a part adds to them (last: of the two means)`;
  const looks = visits.map((visit) => stations.map(([, layer]) => looksOf(visit, layer)));
  return {
    _timeline: { ..._timeline, values: cosines, title },
    _panels: visits.map(({ tokens }, i) => {
      const title = `${i ? "Second" : "First"} sentence: what “${word}” attends to`;
      const panel = /** @type {PanelSpec} */ (_panels[i]);
      return { ..._panels[i], title, x_ticks: tokens, columns: tokens.length, stride: panel.rows * tokens.length };
    }),
    _data: packed(looks.flat()),
    _descriptions: cosines.map((value, i) => {
      return `${said}Step ${i + 1} of ${cosines.length}, ${told(stations, i, visits)}: cosine ${value.toFixed(3)}.`;
    }),
  };
}

/** @param {string} token */
const isWord = (token) => /^[\p{L}\p{N}]+$/u.test(token);

/**
 * What comes out at a station for the word, in the end for the whole sentence: (D,).
 * @param {Visit} visit
 * @param {number} station
 */
function vectorAt({ stations, tokens, place }, station) {
  const x = stations[station];
  if (x) return x.slice(place * D, (place + 1) * D);
  const all = stations[stations.length - 1];
  return Float32Array.from({ length: D }, (_, i) => {
    return tokens.reduce((sum, _token, t) => sum + all[t * D + i], 0) / tokens.length;
  });
}

/**
 * How much of each token the word takes, in each head of a layer from 1 on: (H, T); NaN where there is no layer.
 * @param {Visit} visit
 * @param {number} layer
 */
function looksOf({ weights, tokens, place }, layer) {
  const T = tokens.length;
  const all = weights[Math.max(layer, 1) - 1];
  return Float32Array.from({ length: all.length / T }, (_, i) => {
    return layer ? all[(Math.floor(i / T) * T + place) * T + (i % T)] : Number.NaN;
  });
}

/**
 * @param {Float32Array} a
 * @param {Float32Array} b
 */
const cosine = (a, b) => dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));

/**
 * @param {Float32Array} a
 * @param {Float32Array} b
 */
const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);

/**
 * What is done at a station, where that is the same for all words.
 * @type {Record<string, string>}
 */
const TOLD = {
  "+ norm": "The part's output is added, and the sum is normalised. Two vectors",
  "feed-forward": "It works on each token alone. What it adds",
  mean: "The mean over all tokens is the vector of the sentence. Two sentences",
};

/**
 * A station's name, and what is done there, in words that the cosine of what comes out can follow.
 * @param {Station[]} stations
 * @param {number} i
 * @param {Visit[]} visits
 */
function told(stations, i, visits) {
  const [short, layer] = stations[i];
  if (short === "table") {
    return `table. ${visits.map(({ tokens }) => tokens.length).join(" and ")} tokens get their rows of the table. Two vectors`;
  }
  if (short === "position") {
    const places = visits.map(({ place }) => place).join(" and ");
    return `position. The rows of positions ${places}, counted from 0, are added. Two vectors`;
  }
  if (short === "attention") {
    const [here, there] = visits.map((visit) => strongest(visit, layer));
    return `layer ${layer}: attention adds. Its largest weight on another word: ${here} in the first sentence, ${there} in the second. What it adds`;
  }
  const inside = short === "+ norm" ? `+ norm after ${stations[i - 1][0]}` : `${short} adds`;
  return `${layer ? `layer ${layer}: ${inside}` : short}. ${TOLD[short]}`;
}

/**
 * The strongest look at another word, special tokens aside, and its head.
 * @param {Visit} visit
 * @param {number} layer
 */
function strongest(visit, layer) {
  const { tokens, place } = visit;
  const looks = looksOf(visit, layer).map((weight, i) => {
    const at = i % tokens.length;
    return at !== place && isWord(tokens[at].replace(/^##/, "")) ? weight : 0;
  });
  const most = Math.max(...looks);
  const best = looks.indexOf(most);
  if (!most) return "none";
  return `head ${Math.floor(best / tokens.length) + 1} gives ${percent(most)} to “${tokens[best % tokens.length]}”`;
}
