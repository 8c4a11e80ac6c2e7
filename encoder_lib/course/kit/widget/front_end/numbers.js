// Small arithmetic.

/**
 * The number of an interval that is nearest to `value`.
 * @param {number} value
 * @param {Limits} interval
 */
export const clamp = (value, [low, high]) => Math.min(high, Math.max(low, value));
