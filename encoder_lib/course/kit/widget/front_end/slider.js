// The values of a slider: at even steps, or on a logarithmic scale.

import { clamp } from "./numbers.js";

/** Positions of a logarithmic slider, from 0. */
export const LOG_POSITIONS = 200;

/**
 * The value nearest to `value` that the slider can take.
 * @param {RangeSpec} spec
 * @param {number} value
 */
export function snap({ min, step }, value) {
  if (step === null) return Number(value.toPrecision(3));
  return Number((min + Math.round((value - min) / step) * step).toPrecision(12));
}

/**
 * The value at a position of a logarithmic slider: equal ways multiply it by equal factors.
 * @param {RangeSpec} spec
 * @param {number} position
 */
export function fromPosition(spec, position) {
  const { min, max } = spec;
  return clamp(snap(spec, min * (max / min) ** (position / LOG_POSITIONS)), [min, max]);
}

/**
 * The position of a value on a logarithmic slider.
 * @param {RangeSpec} spec
 * @param {number} value
 */
export function toPosition({ min, max }, value) {
  return (LOG_POSITIONS * Math.log(value / min)) / Math.log(max / min);
}

/**
 * How many steps a value is above the least one.
 * @param {RangeSpec} spec
 * @param {number} value
 */
export function stepsTo({ min, step }, value) {
  return Math.round((value - min) / (step ?? 1));
}
