// The front end of Prediction: choose and commit, or ask to be shown; then the answer and the result are there.

import { element, keepKeys, listener, say } from "./dom.js";
import { initialize } from "./late.js";
import { makeRoom, showResult } from "./result.js";

const FRAME = 48; // of a question, left and right together, as explorer.css has it
const PATIENCE = 1000; // milliseconds until the reader is told that the kernel is at something else

/** @param {{ model: PredictionModel, el: HTMLElement }} props */
function render({ model, el }) {
  const [listen, stop] = listener(model);
  const group = crypto.getRandomValues(new Uint32Array(2)).join("-"); // radio buttons of one view belong together
  const radios = model.get("_choices").map((_, i) => element("input", { type: "radio", name: group, value: i }));
  const choices = model.get("_choices").map((text, i) => element("label", {}, radios[i], element("span", {}, text)));
  const commit = element("button", { type: "button", class: "prediction-commit" }, "Commit");
  const show = element("button", { type: "button", class: "prediction-show" }, "Show me");
  const verdict = element("strong");
  const finding = element("span");
  const message = element(
    "p",
    { class: "prediction-message", "aria-live": "polite", tabindex: -1 },
    verdict,
    " ",
    finding,
  );
  const size = model.get("_room");
  const room = makeRoom(size);
  const root = element(
    "section",
    { class: "prediction", role: "group", "aria-label": "Prediction" },
    element("fieldset", {}, element("legend", {}, model.get("_prompt")), ...choices),
    element("div", { class: "prediction-actions" }, commit, show, message),
    room,
  );
  if (size.kind === "picture") root.style.maxWidth = `max(720px, ${size.width + FRAME}px)`;
  keepKeys(root);
  el.append(root);

  /**
   * @param {string} name
   * @param {number | boolean} value
   */
  const save = (name, value) => {
    model.set(name, value);
    model.save_changes();
  };
  radios.forEach((radio, i) => {
    radio.addEventListener("change", () => save("choice", i));
  });
  let hide = () => {};
  let shown = false;
  const steps = /** @type {const} */ ([
    [commit, "committed"],
    [show, "revealed"],
  ]);
  for (const [button, name] of steps) {
    button.addEventListener("click", () => {
      save(name, true);
      message.focus(); // the buttons have gone, and a key must not fall through to the notebook
      setTimeout(() => shown || say(verdict, "Waiting for the kernel …"), PATIENCE);
    });
  }

  const follow = () => {
    const choice = model.get("choice");
    const told = model.get("_told");
    const asked = model.get("committed") || model.get("revealed");
    radios.forEach((radio, i) => {
      radio.checked = i === choice;
      radio.disabled = asked;
    });
    commit.disabled = choice === null;
    commit.hidden = asked;
    show.hidden = asked;
    if (told.verdict === undefined || shown) return;
    shown = true;
    say(verdict, told.verdict);
    say(finding, told.finding);
    choices[told.answer]?.classList.add("prediction-right");
    hide = showResult(told, room);
  };
  listen("change:choice change:committed change:revealed change:_told", follow);
  follow();
  return () => {
    stop();
    hide();
  };
}

export default { initialize, render };
