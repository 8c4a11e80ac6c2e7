// From values to colours.

/**
 * The 256 colours of a theme as pixels. The table has three bytes for each, first of the light theme, then of the dark.
 * @param {DataView} table
 * @param {boolean} dark
 */
export function toPalette(table, dark) {
  const first = dark ? 768 : 0;
  const pixels = new Uint8ClampedArray(1024).fill(255);
  for (let i = 0; i < 256; i++) {
    for (let j = 0; j < 3; j++) pixels[4 * i + j] = table.getUint8(first + 3 * i + j);
  }
  return new Uint32Array(pixels.buffer);
}

/**
 * Which of the 256 colours a finite value takes: the same one that matplotlib gives it.
 * @param {number} value
 * @param {number} low
 * @param {number} high
 */
export function shadeOf(value, low, high) {
  return Math.max(0, Math.min(255, Math.floor(((value - low) / (high - low)) * 256)));
}

/**
 * A pixel for each value; one that is not finite is transparent.
 * @param {Matrix} matrix
 */
export function toPixels({ values, limits, palette }) {
  const [low, high] = limits;
  const pixels = new Uint32Array(values.length);
  for (let i = 0; i < values.length; i++) {
    if (Number.isFinite(values[i])) pixels[i] = palette[shadeOf(values[i], low, high)];
  }
  return pixels;
}

/**
 * The colour of a finite value: red, green and blue.
 * @param {number} value
 * @param {Matrix} matrix
 */
export function colourOf(value, { limits, palette }) {
  const pixel = palette[shadeOf(value, ...limits)];
  return [0, 8, 16].map((bits) => (pixel >> bits) & 255);
}

/**
 * Whether a computed colour, such as that of text in the dark, is lighter than the middle grey.
 * @param {string} colour
 */
export function isLight(colour) {
  const parts = (colour.match(/\d+/g) ?? []).slice(0, 3);
  return parts.reduce((sum, part) => sum + Number(part), 0) > 382;
}

/**
 * Black or white, whichever stands out better from a colour: at least 4.5 to 1 from any (relative luminance, WCAG 2.2).
 * @param {number[]} colour
 */
export function inkOn(colour) {
  const linear = colour.map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] > 0.179 ? "#000000" : "#ffffff";
}
