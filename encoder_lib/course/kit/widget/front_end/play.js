// A button beside a slider that plays it: from where it is to its end, in a few seconds.

import { element, isCalm, say } from "./dom.js";
import { formatStep } from "./format.js";
import { snap, stepsTo } from "./slider.js";

const WHOLE_RUN = 6000; // milliseconds from the first step to the last
const [FASTEST, SLOWEST] = [40, 700]; // milliseconds for each picture
const CALM_PICTURES = 12; // in a whole run for readers who want little motion

/**
 * How to play a slider that has so many steps after its first position: the milliseconds for each picture, and how many
 * steps lie between two pictures.
 * @param {number} steps
 * @param {boolean} calm
 */
export function paceOf(steps, calm) {
  if (calm) return { pace: SLOWEST, stride: Math.max(1, Math.ceil(steps / CALM_PICTURES)) };
  return { pace: Math.min(SLOWEST, Math.max(FASTEST, WHOLE_RUN / steps)), stride: 1 };
}

/**
 * The value of a slider after its name, or after the symbol that ends its name, as it is written beside a picture:
 * "step 37", and "s = 4" for "shift s".
 * @param {RangeSpec} spec
 * @param {number} value
 */
export function valueInWords({ label, step }, value) {
  const symbol = label.match(/\s(\S)$/)?.[1];
  return `${symbol ? `${symbol} =` : label} ${formatStep(value, step)}`;
}

/**
 * Put a button beside a labelled slider. While it plays, only the page follows; the kernel gets the last value. Any other
 * change of the value stops it.
 * @param {RangeSpec} spec
 * @param {HTMLElement} control
 * @param {ExplorerModel} model
 * @param {Listen} listen
 * @param {{ send: () => void, quiet: (playing: boolean) => void }} explorer `quiet` is told when it begins and when it ends
 * @returns {[HTMLElement, () => void]} both in one element, and how to stop
 */
export function playable(spec, control, model, listen, { send, quiet }) {
  const { name, min, step } = spec;
  const word = element("span");
  const icon = element("span", { class: "explorer-play-icon", "aria-hidden": "true" });
  const button = element("button", { type: "button", class: "explorer-action explorer-play" }, icon, word);
  let timer = 0; // of the next picture; 0 while it rests
  let own = min; // the value that it has set last

  /** @param {boolean} playing */
  const show = (playing) => {
    say(word, playing ? "Pause" : "Play");
    button.setAttribute("aria-label", `${playing ? "Pause" : "Play"}: ${spec.label}`);
    button.setAttribute("aria-pressed", String(playing));
  };

  const rest = () => {
    cancelAnimationFrame(timer);
    timer = 0;
    show(false);
    quiet(false);
  };

  const stop = () => {
    if (!timer) return;
    rest();
    send();
  };

  /** @param {number} place */
  const go = (place) => {
    own = snap(spec, min + place * (step ?? 1));
    model.set(name, own);
  };

  const play = () => {
    const last = stepsTo(spec, spec.max);
    const { pace, stride } = paceOf(last, isCalm());
    const place = stepsTo(spec, Number(model.get(name)));
    const from = place < last ? place : 0;
    const began = performance.now();
    let shown = from;
    /** @param {number} now */
    const next = (now) => {
      if (!button.isConnected) return;
      const goal = Math.min(last, from + stride * Math.max(0, Math.floor((now - began) / pace)));
      timer = requestAnimationFrame(next);
      if (goal === last) rest(); // before the last step, which a screen reader then reads out
      if (goal > shown) go(goal);
      shown = goal;
      if (goal === last) send();
    };
    timer = requestAnimationFrame(next);
    show(true);
    quiet(true);
    go(from);
  };

  listen(`change:${name}`, () => {
    if (timer && model.get(name) !== own) rest(); // whoever has changed it sends it
  });
  control.querySelector("input")?.addEventListener("pointerdown", stop);
  button.addEventListener("click", () => (timer ? stop() : play()));
  show(false);
  return [element("div", { class: "explorer-playable" }, control, button), stop];
}
