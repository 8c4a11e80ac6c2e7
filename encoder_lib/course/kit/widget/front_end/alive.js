// The whole encoder as one picture that the reader can touch: one or two sentences rise through its layers.

import { drawBetween } from "./alive_between.js";
import { Drawing } from "./alive_drawing.js";
import { paintFront } from "./alive_front.js";
import { listenTo } from "./alive_hands.js";
import { drawInside } from "./alive_inside.js";
import { frontOf, mix, planOf, stationAt } from "./alive_layout.js";
import { makePage, tellPage } from "./alive_page.js";
import { between, isSpecial, questionOf, same, stateOf, tellingHead, touched } from "./alive_state.js";
import { drawNames, drawTower } from "./alive_tower.js";
import { element, isCalm, keepKeys, penOf, say } from "./dom.js";
import { PATIENCE, renderAsking } from "./kernel.js";
import { initialize } from "./late.js";
import { clamp } from "./numbers.js";

const [MOVE, RISE, PAUSE] = [520, 14_000, 1400]; // milliseconds: of a change, of Play, of a station where nothing moves
const GROUPS = "bands ghosts texture lanes inside ribbons parts strands hits labels targets marks names".split(" ");
const LABEL = "The encoder, from the words below to their vectors above. Arrow keys lead from button to button.";

/** The words that can be followed. @param {Answer} answer */
const followable = ({ sentences, common }) => {
  const own = sentences[0].tokens.filter((name) => /\p{L}/u.test(name) && !isSpecial(name));
  return sentences.length > 1 ? common : [...new Set(own)];
};

/** What an answer depends on. @param {AliveState} state @returns {Partial<AliveState>} */
const settledOf = ({ texts, word, cuts, knockouts, open, head, scope }) => {
  return { texts, word, cuts, knockouts, open, head, scope };
};

