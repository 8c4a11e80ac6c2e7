// The whole encoder as one picture that the reader can touch: two sentences, or one, rise through its layers.

import { drawBetween } from "./alive_between.js";
import { Drawing } from "./alive_drawing.js";
import { paintFront } from "./alive_front.js";
import { drawInside } from "./alive_inside.js";
import { kernelEngine, unpack } from "./alive_kernel.js";
import { frontOf, mix, planOf, stationAt } from "./alive_layout.js";
import { makePanel } from "./alive_panel.js";
import { between, questionOf, SPECIAL, same, tellingHead, toggleCut, toggleOut, touched } from "./alive_state.js";
import { drawNames, drawTower } from "./alive_tower.js";
import { stayInView } from "./below.js";
import { element, keepKeys, penOf } from "./dom.js";
import { initialize } from "./late.js";
import { clamp } from "./numbers.js";

const [MOVE, RISE, STEP] = [520, 14_000, 1400]; // milliseconds: a change, the way up, and a step of it where nothing moves
const REST = 110; // milliseconds that the pointer rests on a lane before it is lit: on its way to a ribbon it crosses others
const GROUPS = [
  "bands",
  "ghosts",
  "texture",
  "lanes",
  "inside",
  "ribbons",
  "parts",
  "strands",
  "hits",
  "labels",
  "targets",
  "marks",
  "names",
];
const LABEL =
  "Sentences on their way through the encoder, from the words below to their vectors above. Arrow keys move between its buttons.";

