// What the explorer `walk` shows of two readings, as encoder_lib/course/explore/start_here.py computes it with a kernel.

import { percent } from "./format.js";
import { D } from "./minilm.js";
import { packed } from "./traits.js";

/** @typedef {Pick<Reading, "tokens" | "ids" | "stations" | "weights">} Read */
/** @typedef {Read & { place: number }} Visit a reading, and the place of the word in it */
/** @typedef {[short: string, layer: number, joined: boolean]} Station */

/**
 * The way of a word that two sentences have in common.
 * @param {Record<string, any>} values of the explorer
 * @param {Read[]} readings of the first sentence, of the second, and of the word that is asked for
 */
export function showWalk({ _panels, _way, word, alone }, [first, second, asked]) {
  const [chosen, said] = common(first.tokens, second.tokens, word, asked.tokens);
  const visits = [first, second].map((reading) => ({ ...reading, place: reading.tokens.indexOf(chosen) }));
  /** @type {Station[]} */
  const stations = _way.stations;
  const cosines = stations.map((_, i) => cosine(vectorAt(visits[0], i), vectorAt(visits[1], i)));
  const looks = visits.map((visit) => stations.map(([, layer]) => looksOf(visit, layer)));
  return {
    _way: { ..._way, values: cosines, title: `Cosine of the two vectors of “${chosen}”, from station to station` },
    _panels: visits.map(({ tokens }, i) => {
      const title = `${i ? "Second" : "First"} sentence: “${chosen}” looks at`;
      const panel = /** @type {PanelSpec} */ (_panels[i]);
      return { ..._panels[i], title, x_ticks: tokens, columns: tokens.length, stride: panel.rows * tokens.length };
    }),
    _data: packed(looks.flat()),
    _descriptions: cosines.map((value, i) => {
      const station = `Station ${i + 1} of ${cosines.length}, ${told(stations, i, visits)}`;
      return `${said}${alone ? "No token may look at another one. " : ""}${station}: cosine ${value.toFixed(3)}.`;
    }),
  };
}

/**
 * The token of both sentences that a walk follows, and what there is to say of the choice.
 * @param {string[]} first
 * @param {string[]} second
 * @param {string} word that is asked for
 * @param {string[]} asked its tokens
 */
function common(first, second, word, asked) {
  const shared = first.filter((token) => second.includes(token) && isWord(token));
  if (!shared.length) {
    return [first[0], `The sentences share no word: the walk follows ${first[0]}, which opens every text. `];
  }
  const longest = shared.reduce((best, token) => (token.length > best.length ? token : best));
  const chosen = asked.find((token) => shared.includes(token)) ?? longest;
  let said = "";
  if (chosen !== word && shared.some((token) => token !== chosen)) {
    said += `The walk follows “${chosen}”, the longest of what the sentences share. `;
  }
  const both = [first, second];
  if (both.some((tokens) => tokens.some((token, i) => i && token.startsWith("##") && tokens[i - 1] === chosen))) {
    said += "It is the first piece of a longer word. ";
  }
  if (both.some((tokens) => tokens.indexOf(chosen) !== tokens.lastIndexOf(chosen))) {
    said += "It stands there more than once: the walk follows the first. ";
  }
  return [chosen, said];
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
 * What is done at a station, in words that the cosine of what comes out can follow.
 * @param {Station[]} stations
 * @param {number} i
 * @param {Visit[]} visits
 */
function told(stations, i, visits) {
  const [short, layer] = stations[i];
  const [one, other] = visits;
  switch (short) {
    case "table": {
      const shapes = visits.map(({ tokens }) => `(${tokens.length}, ${D})`).join(" and ");
      return `the table. Each token gets its row: ${shapes} numbers. The word has row ${one.ids[one.place]} in both. Two vectors`;
    }
    case "position": {
      const same = one.place === other.place;
      const where = same
        ? `place ${one.place} in both, counted from 0`
        : `places ${one.place} and ${other.place}, which differ`;
      return `position. The vector of its place is added (${where}); a norm brings the sum to size. Two vectors`;
    }
    case "attention": {
      const [here, there] = visits.map((visit) => strongest(visit, layer));
      return `layer ${layer}: attention adds. The word looks at tokens, and takes something from each. Its strongest look at another word: ${here} in the first sentence, ${there} in the second. What it takes`;
    }
    case "feed-forward":
      return `layer ${layer}: feed-forward adds. It looks at no other token: ${D} numbers become ${4 * D}, and then ${D} again. What it adds`;
    case "mean":
      return "the mean over all tokens: one vector for each sentence. The two sentences";
  }
  const shares = visits.map((visit) => {
    const [added, before] = [vectorAt(visit, i - 1), vectorAt(visit, i - 2)];
    return Math.sqrt(dot(added, added) / dot(before, before)).toFixed(2);
  });
  return `layer ${layer}: + norm after ${stations[i - 1][0]}. What was added is ${shares[0]} and ${shares[1]} times as long as the vector that it is added to; a norm brings the sum to size. Two vectors`;
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
