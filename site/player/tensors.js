// The arithmetic of an encoder. A matrix is one array, row after row; x has a row for each token.

/**
 * x Wᵀ + b. Nearly all of MiniLM's time is spent here, so each step of the inner loop multiplies four tokens by two rows
 * of W: eight products for six numbers read. Where fewer than four tokens are left, the last one is computed again.
 * @param {Float32Array} rows
 * @param {Affine} parameters with an even number of outputs
 */
export function linear(rows, { weight, bias }) {
  const [outputs, inputs] = [bias.length, weight.length / bias.length];
  const x = new Float64Array(rows); // the sums are in float64, and converting x inside the loop would take longer
  const last = x.length / inputs - 1;
  const y = new Float32Array((last + 1) * outputs);
  for (let output = 0; output < outputs; output += 2) {
    const [w, v] = [output * inputs, (output + 1) * inputs];
    for (let a = 0; a <= last; a += 4) {
      const [b, c, d] = [Math.min(a + 1, last), Math.min(a + 2, last), Math.min(a + 3, last)];
      const [xa, xb, xc, xd] = [a * inputs, b * inputs, c * inputs, d * inputs];
      let [ya, yb, yc, yd] = [bias[output], bias[output], bias[output], bias[output]];
      let [za, zb, zc, zd] = [bias[output + 1], bias[output + 1], bias[output + 1], bias[output + 1]];
      for (let i = 0; i < inputs; i++) {
        const one = weight[w + i];
        const other = weight[v + i];
        const first = x[xa + i];
        const second = x[xb + i];
        const third = x[xc + i];
        const fourth = x[xd + i];
        ya += first * one;
        yb += second * one;
        yc += third * one;
        yd += fourth * one;
        za += first * other;
        zb += second * other;
        zc += third * other;
        zd += fourth * other;
      }
      y[a * outputs + output] = ya;
      y[a * outputs + output + 1] = za;
      y[b * outputs + output] = yb;
      y[b * outputs + output + 1] = zb;
      y[c * outputs + output] = yc;
      y[c * outputs + output + 1] = zc;
      y[d * outputs + output] = yd;
      y[d * outputs + output + 1] = zd;
    }
  }
  return y;
}

/**
 * What a map makes of each row of x on its own. A row that a known run has at the same place has its result there.
 * @param {number} T rows
 * @param {Float32Array} x
 * @param {(rows: Float32Array) => Float32Array} map
 * @param {Float32Array} [old] x of the known run
 * @param {Float32Array} [known] what the map made of it
 */
export function rowByRow(T, x, map, old, known) {
  if (!old || !known) return map(x);
  const [inputs, outputs] = [x.length / T, known.length / T];
  const moved = Array.from({ length: T }, (_, t) => {
    const [begin, end] = [t * inputs, (t + 1) * inputs];
    let i = begin;
    while (i < end && x[i] === old[i]) i++;
    return i < end;
  });
  if (!moved.includes(false)) return map(x);
  const made = map(x.filter((_, i) => moved[Math.floor(i / inputs)]));
  const y = known.slice();
  let row = 0;
  for (let t = 0; t < T; t++) {
    if (!moved[t]) continue;
    y.set(made.subarray(row * outputs, (row + 1) * outputs), t * outputs);
    row += 1;
  }
  return y;
}

/**
 * The sum of x and the first numbers of another array.
 * @param {Float32Array} x
 * @param {Float32Array} other
 */
export function plus(x, other) {
  return x.map((value, i) => value + other[i]);
}

/**
 * Layer norm: each row is brought to mean 0 and variance 1, (x − mean) / √(variance + ε) · weight + bias.
 * @param {Float32Array} x
 * @param {Affine} parameters
 */
export function layerNorm(x, { weight, bias }) {
  const [y, D] = [new Float32Array(x.length), bias.length];
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
 * GELU, x Φ(x), where Φ is the cumulative normal distribution, by formula 7.1.26 of Abramowitz and Stegun.
 * @param {number} x
 */
export function gelu(x) {
  const t = 1 / (1 + 0.3275911 * Math.abs(x * Math.SQRT1_2));
  const sum = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  const tail = (sum * Math.exp((-x * x) / 2)) / 2; // the probability of a number beyond |x|
  return x * (x > 0 ? 1 - tail : tail);
}

/**
 * Softmax of one row. A row in which every score is −∞ gets weights of 0.
 * @param {Float32Array} scores
 */
export function softmax(scores) {
  const largest = Math.max(...scores); // subtracted, as the exponential of a large number would be infinite
  if (largest === Number.NEGATIVE_INFINITY) return new Float32Array(scores.length);
  const exponentials = Float64Array.from(scores, (score) => Math.exp(score - largest));
  const sum = exponentials.reduce((all, value) => all + value, 0);
  return Float32Array.from(exponentials, (value) => value / sum);
}

/**
 * The mean of all rows.
 * @param {Float32Array} x
 * @param {number} D numbers of a row
 */
export function meanRow(x, D) {
  const mean = new Float64Array(D);
  x.forEach((value, i) => {
    mean[i % D] += (value * D) / x.length;
  });
  return new Float32Array(mean);
}

/**
 * @param {Float32Array} a
 * @param {Float32Array} b
 */
export function dot(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

/**
 * The cosine of two vectors; 0 if one of them has no length.
 * @param {Float32Array} a
 * @param {Float32Array} b
 */
export function cosine(a, b) {
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b)) || 0;
}
