// The whole encoder as one picture that the reader can touch: one or two sentences rise through its layers.

import { drawBetween } from "./alive_between.js";
import { Drawing } from "./alive_drawing.js";
import { paintFront } from "./alive_front.js";
import { listenTo } from "./alive_hands.js";
import { frontOf, mix, planOf, stationAt } from "./alive_layout.js";
import { makePage, tellPage } from "./alive_page.js";
import { between, isSpecial, questionOf, same, stateOf, touched } from "./alive_state.js";
import { drawNames, drawTower } from "./alive_tower.js";
import { element, isCalm, keepKeys, penOf, say } from "./dom.js";
import { PATIENCE, renderAsking } from "./kernel.js";
import { initialize } from "./late.js";
import { clamp } from "./numbers.js";

const [MOVE, RISE] = [520, 14_000]; // milliseconds: of a change, and of Play
const CALM = 3; // how many times as long Play takes where nothing moves: the picture then goes from station to station

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
  const drawing = new Drawing(page.svg);
  if (state.asking) drawing.current = "guess 1";
  const pen = penOf(element("canvas"));
  let [moving, playing, turn, width] = [0, 0, 0, 0];
  const got = /** @type {AliveGot} */ (/** @type {unknown} */ ({ open: [] }));
  let settled = settledOf(state);

  /** Change the state; the model is asked where that changes the question. @param {Partial<AliveState>} change */
  async function set(change) {
    const old = questionOf(state);
    Object.assign(state, change);
    if (!same(old, questionOf(state))) await ask();
    else if (got.answer) paint();
  }

  async function ask() {
    const mine = ++turn;
    const wanted = () => mine === turn; // not, once there is a newer question
    const timer = setTimeout(() => wanted() && say(page.error, silence), PATIENCE);
    const problem = await answerTo(questionOf(state), wanted).catch(
      ({ message }) => `${message} The picture shows the last answer.`,
    );
    clearTimeout(timer);
    if (!wanted()) return;
    say(page.error, problem ?? "");
    if (!problem) settled = settledOf(state);
    else if (got.answer) {
      Object.assign(state, settled); // so that the same change can be tried again
      paint();
    }
  }

  /** @param {Question} question @param {() => boolean} */
  async function answerTo(question, wanted) {
    const next = await compute(question);
    if (!wanted()) return;
    const [now, known] = [next, got.before].map((from) => from && [from.word, from.sentences.map((one) => one.tokens)]);
    if (!touched(state)) got.before = next;
    else if (!same(now, known) || got.before.recorded)
      got.before = await compute({ ...question, cuts: [], knockouts: [] });
    if (!wanted()) return;
    state.word = next.word; // the engine chooses one where the sentences do not have the one asked for
    show(next);
    asked(questionOf(state));
  }

  /** Move to another answer. @param {Answer} next */
  function show(next) {
    const [from, opened, begun] = [got.shown, got.open, performance.now()];
    got.answer = next;
    cancelAnimationFrame(moving);
    const step = (/** @type {number} */ now) => {
      const t = isCalm() || !from ? 1 : clamp((now - begun) / MOVE, [0, 1]);
      const eased = t * t * (3 - 2 * t);
      got.shown = t < 1 ? between(from, next, eased) : next;
      got.open = Array.from({ length: next.layers }, (_, n) => mix(opened[n] ?? 0, state.open === n ? 1 : 0, eased));
      paint();
      if (t < 1) moving = requestAnimationFrame(step);
    };
    step(begun);
  }

  function paint() {
    pen.font = `13.5px ${getComputedStyle(root).fontFamily}`;
    const size = (/** @type {string} */ name) => (isSpecial(name) ? 32 : Math.max(20, pen.measureText(name).width));
    const words = got.shown.sentences.map(({ tokens }) => tokens.map(size));
    const plan = planOf({ width, words, open: got.open, side: state.side });
    const view = { to: drawing.to, plan, answer: got.shown, before: got.before, state };
    got.view = view;
    page.svg.setAttribute("viewBox", `0 0 ${plan.width} ${plan.height}`);
    for (const { style } of [page.svg, page.front]) {
      [style.width, style.height] = [`${plan.width}px`, `${plan.height}px`];
    }
    page.svg.classList.toggle("alive-narrow", !plan.wide);
    drawNames(view);
    for (const side of plan.sides) drawTower(view, side);
    drawBetween(view);
    drawing.show();
    tell();
  }

  const stationOf = (/** @type {number} */ at) => stationAt(got.view.plan, frontOf(got.view.plan, at));

  function tell() {
    paintFront(page.front, got.view, isCalm());
    const station = state.at < 1 ? stationOf(state.at) : -1;
    tellPage(page, { ...got.view, answer: got.answer }, playing > 0, station);
  }

  function play(pace = RISE) {
    const [from, begun, calm] = [state.at < 1 ? state.at : 0, performance.now(), isCalm()];
    const frame = (/** @type {number} */ now) => {
      const at = from + (now - begun) / (calm ? CALM * pace : pace);
      playing = requestAnimationFrame(frame);
      if (!root.isConnected || at >= 1) stop(1);
      else if (!calm || stationOf(at) !== stationOf(state.at)) rise(at);
    };
    playing = requestAnimationFrame(frame);
    rise(from);
  }

  function stop(at = state.at) {
    cancelAnimationFrame(playing);
    playing = 0;
    rise(at);
  }

  function rise(/** @type {number} */ at) {
    state.at = at;
    const y = frontOf(got.view.plan, at);
    const layer = got.view.plan.layers.findIndex(({ end }) => y > end);
    if (at < 1 && layer >= 0 && layer !== state.layer) set({ layer });
    else tell();
  }

  listenTo(root, page, drawing, {
    ...{ set, stop, tell, state, got, toggle: () => (playing ? stop() : play()) },
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

  width = page.stage.clientWidth || 960;
  if (first) {
    got.before = first;
    show(first);
  }
  if (!first || touched(state)) ask();
  return {
    ...{ set, state },
    /** Answer a question that does not come from the reader. @param {Question} question */
    follow: (question) => same(stateOf(question), stateOf(questionOf(state))) || set(stateOf(question)),
    stop: () => {
      for (const frame of [playing, moving]) cancelAnimationFrame(frame);
      resizing.disconnect();
    },
  };
}

/** @param {AskedProps<Question, Answer, AliveOptions>} props */
const render = (props) => renderAsking(props, mount);

export default { initialize, render };
