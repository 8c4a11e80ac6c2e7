// What the encoder's picture shows, in words: for the eye, and for readers who cannot see it.

import { markup } from "./alive_drawing.js";
import { distanceOf } from "./alive_layout.js";
import { focusOf, headIn, isCut, isOut, PARTS, sharesOf, strongest, touched, triesOf } from "./alive_state.js";

const PARTED = distanceOf(0.9995); // from here on, two vectors are said to be two
const GHOSTS = "Dashed lines show the values before.";

/** @param {string} word */
const quote = (word) => `“${word}”`;
/** @param {number} number @param {number} digits */
const fixed = (number, digits) => number.toFixed(digits).replace("-", "−").replace("Infinity", "∞");
/** @param {number | null | undefined} cosine */
export const figure = (cosine) => fixed(cosine ?? 0, 3);
/** @param {number} number @param {number} digits */
export const score = (number, digits = 1) => fixed(number, digits);
/** @param {number | null} layer */
const where = (layer) => (layer === null ? "in all layers" : `in layer ${layer + 1}`);

/** @param {number} station */
export const stationName = (station) => {
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

/** What is said of the whole picture. @param {Seen} seen @returns {string} */
export const story = (seen) => {
  const { answer, state } = seen;
  const { sentences, word_cosines: now, word_before: was } = answer;
  const word = quote(answer.word);
  if (state.asking)
    return `Both sentences have the word ${word}, and it starts as the same vector in both. Where on the way up will the two vectors part? Mark the height between the towers.`;
  if (state.open !== null && sentences[0].detail?.layer === state.open) return insideStory(seen);
  if (sentences.length === 1) return towerStory(seen);
  const cosine = `${figure(answer.sentence_cosine)}${touched(state) ? ` (before: ${figure(answer.sentence_before)})` : ""}`;
  if (!now || !was)
    return `The two sentences have no word in common whose vectors could be compared. Their own cosine is ${cosine}.`;
  const end = figure(now[now.length - 1]);
  if (touched(state))
    return `At the top, the two ${word} now have a cosine of ${end} (before: ${figure(was[was.length - 1])}), and the sentences have ${cosine}. ${GHOSTS}`;
  const mark =
    state.guess === null
      ? ""
      : state.guess === partingOf(now)
        ? "Your mark is right. "
        : `You marked the place ${stationName(state.guess)}. `;
  return `${mark}${partingStory(seen, partingOf(now))} At the top, their cosine is ${end}.`;
};

/** @param {Seen} seen @param {number} parting */
const partingStory = (seen, parting) => {
  const word = quote(seen.answer.word);
  if (parting < 0) return `Both ${word} start as the same vector, and they never part.`;
  if (parting < 2)
    return `Both ${word} come from the same row of the embedding table, but they are at different positions, so their vectors differ from the start.`;
  const [a, b] = [0, 1].map((side) => quote(strongest(seen, side, (parting >> 1) - 1)?.name ?? seen.answer.word));
  return `Both ${word} start as the same vector. They part ${stationName(parting)}${parting % 2 ? "" : `, because there ${a} reaches one and ${b} the other`}.`;
};

/** @param {Seen} seen */
const towerStory = ({ answer, state }) => {
  const { tokens, kept } = answer.sentences[0];
  const focus = focusOf(state, answer, 0);
  const name = quote(tokens[focus]);
  const cosine = figure(kept[kept.length - tokens.length + focus]);
  if (touched(state))
    return `At the top, the vector of ${name} now has a cosine of ${cosine} with the vector it had before. ${GHOSTS}`;
  return `Each token’s vector rises in its own lane. In every layer, attention adds what it brings from other tokens, here to ${name}; then the feed-forward network adds what it computes from that vector alone.`;
};

/** @param {Seen} seen */
const insideStory = (seen) => {
  const { answer, state } = seen;
  const each = answer.sentences.map(({ detail, tokens }, side) => {
    const [weights, focus] = [weightsOf(seen, side), focusOf(state, answer, side)];
    const key = weights.indexOf(Math.max(...weights));
    return `${quote(tokens[focus])} attends most to ${quote(tokens[key])} (score ${score(detail?.scores[focus * tokens.length + key] ?? 0)}, weight ${weights[key].toFixed(2)})`;
  });
  return `Layer ${(state.open ?? 0) + 1}, head ${(state.head ?? 0) + 1}: ${each.join("; in the second sentence, ")}. Each value is multiplied by its weight, and their sum is added to the lane.`;
};

/** What happens at the station that Play has reached. @param {Seen} seen @param {number} station */
export const stationStory = (seen, station) => {
  const { answer, state } = seen;
  const { word_cosines: now, sentences, layers } = answer;
  const cosine = now
    ? ` Cosine of the two ${quote(answer.word)}: ${figure(now[Math.min(station, now.length - 1)])}.`
    : "";
  if (station === 0) return `Each token takes its row of the embedding table.${cosine}`;
  if (station === 1) return `The row of its position is added, and a norm rescales the sum.${cosine}`;
  if (station > 2 * layers + 1)
    return `The mean of its tokens’ vectors is the vector of a sentence.${sentences.length > 1 ? ` Cosine of the two sentences: ${figure(answer.sentence_cosine)}.` : ""}`;
  const n = (station >> 1) - 1;
  const [part, around] = /** @type {[Part, Part]} */ (
    station % 2 ? ["feed_forward", "residual2"] : ["attention", "residual1"]
  );
  const name = `Layer ${n + 1}, ${station % 2 ? "feed-forward" : "attention"}`;
  if (isOut(state, part, n)) return `${name}: taken out, so it adds nothing.${cosine}`;
  const adds = isOut(state, around, n)
    ? "Without the residual connection, only this goes on."
    : "The residual connection adds this to the lane.";
  if (station % 2) return `${name}: each token’s vector is transformed on its own. ${adds}${cosine}`;
  const from = sentences.map(({ tokens }, side) =>
    [tokens[focusOf(state, answer, side)], strongest(seen, side, n)?.name ?? "itself"].map(quote),
  );
  return `${name}: ${from.map((names) => names.join(" gets most from ")).join(", and in the second sentence ")}. ${adds}${cosine}`;
};

/** The picture in words. @param {Seen} seen */
export const describe = (seen) => {
  const { answer, state } = seen;
  const layers = Array.from({ length: answer.layers }, (_, n) => {
    const each = answer.sentences.map(({ tokens }, side) => {
      const most = sharesOf(seen, side, n, focusOf(state, answer, side)).slice(0, 4);
      const shares = most.map(({ name, amount }) => `${name} ${amount.toFixed(state.measure === "weights" ? 2 : 1)}`);
      return `in sentence ${side + 1}, ${quote(tokens[focusOf(state, answer, side)])} gets ${shares.join(", ")}`;
    });
    const after = answer.word_cosines
      ? `. Cosine of the two ${quote(answer.word)} after the layer: ${figure(answer.word_cosines[3 + 2 * n])}`
      : "";
    return `Layer ${n + 1}: ${each.join("; ")}${after}.`;
  });
  return [story(seen), ...layers];
};

/** @param {string} act @param {string} text @param {string} figure @param {string} more */
const button = (act, text, figure = "", more = "") =>
  markup`<button type="button" data-act="${act}"` +
  more +
  markup`>${text}` +
  (figure && markup`<i>${figure}</i>`) +
  "</button>";

/** Buttons for what arrives at the token at hand in the layer at hand: each cuts or mends. @param {Seen} seen @param {number} side */
export const sharesButtons = (seen, side) => {
  const { answer, state } = seen;
  const [query, bare, layer, head] = [
    focusOf(state, answer, side),
    state.measure === "weights",
    state.layer,
    headIn(state, state.layer),
  ];
  const name = answer.sentences[side].tokens[query];
  const buttons = sharesOf(seen, side, layer, query)
    .slice(0, 6)
    .map((share) => {
      const cut = isCut(state, [side, layer, query, share.key]);
      const [now, was] = [share.amount, share.was].map((value) => value.toFixed(bare ? 2 : 1));
      const title = `${cut ? "Mend" : "Cut"} the attention from ${name} to ${share.name}`;
      const number = `${cut ? "cut" : now}${now === was ? "" : ` (${was})`}`;
      return button(
        `ribbon ${side} ${layer} ${query} ${share.key}`,
        share.name,
        number,
        markup` aria-pressed="${cut}" title="${title}"`,
      );
    });
  const lead = `${quote(name)}, layer ${layer + 1}${head === null ? "" : `, head ${head + 1}`}`;
  return (
    markup`<span>${lead}, ${bare ? "attends to (weight)" : "gets from (length of what arrives)"}</span>` +
    buttons.join("")
  );
};

/** Buttons that put back what the reader has taken out, or that try something. @param {Seen} seen */
export const changesButtons = (seen) => {
  const { answer, state } = seen;
  if (state.asking) return "";
  if (!touched(state))
    return `<span>Try:</span>${triesOf(seen)
      .map(([text], i) => button(`try ${i}`, text))
      .join("")}`;
  const cuts = state.cuts.map(({ side, layer, head, query, key }, i) => {
    const [from, to] = [query, key].map((token) => quote(answer.sentences[side].tokens[token]));
    return button(
      `mend cuts ${i}`,
      `${from} can’t attend to ${to} ${where(layer)}${head === null ? "" : `, head ${head + 1}`}`,
      "×",
    );
  });
  const outs = state.knockouts.map(({ part, layer }, i) => {
    const spoken = PARTS.find(([id]) => id === part)?.[2].replace(/^the /, "");
    return button(`mend knockouts ${i}`, spoken ? `no ${spoken} ${where(layer)}` : "no positions", "×");
  });
  return ["<span>Taken out:</span>", ...cuts, ...outs, button("restore", "Restore all")].join("");
};
