// What the picture of the encoder shows of MiniLM's runs, as encoder_lib/course/kit/interventions.py computes it.

import { changesOf, Runs } from "./interventions.js";
import { D, H, K } from "./minilm.js";
import { cosine, dot, linear, meanRow, rowByRow } from "./tensors.js";

const MOST_TOKENS = 64; // of a sentence: with more of them, a picture of all weights has no room for words

/** @typedef {{ tokens: string[], words: Float32Array[] }} Text the tokens, and their rows of the embedding table */

/** Answers questions about the runs of one model. */
export class Answers {
  /** @param {Pick<MiniLM, "embedding" | "layers">} model */
  constructor(model) {
    this.layers = model.layers;
    this.runs = new Runs(model);
  }

  /**
   * @param {Question} question
   * @param {Text[]} texts
   * @returns {Answer}
   */
  answer({ word: wanted, cuts, knockouts, detail }, texts) {
    for (const { tokens } of texts) {
      if (tokens.length <= MOST_TOKENS) continue;
      throw new Error(`expected at most ${MOST_TOKENS} tokens, got ${tokens.length}; try a shorter text`);
    }
    const before = texts.map(({ tokens, words }) => this.runs.run(tokens, words));
    const runs = texts.map(({ tokens, words }, side) => {
      return this.runs.run(tokens, words, changesOf({ cuts, knockouts }, side, this.layers.length), before[side]);
    });
    const common = commonOf(texts);
    const word = texts.every(({ tokens }) => tokens.includes(wanted)) ? wanted : longest(common);
    return {
      layers: this.layers.length,
      heads: H,
      word,
      common,
      sentences: runs.map((run, side) => this.sentence(run, before[side], word, detail)),
      word_cosines: wordCosines(runs, word),
      sentence_cosine: sentenceCosine(runs),
    };
  }

  /**
   * @param {Run} run
   * @param {Run} before the same sentence without interventions
   * @param {string} word
   * @param {Question["detail"]} detail
   * @returns {Sentence}
   */
  sentence(run, before, word, detail) {
    const flows = run.layers.map((layer, n) => flowOf(layer, this.layers[n].attention.out_proj, before.layers[n]));
    return {
      tokens: run.tokens,
      place: run.tokens.indexOf(word),
      weights: run.layers.map(({ weights }) => weights),
      arriving: flows.map(({ arriving }) => arriving),
      values: flows.map(({ values }) => values),
      kept: keptOf(run, before),
      detail: detail && detailOf(run.layers[detail[0]], ...detail),
    };
  }
}

/**
 * The whole words among the tokens that all texts have, in the order of the first text.
 * @param {Text[]} texts
 */
function commonOf([{ tokens }, ...others]) {
  const shared = tokens.filter((token) => /^[\p{L}\p{N}]+$/u.test(token));
  return [...new Set(shared)].filter((token) => others.every((other) => other.tokens.includes(token)));
}

/** @param {string[]} words */
const longest = (words) => words.reduce((best, word) => (word.length > best.length ? word : best), "");

/**
 * The residual stream from the bottom upwards: (T, D) each.
 * @param {Run} run
 */
function stationsOf({ token, embedding, layers }) {
  return [token, embedding, ...layers.flatMap(({ norm1, norm2 }) => [norm1, norm2])];
}

/**
 * @param {Float32Array} x
 * @param {number} t
 */
const rowOf = (x, t) => x.subarray(t * D, (t + 1) * D);

/**
 * The cosine of each token's vector with the one that it has without interventions, at each station: (stations, T).
 * @param {Run} run
 * @param {Run} before
 */
function keptOf(run, before) {
  const [T, now, old] = [run.tokens.length, stationsOf(run), stationsOf(before)];
  return Float32Array.from({ length: now.length * T }, (_, i) => {
    const [station, t] = [Math.floor(i / T), i % T];
    return cosine(rowOf(now[station], t), rowOf(old[station], t));
  });
}

/** @type {WeakMap<LayerRun, ReturnType<typeof flowOf>>} */
const flows = new WeakMap();

/**
 * How much attention moves: `values` (H, T), the length of value · W_o in each head, and `arriving` (T, T), the length
 * of Σ_h weight · value · W_o from each key to each query (Kobayashi et al. 2020). Both follow from the dot products of
 * the passed values of one token, head by head: ‖Σ_h w_h p_h‖² = Σ_h Σ_g w_h w_g p_h · p_g.
 * @param {LayerRun} layer
 * @param {Affine} out_proj
 * @param {LayerRun} before the same layer without interventions
 * @returns {{ arriving: Float32Array, values: Float32Array, products: Float32Array }} and these products, (T, H, H)
 */
