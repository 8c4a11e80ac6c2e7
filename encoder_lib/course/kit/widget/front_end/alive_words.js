// What the encoder's picture shows, in words: for the eye, and for readers who cannot see it.

import { markup } from "./alive_drawing.js";
import { distanceOf } from "./alive_layout.js";
import { allOf, focusOf, headIn, isCut, isOut, PARTS, sharesOf, strongest, touched, triesOf } from "./alive_state.js";
import { fixed } from "./format.js";

const PARTED = distanceOf(0.9995); // from here on, two vectors are said to be two

const quote = (/** @type {string} */ word) => `“${word}”`;
export const figure = (/** @type {number | null | undefined} */ cosine) => fixed(cosine ?? 0, 3);
const where = (/** @type {number | null} */ layer) => (layer === null ? "in all layers" : `in layer ${layer + 1}`);
const inHead = (/** @type {number | null} */ head) => (head === null ? "" : `, head ${head + 1}`);
/** An amount, and in brackets the one before the change. @param {AliveState} state @param {Share} share @param {boolean} cut */
const amountOf = ({ measure }, share, cut = false) => {
  const [now, was] = [share.amount, share.was].map((amount) => fixed(amount, measure === "weights" ? 2 : 1));
  return `${cut ? "cut" : now}${now === was ? "" : ` (${was})`}`;
};

export const stationName = (/** @type {number} */ station) => {
  if (station < 2) return station ? "where the positions are added" : "in the embedding table";
  return `in the ${station % 2 ? "feed-forward network" : "attention"} of layer ${station >> 1}`;
};

/** The station at which the two vectors of the word part, or -1. @param {Float32Array} cosines */
export const partingOf = (cosines) => cosines.findIndex((cosine) => distanceOf(cosine) > PARTED);

/** The weights that the token at hand gives in the head that is open. @param {Seen} seen @param {number} side */
export const weightsOf = ({ answer, state }, side) => {
  const { detail, tokens, weights } = answer.sentences[side];
  const begin = ((detail?.head ?? 0) * tokens.length + focusOf(state, answer, side)) * tokens.length;
  return weights[detail?.layer ?? 0].subarray(begin, begin + tokens.length);
};

/** The name of the token at hand, and of the word from which most arrives at it. @param {Seen} seen @param {number} side @param {number} layer */
const pairOf = (seen, side, layer) => {
  const name = seen.answer.sentences[side].tokens[focusOf(seen.state, seen.answer, side)];
  return [name, strongest(seen, side, layer)?.name ?? "itself"].map(quote);
};

/** What is said of the whole picture. @param {Seen} seen */
export const story = (seen) => {
  const { answer, state } = seen;
  const { sentences, word_cosines: now } = answer;
  const word = quote(answer.word);
  const ask = "Where on the way up will the two vectors part? Mark the height between the towers.";
  if (state.asking) return `Both sentences have the word ${word}, and it starts as the same vector in both. ${ask}`;
  const inside = state.open !== null && sentences[0].detail?.layer === state.open ? `${insideStory(seen)} ` : "";
  const old = sentences.length > 1 ? "Dashed lines between the towers, grey ribbons" : "Grey ribbons";
  if (touched(state)) return `${inside}${changeStory(seen)} ${old} and numbers in brackets are from before.`;
  if (inside)
    return `${inside}Each value is multiplied by its weight. Their sum, with those of the other heads, is projected and added to the lane.`;
  const attention = `attention adds what it brings from other tokens, here to ${pairOf(seen, 0, 0)[0]}`;
  const forward = "then the feed-forward network adds what it computes from that vector alone";
  if (sentences.length === 1)
    return `Each token’s vector rises in its own lane. In every layer, ${attention}; ${forward}.`;
  const none = "The two sentences have no word in common whose vectors could be compared.";
  if (!now) return `${none} Their own cosine is ${figure(answer.sentence_cosine)}.`;
  const place = state.guess === null ? "" : `Your mark is ${stationName(state.guess)}. `;
  const mark = place && state.guess === partingOf(now) ? "Your mark is right. " : place;
  return `${mark}${partingStory(seen, partingOf(now))} At the top, their cosine is ${figure(now[now.length - 1])}.`;
};

