// Native, labelled controls that follow their traits and set them.

import { element } from "./dom.js";
import { formatStep } from "./format.js";
import { fromPosition, LOG_POSITIONS, snap, toPosition } from "./slider.js";

/**
 * @param {RangeSpec} spec
 * @returns {Input<number>}
 */
function makeRange(spec) {
  const { min, max, step, log } = spec;
  const bounds = log ? { min: 0, max: LOG_POSITIONS, step: 1 } : { min, max, step: step ?? "any" };
  const input = element("input", { type: "range", ...bounds });
  const read = () => (log ? fromPosition(spec, input.valueAsNumber) : snap(spec, input.valueAsNumber));
  /** @param {number} value */
  const show = (value) => formatStep(value, step);
  /** @param {number} value */
  const write = (value) => {
    if (!log) input.max = String(spec.max); // which grows while a training goes on
    if (read() !== value) input.valueAsNumber = log ? toPosition(spec, value) : value;
    input.setAttribute("aria-valuetext", show(value));
    const share = (input.valueAsNumber - Number(input.min)) / (Number(input.max) - Number(input.min));
    input.style.setProperty("--filled", `${100 * share}%`);
  };
  return { input, read, write, show };
}

/**
 * @param {SelectSpec} spec
 * @returns {Input<string | number>}
 */
function makeSelect({ options }) {
  const input = element("select", {}, ...options.map((option, i) => element("option", { value: i }, String(option))));
  /** @param {string | number} value */
  const write = (value) => {
    input.selectedIndex = options.indexOf(value);
  };
  return { input, read: () => options[input.selectedIndex], write, show: String };
}

/** @returns {Input<boolean>} */
function makeCheckbox() {
  const input = element("input", { type: "checkbox" });
  /** @param {boolean} value */
  const write = (value) => {
    input.checked = value;
  };
  return { input, read: () => input.checked, write, show: (value) => (value ? "on" : "off") };
}

/**
 * @param {TextSpec} spec
 * @returns {Input<string>}
 */
function makeText({ max_length }) {
  const input = element("input", { type: "text", maxlength: max_length, spellcheck: "false", autocomplete: "off" });
  /** @param {string} value */
  const write = (value) => {
    if (input.value !== value) input.value = value;
    input.classList.toggle("explorer-full", value.length >= max_length);
  };
  /** @param {string} value */
  const show = (value) => (value.length < max_length ? value : `No more than ${max_length} characters fit.`);
  return { input, read: () => input.value.toWellFormed?.() ?? input.value, write, show };
}

/**
 * @param {Exclude<ControlSpec, RoundsSpec>} spec
 * @returns {Input}
 */
function makeInput(spec) {
  switch (spec.kind) {
    case "range":
      return makeRange(spec);
    case "select":
      return makeSelect(spec);
    case "checkbox":
      return makeCheckbox();
    case "text":
      return makeText(spec);
  }
}

/**
 * A labelled control that follows its trait and sets it.
 * @param {Exclude<ControlSpec, RoundsSpec>} spec
 * @param {ExplorerModel} model
 * @param {Listen} listen
 * @param {() => void} send
 */
export function makeControl(spec, model, listen, send) {
  const { name, kind, label } = spec;
  const { input, read, write, show } = makeInput(spec);
  input.dataset.control = name;
  const output = element("output", { "data-for": name, "aria-live": "off" });
  const follow = () => {
    const value = model.get(name);
    write(value);
    output.textContent = show(value);
  };
  input.addEventListener("input", () => {
    const value = read();
    const moved = value !== model.get(name); // else it stands on the same step: nothing is sent, and no echo comes
    model.set(name, value); // redraws at once whatever needs no kernel
    if (moved) send(); // while the kernel is busy, only the newest value waits
  });
  listen("change:_controls", () => {
    Object.assign(
      spec,
      model.get("_controls").find((other) => other.name === name),
    );
    follow();
  });
  listen(`change:${name}`, follow);
  follow();
  return element("label", { class: `explorer-control explorer-${kind}` }, element("span", {}, label), input, output);
}
