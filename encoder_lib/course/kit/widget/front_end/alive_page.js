// What surrounds the encoder's picture: Play, the story, the sentences, buttons, choices, and the picture in words.

import { markup, renew } from "./alive_drawing.js";
import { LONGEST } from "./alive_state.js";
import { changesButtons, describe, sharesButtons, stationStory, story } from "./alive_words.js";
import { say } from "./dom.js";

/** @param {number} side */
const footOf = (side) => `<div><input type="text" class="alive-edge-${side + 1}" maxlength="240" spellcheck="false"
  autocomplete="off" aria-label="Sentence ${side + 1}" data-text="${side}"><div class="alive-chips"></div></div>`;

// The groups of the drawing, from the back to the front. A picture without tabindex would be a stop for Tab, as it hears focus.
const GROUPS = "bands ghosts texture lanes inside ribbons parts strands hits labels targets marks names".split(" ");

const PAGE = `
<p class="alive-title" data-name="title"></p>
<div class="alive-top">
  <div class="alive-player">
    <button type="button" class="alive-button alive-strong" data-act="play" data-name="play">Play</button>
    <input type="range" max="1000" aria-label="How far the sentences have risen" data-name="height">
    <button type="button" class="alive-button" data-act="answer" data-name="answer">Show me</button>
  </div>
  <p class="alive-story" aria-live="polite" data-name="story"></p>
</div>
<p class="alive-error" role="alert" data-name="error"></p>
<div class="alive-tabs" role="group" aria-label="The sentence that is shown" data-name="tabs">
  <button type="button" data-act="side 0">Sentence 1</button><button type="button" data-act="side 1">Sentence 2</button>
</div>
<div class="alive-stage" data-name="stage">
  <svg role="group" tabindex="-1" data-name="svg"
    aria-label="The encoder, from the words below to their vectors above. Arrow keys lead from button to button."
    >${GROUPS.map((name) => `<g class="alive-in-${name}"></g>`).join("")}</svg>
  <div class="alive-front" aria-hidden="true" data-name="front"></div>
</div>
<div class="alive-feet" data-name="feet">${[0, 1].map(footOf).join("")}</div>
<div class="alive-chips" data-name="changes"></div>
<div class="alive-choices">
  <label>Ribbons show <select data-name="measure"><option value="arrives">what arrives<option value="weights">attention weights</select></label>
  <label>of <select data-name="head"></select></label>
  <label>Follow <select data-name="word"></select></label>
  <label>A click takes out <select data-name="scope">
    <option value="head">in one head<option value="layer">in one layer<option value="all">in all layers</select></label>
</div>
<p class="alive-legend"><span>Click a ribbon to cut it, a name at the left to take that part out, a layer’s number to open it.</span>
  <span class="alive-stream">lane: a token’s vector (residual stream)</span>
  <span class="alive-attention">ribbon: what attention brings from one token to another, shown up to ${LONGEST}</span>
  <span class="alive-forward">loop: feed-forward, for each token alone</span>
  <span class="alive-ink">residual connection: adds</span><span class="alive-norm">norm</span></p>
<details class="alive-words" data-name="words"><summary>The picture in words</summary><div></div></details>`;

/** The page, each part by its name. @param {HTMLElement} root @param {string} title @returns {Record<string, any>} */
export const makePage = (root, title) => {
  renew(root, PAGE);
  const named = /** @type {HTMLElement[]} */ ([...root.querySelectorAll("[data-name]")]);
  const page = Object.fromEntries(named.map((node) => [node.dataset.name, node]));
  page.title.textContent = title;
  page.title.hidden = !title;
  return page;
};

/** Keep the page up with the picture. @param {Record<string, any>} page @param {AliveView} view @param {boolean} playing @param {number} station */
export const tellPage = (page, view, playing, station) => {
  const { plan, answer, state } = view;
  const pair = answer.sentences.length > 1;
  page.story.setAttribute("aria-live", playing ? "off" : "polite");
  say(page.story, station < 0 ? story(view) : stationStory(view, station));
  say(page.play, playing ? "Pause" : "Play");
  page.height.value = Math.round(state.at * 1000);
  [page.play.hidden, page.height.hidden, page.answer.hidden] = [state.asking, state.asking, !state.asking];
  const heads = Array.from({ length: answer.heads }, (_, h) => markup`<option value="${h}">head ${h + 1}</option>`);
  renew(page.head, `<option value="">all heads</option>${heads.join("")}`);
  renew(page.word, answer.common.map((word) => markup`<option>${word}</option>`).join(""));
  for (const name of /** @type {const} */ (["measure", "head", "word", "scope"])) page[name].value = state[name] ?? "";
  page.tabs.hidden = !pair || plan.sides.length > 1;
  [...page.feet.children].forEach((foot, side) => {
    foot.hidden = !plan.sides.includes(side);
    if (foot.firstChild !== document.activeElement) foot.firstChild.value = state.texts[side] ?? "";
    page.tabs.children[side].setAttribute("aria-pressed", state.side === side);
    if (!foot.hidden) renew(foot.lastChild, sharesButtons(view, side));
  });
  renew(page.changes, state.asking ? "" : changesButtons(view));
  const lines = page.words.open && !state.asking ? describe(view) : [];
  renew(page.words.lastChild, lines.map((line) => markup`<p>${line}</p>`).join(""));
};
