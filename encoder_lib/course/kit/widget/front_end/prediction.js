// The front end of Prediction: choose and commit, or ask to be shown; then the answer and the result are there.

import { bringIntoView, openBelow, stayInView } from "./below.js";
import { element, keepKeys, listener, say } from "./dom.js";
import { sender } from "./echo.js";
import { initialize } from "./late.js";
import { showResult } from "./result.js";

/** @param {{ model: PredictionModel, el: HTMLElement }} props */
function render({ model, el }) {
  const [listen, stop] = listener(model);
  const group = crypto.getRandomValues(new Uint32Array(2)).join("-"); // radio buttons of one view belong together
  const radios = model.get("_choices").map((_, i) => element("input", { type: "radio", name: group, value: i }));
  const choices = model.get("_choices").map((text, i) => element("label", {}, radios[i], element("span", {}, text)));
  const commit = element("button", { type: "button", class: "explorer-action prediction-commit" }, "Commit");
  const show = element("button", { type: "button", class: "explorer-action prediction-show" }, "Show me");
  const verdict = element("strong");
  const answer = element("span", { class: "prediction-unseen" }); // a tick among the choices shows it
  const finding = element("span");
  const parts = [verdict, " ", answer, " ", finding];
  const message = element("p", { class: "prediction-message", "aria-live": "polite", tabindex: -1 }, ...parts);
  const root = element(
    "section",
    { class: "prediction", role: "group", "aria-label": "Prediction" },
    element("fieldset", {}, element("legend", {}, model.get("_prompt")), ...choices),
    element("div", { class: "prediction-actions" }, commit, show, message),
  );
  keepKeys(root);
  el.append(root);
  stayInView(root);

  let hide = () => {};
  let shown = false;
  let answered = false; // by the reader, in this view
  const send = sender(model, listen, (silence) => {
    root.classList.toggle("prediction-stale", Boolean(silence));
    if (!shown) say(verdict, silence);
  });

  /**
   * @param {string} name
   * @param {number | boolean} value
   */
  const save = (name, value) => {
    model.set(name, value);
    send();
  };
  radios.forEach((radio, i) => {
    radio.addEventListener("change", () => save("choice", i));
  });
  const steps = /** @type {const} */ ([
    [commit, "committed"],
    [show, "revealed"],
  ]);
  for (const [button, name] of steps) {
    button.addEventListener("click", () => {
      answered = true;
      save(name, true);
      message.focus(); // the buttons have gone, and a key must not fall through to the notebook
    });
  }

  /**
   * Mark the right choice, and the reader's own if it is wrong.
   * @param {Told} told
   * @param {number | null} guess null after "Show me"
   */
  const mark = (told, guess) => {
    const right = guess === told.answer;
    root.classList.add("prediction-revealed");
    if (guess !== null && !right) choices[guess]?.classList.add("prediction-wrong");
    choices[told.answer]?.classList.add("prediction-right");
    if (guess === null) say(verdict, "");
    else say(verdict, right ? "Correct." : "Not this one.");
    if (!right) say(answer, `The answer is: ${model.get("_choices")[told.answer]}.`);
    say(finding, told.finding);
  };

  const follow = () => {
    const choice = model.get("choice");
    const told = model.get("_outcome");
    const asked = model.get("committed") || model.get("revealed");
    radios.forEach((radio, i) => {
      radio.checked = i === choice;
      radio.disabled = asked;
    });
    commit.disabled = choice === null;
    commit.hidden = asked;
    show.hidden = asked;
    if (told.answer === undefined || shown) return;
    shown = true;
    mark(told, model.get("committed") ? choice : null);
    const letGo = showResult(told, root);
    const stopOpening = openBelow(root);
    if (answered) bringIntoView(root, "end");
    hide = () => {
      letGo();
      stopOpening();
    };
  };
  listen("change:choice change:committed change:revealed change:_outcome", follow);
  follow();
  return () => {
    stop();
    hide();
  };
}

export default { initialize, render };