/** @param {HTMLElement} root @param {AliveSetup} setup */
export function mount(root, { compute, texts, word, answer: first, options = {}, title = "", asked = () => {} }) {
  /** @type {AliveState} */
  const state = {
    ...{ texts, word, cuts: [], knockouts: [], focus: null, pinned: false, layer: 0, open: null, head: null },
    ...{
      measure: "arrives",
      scope: "layer",
      side: 0,
      at: 1,
      pointed: "",
      asking: Boolean(options.predict),
      guess: null,
    },
  };
  const drawing = new Drawing(LABEL, GROUPS);
  const canvas = element("canvas", { class: "alive-front", "aria-hidden": "true", hidden: true });
  const stage = element("div", { class: "alive-stage" }, drawing.svg, canvas);
  const panel = makePanel(state, stage, title, { set, play: () => (playing ? stop() : play()), climb: stop, cut });
  root.classList.add("alive");
  root.append(...panel.parts);
  keepKeys(root);
  const measure = penOf(element("canvas"));
  const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
  /** @type {Answer} */
  let answer; // the newest
  /** @type {Answer} */
  let shown; // on its way there
  /** @type {Answer} */
  let before; // without interventions
  /** @type {number[]} */
  let open = [];
  let [moving, playing, turn, resting, width] = [0, 0, 0, 0, 0];
  /** @type {AliveView} */
  let view;

  /** Change the state; the model is asked where that changes the question. @param {Partial<AliveState>} change */
  async function set(change) {
    const old = questionOf(state);
    const opening = "open" in change && change.open !== state.open && !("head" in change);
    if (opening) Object.assign(change, headOf(change.open ?? null));
    Object.assign(state, change);
    if (!same(old, questionOf(state))) await ask();
    else if (answer) paint();
  }

  /** @param {number | null} layer @returns {Partial<AliveState>} */
  const headOf = (layer) =>
    layer === null || !answer
      ? { head: null, scope: "layer" }
      : { head: tellingHead(state, answer, layer), scope: "head", layer };

  async function ask() {
    const mine = ++turn;
    panel.busy(true);
    try {
      const next = await compute(questionOf(state));
      if (mine !== turn) return;
      const words = followable(next);
      if (words.length && !words.includes(state.word))
        return void set({ word: words.toSorted((a, b) => b.length - a.length)[0] });
      const known =
        before &&
        same(
          before.sentences.map(({ tokens }) => tokens),
          next.sentences.map(({ tokens }) => tokens),
        );
      if (!touched(state)) before = next;
      else if (!known) before = await compute({ ...questionOf(state), cuts: [], knockouts: [] });
      if (mine !== turn) return;
      show(next);
      asked(questionOf(state));
      panel.fail("");
    } catch (error) {
      if (mine === turn) panel.fail(error instanceof Error ? error.message : String(error));
    } finally {
      if (mine === turn) panel.busy(false);
    }
  }

  /** @param {Answer} next */
  function show(next) {
    answer = next;
    const [from, opened] = [shown ?? next, open.length ? open : Array.from({ length: next.layers }, () => 0)];
    const begun = performance.now();
    cancelAnimationFrame(moving);
    const step = (/** @type {number} */ now) => {
      const t = still() || !shown ? 1 : clamp((now - begun) / MOVE, [0, 1]);
      const eased = t * t * (3 - 2 * t);
      shown = t < 1 ? between(from, next, eased) : next;
      open = opened.map((was, n) => mix(was, state.open === n ? 1 : 0, eased));
      paint();
      if (t < 1) moving = requestAnimationFrame(step);
    };
    step(begun);
  }

  function paint() {
    measure.font = `13.5px ${getComputedStyle(root).fontFamily}`;
    const words = shown.sentences.map(({ tokens }) =>
      tokens.map((name) => (SPECIAL.test(name) ? 30 : Math.max(20, measure.measureText(name).width))),
    );
    const plan = planOf({ width, words, open, side: state.side });
    view = { drawing, plan, answer: shown, before, state };
    drawing.svg.setAttribute("viewBox", `0 0 ${plan.width} ${plan.height}`);
    for (const node of [drawing.svg, canvas])
      Object.assign(node.style, { width: `${plan.width}px`, height: `${plan.height}px` });
    drawNames(view);
    for (const side of plan.sides) drawTower(view, side);
    for (const side of plan.sides) drawInside(view, side);
    drawBetween(view);
    drawing.sweep();
    rove();
    front();
  }

  function front() {
    paintFront(canvas, view, still());
    panel.tell(view, {
      playing: playing > 0,
      station: state.at < 1 ? stationAt(view.plan, frontOf(view.plan, state.at)) : -1,
      words: followable(answer),
    });
  }

  /** @param {Answer} from */
  const followable = ({ sentences, common }) =>
    sentences.length > 1
      ? common
      : [...new Set(sentences[0].tokens.filter((name) => /\p{L}/u.test(name) && !SPECIAL.test(name)))];

  // ---- Play ----

  function play(pace = RISE) {
    const from = state.at < 1 ? state.at : 0;
    const begun = performance.now();
    const frame = (/** @type {number} */ now) => {
      const gone = still() ? (Math.floor((now - begun) / STEP) + 0.5) / (2 * answer.layers + 3) : (now - begun) / pace;
      playing = requestAnimationFrame(frame);
      if (!root.isConnected || from + gone >= 1) stop(1);
      else rise(from + gone);
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
    else front();
  }

  // ---- Hands ----

  /** @param {Side} side @param {number} layer @param {number} query @param {number} key */
  function cut(side, layer, query, key) {
    set({ cuts: toggleCut(view, side, layer, query, key) });
  }

  /** @type {Record<string, (data: DOMStringMap) => void>} */
  const acts = {
    ribbon: ({ side, layer, token, key }) =>
      cut(/** @type {Side} */ (Number(side)), Number(layer), Number(token), Number(key)),
    part: ({ part, layer }) =>
      set({ knockouts: toggleOut(state, /** @type {Part} */ (part), layer ? Number(layer) : null) }),
    open: ({ layer }) => set({ open: state.open === Number(layer) ? null : Number(layer) }),
    token: ({ side, token }) => {
      const focus = { side: /** @type {Side} */ (Number(side)), token: Number(token) };
      set({ focus, pinned: !(state.pinned && same(focus, state.focus)) });
    },
    guess: ({ station }) => {
      set({ guess: Number(station), asking: false });
      play(RISE / 3);
    },
  };

  /** @param {Event} event */
  const dataAt = ({ target }) => {
    const node = target instanceof Element ? target.closest("[data-act]") : null;
    return node instanceof SVGElement ? node.dataset : {};
  };
  drawing.svg.addEventListener("click", (event) => acts[dataAt(event).act ?? ""]?.(dataAt(event)));
  drawing.svg.addEventListener("pointermove", (event) => {
    if (event.pointerType === "touch" || !view) return;
    const { act, side, layer, token, key } = dataAt(event);
    const y = event.clientY - drawing.svg.getBoundingClientRect().top;
    const over = view.plan.layers.findIndex(({ begin, end }) => y < begin && y > end);
    const change = {
      layer: over < 0 ? state.layer : over,
      pointed: act === "ribbon" ? [side, layer, token, key].join(".") : "",
    };
    clearTimeout(resting);
    const focus = { side: /** @type {Side} */ (Number(side)), token: Number(token) };
    if (act === "token" && !state.pinned && !same(focus, state.focus)) {
      resting = setTimeout(() => set({ focus }), y > view.plan.bottom ? 0 : REST);
    }
    if (change.layer !== state.layer || change.pointed !== state.pointed) set(change);
  });
  drawing.svg.addEventListener("pointerleave", () => {
    clearTimeout(resting);
    if (!state.pinned && (state.focus || state.pointed)) set({ focus: null, pointed: "" });
  });
  drawing.svg.addEventListener("focusin", (event) => {
    const { act, layer, side, token } = dataAt(event);
    if (act === "token") set({ focus: { side: /** @type {Side} */ (Number(side)), token: Number(token) } });
    else if (layer) set({ layer: Number(layer) });
  });
  drawing.svg.addEventListener("keydown", (event) => {
    const node = event.target;
    if (!(node instanceof SVGElement)) return;
    if (event.key === "Enter" || event.key === " ") acts[node.dataset.act ?? ""]?.(node.dataset);
    else if (event.key === "Escape") set({ focus: null, pinned: false, open: null });
    else if (event.key.startsWith("Arrow")) nearest(node, event.key)?.focus();
    else return;
    event.preventDefault();
  });

  const buttons = () => /** @type {SVGElement[]} */ ([...drawing.svg.querySelectorAll("[role=button]")]);

  /** One button of the picture takes part in the tab order; arrow keys lead to the others. */
  function rove() {
    const all = buttons();
    const current =
      all.find((node) => node === document.activeElement) ?? all.find((node) => node.tabIndex === 0) ?? all[0];
    for (const node of all)
      if (node.tabIndex !== (node === current ? 0 : -1)) node.setAttribute("tabindex", node === current ? "0" : "-1");
  }

  /** The next button in a direction. @param {SVGElement} from @param {string} key */
  function nearest(from, key) {
    const [sign, across] = [
      key === "ArrowRight" || key === "ArrowDown" ? 1 : -1,
      key === "ArrowUp" || key === "ArrowDown",
    ];
    const centre = (/** @type {Element} */ node) => {
      const { x, y, width, height } = node.getBoundingClientRect();
      return across ? [y + height / 2, x + width / 2] : [x + width / 2, y + height / 2];
    };
    const [ahead, aside] = centre(from);
    const far = (/** @type {Element} */ node) => {
      const [there, beside] = centre(node);
      return sign * (there - ahead) > 2 ? sign * (there - ahead) + 3 * Math.abs(beside - aside) : Infinity;
    };
    const best = buttons()
      .filter((node) => far(node) < Infinity)
      .sort((a, b) => far(a) - far(b))[0];
    return best;
  }

  const resizing = new ResizeObserver(() => {
    if (!root.clientWidth || root.clientWidth === width) return;
    width = Math.max(300, stage.clientWidth);
    if (shown) paint();
  });
  stage.addEventListener("scroll", () =>
    drawing.groups.names.setAttribute("transform", `translate(${stage.scrollLeft})`),
  );

  async function start() {
    width = Math.max(300, stage.clientWidth);
    if (first) {
      before = first;
      show(first);
    } else await ask();
    if (options.open) await set({ open: options.open - 1 });
    resizing.observe(stage);
  }
  start();

  return {
    set,
    state,
    stop: () => {
      cancelAnimationFrame(playing);
      cancelAnimationFrame(moving);
      resizing.disconnect();
    },
  };
}

/** @param {{ model: AliveModel, el: HTMLElement }} props */
function render({ model, el }) {
  const root = el.appendChild(element("section", { "aria-label": model.get("title") }));
  const [compute, silence] = kernelEngine(model);
  const question = model.get("_question");
  const answer = model.get("_data").byteLength ? unpack(model.get("_answer"), model.get("_data")) : undefined;
  const picture = mount(root, {
    ...{
      compute,
      texts: question.texts,
      word: question.word,
      answer,
      options: model.get("_options"),
      title: model.get("title"),
    },
    asked: (now) => {
      model.set("_question", now);
      model.save_changes();
    },
  });
  const follow = () => {
    const { detail, ...now } = model.get("_question");
    if (!same({ ...now, detail }, questionOf(picture.state)))
      picture.set({ ...now, open: detail?.[0] ?? null, ...(detail ? { head: detail[1] } : {}) });
  };
  model.on("change:_question", follow);
  stayInView(root);
  return () => {
    model.off("change:_question", follow);
    silence();
    picture.stop();
  };
}

export default { initialize, render };
