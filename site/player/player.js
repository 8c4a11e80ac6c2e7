// The live parts of a page: questions, and explorers once they come into view, drawn by their own front end.

import { computedModel } from "./computed.js";
import { element, say } from "./dom.js";
import { remember, showDone, wasDone } from "./done.js";
import explorer from "./explorer.js";
import { LiveModel, NOTE, offer } from "./live.js";
import { RecordedModel } from "./model.js";
import prediction from "./prediction.js";
import { AskedModel } from "./question.js";
import { fetchRecording } from "./recording.js";
import { showStops } from "./stops.js";
import { explainTerms } from "./terms.js";

const DONE_BEFORE = "You have answered this before.";
const AROUND = 50; // pixels of an explorer to the left and right of its pictures
const PHONE = "(max-width: 600px)"; // as in site.css
const NEAR = "400px"; // how far below the window an explorer is fetched

/** @type {Record<string, number>} */
const HEADINGS = { ArrowUp: 1, ArrowRight: 1, PageUp: 1, ArrowDown: -1, ArrowLeft: -1, PageDown: -1 };

/**
 * @param {RecordedModel} model
 * @param {number} [heading]
 */
function head(model, heading = 0) {
  model.heading = heading;
}

/** @param {HTMLElement} place */
async function play(place) {
  const { phone, recording: desk = "" } = place.dataset;
  const recording = await fetchRecording((matchMedia(PHONE).matches && phone) || desk);
  const whole = "answers" in recording.header; // the picture of the whole encoder, which few pages have
  if (whole) {
    const { playAlive } = await import("./alive_recorded.js");
    playAlive(recording, place);
    return;
  }
  if ("query" in recording.header) {
    const { playSearch } = await import("./search_recorded.js");
    playSearch(recording, place);
    return;
  }
  if (recording.header.computed) {
    await draw(await computedModel(recording.header, () => place.clientWidth - AROUND), place);
    return;
  }
  const model = new RecordedModel(recording);
  model.go(0);
  await draw(model, place, (root) => {
    root.addEventListener("keydown", ({ key }) => head(model, HEADINGS[key]), true);
    root.addEventListener("pointerdown", () => head(model, 0), true);
    const { controls, live } = model.recording.header;
    for (const control of controls) showStops(root, control);
    const beside = root.querySelector(".explorer-controls");
    beside?.after(movedAlong(model));
    if (live) beside?.after(offer((report) => goLive(model, place, report), "The recorded sentences stay."));
    else if (controls.some(({ stops }) => stops))
      root.append(needsKernel(controls, JSON.parse(place.dataset.live ?? "{}")));
  });
}

/**
 * Draw an explorer, and put it in its place once its picture has loaded.
 * @param {import("./traits.js").Traits} model
 * @param {HTMLElement} place
 * @param {(root: HTMLElement) => void} [furnish] adds what only a page has
 */
async function draw(model, place, furnish) {
  const root = element("div");
  model.on("change:_drawing", () => root.setAttribute("aria-busy", model.get("_drawing")));
  explorer.render({ model, el: root });
  furnish?.(root);
  const picture = root.querySelector("img");
  if (picture) await new Promise((come) => picture.addEventListener("load", come, { once: true }));
  place.replaceChildren(root);
  await new Promise(requestAnimationFrame); // in which the panels are laid out, still hidden
  await new Promise(requestAnimationFrame);
  place.dataset.playing = "";
}

/**
 * The explorer with a field to type in, once MiniLM has computed the current text.
 * @param {RecordedModel} recorded
 * @param {HTMLElement} place
 * @param {(fraction: number) => void} report
 */
async function goLive(recorded, place, report) {
  const model = new LiveModel(recorded);
  await model.read(report);
  await draw(model, place, (root) => root.append(element("p", { class: "recorded-note" }, NOTE)));
  place.querySelector("input")?.select();
}

/**
 * A line that names the controls that had to move along with the one that the reader moved.
 * @param {RecordedModel} model
 */
function movedAlong(model) {
  const words = element("p", { class: "recorded-note", role: "status" });
  model.on("change:_moved", () => {
    const moved = model.get("_moved");
    say(words, moved && `Not every combination was recorded, so ${moved} moved as well.`);
  });
  return words;
}

/**
 * A line that says which values were recorded, and where to run the explorer for all others.
 * @param {RecordedControl[]} controls
 * @param {Record<string, string>} links
 */
function needsKernel(controls, links) {
  const sliders = controls.filter(({ kind, stops }) => stops && kind !== "select");
  const values = sliders.map(({ label, stops }) => `${label} ${stops?.join(", ")}`);
  const words = values.length
    ? `This explorer shows what was recorded: ${values.join("; ")}. For all values, run `
    : "Here you can choose among recorded sentences. To type your own, run ";
  const ways = Object.entries(links).flatMap(([name, href], i) => [
    i ? " or " : "it on ",
    element("a", { href }, name),
  ]);
  return element("p", { class: "recorded-note" }, words, ...(ways.length ? ways : ["the notebook"]), ".");
}

/** @param {HTMLElement} place */
function ask(place) {
  const address = place.dataset.answer ?? "";
  const model = new AskedModel(JSON.parse(place.dataset.question ?? ""), address);
  const root = element("div");
  prediction.render({ model, el: root });
  model.on("change:_outcome", () => remember(address));
  place.replaceChildren(root);
  if (wasDone(address)) place.append(element("p", { class: "recorded-note" }, DONE_BEFORE));
}

/** @param {HTMLElement} place of an exercise, whose script few pages need */
async function letTry(place) {
  const { order, paint, typed } = place.dataset;
  if (order) (await import("./order.js")).playOrder(place, remember);
  else if (paint) (await import("./paint.js")).playPaint(place, remember);
  else (await import("./typed.js")).playTyped(place, remember);
  if (wasDone(order ?? paint ?? typed ?? "")) place.after(element("p", { class: "recorded-note" }, DONE_BEFORE));
}

/** The front end draws again when JupyterLab changes its theme; here the theme of the page takes its place. */
function followTheme() {
  const { documentElement, body } = document;
  const follow = () => {
    body.dataset.jpThemeLight = String(documentElement.dataset.theme !== "dark");
  };
  follow();
  new MutationObserver(follow).observe(documentElement, { attributes: true, attributeFilter: ["data-theme"] });
}

followTheme();
showDone();
explainTerms();
/** @param {HTMLElement} place */
const tryToPlay = (place) => play(place).catch((problem) => console.error(problem)); // the stored picture stays
const seen = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting || !(target instanceof HTMLElement)) continue;
      seen.unobserve(target);
      tryToPlay(target);
    }
  },
  { rootMargin: NEAR },
);
for (const place of document.querySelectorAll(".recorded")) seen.observe(place);
for (const place of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".asked"))) ask(place);
for (const place of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".exercise"))) letTry(place);
