// Numbers in the formats of Python.

/**
 * With a given number of digits and no trailing zeros: Python's format "g".
 * @param {number} value
 * @param {number} digits
 */
export function general(value, digits = 6) {
  const power = value && Math.floor(Math.log10(Math.abs(Number(value.toPrecision(digits)))));
  if (power >= -4 && power < digits) return String(Number(value.toPrecision(digits)));
  const [number, exponent] = value.toExponential(digits - 1).split("e");
  return `${Number(number)}e${exponent.replace(/^([+-])(\d)$/, "$10$2")}`;
}

/**
 * A text whose negative numbers have a real minus, as `Explorer` writes it in Python.
 * @param {string} text
 */
export const withMinus = (text) => text.replace(/(?<![\p{L}\p{N}_“−-])-(?=\.?\d)/gu, "−");

/**
 * With two decimals, and no minus before a zero.
 * @param {number} value
 */
export function plain(value) {
  return value.toFixed(2).replace(/^-(0\.00)$/, "$1");
}
