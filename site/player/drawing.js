// Pictures as SVG on a transparent ground, with text of one size and few numbers on the axes.

export const INKS = { blue: "#058ee4", orange: "#ac2900", green: "#508643", black: "#1c2129", grey: "#767f8d" };

/**
 * A complete picture.
 * @param {number} width
 * @param {number} height
 * @param {...string} parts
 */
export function svg(width, height, ...parts) {
  const size = `width="${Math.round(width)}" height="${Math.round(height)}"`;
  const letters = 'font-family="system-ui, sans-serif" font-size="13"';
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} ${letters}>${parts.join("")}</svg>`;
}

/**
 * @param {number} x
 * @param {number} y of the baseline
 * @param {string} words
 * @param {string} anchor whether the point is at the "start", "middle" or "end" of the words
 * @param {string} more
 */
export function text(x, y, words, anchor = "start", more = "") {
  return `<text x="${x}" y="${y}" text-anchor="${anchor}" ${more}>${words}</text>`;
}

/**
 * @param {number} x
 * @param {number} y
 * @param {number} radius
 * @param {string} fill
 * @param {string} stroke
 */
export function circle(x, y, radius, fill, stroke = "none") {
  return `<circle cx="${x}" cy="${y}" r="${radius}" fill="${fill}" stroke="${stroke}" stroke-width="1.5"/>`;
}

/**
 * @param {number[][]} points
 * @param {string} ink
 * @param {number} thick
 * @param {string} dash
 */
export function polyline(points, ink, thick, dash = "") {
  const style = `fill="none" stroke="${ink}" stroke-width="${thick}" stroke-dasharray="${dash}"`;
  return `<polyline points="${points.map((point) => point.map((n) => n.toFixed(2))).join(" ")}" ${style}/>`;
}

/**
 * @param {number} x1
 * @param {number} y1
 * @param {number} x2
 * @param {number} y2
 * @param {string} ink
 * @param {number} thick
 * @param {string} dash
 */
export function line(x1, y1, x2, y2, ink, thick = 1, dash = "") {
  const style = `stroke="${ink}" stroke-width="${thick}" stroke-dasharray="${dash}"`;
  return `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" ${style}/>`;
}

/**
 * A scale from the values of an axis to pixels, linear or logarithmic.
 * @param {Limits} values
 * @param {Limits} places
 * @param {boolean} log
 * @returns {(value: number) => number}
 */
export function scale([low, high], [from, to], log = false) {
  const range = log ? Math.log(high / low) : high - low;
  return (value) => from + ((log ? Math.log(value / low) : value - low) / range) * (to - from);
}

/**
 * The axes below and to the left of a plot, with their numbers, and the title above it.
 * @param {Record<"left" | "top" | "right" | "bottom", number>} box
 * @param {string} title
 * @param {[place: number, number: string][]} xs
 * @param {[place: number, number: string][]} ys
 */
export function axes({ left, top, right, bottom }, title, xs, ys) {
  const below = xs.map(([x, n]) => line(x, bottom, x, bottom + 4, "black") + text(x, bottom + 18, n, "middle"));
  const beside = ys.map(([y, n]) => line(left - 4, y, left, y, "black") + text(left - 7, y + 4.5, n, "end"));
  return (
    text(left - 28, top - 10, title, "start", 'font-weight="600"') +
    line(left, top, left, bottom, "black") +
    line(left, bottom, right, bottom, "black") +
    below.join("") +
    beside.join("")
  );
}
