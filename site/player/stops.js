// Sliders that stop only at recorded values: marks below them, and a description.

import { element } from "./dom.js";

/**
 * Mark the stops of a slider of an explorer that has been drawn.
 * @param {HTMLElement} root
 * @param {RecordedControl} control
 */
export function showStops(root, control) {
  const { stops, name } = control;
  const input = root.querySelector(`input[data-control="${CSS.escape(name)}"]`);
  if (!stops || control.kind !== "range" || !input) return;
  const { min, max } = control;
  const marks = stops.map((stop) => {
    const mark = element("i");
    mark.style.left = `${(100 * (Number(stop) - min)) / (max - min)}%`;
    return mark;
  });
  input.after(element("span", { class: "recorded-stops", "aria-hidden": "true" }, ...marks));
  input.setAttribute("aria-description", `${stops.length} recorded stops`);
}
