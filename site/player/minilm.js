// MiniLM's encoder, all of it, under the names of the course. A matrix lies in one array, row after row; x has T rows of
// D numbers, a row for each token.

import { packed } from "./traits.js";

export const D = 384; // numbers of a vector
const H = 12; // heads
const K = D / H; // numbers of a head

/**
 * Token vectors at every station of the way, and who looked at whom: embedding, then one layer after another.
 * @param {MiniLM} model
 * @param {Float32Array[]} words the row of the word table for each token
 * @returns {{ x: Float32Array, stations: Float32Array[], weights: Float32Array[] }} x (T, D), the last of the stations
 *     (T, D), and for each layer weights (H, T, T)
 */
export function encode({ embedding, layers }, words) {
  const table = new Float32Array(packed(words).buffer);
  /** @type {Float32Array[]} */
  const stations = [table, norm(plus(table, embedding.position.weight), embedding.norm)];
  const weights = [];
  for (const parameters of layers) {
    const passed = layer(stations[stations.length - 1], parameters);
    stations.push(...passed.stations);
    weights.push(passed.weights);
  }
  return { x: stations[stations.length - 1], stations, weights };
}

/**
 * The vector of a sentence: the mean of its tokens' vectors, brought to length 1.
 * @param {Float32Array} x
 */
export function sentenceVector(x) {
  const sum = new Float32Array(D);
  x.forEach((value, i) => {
    sum[i % D] += value;
  });
  const length = Math.hypot(...sum);
  return sum.map((value) => value / length);
}

/**
 * Attention, then at each token alone the feed-forward network; each adds to what was there, and a norm follows.
 * @param {Float32Array} x
 * @param {Layer} parameters
 */
function layer(x, parameters) {
  const [taken, weights] = attention(x, parameters.attention);
  const y = norm(plus(taken, x), parameters.norm1);
  const added = feedForward(y, parameters.feed_forward);
  return { stations: [taken, y, added, norm(plus(added, y), parameters.norm2)], weights };
}

/**
 * Each token takes a weighted mean of what all offer; its weights are the softmax of query · key / √K.
 * @param {Float32Array} x
 * @param {Layer["attention"]} parameters
 * @returns {[Float32Array, Float32Array]} what each token takes (T, D), and the weights (H, T, T)
 */
function attention(x, { q_proj, k_proj, v_proj, out_proj }) {
  const [query, key, value] = [q_proj, k_proj, v_proj].map((parameters) => linear(x, parameters));
  const T = x.length / D;
  const weights = new Float32Array(H * T * T);
  const taken = new Float32Array(T * D);
  for (let row = 0; row < H * T; row++) {
    const [head, t] = [Math.floor(row / T), row % T];
    const at = head * K; // where the head's slice of a vector begins
    const scores = weights.subarray(row * T, (row + 1) * T);
    for (let other = 0; other < T; other++) {
      for (let k = at; k < at + K; k++) scores[other] += query[t * D + k] * key[other * D + k];
    }
    softmax(scores, 1 / Math.sqrt(K));
    for (let other = 0; other < T; other++) {
      for (let k = at; k < at + K; k++) taken[t * D + k] += scores[other] * value[other * D + k];
    }
  }
  return [linear(taken, out_proj), weights];
}

/**
 * Scores into shares, in place: positive, and 1 in all.
 * @param {Float32Array} scores
 * @param {number} scale
 */
function softmax(scores, scale) {
  const most = Math.max(...scores); // exp of a large number would be infinite
  let sum = 0;
  scores.forEach((score, i) => {
    scores[i] = Math.exp((score - most) * scale);
    sum += scores[i];
  });
  scores.forEach((share, i) => {
    scores[i] = share / sum;
  });
}

/**
 * Two maps with a bend between.
 * @param {Float32Array} x
 * @param {Layer["feed_forward"]} parameters
 */
function feedForward(x, { linear1, linear2 }) {
  return linear(linear(x, linear1).map(gelu), linear2);
}

/**
 * x Φ(x): x times the share of a normal distribution that lies below it, by formula 7.1.26 of Abramowitz and Stegun.
 * @param {number} x
 */
function gelu(x) {
  const t = 1 / (1 + 0.3275911 * Math.abs(x * Math.SQRT1_2));
  const sum = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  const above = (sum * Math.exp((-x * x) / 2)) / 2; // the share that lies beyond |x|
  return x * (x > 0 ? 1 - above : above);
}

/**
 * Each row at mean 0 and variance 1, then stretched and shifted: (x − mean) / √(variance + ε) · weight + bias.
 * @param {Float32Array} x
 * @param {Affine} parameters
 */
function norm(x, { weight, bias }) {
  const y = new Float32Array(x.length);
  for (let start = 0; start < x.length; start += D) {
    const row = x.subarray(start, start + D);
    const mean = row.reduce((sum, value) => sum + value, 0) / D;
    const variance = row.reduce((sum, value) => sum + (value - mean) ** 2, 0) / D;
    const scale = 1 / Math.sqrt(variance + 1e-12);
    for (let i = 0; i < D; i++) y[start + i] = (row[i] - mean) * scale * weight[i] + bias[i];
  }
  return y;
}

/**
 * x Wᵀ + b. Nearly all of the time goes here, so four tokens share each number of W; a last one stands in for missing.
 * @param {Float32Array} x
 * @param {Affine} parameters
 */
function linear(x, { weight, bias }) {
  const [outputs, inputs] = [bias.length, weight.length / bias.length];
  const last = x.length / inputs - 1;
  const y = new Float32Array((last + 1) * outputs);
  for (let output = 0; output < outputs; output++) {
    const w = output * inputs;
    for (let a = 0; a <= last; a += 4) {
      const [b, c, d] = [Math.min(a + 1, last), Math.min(a + 2, last), Math.min(a + 3, last)];
      const [xa, xb, xc, xd] = [a * inputs, b * inputs, c * inputs, d * inputs];
      let [ya, yb, yc, yd] = [0, 0, 0, 0];
      for (let i = 0; i < inputs; i++) {
        ya += x[xa + i] * weight[w + i];
        yb += x[xb + i] * weight[w + i];
        yc += x[xc + i] * weight[w + i];
        yd += x[xd + i] * weight[w + i];
      }
      y[a * outputs + output] = ya + bias[output];
      y[b * outputs + output] = yb + bias[output];
      y[c * outputs + output] = yc + bias[output];
      y[d * outputs + output] = yd + bias[output];
    }
  }
  return y;
}

/**
 * The sum, as far as x goes.
 * @param {Float32Array} x
 * @param {Float32Array} other
 */
function plus(x, other) {
  return x.map((value, i) => value + other[i]);
}
