// Numbers in words.

import { NOT_FINITE } from "./not_finite.js";

/**
 * A number with four digits, and a real minus.
 * @param {number} value
 */
export function formatValue(value) {
  const special = NOT_FINITE.find((kind) => kind.is(value));
  if (special) return special.name;
  const size = Math.abs(value);
  const far = size !== 0 && (size < 1e-3 || size >= 1e6);
  return (far ? value.toExponential(2) : String(Number(value.toPrecision(4)))).replaceAll("-", "−");
}

/**
 * A number with as many decimals as its steps have, none if it is whole, and a real minus.
 * @param {number} value
 * @param {number | null} step
 */
export function formatStep(value, step) {
  if (step === null) return formatValue(value);
  const [, decimals = "", exponent = "0"] = /(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(step)) ?? [];
  const digits = Math.min(20, Math.max(0, decimals.length - Number(exponent)));
  return fixed(value, digits).replace(/\.0+$/, "");
}

/**
 * A share as it is read: whole percent, half rounded up, and what is above 0 but rounds to none as < 1 %.
 * `encoder_lib.course.kit.plots.style.percent` says the same on stored pictures.
 * @param {number} share
 */
export function percent(share) {
  return share > 0 && share < 0.005 ? "< 1 %" : `${Math.round(100 * share)} %`;
}

/**
 * A number with so many decimals, with a real minus, but none before a zero.
 * @param {number} value
 * @param {number} digits
 */
export function fixed(value, digits) {
  const text = value.toFixed(digits).replace(/^-(0[.0]*)$/, "$1");
  return text.replace("-", "−").replace("Infinity", "∞");
}
