// The live parts of a page: explorers when they come into view, and questions, drawn by their own front end.

import { computedModel } from "./computed.js";
import { element, say } from "./dom.js";
import explorer from "./explorer.js";
import { NOTE, offer } from "./live.js";
import { RecordedModel } from "./model.js";
import prediction from "./prediction.js";
import { AskedModel } from "./question.js";
import { fetchRecording } from "./recording.js";
import { showStops } from "./stops.js";

const AROUND = 50; // pixels of an explorer beside its pictures
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
  const recording = await fetchRecording(place.dataset.recording ?? "");
  const whole = "answers" in recording.header; // the picture of the whole encoder, which few pages have
  if (whole) {
    const { playAlive } = await import("./alive_recorded.js");
    playAlive(recording, place);
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
    if (live) beside?.after(offer(model, (typed) => goLive(typed, place)));
    else if (controls.some(({ stops }) => stops))
      root.append(needsKernel(controls, JSON.parse(place.dataset.live ?? "{}")));
  });
}

/**
 * An explorer in its place, once its picture is there.
 * @param {import("./traits.js").Traits} model
 * @param {HTMLElement} place
 * @param {(root: HTMLElement) => void} [furnish] adds what a page has and a notebook has not
 */
async function draw(model, place, furnish) {
  const root = element("div");
  model.on("change:_drawing", () => root.setAttribute("aria-busy", model.get("_drawing")));
  explorer.render({ model, el: root });
  furnish?.(root);
  const picture = root.querySelector("img");
  if (picture) await new Promise((come) => picture.addEventListener("load", come, { once: true }));
  place.replaceChildren(root);
  await new Promise(requestAnimationFrame); // in which panels are laid out, unseen
  await new Promise(requestAnimationFrame);
  place.dataset.playing = "";
}

/**
 * The explorer with a field in which the reader types.
 * @param {import("./live.js").LiveModel} model
 * @param {HTMLElement} place
 */
async function goLive(model, place) {
  await draw(model, place, (root) => root.append(element("p", { class: "recorded-note" }, NOTE)));
  place.querySelector("input")?.select();
}

/**
 * Which controls had to follow the one that was moved.
 * @param {RecordedModel} model
 */
function movedAlong(model) {
  const words = element("p", { class: "recorded-note", role: "status" });
  model.on("change:_moved", () => {
    const moved = model.get("_moved");
    say(words, moved && `Not all is recorded together: ${moved} moved along.`);
  });
  return words;
}

/**
 * What was recorded, and where the rest is.
 * @param {RecordedControl[]} controls
 * @param {Record<string, string>} links
 */
function needsKernel(controls, links) {
  const values = controls.filter(({ stops }) => stops).map(({ label, stops }) => `${label} ${stops?.join(", ")}`);
  const words = `This explorer plays back what was recorded: ${values.join("; ")}. For every value, run `;
  const ways = Object.entries(links).flatMap(([name, href], i) => [
    i ? " or " : "it on ",
    element("a", { href }, name),
  ]);
  return element("p", { class: "recorded-note" }, words, ...(ways.length ? ways : ["the notebook"]), ".");
}

/** @param {HTMLElement} place */
function ask(place) {
  const model = new AskedModel(JSON.parse(place.dataset.question ?? ""), place.dataset.answer ?? "");
  const root = element("div");
  prediction.render({ model, el: root });
  model.on("change:_outcome", () => {
    const picture = root.querySelector("img");
    if (picture) keepHeatmaps(picture, model.heatmaps);
  });
  place.replaceChildren(root);
}

/**
 * In the dark a picture's light and dark change places, but not where colours are numbers: these lie upon it once more.
 * @param {HTMLImageElement} picture
 * @param {string} path around them
 */
function keepHeatmaps(picture, path) {
  if (!path) return;
  const kept = /** @type {HTMLImageElement} */ (picture.cloneNode());
  Object.assign(kept, { alt: "", className: "kept only-dark" });
  kept.style.clipPath = path;
  picture.before(kept);
}

/** The front end draws anew when JupyterLab changes its theme, and this page has a theme of its own. */
function followTheme() {
  const { documentElement, body } = document;
  const follow = () => {
    body.dataset.jpThemeLight = String(documentElement.dataset.theme !== "dark");
  };
  follow();
  new MutationObserver(follow).observe(documentElement, { attributes: true, attributeFilter: ["data-theme"] });
}

followTheme();
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
for (const picture of /** @type {NodeListOf<HTMLImageElement>} */ (document.querySelectorAll("img[data-heatmaps]"))) {
  keepHeatmaps(picture, picture.dataset.heatmaps ?? "");
}
for (const place of document.querySelectorAll(".recorded")) seen.observe(place);
for (const place of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".asked"))) ask(place);
