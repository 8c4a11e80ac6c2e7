// Sliders that stop at recorded values alone: marks below them, and a word.

import { element } from "./dom.js";
import { toPosition } from "./slider.js";

/**
 * Mark the stops of a slider of an explorer that has been drawn.
 * @param {HTMLElement} root
 * @param {RecordedControl} control
 */
export function showStops(root, control) {
  const { stops, name } = control;
  const input = root.querySelector(`input[data-control="${CSS.escape(name)}"]`);
  if (!stops || control.kind !== "range" || !input) return;
  const marks = stops.map((stop) => {
    const mark = element("i");
    mark.style.left = `${100 * shareOf(control, Number(stop))}%`;
    return mark;
  });
  input.after(element("span", { class: "recorded-stops", "aria-hidden": "true" }, ...marks));
  input.setAttribute("aria-description", `${stops.length} recorded stops`);
}

/**
 * How far along the slider a value stands.
 * @param {RangeSpec} control
 * @param {number} value
 */
function shareOf(control, value) {
  const { min, max, log } = control;
  return log ? toPosition(control, value) / 200 : (value - min) / (max - min);
}