function flowOf(layer, out_proj, before) {
  const known = flows.get(layer);
  if (known) return known;
  const T = layer.value.length / D;
  const old = layer === before ? undefined : flowOf(before, out_proj, before).products;
  const products = rowByRow(T, layer.value, (rows) => productsOf(rows, out_proj), before.value, old);
  const [arriving, values] = [new Float32Array(T * T), new Float32Array(H * T)];
  for (let key = 0; key < T; key++) {
    const own = products.subarray(key * H * H, (key + 1) * H * H);
    for (let head = 0; head < H; head++) values[head * T + key] = Math.sqrt(own[head * H + head]);
    for (let query = 0; query < T; query++) {
      let sum = 0;
      for (let i = 0; i < H * H; i++) {
        const [head, other] = [Math.floor(i / H), i % H];
        sum += own[i] * layer.weights[(head * T + query) * T + key] * layer.weights[(other * T + query) * T + key];
      }
      arriving[query * T + key] = Math.sqrt(Math.max(0, sum)); // rounding can take it below zero
    }
  }
  const flow = { arriving, values, products };
  flows.set(layer, flow);
  return flow;
}

/**
 * The dot products of each token's passed values, of every head with every head: (T, H, H).
 * @param {Float32Array} value (T, D)
 * @param {Affine} out_proj
 */
function productsOf(value, out_proj) {
  const [passed, T] = [passedOn(value, out_proj), value.length / D];
  const products = new Float32Array(T * H * H);
  for (let t = 0; t < T; t++) {
    const vectors = passed.map((x) => rowOf(x, t));
    for (let head = 0; head < H; head++) {
      for (let other = 0; other <= head; other++) {
        const product = dot(vectors[head], vectors[other]);
        products[(t * H + head) * H + other] = product;
        products[(t * H + other) * H + head] = product;
      }
    }
  }
  return products;
}

/** @type {WeakMap<Affine, Affine[]>} */
const slices = new WeakMap();

/**
 * What each head's values become in the output projection, without its bias: (T, D) for each head.
 * @param {Float32Array} value (T, D)
 * @param {Affine} out_proj
 */
function passedOn(value, out_proj) {
  const own = slices.get(out_proj) ?? Array.from({ length: H }, (_, head) => sliceOf(out_proj, head));
  slices.set(out_proj, own);
  return own.map((slice, head) => linear(columns(value, head), slice));
}

/**
 * The part of the output projection that a head's components are multiplied by.
 * @param {Affine} out_proj
 * @param {number} head
 */
const sliceOf = ({ weight }, head) => ({ weight: columns(weight, head), bias: new Float32Array(D) });

/**
 * The K columns of a head, of a matrix with D columns.
 * @param {Float32Array} matrix
 * @param {number} head
 */
function columns(matrix, head) {
  const rows = matrix.length / D;
  return Float32Array.from({ length: rows * K }, (_, i) => matrix[Math.floor(i / K) * D + head * K + (i % K)]);
}

/**
 * One head of one layer.
 * @param {LayerRun} run
 * @param {number} layer
 * @param {number} head
 */
function detailOf({ query, key, value, scores, mixed }, layer, head) {
  const [q, k, v, m] = [query, key, value, mixed].map((matrix) => columns(matrix, head)); // (T, K) each
  const size = scores.length / H;
  return { layer, head, query: q, key: k, value: v, mixed: m, scores: scores.slice(head * size, (head + 1) * size) };
}

/**
 * The cosine of the word's two vectors at each station.
 * @param {Run[]} runs
 * @param {string} word
 */
function wordCosines(runs, word) {
  const places = runs.map(({ tokens }) => tokens.indexOf(word));
  if (runs.length < 2 || places.includes(-1)) return null;
  const [first, second] = runs.map(stationsOf);
  return Float32Array.from(first, (x, i) => cosine(rowOf(x, places[0]), rowOf(second[i], places[1])));
}

/**
 * The cosine of the means of the last vectors.
 * @param {Run[]} runs
 */
function sentenceCosine(runs) {
  if (runs.length < 2) return null;
  const [first, second] = runs.map(({ layers }) => meanRow(layers[layers.length - 1].norm2, D));
  return cosine(first, second);
}
