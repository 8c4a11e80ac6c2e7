// MiniLM's encoder, with the names that its parts have in the course, and what interventions change in it.

import { gelu, layerNorm, linear, plus, rowByRow, softmax } from "./tensors.js";
import { packed } from "./traits.js";

export const D = 384; // components of a vector
export const H = 12; // heads
export const K = D / H; // components of a query, key or value

/** @type {LayerChange} */
const UNCHANGED = { cuts: [], out: [] };
const SILENCED = /** @type {const} */ (["weights", "mixed", "attention"]); // when attention is taken out

/**
 * The rows of the tokens in the embedding table, and with the position added and normed: (T, D) each.
 * @param {MiniLM["embedding"]} embedding
 * @param {Float32Array[]} words the row of the embedding table for each token
 * @param {boolean} placeless whether every token gets the mean of all position rows
 */
export function embed({ position, norm }, words, placeless = false) {
  const token = new Float32Array(packed(words).buffer);
  const rows = placeless ? token.map((_, i) => position.mean[i % D]) : position.weight;
  return { token, embedding: layerNorm(plus(token, rows), norm) };
}

/**
 * Attention, then the feed-forward network, which works on each token alone. After each, the residual connection adds
 * what was there before, and a norm follows. Where a linear map gets a row that it also got in a known run, the result
 * is taken from there.
 * @param {Float32Array} x
 * @param {Layer} parameters
 * @param {LayerChange} change
 * @param {Partial<LayerRun>} [known] without changes
 * @returns {LayerRun}
 */
export function encodeLayer(x, parameters, { cuts, out } = UNCHANGED, known = {}) {
  const T = x.length / D;
  const attended = attention(x, parameters.attention, cuts, known);
  if (out.includes("attention")) for (const name of SILENCED) attended[name].fill(0);
  const first = out.includes("residual1") ? attended.attention : plus(attended.attention, x);
  const norm1 = out.includes("norm1") ? first : layerNorm(first, parameters.norm1);
  /** @param {Float32Array} rows */
  const forward = (rows) => feedForward(rows, parameters.feed_forward);
  const feed_forward = out.includes("feed_forward")
    ? norm1.map(() => 0)
    : rowByRow(T, norm1, forward, known.norm1, known.feed_forward);
  const second = out.includes("residual2") ? feed_forward : plus(feed_forward, norm1);
  const norm2 = out.includes("norm2") ? second : layerNorm(second, parameters.norm2);
  return { x, ...attended, norm1, feed_forward, norm2 };
}

/**
 * Each token takes a weighted mean of the values; its weights are the softmax of query · key / √K.
 * @param {Float32Array} x
 * @param {Layer["attention"]} parameters
 * @param {LayerChange["cuts"]} cuts
 * @param {Partial<LayerRun>} known
 */
function attention(x, { q_proj, k_proj, v_proj, out_proj }, cuts, known) {
  const T = x.length / D;
  /** @param {Affine} parameters @param {Float32Array} from @param {Float32Array} [old] @param {Float32Array} [to] */
  const project = (parameters, from, old, to) => rowByRow(T, from, (rows) => linear(rows, parameters), old, to);
  const query = project(q_proj, x, known.x, known.query); // (T, D), as are key and value
  const key = project(k_proj, x, known.x, known.key);
  const value = project(v_proj, x, known.x, known.value);
  const scores = attentionScores(query, key); // (H, T, T)
  for (const cut of cuts) {
    for (let head = cut.head ?? 0; head <= (cut.head ?? H - 1); head++) {
      if (Math.max(cut.query, cut.key) < T) scores[(head * T + cut.query) * T + cut.key] = Number.NEGATIVE_INFINITY;
    }
  }
  const weights = new Float32Array(H * T * T);
  const mixed = new Float32Array(T * D); // the weighted means, head beside head
  for (let row = 0; row < H * T; row++) {
    const [at, t] = [Math.floor(row / T) * K, row % T]; // `at`: where the head's components begin
    weights.set(softmax(scores.subarray(row * T, (row + 1) * T)), row * T);
    for (let other = 0; other < T; other++) {
      for (let k = at; k < at + K; k++) mixed[t * D + k] += weights[row * T + other] * value[other * D + k];
    }
  }
  const passed = project(out_proj, mixed, known.mixed, known.attention);
  return { query, key, value, scores, weights, mixed, attention: passed };
}

/**
 * query · key / √K in each head: (H, T, T).
 * @param {Float32Array} query
 * @param {Float32Array} key
 */
function attentionScores(query, key) {
  const T = query.length / D;
  return Float32Array.from({ length: H * T * T }, (_, i) => {
    const [head, t, other] = [Math.floor(i / T ** 2), Math.floor(i / T) % T, i % T];
    let sum = 0;
    for (let k = head * K; k < (head + 1) * K; k++) sum += query[t * D + k] * key[other * D + k];
    return sum / Math.sqrt(K);
  });
}

/**
 * Two linear maps with an activation function in between.
 * @param {Float32Array} x
 * @param {Layer["feed_forward"]} parameters
 */
function feedForward(x, { linear1, linear2 }) {
  return linear(linear(x, linear1).map(gelu), linear2);
}
