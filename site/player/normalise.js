// The explorer of 03: the vector of one token before and after a norm.

import { axes, INKS, line, scale, svg, text } from "./drawing.js";
import { general, plain } from "./format_numbers.js";

const [D, REACH, NARROWEST] = [16, 10, 0.1]; // REACH: the limit of the axes; NARROWEST: of the bars
const SHAPE = standard(Array.from({ length: D }, (_, i) => -Math.log1p(-(i + 0.5) / D))); // a long tail to the right

/**
 * The components of a token's vector, normalised.
 * @param {number[]} x
 * @param {Record<string, any>} norm
 */
function normalised(x, { method, gain, bias, eps }) {
  const [centre, std] = [meanOf(x), deviation(x)];
  /** @type {Record<string, (value: number) => number>} */
  const methods = {
    "layer norm": (value) => (value - centre) / Math.sqrt(std ** 2 + eps),
    "RMS norm": (value) => value / Math.sqrt(meanOf(x.map((other) => other ** 2)) + eps),
    "unbiased std, eps outside": (value) => (value - centre) / (std * Math.sqrt(D / (D - 1)) + eps),
  };
  return x.map((value) => methods[method](value) * gain + bias);
}

/** @param {number[]} x */
function meanOf(x) {
  return x.reduce((sum, value) => sum + value, 0) / x.length;
}

/** @param {number[]} x */
function deviation(x) {
  const centre = meanOf(x);
  return Math.sqrt(meanOf(x.map((value) => (value - centre) ** 2)));
}

/**
 * The same numbers with mean 0 and standard deviation 1.
 * @param {number[]} x
 */
function standard(x) {
  const [centre, std] = [meanOf(x), deviation(x)];
  return x.map((value) => (value - centre) / std);
}

/** @param {number[]} x */
function moments(x) {
  return { mean: meanOf(x), std: deviation(x) };
}

/**
 * @param {Record<string, any>} values
 * @param {PanelSpec[]} _
 * @param {number} width
 */
export function normalise(values, _, width) {
  const { mean, spread, outlier, ...norm } = values;
  const before = SHAPE.map((value, i) => mean + spread * value + (i === D / 2 ? outlier : 0));
  const after = normalised(before, norm);
  return {
    _picture: svg(
      width,
      450,
      panel(before, "Before: what the norm gets", 28, width),
      panel(after, "After: what the norm gives", 258, width),
    ),
    _descriptions: [inWords(values, moments(before), moments(after))],
  };
}

/**
 * A histogram with each number as a tick below it; lines show the mean and a deviation around. Its bars are half a
 * deviation wide, so that numbers moved and stretched keep their histogram.
 * @param {number[]} numbers
 * @param {string} title
 * @param {number} top
 * @param {number} width
 */
function panel(numbers, title, top, width) {
  const box = { left: 30, top, right: width - 8, bottom: top + 165 };
  const x = scale([-REACH, REACH], [box.left, box.right]);
  const y = scale([-2.4, D + 1], [box.bottom, box.top]);
  const { mean, std } = moments(numbers);
  const size = Math.max(std, NARROWEST) / 2;
  const first = mean - 8 * size; // no number is further than √15 standard deviations from the mean
  const bars = Array.from({ length: 16 }, (_, i) => {
    const from = first + i * size;
    const count = numbers.filter((value) => Math.floor((value - first) / size) === i).length;
    const place = `x="${x(from)}" y="${y(count)}" width="${x(from + size) - x(from)}" height="${y(0) - y(count)}"`;
    return `<rect ${place} fill="${INKS.blue}" fill-opacity="0.75"/>`;
  });
  const ticks = numbers.map((v) => line(x(v), y(-1.1) - 5, x(v), y(-1.1) + 5, "black"));
  const facts = [`mean ${plain(mean)}`, `standard deviation ${std.toFixed(4)}`];
  return [
    ...bars,
    line(x(mean), box.top, x(mean), box.bottom, INKS.orange, 2),
    line(x(mean - std), y(0), x(mean + std), y(0), INKS.orange, 5),
    ...ticks,
    ...facts.map((fact, i) => text(box.right, top + 14 + 18 * i, fact, "end")),
    axes(
      box,
      title,
      [-10, -5, 0, 5, 10].map((n) => [x(n), general(n)]),
      [0, 8, 16].map((n) => [y(n), general(n)]),
    ),
  ].join("");
}

/**
 * @param {Record<string, any>} values
 * @param {ReturnType<typeof moments>} old
 * @param {ReturnType<typeof moments>} now
 */
function inWords({ method }, old, now) {
  return (
    `${method[0].toUpperCase()}${method.slice(1)}: the mean went from ${plain(old.mean)} to ${plain(now.mean)}, the ` +
    `standard deviation from ${general(old.std, 4)} to ${general(now.std, 4)}.`
  );
}
