// The explorer `clocks` of 02: four clocks of the sinusoidal table, at a position and at a later one.

import { circle, DARK, INKS, line, polyline, svg, text } from "./drawing.js";
import { sinusoidalTable } from "./positional.js";

/**
 * The hands (x, y) of four clocks at a position and, after a shift, at a later one. Only the shift determines the angle
 * between the two.
 * @param {Record<string, any>} values
 */
function hands({ position, shift }) {
  const table = sinusoidalTable(position + shift + 1, 8, 100);
  return [position, position + shift].map((t) => [0, 2, 4, 6].map((i) => [table[t][i + 1], table[t][i]]));
}

/**
 * @param {Record<string, any>} values
 * @param {PanelSpec[]} _
 * @param {number} width
 */
export function clocks({ position, shift }, _, width) {
  const unit = (width - 2) / 11.8; // a clock's radius is one unit, and so is the space between two clocks
  const [before, after] = hands({ position, shift });
  const drawn = before.map((_, k) => {
    const [x, y] = [(1.4 + 3 * k) * unit, 1.2 * unit + 24];
    /** @param {number[]} hand @param {string} ink @param {number} thick @param {string} dash */
    const draw = ([right, up], ink, thick, dash) => {
      const end = [x + right * unit, y - up * unit];
      return polyline([[x, y], end], ink, thick, dash) + circle(end[0], end[1], thick + 1, ink);
    };
    const face = circle(x, y, unit, "none", INKS.grey) + text(x, y + unit + 18, `clock ${k}`, "middle");
    return face + draw(before[k], DARK, 2, "6 4") + draw(after[k], INKS.blue, 3, "");
  });
  const key = [
    [DARK, "6 4", "before"],
    [INKS.blue, "", "after"],
  ].map(([ink, dash, name], i) => line(10 + 90 * i, 10, 34 + 90 * i, 10, ink, 2, dash) + text(40 + 90 * i, 14, name));
  const turned = before.map(([x, y], k) => {
    const degrees = ((Math.atan2(after[k][1], after[k][0]) - Math.atan2(y, x)) * 180) / Math.PI;
    return `${(Math.round(degrees) + 720) % 360}°`;
  });
  const words = `From position ${position} to position ${position + shift} the four clocks turn by ${turned.join(", ")}.`;
  return { _picture: svg(width, 2.2 * unit + 54, ...key, ...drawn), _descriptions: [words] };
}
