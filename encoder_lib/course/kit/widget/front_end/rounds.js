// A button that lets the kernel go on with some work, a round at a time, until it is pressed again.

import { element, say } from "./dom.js";

/**
 * Between two rounds the kernel is free for whatever else the notebook asks. A view that has left the page asks for no
 * further round.
 * @param {RoundsSpec} spec
 * @param {ExplorerModel} model
 * @param {Listen} listen
 * @param {() => void} send
 */
export function goOn({ name, label, max }, model, listen, send) {
  const button = element("button", { type: "button", class: "explorer-action explorer-rounds" });
  let going = false;
  let waiting = false; // for a round to end

  const show = () => {
    const done = Number(model.get(name)) >= max;
    going &&= !done;
    say(button, going ? "Stop" : label);
    button.disabled = done;
  };

  const next = () => {
    going &&= button.isConnected;
    show();
    if (!going || waiting) return;
    waiting = true;
    model.set(name, Number(model.get(name)) + 1);
    send();
  };

  button.addEventListener("click", () => {
    going = !going;
    next();
  });
  listen("change:_controls change:error", () => {
    waiting = false;
    if (model.get("error")) going = false;
    next();
  });
  listen(`change:${name}`, show);
  show();
  return button;
}
