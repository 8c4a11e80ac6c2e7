// What surrounds the encoder's picture: Play, the story, the sentences, chips, choices, and the picture in words.

import { focusOf, headIn, isCut, PARTS, sharesOf, touched } from "./alive_state.js";
import { describe, stationStory, story } from "./alive_words.js";
import { element, say } from "./dom.js";

const TYPING = 350; // milliseconds after the last letter
const KEY = [
  ["stream", "lane: the vector of a token (residual stream)"],
  ["attention", "ribbon: what attention brings from token to token"],
  ["forward", "loop: feed-forward, on each token alone"],
  ["ink", "⊕ residual connection: adds"],
  ["norm", "gate: norm"],
];

/** @param {string} kind @param {string} text @param {() => void} act */
function button(kind, text, act) {
  const node = element("button", { type: "button", class: kind }, text);
  node.addEventListener("click", act);
  return node;
}

/**
 * @param {AliveState} state
 * @param {HTMLElement} stage
 * @param {string} title
 * @param {{ set: (change: Partial<AliveState>) => void, play: () => void, climb: (at: number) => void,
 *   cut: (side: Side, layer: number, query: number, key: number) => void }} hands
 */
export function makePanel(state, stage, title, { set, play, climb, cut }) {
  const player = button("alive-button alive-strong", "Play", play);
  const height = element("input", {
    type: "range",
    min: 0,
    max: 1000,
    value: 1000,
    "aria-label": "How far the sentences have risen",
  });
  height.addEventListener("input", () => climb(height.valueAsNumber / 1000));
  const tale = element("p", { class: "alive-story", "aria-live": "polite" });
  const error = element("p", { class: "alive-error", role: "alert", hidden: true });
  const skip = button("alive-button", "Show me", () => set({ asking: false }));
  const tabs = element(
    "div",
    { class: "alive-tabs", role: "group", "aria-label": "The sentence that is shown" },
    ...state.texts.map((_, side) =>
      button("", `Sentence ${side + 1}`, () => set({ side: /** @type {Side} */ (side) })),
    ),
  );
  /** @type {ReturnType<typeof setTimeout>} */
  let typing;
  const inputs = state.texts.map((text, side) => {
    const input = element("input", {
      type: "text",
      class: `alive-text alive-edge-${side + 1}`,
      value: text,
      maxlength: 240,
      spellcheck: "false",
      autocomplete: "off",
      "aria-label": `Sentence ${side + 1}`,
    });
    input.addEventListener("input", () => {
      clearTimeout(typing);
      typing = setTimeout(() => {
        const texts = state.texts.map((old, i) => (i === side ? input.value.trim() || old : old));
        set({ texts, cuts: state.cuts.filter((each) => each.side !== side), focus: null, pinned: false });
      }, TYPING);
    });
    return input;
  });
  const chips = state.texts.map(() => element("div", { class: "alive-chips" }));
  const feet = inputs.map((input, side) => element("div", { class: "alive-foot" }, input, chips[side]));
  /** @param {string} label @param {[value: string, text: string][]} options @param {(value: string) => Partial<AliveState>} change */
  const choice = (label, options, change) => {
    const select = element("select", {});
    fill(select, options);
    select.addEventListener("change", () => set(change(select.value)));
    return { select, label: element("label", {}, element("span", {}, label), select) };
  };
  const measure = choice(
    "Ribbons show",
    [
      ["arrives", "what arrives"],
      ["weights", "attention weights"],
    ],
    (value) => ({ measure: /** @type {Measure} */ (value) }),
  );
  const head = choice("of", [], (value) => ({ head: value === "" ? null : Number(value) }));
  const follow = choice("Follow", [], (word) => ({ word }));
  const scope = choice(
    "A click takes out",
    [
      ["head", "in one head"],
      ["layer", "in one layer"],
      ["all", "in all layers"],
    ],
    (value) => ({ scope: /** @type {Scope} */ (value) }),
  );
  const out = element("div", { class: "alive-out-list" });
  const words = element(
    "details",
    { class: "alive-words" },
    element("summary", {}, "The picture in words"),
    element("div"),
  );
  const key = element(
    "p",
    { class: "alive-key" },
    ...KEY.map(([role, text]) => element("span", { class: `alive-swatch alive-${role}` }, text)),
  );
  const top = element(
    "div",
    { class: "alive-top" },
    element("div", { class: "alive-player" }, player, height, skip),
    tale,
  );
  const choices = element(
    "div",
    { class: "alive-choices" },
    ...[measure, head, follow, scope].map(({ label }) => label),
  );
  const parts = [
    ...(title ? [element("p", { class: "alive-title" }, title)] : []),
    top,
    error,
    ...(state.texts.length > 1 ? [tabs] : []),
    stage,
    element("div", { class: "alive-feet" }, ...feet),
    out,
    choices,
    key,
    words,
  ];
  /** @type {AliveView} */
  let view;
  words.addEventListener("toggle", () => tellWords());
  const tellWords = () => {
    const lines = words.open && view && !state.asking ? describe(view) : [];
    words.lastElementChild?.replaceChildren(...lines.map((line) => element("p", {}, line)));
  };

  /** @param {AliveView} now @param {{ playing: boolean, station: number, words: string[] }} more */
  function tell(now, { playing, station, words: common }) {
    view = now;
    const { plan, answer } = view;
    tale.setAttribute("aria-live", playing ? "off" : "polite");
    say(tale, station < 0 ? story(view) : stationStory(view, station));
    say(player, playing ? "Pause" : "Play");
    height.value = String(Math.round(state.at * 1000));
    [player.hidden, height.hidden, skip.hidden] = [state.asking, state.asking, !state.asking];
    fill(head.select, [
      ["", "all heads"],
      ...Array.from({ length: answer.heads }, (_, h) => /** @type {[string, string]} */ ([`${h}`, `head ${h + 1}`])),
    ]);
    fill(
      follow.select,
      common.map((word) => [word, word]),
    );
    measure.select.value = state.measure;
    head.select.value = String(state.head ?? "");
    follow.select.value = state.word;
    scope.select.value = state.scope;
    [...tabs.children].forEach((tab, side) => tab.setAttribute("aria-pressed", String(state.side === side)));
    tabs.hidden = plan.wide;
    feet.forEach((foot, side) => {
      foot.hidden = !plan.sides.includes(/** @type {Side} */ (side));
      if (document.activeElement !== inputs[side]) inputs[side].value = state.texts[side];
      renew(chips[side], chipsOf(view, /** @type {Side} */ (side)));
    });
    renew(out, state.asking ? [] : touched(state) ? undo() : tries(view));
    tellWords();
  }

  /** @param {AliveView} view @param {Side} side @returns {Chip[]} */
  function chipsOf(view, side) {
    const query = focusOf(state, view.answer, side);
    const { tokens } = view.answer.sentences[side];
    const digits = state.measure === "weights" ? 2 : 1;
    const name = tokens[query];
    const lead = state.measure === "weights" ? "attends to (weight):" : "gets (length of what arrives):";
    return [
      { text: `Layer ${state.layer + 1}: “${name}” ${lead}` },
      ...sharesOf(view, side, state.layer, query)
        .slice(0, 6)
        .map((share) => {
          const isOff = isCut(state, {
            side,
            layer: state.layer,
            head: headIn(state, state.layer),
            query,
            key: share.key,
          });
          const was = Math.abs(share.amount - share.was) > 0.06 ? ` (${share.was.toFixed(digits)})` : "";
          return {
            text: share.name,
            figure: (isOff ? "cut" : share.amount.toFixed(digits)) + was,
            pressed: isOff,
            label: `${isOff ? "Mend" : "Cut"} the attention from ${name} to ${share.name}`,
            act: () => cut(side, state.layer, query, share.key),
          };
        }),
    ];
  }

  /** @returns {Chip[]} */
  function undo() {
    const where = (/** @type {number | null} */ layer) => (layer === null ? "in all layers" : `in layer ${layer + 1}`);
    return [
      { text: "Out:" },
      ...state.cuts.map((each) => {
        const { tokens } = view.answer.sentences[each.side];
        const by = each.head === null ? "" : `, head ${each.head + 1}`;
        return {
          text: `${tokens[each.query]} can’t attend to ${tokens[each.key]} ${where(each.layer)}${by}`,
          figure: "×",
          act: () => set({ cuts: state.cuts.filter((one) => one !== each) }),
        };
      }),
      ...state.knockouts.map((each) => {
        const spoken = PARTS.find(([part]) => part === each.part)?.[2].replace(/^the /, "") ?? "position";
        return {
          text: `no ${spoken}${each.part === "position" ? "" : ` ${where(each.layer)}`}`,
          figure: "×",
          act: () => set({ knockouts: state.knockouts.filter((one) => one !== each) }),
        };
      }),
      { text: "Restore all", act: () => set({ cuts: [], knockouts: [] }) },
    ];
  }

  /** @param {AliveView} view @returns {Chip[]} */
  function tries(view) {
    const { sentences } = view.answer;
    const edges = sentences.map(({ tokens }, i) => {
      const side = /** @type {Side} */ (i);
      const query = focusOf({ ...state, focus: null }, view.answer, side);
      const most = sharesOf({ ...view, state: { ...state, head: null, measure: "arrives" } }, side, 0, query).find(
        (share) => share.key !== query && !/^\[/.test(share.name),
      );
      return {
        cut: { side, layer: 0, head: null, query, key: most?.key ?? 0 },
        name: `${tokens[query]} → ${most?.name}`,
      };
    });
    const all = edges.map((edge) => edge.cut);
    return [
      { text: "Try:" },
      { text: `cut ${edges.map(({ name }) => name).join(" and ")} in layer 1`, act: () => set({ cuts: all }) },
      { text: "no attention at all", act: () => set({ knockouts: [{ part: "attention", layer: null }] }) },
      {
        text: "no residual connection around attention in layer 2",
        act: () => set({ knockouts: [{ part: "residual1", layer: 1 }] }),
      },
      {
        text: "no norm at all",
        act: () =>
          set({
            knockouts: [
              { part: "norm1", layer: null },
              { part: "norm2", layer: null },
            ],
          }),
      },
    ];
  }

  /** @param {string} problem */
  const fail = (problem) => {
    error.hidden = !problem;
    say(error, problem && `${problem} The picture shows the last answer.`);
  };
  /** @param {boolean} waiting */
  const busy = (waiting) => stage.setAttribute("aria-busy", String(waiting));
  return { parts, tell, fail, busy };
}

/** @param {HTMLSelectElement} select @param {[value: string, text: string][]} options */
function fill(select, options) {
  if (select.dataset.now === JSON.stringify(options)) return;
  select.dataset.now = JSON.stringify(options);
  select.replaceChildren(...options.map(([value, text]) => element("option", { value }, text)));
}

/** New chips, unless they are as before; the one in focus keeps it. @param {HTMLElement} list @param {Chip[]} chips */
function renew(list, chips) {
  const now = JSON.stringify(chips);
  if (list.dataset.now === now) return;
  list.dataset.now = now;
  const focused = [...list.children].indexOf(/** @type {Element} */ (document.activeElement));
  list.replaceChildren(
    ...chips.map(({ text, figure, pressed, label, act }) => {
      if (!act) return element("span", { class: "alive-lead" }, text);
      const node = button("alive-chip", text, act);
      if (figure) node.append(element("i", {}, figure));
      if (pressed !== undefined) node.setAttribute("aria-pressed", String(pressed));
      if (label) node.setAttribute("aria-label", label);
      return node;
    }),
  );
  const again = list.children[Math.min(focused, list.children.length - 1)];
  if (focused >= 0 && again instanceof HTMLElement) again.focus();
}