/** @param {Seen} seen @param {number} parting */
const partingStory = (seen, parting) => {
  const both = `Both ${quote(seen.answer.word)}`;
  const row = `${both} come from the same row of the embedding table`;
  const [one, other] = seen.answer.sentences.map(({ tokens }) => tokens.join(" "));
  const part = one === other ? "never" : "hardly";
  if (parting < 0) return `${both} start as the same vector, and they ${part} part.`;
  if (parting < 2) return `${row}, but they are at different positions, so their vectors differ from the start.`;
  const [a, b] = [0, 1].map((side) => pairOf(seen, side, (parting >> 1) - 1)[1]);
  const brings =
    a === b ? "attention brings them something from different words" : `${a} reaches one and ${b} the other`;
  const why = parting % 2 ? "" : `, where ${brings}`;
  return `${both} start as the same vector. They part ${stationName(parting)}${why}.`;
};

/** How much a change has changed. @param {Seen} seen */
const changeStory = (seen) => {
  const { answer, before, state } = seen;
  const { sentences, word, word_cosines: now, sentence_cosine } = answer;
  const [{ tokens, kept }, focus] = [sentences[0], focusOf(state, answer, 0)];
  const own = figure(kept[kept.length - tokens.length + focus]);
  const one = `At the top, the vector of ${quote(tokens[focus])} now has a cosine of ${own} with the vector it had before.`;
  if (sentences.length === 1) return one;
  const cosine = `${figure(sentence_cosine)} (before: ${figure(before.sentence_cosine)})`;
  if (!now) return `At the top, the two sentences now have a cosine of ${cosine}.`;
  const words = `${figure(now[now.length - 1])} (before: ${figure(before.word_cosines?.[now.length - 1])})`;
  return `At the top, the two ${quote(word)} now have a cosine of ${words}, and the sentences have ${cosine}.${whyStory(seen, partingOf(now))}`;
};

/** Why a change has its effect on the two vectors, where that is certain. @param {Seen} seen @param {number} parting */
const whyStory = ({ answer, before, state }, parting) => {
  const [word, [out, another]] = [quote(answer.word), state.knockouts];
  const gone = (/** @type {Part} */ part) => isOut(state, part, null);
  if (!out) return " All other tokens still reach them.";
  if (gone("attention") && parting < 0)
    return " Only attention moves anything between tokens, so the two stay the same vector.";
  if (gone("feed_forward") && parting > 1) return " Attention alone parts them.";
  if (gone("norm1") && gone("norm2")) {
    const all = { answer, before, state: allOf(state) };
    const { name, amount, was } = sharesOf(all, 0, answer.layers - 1, answer.sentences[0].place)[0];
    const gets = `gets ${fixed(amount, 1)} from ${quote(name)} (before: ${fixed(was, 1)})`;
    return ` No norm rescales the sums: in layer ${answer.layers}, the first ${word} ${gets}.`;
  }
  if (another || !out.part.startsWith("residual")) return "";
  const goes = out.part === "residual1" ? "attention brings" : "feed-forward computes";
  return ` What ${word} was before is lost ${where(out.layer)}; only what ${goes} goes on.`;
};

const insideStory = (/** @type {Seen} */ seen) => {
  const { answer, state } = seen;
  const each = answer.sentences.map(({ detail, tokens }, side) => {
    const [weights, focus] = [weightsOf(seen, side), focusOf(state, answer, side)];
    const key = weights.indexOf(Math.max(...weights));
    const numbers = `score ${fixed(detail?.scores[focus * tokens.length + key] ?? 0, 1)}, weight ${weights[key].toFixed(2)}`;
    return `${quote(tokens[focus])} attends most to ${quote(tokens[key])} (${numbers})`;
  });
  return `Layer ${(state.open ?? 0) + 1}, head ${(state.head ?? 0) + 1}: ${each.join("; in the second sentence, ")}.`;
};

/** What the token at hand gets, and from which tokens. @param {Seen} seen @param {number} side @param {number} layer */
const sharesStory = (seen, side, layer) => {
  const most = sharesOf(seen, side, layer, focusOf(seen.state, seen.answer, side)).slice(0, 4);
  const shares = most.map((share) => `${share.name} ${amountOf(seen.state, share)}`);
  const head = headIn(seen.state, layer);
  return `${head === null ? "" : `in head ${head + 1}, `}${pairOf(seen, side, layer)[0]} gets ${shares.join(", ")}`;
};

