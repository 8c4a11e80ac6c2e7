// The reader's hands on the encoder's picture: pointer, keys, touch, choices and typing.

import { opening, same, toggleCut, toggleOut, triesOf } from "./alive_state.js";

const REST = 110; // milliseconds on a lane before it is lit, since the pointer crosses others on its way to a ribbon
const TYPING = 350; // milliseconds after the last letter

/** What a node does when it is pressed: a word, and what that is about. @param {Element} node @returns {any[]} */
const actOf = (node) => {
  const words = node.closest("[data-act]")?.getAttribute("data-act")?.split(" ") ?? [];
  return words.map((word) => (/^\d+$/.test(word) ? Number(word) : word));
};

/** @type {(root: HTMLElement, page: Record<string, any>, drawing: AliveDrawing, hands: AliveHands) => void} */
export const listenTo = (root, page, drawing, { set, stop, tell, state, got, toggle, guess }) => {
  const { svg } = drawing;
  let [resting, typing, pressed] = [0, 0, ""];
  /** @type {Record<string, (...about: any[]) => void>} */
  const acts = {
    play: toggle,
    answer: () => guess(null),
    guess,
    side: (side) => set({ side }),
    open: (layer) => set(opening(got.view, state.open === layer ? null : layer)),
    ribbon: (...ribbon) => set({ cuts: toggleCut(got.view, ribbon) }),
    part: (part, layer) => set({ knockouts: toggleOut(state, part, layer === "" ? null : layer) }),
    mend: (/** @type {"cuts"} */ list, index) => set({ [list]: state[list].filter((_, i) => i !== index) }),
    restore: () => set({ cuts: [], knockouts: [] }),
    try: (index) => set(triesOf(got.view)[index][1]),
    token: (side, token) =>
      set({ focus: { side, token }, pinned: !(state.pinned && same({ side, token }, state.focus)) }),
  };
  const perform = (/** @type {Element} */ node) => {
    const [act, ...about] = actOf(node);
    acts[act]?.(...about);
  };
  /** @param {Element} node @param {string} name @param {(event: any) => void} react */
  const on = (node, name, react) => node.addEventListener(name, react);

  const layerAt = (/** @type {number} */ clientY) => {
    const y = clientY - svg.getBoundingClientRect().top;
    const found = got.view?.plan.layers.findIndex(({ begin, end }) => y < begin && y > end) ?? -1;
    return found < 0 ? state.layer : found;
  };

  // A press counts where it begins and ends on the same thing, though its node may be a new one by then.
  on(svg, "pointerdown", ({ target, clientY }) => {
    pressed = actOf(target).join(" ");
    set({ layer: layerAt(clientY) });
  });
  on(svg, "pointerup", ({ target, button }) => {
    if (button === 0 && actOf(target).join(" ") === pressed) perform(target);
  });
  on(root, "click", ({ target, pointerType }) => {
    if (!svg.contains(target) || !pointerType) perform(target); // without a pointer: a screen reader's
  });
  on(root, "input", ({ target }) => {
    if (target === page.height) stop(target.valueAsNumber / 1000);
    if (!target.dataset.text) return;
    clearTimeout(typing);
    typing = setTimeout(() => {
      const texts = state.texts.map((old, i) => (`${i}` === target.dataset.text ? target.value.trim() || old : old));
      const cuts = state.cuts.filter(({ side }) => `${side}` !== target.dataset.text);
      set({ texts, cuts, focus: null, pinned: false });
    }, TYPING);
  });
  on(root, "change", ({ target: { localName, dataset, value } }) => {
    if (localName === "select")
      set({ [dataset.name]: dataset.name === "head" ? (value ? Number(value) : null) : value });
  });
  on(page.words, "toggle", tell);
  on(page.stage, "scroll", () => {
    const { scrollLeft, classList } = page.stage; // the names, in front, stay where they are
    svg.lastElementChild?.setAttribute("transform", `translate(${scrollLeft})`);
    classList.toggle("alive-scrolled", scrollLeft > 0);
  });
  on(svg, "pointermove", ({ target, clientY, pointerType }) => {
    if (pointerType === "touch" || !got.view) return;
    const [act, ...about] = actOf(target);
    const change = { layer: layerAt(clientY), pointed: act === "ribbon" ? about.join(" ") : "" };
    const focus = { side: about[0], token: about[1] };
    clearTimeout(resting);
    if (act === "token" && !state.pinned && !same(focus, state.focus)) resting = setTimeout(() => set({ focus }), REST);
    if (change.layer !== state.layer || change.pointed !== state.pointed) set(change);
  });
  on(svg, "pointerleave", () => {
    clearTimeout(resting);
    if (state.pointed || (state.focus && !state.pinned)) set({ pointed: "", focus: state.pinned ? state.focus : null });
  });
  on(svg, "focusin", ({ target }) => {
    const [act, side, token] = actOf(target);
    drawing.rove(target.dataset.act);
    if (!target.matches(":focus-visible")) return;
    if (act === "token") set({ focus: { side, token } });
    else if (target.dataset.layer) set({ layer: Number(target.dataset.layer) });
  });
  on(svg, "keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") perform(event.target);
    else if (event.key === "Escape")
      set({ focus: null, pinned: false, ...(state.open !== null && opening(got.view, null)) });
    else if (event.key.startsWith("Arrow")) nearest(event.target, event.key)?.focus();
    else return;
    event.preventDefault();
  });

  /** The next button in a direction. @param {SVGElement} from @param {string} key */
  const nearest = (from, key) => {
    const [sign, upright] = [/Right|Down/.test(key) ? 1 : -1, /Up|Down/.test(key)];
    const far = (/** @type {SVGElement} */ node) => {
      const [a, b] = [from, node].map((each) => each.getBoundingClientRect());
      const [x, y] = [b.x + b.width / 2 - a.x - a.width / 2, b.y + b.height / 2 - a.y - a.height / 2];
      const [ahead, aside] = upright ? [sign * y, x] : [sign * x, y];
      return ahead > 2 ? ahead + (upright ? 0.4 : 3) * Math.abs(aside) : Number.POSITIVE_INFINITY;
    };
    const [best] = drawing.buttons.sort((a, b) => far(a) - far(b));
    return far(best) < Number.POSITIVE_INFINITY ? best : null;
  };
};
