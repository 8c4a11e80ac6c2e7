// What the encoder's picture knows: what reaches what in an answer, and what the reader has cut or taken out.

import { mix } from "./alive_layout.js";

/** The parts of a layer, upwards: its name at the left, in full, and its role. @type {[Part, string, string, string][]} */
export const PARTS = [
  ["attention", "attention", "attention", "attention"],
  ["residual1", "residual +", "the residual connection around attention", "stream"],
  ["norm1", "norm", "the norm after attention", "norm"],
  ["feed_forward", "feed-forward", "feed-forward", "forward"],
  ["residual2", "residual +", "the residual connection around feed-forward", "stream"],
  ["norm2", "norm", "the norm after feed-forward", "norm"],
];

export const LONGEST = 5; // what arrives with more length gets no wider ribbon

/** Whether a token is [CLS], [SEP] or another one in brackets. @param {string} name */
export const isSpecial = (name) => /^\[.*\]$/.test(name);

/** @param {unknown} a @param {unknown} b */
export const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** @param {AliveState} state @returns {Question} */
export const questionOf = ({ texts, word, cuts, knockouts, open, head }) => {
  return { texts, word, cuts, knockouts, detail: open === null ? null : [open, head ?? 0] };
};

/** What a question says of the state. @param {Question} question @returns {Partial<AliveState>} */
export const stateOf = ({ detail, ...asked }) => {
  const [open, head] = detail ?? [null, null];
  return { ...asked, open, head, ...(open === null ? {} : { layer: open, scope: "head" }) };
};

export const touched = (/** @type {AliveState} */ { cuts, knockouts }) => cuts.length + knockouts.length > 0;

/** The token whose attention is shown: the one at hand, else the followed word or the first one. @param {AliveState} state @param {Answer} answer @param {number} side */
export const focusOf = ({ focus }, { sentences }, side) => {
  const { tokens, place } = sentences[side];
  if (focus?.side === side && focus.token < tokens.length) return focus.token;
  return place < 0 ? Math.min(1, tokens.length - 1) : place;
};

/** The head whose ribbons a layer shows; null for all. @param {AliveState} state @param {number} layer */
export const headIn = ({ open, head }, layer) => (open === null || open === layer ? head : null);

/** How much of each token reaches another, the length of what arrives or the weight, and the width of its ribbon. @param {Answer} answer @param {AliveState} state @param {number} side @param {number} layer @returns {Reach} */
export const reachOf = ({ sentences, heads }, state, side, layer) => {
  const { tokens, weights, arriving, values } = sentences[side];
  const [T, all, head, bare] = [tokens.length, weights[layer], headIn(state, layer), state.measure === "weights"];
  /** @type {Reach["amount"]} */
  const amount = (query, key) => {
    const weight = (/** @type {number} */ h) => all[(h * T + query) * T + key];
    if (head !== null) return weight(head) * (bare ? 1 : values[layer][head * T + key]);
    if (!bare) return arriving[layer][query * T + key];
    let sum = 0;
    for (let h = 0; h < heads; h++) sum += weight(h);
    return sum / heads;
  };
  /** @type {Reach["width"]} */
  const width = (query, key) => (bare ? 17 : 3.4) * Math.min(LONGEST, amount(query, key));
  return { T, amount, width };
};

/** What arrives at a token in a layer from each token, the most first. @param {Seen} seen @param {number} side @param {number} layer @param {number} query */
export const sharesOf = ({ answer, before, state }, side, layer, query) => {
  const [now, old] = [answer, before].map((from) => reachOf(from, state, side, layer).amount);
  /** @param {string} name @param {number} key @returns {Share} */
  const share = (name, key) => ({ key, name, amount: now(query, key), was: old(query, key) });
  return answer.sentences[side].tokens.map(share).sort((a, b) => Math.max(b.amount, b.was) - Math.max(a.amount, a.was));
};

/** All that arrives, whatever the picture shows. @param {AliveState} state @param {number | null} head @returns {AliveState} */
export const allOf = (state, head = null) => ({ ...state, head, open: null, measure: "arrives" });

/** The other word from which most arrives at a token in all heads, if any. @param {Seen} seen @param {number} side @param {number} layer @param {number | null} head */
export const strongest = ({ answer, state }, side, layer, head = null) => {
  const query = focusOf(state, answer, side);
  return sharesOf({ answer, before: answer, state: allOf(state, head) }, side, layer, query).find(
    ({ key, name }) => key !== query && !isSpecial(name),
  );
};

