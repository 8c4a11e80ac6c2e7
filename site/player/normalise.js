// The explorer of 03: one token on its way through the steps of a norm.

import { general, plain } from "./format_numbers.js";

const TOKEN = [3, 5, 9, 5, 3, 5];
const MOVED = 2; // the dimension whose number, gain and bias can be changed
/** @type {Record<string, string[]>} */
const TITLES = {
  "layer norm": [
    "The token x",
    "Minus the mean μ, so that they average 0",
    "Divided by √(σ² + ε), so that their size no longer counts",
    "Times the gain γ, which is learned",
    "Plus the bias β, which is learned too",
  ],
  "RMS norm": [
    "The token x",
    "No mean is subtracted",
    "Divided by √(RMS² + ε), so that their size no longer counts",
    "Times the gain γ, which is learned",
    "Plus the bias β, which is learned too",
  ],
};

/** @param {number[]} x */
function meanOf(x) {
  return x.reduce((sum, value) => sum + value, 0) / x.length;
}

/** @param {number[]} x */
function deviationOf(x) {
  const centre = meanOf(x);
  return Math.sqrt(meanOf(x.map((value) => (value - centre) ** 2)));
}

/**
 * The token and what each step makes of it.
 * @param {number[]} x
 * @param {Record<string, any>} norm
 */
function stations(x, { method, gain, bias, eps }) {
  const centre = method === "layer norm" ? meanOf(x) : 0;
  const centred = x.map((value) => value - centre);
  const root = Math.sqrt(meanOf(centred.map((value) => value ** 2)) + eps);
  const normalised = centred.map((value) => value / root);
  const scaled = normalised.map((value, i) => (i === MOVED ? gain * value : value));
  return [x, centred, normalised, scaled, scaled.map((value, i) => (i === MOVED ? value + bias : value))];
}

/**
 * @param {Record<string, any>} values
 * @param {PanelSpec[]} panels
 */
export function normalise(values, [panel]) {
  const { method, third, factor, add } = values;
  const x = TOKEN.map((value, i) => (i === MOVED ? third : value) * factor + add);
  const steps = stations(x, values);
  const titles = TITLES[method];
  const title = titles.reduce((longest, other) => (other.length > longest.length ? other : longest));
  const data = steps.map((now) => [
    ...now.flatMap((value, i) => [i + 1, value]),
    ...x.flatMap((value, i) => [i + 1, value]),
    meanOf(now),
    deviationOf(now),
  ]);
  return {
    _panels: [{ ...panel, title, bars: { count: TOKEN.length, titles } }],
    _limits: [panel.plane?.y_limits],
    _data: data,
    _descriptions: steps.map((now, step) => inWords(x, now, step, titles[step])),
  };
}

/**
 * What a step has made of the token.
 * @param {number[]} x
 * @param {number[]} now
 * @param {number} step
 * @param {string} title
 */
function inWords(x, now, step, title) {
  const token = x.map((value) => general(value, 4)).join(", ");
  const made = step ? `the token ${token} has become ${now.map(plain).join(", ")}` : `the six numbers are ${token}`;
  return (
    `Step ${step}, ${title[0].toLowerCase()}${title.slice(1)}: ${made}. Mean ${plain(meanOf(now))}, ` +
    `standard deviation ${general(deviationOf(now), 4)}.`
  );
}