/** @param {HTMLElement} root @param {AliveSetup} setup */
export function mount(
  root,
  { compute, question: begin, answer: first, options = {}, title = "", silence = "", asked = () => {} },
) {
  const state = /** @type {AliveState} */ ({
    ...{ focus: null, pinned: false, layer: 0, side: 0, measure: "arrives", scope: "layer", at: 1, pointed: "" },
    ...{ asking: Boolean(options.predict), guess: null, ...stateOf(begin) },
  });
  root.classList.add("alive");
  keepKeys(root);
  const page = makePage(root, title);
  const drawing = new Drawing(GROUPS);
  const group = { role: "group", "aria-label": LABEL, tabindex: "-1" }; // it hears focus, so Tab would stop at it
  for (const [name, value] of Object.entries(group)) drawing.svg.setAttribute(name, value);
  if (state.asking) drawing.current = "guess 1";
  const canvas = element("canvas", { class: "alive-front", "aria-hidden": "true", hidden: true });
  page.stage.append(drawing.svg, canvas);
  const pen = penOf(element("canvas"));
  let [moving, playing, turn, width] = [0, 0, 0, 0];
  /** @type {Record<"answer" | "shown" | "before", Answer>} the newest, the one on its way there, without interventions */
  const got = /** @type {any} */ ({});
  let settled = settledOf(state);
  /** @type {number[]} */
  let open = [];
  /** @type {AliveView} */
  let view;

  /** Change the state; the model is asked where that changes the question. @param {Partial<AliveState>} change */
  async function set(change) {
    const old = questionOf(state);
    const layer = change.open;
    if (layer !== undefined && layer !== state.open && !("head" in change)) {
      const head =
        layer === null || !got.before ? null : tellingHead({ answer: got.before, before: got.before, state }, layer);
      Object.assign(change, { head, scope: layer === null ? "layer" : "head", layer: layer ?? state.layer });
    }
    Object.assign(state, change);
    if (!same(old, questionOf(state))) await ask();
    else if (got.answer) paint();
  }

  async function ask() {
    const mine = ++turn;
    const wanted = () => mine === turn; // not, once there is a newer question
    const timer = setTimeout(() => wanted() && complain(silence), PATIENCE);
    const problem = await answerTo(questionOf(state), wanted).catch(
      ({ message }) => `${message} The picture shows the last answer.`,
    );
    clearTimeout(timer);
    if (!wanted()) return;
    complain(problem ?? "");
    if (!problem) settled = settledOf(state);
    else if (got.answer) {
      Object.assign(state, settled); // so that the same change can be tried again
      paint();
    }
  }

  /** @param {string} problem */
  function complain(problem) {
    page.error.hidden = !problem;
    say(page.error, problem);
  }

  /** @param {Question} question @param {() => boolean} */
  async function answerTo(question, wanted) {
    const next = await compute(question);
    const words = followable(next).toSorted((a, b) => b.length - a.length);
    const [now, known] = [next, got.before].map((from) => from?.sentences.map(({ tokens }) => tokens));
    if (!wanted()) return;
    if (words.length && !words.includes(state.word)) return set({ word: words[0] });
    if (!touched(state)) got.before = next;
    else if (!same(now, known)) got.before = await compute({ ...question, cuts: [], knockouts: [] });
    if (!wanted()) return;
    show(next);
    asked(question);
  }

  /** Move to another answer. @param {Answer} next */
  function show(next) {
    const [from, opened, begun] = [got.shown, open, performance.now()];
    got.answer = next;
    cancelAnimationFrame(moving);
    const step = (/** @type {number} */ now) => {
      const t = isCalm() || !from ? 1 : clamp((now - begun) / MOVE, [0, 1]);
      const eased = t * t * (3 - 2 * t);
      got.shown = t < 1 ? between(from, next, eased) : next;
      open = Array.from({ length: next.layers }, (_, n) => mix(opened[n] ?? 0, state.open === n ? 1 : 0, eased));
      paint();
      if (t < 1) moving = requestAnimationFrame(step);
    };
    step(begun);
  }

  function paint() {
    pen.font = `13.5px ${getComputedStyle(root).fontFamily}`;
    const size = (/** @type {string} */ name) => (isSpecial(name) ? 32 : Math.max(20, pen.measureText(name).width));
    const words = got.shown.sentences.map(({ tokens }) => tokens.map(size));
    const plan = planOf({ width, words, open, side: state.side });
    view = { to: drawing.to, plan, answer: got.shown, before: got.before, state };
    drawing.svg.setAttribute("viewBox", `0 0 ${plan.width} ${plan.height}`);
    for (const { style } of [drawing.svg, canvas]) {
      [style.width, style.height] = [`${plan.width}px`, `${plan.height}px`];
    }
    drawing.svg.classList.toggle("alive-narrow", !plan.wide);
    drawNames(view);
    for (const side of plan.sides) {
      drawTower(view, side);
      drawInside(view, side);
    }
    drawBetween(view);
    drawing.show();
    tell();
  }

  /** @param {number} at */
  const stationOf = (at) => stationAt(view.plan, frontOf(view.plan, at));

  function tell() {
    paintFront(canvas, view, isCalm());
    const station = state.at < 1 ? stationOf(state.at) : -1;
    tellPage(page, { ...view, answer: got.answer }, { playing: playing > 0, station, words: followable(got.answer) });
  }

  function play(pace = RISE) {
    const [from, begun] = [state.at < 1 ? state.at : 0, performance.now()];
    const ats = Array.from({ length: 500 }, (_, i) => i / 500);
    const stops = ats.filter((at) => at >= from && (at === from || stationOf(at) > stationOf(at - 0.002)));
    const frame = (/** @type {number} */ now) => {
      const at = isCalm() ? (stops[Math.floor((now - begun) / PAUSE)] ?? 1) : from + (now - begun) / pace;
      playing = requestAnimationFrame(frame);
      if (root.isConnected && at < 1) rise(at);
      else stop(1);
    };
    playing = requestAnimationFrame(frame);
  }

  function stop(at = state.at) {
    cancelAnimationFrame(playing);
    playing = 0;
    rise(at);
  }

  /** @param {number} at */
  function rise(at) {
    state.at = at;
    const y = frontOf(view.plan, at);
    const layer = view.plan.layers.findIndex(({ end }) => y > end);
    if (at < 1 && layer >= 0 && layer !== state.layer) set({ layer });
    else tell();
  }

  listenTo(root, page, drawing, {
    ...{ set, stop, tell, state, view: () => view, toggle: () => (playing ? stop() : play()) },
    guess: (/** @type {number | null} */ guess) => {
      set({ guess, asking: false });
      if (!isCalm()) play(RISE / 3);
    },
  });
  const resizing = new ResizeObserver(() => {
    if (!page.stage.clientWidth || page.stage.clientWidth === width) return;
    width = page.stage.clientWidth;
    if (got.shown) paint();
  });
  resizing.observe(page.stage);

  async function start() {
    width = page.stage.clientWidth || 960;
    if (first) {
      got.before = first;
      show(first);
    }
    if (!first || touched(state)) await ask();
  }
  start();
  const leave = () => {
    for (const frame of [playing, moving]) cancelAnimationFrame(frame);
    resizing.disconnect();
  };
  /** Answer a question that does not come from the reader. @param {Question} question */
  const follow = (question) => {
    if (!same(stateOf(question), stateOf(questionOf(state)))) set(stateOf(question));
  };
  return { set, state, follow, stop: leave };
}

/** @param {AskedProps<Question, Answer, AliveOptions>} props */
const render = (props) => renderAsking(props, mount);

export default { initialize, render };