/** What opening a layer changes, or closing it (null). It opens at the head that brings most from another word, in every sentence. @param {Seen} seen @param {number | null} layer @returns {Partial<AliveState>} */
export const opening = ({ before, state }, layer) => {
  if (layer === null) return { open: null, head: null, scope: "layer" };
  const seen = { answer: before, before, state };
  const least = Array.from({ length: before.heads }, (_, head) =>
    Math.min(...before.sentences.map((_, side) => strongest(seen, side, layer, head)?.amount ?? 0)),
  );
  return { open: layer, layer, head: least.indexOf(Math.max(...least)), scope: "head" };
};

/** @param {number | null} where @param {number | null} here */
const covers = (where, here) => where === null || where === here;

/** Whether all that a ribbon shows is cut. @param {AliveState} state @param {number[]} ribbon its side, layer, query and key */
export const isCut = (state, [side, layer, query, key]) => {
  const here = state.cuts.filter((cut) => covers(cut.layer, layer) && covers(cut.head, headIn(state, layer)));
  return here.some((cut) => same([cut.side, cut.query, cut.key], [side, query, key]));
};

/** @param {AliveState} state @param {Part} part @param {number | null} layer */
export const isOut = ({ knockouts }, part, layer) =>
  knockouts.some((out) => out.part === part && covers(out.layer, layer));

/** Cut a ribbon in one head, in its layer or in all; or mend it where it is cut. @param {Seen} seen @param {number[]} ribbon */
export const toggleCut = ({ state, answer }, ribbon) => {
  const left = state.cuts.filter((cut) => !isCut({ ...state, cuts: [cut] }, ribbon));
  if (left.length < state.cuts.length) return left;
  const [side, layer, query, key] = ribbon;
  const brought = Array.from({ length: answer.heads }, (_, head) =>
    reachOf(answer, { ...state, open: null, head }, side, layer).amount(query, key),
  );
  const head = state.scope === "head" ? (headIn(state, layer) ?? brought.indexOf(Math.max(...brought))) : null;
  return [...state.cuts, { side, layer: state.scope === "all" ? null : layer, head, query, key }];
};

/** @param {AliveState} state @param {Part} part @param {number | null} layer @returns {Knockout[]} */
export const toggleOut = ({ knockouts, scope }, part, layer) => {
  const left = knockouts.filter((out) => out.part !== part || !covers(out.layer, layer));
  return left.length < knockouts.length ? left : [...knockouts, { part, layer: scope === "all" ? null : layer }];
};

/** Between two answers: each measured number is on its way, and whole ones, which say where something is, are the new ones. @param {any} a @param {any} b @param {number} t @returns {any} */
export const between = (a, b, t) => {
  if (typeof a === "number" && typeof b === "number") return Number.isInteger(b) ? b : mix(a, b, t);
  if (!a || !b || typeof b !== "object" || a.length !== b.length) return b;
  if (b instanceof Float32Array) return b.map((value, i) => mix(a[i], value, t));
  if (Array.isArray(b)) return b.map((value, i) => between(a[i], value, t));
  return Object.fromEntries(Object.keys(b).map((key) => [key, between(a[key], b[key], t)]));
};

/** Changes worth trying, by what they are called. @param {Seen} seen @returns {[string, Partial<AliveState>][]} */
export const triesOf = (seen) => {
  const { answer, state } = seen;
  const cuts = answer.sentences.flatMap((_, side) => {
    const most = strongest(seen, side, 0);
    return most ? [{ side, layer: 0, head: null, query: focusOf(state, answer, side), key: most.key }] : [];
  });
  const edges = cuts.map(({ side, query, key }) =>
    [query, key].map((token) => `“${answer.sentences[side].tokens[token]}”`).join(" from "),
  );
  /** @param {number | null} layer @param {...Part} parts */
  const out = (layer, ...parts) => ({ knockouts: parts.map((part) => ({ part, layer })) });
  return [
    [`cut ${edges.join(" and ")} in layer 1`, { cuts }],
    ["no attention at all", out(null, "attention")],
    ["no residual connection around attention in layer 2", out(1, "residual1")],
    ["no norm in any layer", out(null, "norm1", "norm2")],
  ];
};
