// The front end of Explorer: native controls, pictures on canvases, and what they show in words.

import { stayInView } from "./below.js";
import { makeControl } from "./controls.js";
import { element, keepKeys, listener, say } from "./dom.js";
import { sender } from "./echo.js";
import { showFigure } from "./figure.js";
import { initialize } from "./late.js";
import { showPanels } from "./panels.js";
import { playable } from "./play.js";
import { goOn } from "./rounds.js";
import { stepsTo } from "./slider.js";

/** @param {{ model: ExplorerModel, el: HTMLElement }} props */
function render({ model, el }) {
  const [listen, stop] = listener(model);
  const controls = model.get("_controls");
  const above = element("div");
  const pictures = element("div", { class: "explorer-pictures" });
  const readout = element("p", { class: "explorer-readout", "aria-live": "polite" });
  const description = element("p", { class: "explorer-description", "aria-live": "polite" });
  const error = element("p", { class: "explorer-error", role: "alert", hidden: true });
  let silence = "";
  const send = sender(model, listen, (words) => {
    silence = words;
    complain();
  });
  const quiet = (/** @type {boolean} */ playing) => {
    description.setAttribute("aria-live", playing ? "off" : "polite");
    if (playing) return;
    description.textContent = ""; // so that a screen reader reads out where it has stopped
    describe();
  };
  let stopPlaying = () => {};
  const inputs = controls.map((control) => {
    if (control.kind === "rounds") return goOn(control, model, listen, send);
    const input = makeControl(control, model, listen, send);
    const plays = control.name === model.get("_frames");
    if (control.kind !== "range" || !plays) return input;
    const [both, stopIt] = playable(control, input, model, listen, { send, quiet });
    stopPlaying = stopIt;
    return both;
  });
  const sliders = element("div", { class: "explorer-controls" }, ...inputs);
  const touched = model.get("_panels").some(({ plane, toggles }) => plane?.drags || toggles); // then controls come last
  const root = element(
    "section",
    { class: "explorer", "aria-label": model.get("title") },
    element("p", { class: "explorer-title" }, model.get("title")),
    ...(touched ? [] : [sliders]),
    above,
    pictures,
    readout,
    description,
    ...(touched ? [sliders] : []),
    error,
  );
  keepKeys(root);
  el.append(root);
  stayInView(root);

  const frame = () => {
    const control = controls.find(({ name }) => name === model.get("_frames"));
    return control?.kind === "range" ? stepsTo(control, Number(model.get(control.name))) : 0;
  };

  const describe = () => {
    const texts = model.get("_descriptions");
    const text = texts[Math.min(frame(), texts.length - 1)];
    say(description, text.replaceAll(/(?<=\d) (?=%)/g, "\u00a0")); // a number and its sign stay on one line
    const room = description.dataset.room ?? "";
    const longest = texts.reduce((long, other) => (other.length > long.length ? other : long), room);
    if (longest !== room) description.dataset.room = longest;
    for (const picture of root.querySelectorAll(".explorer-picture:not(img)")) {
      const name = picture.closest("figure")?.querySelector("figcaption")?.firstChild?.textContent;
      picture.setAttribute("aria-label", name ? `${name}. ${text}` : text);
    }
    for (const picture of pictures.querySelectorAll("img")) picture.alt = text;
  };

  const complain = () => {
    const failed = model.get("error") && `${model.get("error")}. The picture is the last one that could be drawn.`;
    const problem = silence || failed;
    error.hidden = !problem;
    say(error, problem);
    root.classList.toggle("explorer-stale", Boolean(problem));
  };

  const heatmaps = model.get("_panels").length > 0;
  readout.hidden = !heatmaps;
  const explorer = { above, pictures, readout, frame, describe, send };
  const stopShowing = heatmaps ? showPanels(model, listen, explorer) : showFigure(model, listen, explorer);
  listen("change:error", complain);
  complain();
  describe();
  return () => {
    stopPlaying();
    stop();
    stopShowing();
  };
}

export default { initialize, render };
