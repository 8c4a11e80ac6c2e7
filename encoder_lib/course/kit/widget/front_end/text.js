// How wide texts are, and what stands above a panel.

import { element, say } from "./dom.js";
import { formatValue } from "./format.js";

/** The most that one label takes; what is longer ends in an ellipsis. */
export const LONGEST = 96;

/**
 * Cut `text` with an ellipsis until it is at most `width` wide.
 * @param {CanvasRenderingContext2D} pen
 * @param {string} text
 * @param {number} width
 */
export function fit(pen, text, width) {
  if (pen.measureText(text).width <= width) return text;
  const letters = Array.from(text);
  while (letters.length && pen.measureText(`${letters.join("")}…`).width > width) letters.pop();
  return `${letters.join("")}…`;
}

/**
 * The width of the widest of some texts.
 * @param {CanvasRenderingContext2D} pen
 * @param {string[]} texts
 */
function widest(pen, texts) {
  return Math.max(...texts.map((text) => pen.measureText(text).width));
}

/**
 * The widths of the labels of a panel's columns and rows.
 * @param {CanvasRenderingContext2D} pen
 * @param {PanelSpec} spec
 * @param {string} font
 */
export function labelWidths(pen, { x_ticks, y_ticks, columns, rows, frames }, font) {
  pen.font = font;
  const [x, y] = [x_ticks ?? [String(columns + frames)], y_ticks ?? [String(rows + frames)]];
  return { columnLabels: Math.min(LONGEST, widest(pen, x)), rowLabels: Math.min(LONGEST, widest(pen, y)) };
}

/**
 * The widths of a panel's title, on one line, and of the numbers along its colour bar.
 * @param {CanvasRenderingContext2D} pen
 * @param {Matrix} matrix
 * @param {Style} style
 */
export function captionWidths(pen, { spec, limits, step }, { font, titleFont }) {
  pen.font = titleFont;
  const title = pen.measureText(spec.title).width + (step ? 12 + pen.measureText(step.longest).width : 0);
  pen.font = font;
  const [low, high] = limits;
  return { title, numbers: widest(pen, [low, high, (low + high) / 2].map(formatValue)) };
}

/**
 * Write a panel's title above it, and which step it shows.
 * @param {HTMLElement} caption
 * @param {Matrix} matrix
 */
export function writeCaption(caption, { title, step }) {
  const [before, shown] = [caption.firstChild, caption.querySelector(".explorer-frame")];
  if (!before || before.textContent !== title || !shown !== !step) {
    caption.replaceChildren(title, ...(step ? [element("span", { class: "explorer-frame" }, step.now)] : []));
  } else if (shown && step) say(shown, step.now);
}
