// The explorer `positional` of 02: the sinusoidal table, and the dot products of its rows with later ones.

const FURTHEST = 64; // the largest shift

/**
 * One row for each position t, with the sine and the cosine of the angle t · base^(−2k / D) of each clock k.
 * @param {number} length
 * @param {number} D
 * @param {number} base
 */
function sinusoidalTable(length, D, base) {
  return Array.from({ length }, (_, t) =>
    Float64Array.from({ length: D }, (_, i) => {
      const angle = t * base ** (-(i - (i % 2)) / D);
      return i % 2 ? Math.cos(angle) : Math.sin(angle);
    }),
  );
}

/**
 * The table, and the dot products of its rows with later ones.
 * @param {Record<string, any>} values
 * @param {PanelSpec[]} panels
 */
export function positional({ length, d_model, base }, panels) {
  const rows = FURTHEST + length;
  const table = sinusoidalTable(rows + length, d_model, base); // (64 + 2T, D)
  const products = Array.from({ length: rows }, (_, t) =>
    Float64Array.from({ length }, (_, distance) => dot(table[t], table[t + distance]) / (d_model / 2)),
  ); // (64 + T, T)
  const changes = products.map((row) => Math.max(...row.map((value, i) => Math.abs(value - products[0][i]))));
  const y_ticks = Array.from({ length: rows }, (_, t) => String(t));
  return {
    _panels: panels.map((panel, i) => {
      const columns = i ? length : d_model;
      return { ...panel, rows: length, columns, stride: columns, y_ticks };
    }),
    _limits: [
      [-1, 1],
      [-1, 1],
    ],
    _data: [...table.slice(0, rows), ...products],
    _descriptions: Array.from({ length: FURTHEST + 1 }, (_, shift) => {
      const change = Math.max(...changes.slice(shift, shift + length)).toFixed(4);
      return `Positions ${shift} to ${shift + length - 1} ${clockWords(length, d_model, base)} ${change} at most.`;
    }),
  };
}

/**
 * @param {Float64Array} a
 * @param {Float64Array} b
 */
const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);

/**
 * @param {number} length
 * @param {number} d_model
 * @param {number} base
 */
function clockWords(length, d_model, base) {
  const waves = Array.from({ length: d_model / 2 }, (_, k) => 2 * Math.PI * base ** ((2 * k) / d_model));
  const longest = waves[waves.length - 1].toLocaleString("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
  const whole = waves.filter((wave) => wave <= length).length;
  return `on ${waves.length} clocks. A turn takes them from 6.3 to ${longest} positions; ${whole} of them come full circle within ${length} positions. From position to position the dot products change by`;
}
