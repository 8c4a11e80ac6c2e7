// What the picture of the encoder knows: what reaches what in an answer, and what the reader has cut or taken out.

import { mix } from "./alive_layout.js";

export const SPECIAL = /^\[.*\]$/;

/**
 * The parts of a layer, from the bottom: the name at the left, in full, and the role whose colour it has.
 * @type {[part: Part, name: string, spoken: string, role: string][]}
 */
export const PARTS = [
  ["attention", "attention", "attention", "attention"],
  ["residual1", "residual +", "the residual connection around attention", "stream"],
  ["norm1", "norm", "the norm after attention", "norm"],
  ["feed_forward", "feed-forward", "feed-forward", "forward"],
  ["residual2", "residual +", "the residual connection around feed-forward", "stream"],
  ["norm2", "norm", "the norm after feed-forward", "norm"],
];

/** @param {unknown} a @param {unknown} b */
export const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** @param {AliveState} state @returns {Question} */
export function questionOf({ texts, word, cuts, knockouts, open, head }) {
  return { texts, word, cuts, knockouts, detail: open === null ? null : [open, head ?? 0] };
}

/** @param {AliveState} state */
export const touched = ({ cuts, knockouts }) => cuts.length + knockouts.length > 0;

/**
 * The token of a sentence whose attention is shown: the one at hand, or else the followed word, or the first one.
 * @param {AliveState} state
 * @param {Answer} answer
 * @param {Side} side
 */
export function focusOf({ focus }, { sentences }, side) {
  const { tokens, place } = sentences[side];
  if (focus?.side === side && focus.token < tokens.length) return focus.token;
  return place < 0 ? Math.min(1, tokens.length - 1) : place;
}

/**
 * The head whose ribbons are shown in a layer; null for all of them.
 * @param {AliveState} state
 * @param {number} layer
 */
export const headIn = ({ open, head }, layer) => (open === null || open === layer ? head : null);

/**
 * How much of each token reaches another in a layer: the length of what arrives, or the attention weight.
 * @param {Answer} answer
 * @param {Side} side
 * @param {number} layer
 * @param {{ head: number | null, measure: Measure }} shown
 * @returns {Reach}
 */
export function reachOf({ sentences, heads }, side, layer, { head, measure }) {
  const { tokens, weights, arriving, values } = sentences[side];
  const [T, all] = [tokens.length, weights[layer]];
  /** @param {number} h @param {number} query @param {number} key */
  const weight = (h, query, key) => all[(h * T + query) * T + key];
  /** @type {Reach["amount"]} */
  const mean = (query, key) => {
    let sum = 0;
    for (let h = 0; h < heads; h++) sum += weight(h, query, key);
    return sum / heads;
  };
  if (measure === "weights") return { T, scale: 17, amount: head === null ? mean : (q, k) => weight(head, q, k) };
  if (head === null) return { T, scale: 3.4, amount: (query, key) => arriving[layer][query * T + key] };
  return { T, scale: 3.4, amount: (query, key) => weight(head, query, key) * values[layer][head * T + key] };
}

/**
 * What arrives at a token in a layer from each token, the most first.
 * @param {Pick<AliveView, "answer" | "before" | "state">} view
 * @param {Side} side
 * @param {number} layer
 * @param {number} query
 * @returns {Share[]}
 */
export function sharesOf({ answer, before, state }, side, layer, query) {
  const shown = { head: headIn(state, layer), measure: state.measure };
  const [now, was] = [answer, before].map((from) => reachOf(from, side, layer, shown).amount);
  const row = answer.sentences[side].tokens.map((name, key) => ({
    key,
    name,
    amount: now(query, key),
    was: was(query, key),
  }));
  return row.sort((a, b) => Math.max(b.amount, b.was) - Math.max(a.amount, a.was));
}

/**
 * The head that brings most to the token at hand from another word, in every sentence.
 * @param {AliveState} state
 * @param {Answer} answer
 * @param {number} layer
 */
export function tellingHead(state, answer, layer) {
  const most = (/** @type {number} */ head, /** @type {Side} */ side) => {
    const query = focusOf(state, answer, side);
    const { amount } = reachOf(answer, side, layer, { head, measure: "arrives" });
    const { tokens } = answer.sentences[side];
    return Math.max(...tokens.map((name, key) => (key === query || SPECIAL.test(name) ? 0 : amount(query, key))));
  };
  const each = Array.from({ length: answer.heads }, (_, head) =>
    Math.min(...answer.sentences.map((_, side) => most(head, /** @type {Side} */ (side)))),
  );
  return each.indexOf(Math.max(...each));
}

/** @param {number | null} where @param {number | null} here */
const covers = (where, here) => where === null || where === here;

/**
 * Whether all that a ribbon shows is cut.
 * @param {AliveState} state
 * @param {Cut} ribbon
 */
export const isCut = ({ cuts }, { side, layer, head, query, key }) =>
  cuts.some(
    (cut) =>
      cut.side === side && cut.query === query && cut.key === key && covers(cut.layer, layer) && covers(cut.head, head),
  );

/** @param {AliveState} state @param {Part} part @param {number | null} layer */
export const isOut = ({ knockouts }, part, layer) =>
  knockouts.some((out) => out.part === part && covers(out.layer, layer));

/**
 * Cut a ribbon in one head, in its layer or in all; or mend it where it is cut.
 * @param {AliveView} view
 * @param {Side} side
 * @param {number} layer
 * @param {number} query
 * @param {number} key
 */
export function toggleCut({ state, answer }, side, layer, query, key) {
  const shown = headIn(state, layer);
  if (isCut(state, { side, layer, head: shown, query, key })) {
    return state.cuts.filter((cut) => !isCut({ ...state, cuts: [cut] }, { side, layer, head: shown, query, key }));
  }
  const most = Array.from({ length: answer.heads }, (_, head) =>
    reachOf(answer, side, layer, { head, measure: "arrives" }).amount(query, key),
  );
  const head = state.scope === "head" ? (shown ?? most.indexOf(Math.max(...most))) : null;
  return [...state.cuts, { side, layer: state.scope === "all" ? null : layer, head, query, key }];
}

/** @param {AliveState} state @param {Part} part @param {number | null} layer */
export function toggleOut(state, part, layer) {
  const left = state.knockouts.filter((out) => out.part !== part || !covers(out.layer, layer));
  if (left.length < state.knockouts.length) return left;
  return [...state.knockouts, { part, layer: part === "position" || state.scope === "all" ? null : layer }];
}

/**
 * Between two answers of one shape: each number is on its way.
 * @template T
 * @param {T} a
 * @param {T} b
 * @param {number} t
 * @returns {T}
 */
export function between(a, b, t) {
  const [from, to] = [/** @type {any} */ (a), /** @type {any} */ (b)];
  if (typeof to === "number") return typeof from === "number" ? /** @type {any} */ (mix(from, to, t)) : to;
  if (!to || !from || typeof to !== "object" || from.length !== to.length) return to;
  if (to instanceof Float32Array) return /** @type {any} */ (to.map((v, i) => mix(from[i], v, t)));
  if (Array.isArray(to)) return /** @type {any} */ (to.map((v, i) => between(from[i], v, t)));
  return Object.fromEntries(Object.keys(to).map((key) => [key, between(from[key], to[key], t)]));
}