/** What happens at a station; `gets` says what attention brings to a sentence's token at hand. @param {Seen} seen @param {number} station @param {typeof sharesStory} gets */
export const stationStory = (seen, station, gets = (...at) => pairOf(...at).join(" gets most from ")) => {
  const { answer, state } = seen;
  const { word_cosines: now, sentences, layers, sentence_cosine } = answer;
  const [n, forward] = [(station >> 1) - 1, station % 2 === 1];
  const mean = sentence_cosine === null ? "" : ` Cosine of the two sentences: ${figure(sentence_cosine)}.`;
  if (n >= layers) return `The mean of its tokens’ vectors is the vector of a sentence.${mean}`;
  const cosine = now ? ` Cosine of the two ${quote(answer.word)}: ${figure(now[station])}.` : "";
  if (station === 0) return `Each token takes its row of the embedding table.${cosine}`;
  if (station === 1) return `The row of its position is added, and a norm rescales the sum.${cosine}`;
  const name = `Layer ${n + 1}, ${forward ? "feed-forward" : "attention"}`;
  if (isOut(state, forward ? "feed_forward" : "attention", n))
    return `${name}: taken out, so it adds nothing.${cosine}`;
  const adds = isOut(state, forward ? "residual2" : "residual1", n)
    ? "Without its residual connection, only this goes on."
    : "The residual connection adds this to the lane.";
  const brings = sentences.map((_, side) => gets(seen, side, n)).join(", and in the second sentence ");
  return `${name}: ${forward ? "each token’s vector is transformed on its own" : brings}. ${adds}${cosine}`;
};

/** The picture in words: what is said of it, and then all stations. @param {Seen} seen */
export const describe = (seen) => {
  const stations = Array.from({ length: 3 + 2 * seen.answer.layers }, (_, i) => stationStory(seen, i, sharesStory));
  return [story(seen), ...stations];
};

/** @param {string} act @param {string} text @param {string} figure */
const button = (act, text, figure = "") =>
  markup`<button type="button" data-act="${act}">${text}<i>${figure}</i></button>`;

/** Buttons for what arrives at the token at hand in the layer at hand: each cuts or mends. @param {Seen} seen @param {number} side */
export const sharesButtons = (seen, side) => {
  const { answer, state } = seen;
  const { layer } = state;
  const query = focusOf(state, answer, side);
  const from = answer.sentences[side].tokens[query];
  const most = sharesOf(seen, side, layer, query).slice(0, 6);
  const buttons = most.map((share) => {
    const { key, name } = share;
    const cut = isCut(state, [side, layer, query, key]);
    return markup`<button type="button" data-act="ribbon ${side} ${layer} ${query} ${key}" aria-pressed="${cut}"
      title="${cut ? "Mend" : "Cut"} the attention from ${from} to ${name}">${name}<i>${amountOf(state, share, cut)}</i></button>`;
  });
  const lead = `${quote(from)}, layer ${layer + 1}${inHead(headIn(state, layer))}`;
  const verb = state.measure === "weights" ? "attends to (weight)" : "gets from (length of what arrives)";
  return markup`<span>${lead}, ${verb}</span>`.concat(...buttons);
};

/** Buttons that put back what the reader has taken out, or that try something. @param {Seen} seen */
export const changesButtons = (seen) => {
  const { answer, state } = seen;
  const tries = triesOf(seen).map(([text], i) => button(`try ${i}`, text));
  if (!touched(state)) return "<span>Try:</span>".concat(...tries);
  const cuts = state.cuts.map(({ side, layer, head, query, key }, i) => {
    const [from, to] = [query, key].map((token) => quote(answer.sentences[side].tokens[token]));
    return button(`mend cuts ${i}`, `${from} can’t attend to ${to} ${where(layer)}${inHead(head)}`, "×");
  });
  const outs = state.knockouts.map(({ part, layer }, i) => {
    const spoken = PARTS.find(([id]) => id === part)?.[2].replace(/^the /, "");
    return button(`mend knockouts ${i}`, spoken ? `no ${spoken} ${where(layer)}` : "no positions", "×");
  });
  return "<span>Taken out:</span>".concat(...cuts, ...outs, button("restore", "Restore all"));
};
