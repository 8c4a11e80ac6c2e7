// The front end of Prediction: choose, commit, compare.

import { element, keepKeys, listener, say } from "./dom.js";
import { initialize } from "./late.js";

/** @param {{ model: PredictionModel, el: HTMLElement }} props */
function render({ model, el }) {
  const [listen, stop] = listener(model);
  const group = crypto.getRandomValues(new Uint32Array(2)).join("-"); // radio buttons of one view belong together
  const radios = model.get("_choices").map((_, i) => element("input", { type: "radio", name: group, value: i }));
  const choices = model.get("_choices").map((text, i) => element("label", {}, radios[i], element("span", {}, text)));
  const commit = element("button", { type: "button", class: "prediction-commit" }, "Commit");
  const compare = element("button", { type: "button", class: "prediction-compare" }, "Compare");
  const message = element("p", { class: "prediction-message", "aria-live": "polite", tabindex: -1 });
  const prompt = model.get("_prompt");
  const root = element(
    "section",
    { class: "prediction", role: "group", "aria-label": "Prediction" },
    element("fieldset", {}, element("legend", {}, prompt), ...choices),
    element("div", { class: "prediction-actions" }, commit, compare, message),
  );
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
  commit.addEventListener("click", () => {
    save("committed", true);
    compare.focus(); // its neighbour has gone
  });
  compare.addEventListener("click", () => {
    save("revealed", true);
    message.focus(); // the button has gone, and a key must not fall through to the notebook
  });

  const follow = () => {
    const [choice, committed, revealed] = [model.get("choice"), model.get("committed"), model.get("revealed")];
    radios.forEach((radio, i) => {
      radio.checked = i === choice;
      radio.disabled = committed;
    });
    commit.hidden = committed;
    commit.disabled = choice === null;
    compare.hidden = !committed || revealed;
    say(message, model.get("message"));
  };
  listen("change:choice change:committed change:revealed change:message", follow);
  follow();
  return stop;
}

export default { initialize, render };
