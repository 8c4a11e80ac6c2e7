// What the encoder's picture shows, in words: for the eye, and for readers who cannot see it.

import { distanceOf } from "./alive_layout.js";
import { focusOf, SPECIAL, sharesOf, touched } from "./alive_state.js";

const PARTED = distanceOf(0.9995);

/** @param {string} word */
const quote = (word) => `“${word}”`;
/** @param {number} cosine */
export const figure = (cosine) => cosine.toFixed(3).replace("-", "−");

/** @param {number} station */
export function stationName(station) {
  if (station < 2) return station ? "where the positions are added" : "in the embedding table";
  return `in the ${station % 2 ? "feed-forward network" : "attention"} of layer ${station >> 1}`;
}

/**
 * The station at which the two vectors of the word part, or -1.
 * @param {Float32Array} cosines
 */
export const partingOf = (cosines) => cosines.findIndex((cosine) => distanceOf(cosine) > PARTED);

/**
 * The word that brings most to the token at hand in a layer, apart from itself and from [CLS] and [SEP].
 * @param {AliveView} view
 * @param {Side} side
 * @param {number} layer
 */
function strongest(view, side, layer) {
  const focus = focusOf(view.state, view.answer, side);
  const open = { ...view, state: { ...view.state, head: null, measure: /** @type {Measure} */ ("arrives") } };
  const shares = sharesOf(open, side, layer, focus).filter(({ key, name }) => key !== focus && !SPECIAL.test(name));
  return shares.sort((a, b) => b.amount - a.amount)[0]?.name ?? "itself";
}

/** What is said of the whole picture. @param {AliveView} view */
export function story(view) {
  const { answer, state } = view;
  const { word, sentences, word_cosines: now, word_before: was } = answer;
  if (state.asking) {
    return `Both sentences have the word ${quote(word)}, and it starts as the same vector in both. Where on the way up will the two vectors part? Mark the height between the towers.`;
  }
  if (state.open !== null && sentences[0].detail?.layer === state.open) return insideStory(view, sentences[0].detail);
  if (sentences.length === 1) return towerStory(view);
  if (!now || !was)
    return `The sentences have no word in common, so there is no word to compare. Their cosine is ${figure(answer.sentence_cosine ?? 0)}.`;
  const end = figure(now[now.length - 1]);
  if (touched(state)) {
    return `With your change, the two ${quote(word)} end with a cosine of ${end} (before: ${figure(was[was.length - 1])}), and the sentences with ${figure(answer.sentence_cosine ?? 0)} (before: ${figure(answer.sentence_before ?? 0)}). Dashed lines show where everything was before.`;
  }
  return `${guessed(view, now)}${startStory(view, now)} At the top, their cosine is ${end}.`;
}

/** @param {AliveView} view @param {Float32Array} now */
function guessed({ state }, now) {
  if (state.guess === null) return "";
  const parting = partingOf(now);
  return state.guess === parting
    ? "You marked the right place. "
    : `You marked the place ${stationName(state.guess)}. `;
}

/** @param {AliveView} view @param {Float32Array} now */
function startStory(view, now) {
  const parting = partingOf(now);
  const word = quote(view.answer.word);
  if (parting < 0) return `Both ${word} start as the same vector, and they never part.`;
  if (parting < 2)
    return `Both ${word} come from the same row of the embedding table, but they are at different positions, so their vectors differ from the start.`;
  const [a, b] = [0, 1].map((side) => quote(strongest(view, /** @type {Side} */ (side), (parting >> 1) - 1)));
  const why = parting % 2 ? "" : `, because ${a} reaches one and ${b} the other`;
  return `Both ${word} start as the same vector. They part ${stationName(parting)}${why}.`;
}

/** @param {AliveView} view */
function towerStory({ answer, state }) {
  const { tokens, kept } = answer.sentences[0];
  const focus = focusOf(state, answer, 0);
  const name = quote(tokens[focus]);
  if (touched(state))
    return `With your change, the vector of ${name} at the top has a cosine of ${figure(kept[kept.length - tokens.length + focus])} with the one before. Dashed lines show where everything was before.`;
  return `Each token has a vector, which rises in its lane. Attention adds what it brings from other tokens, here to ${name}; the feed-forward network adds what it computes from that vector alone.`;
}

/** @param {AliveView} view @param {Detail} detail */
function insideStory({ answer, state }, { layer, head }) {
  const each = answer.sentences.map(({ detail, tokens, weights }, side) => {
    const [T, focus] = [tokens.length, focusOf(state, answer, /** @type {Side} */ (side))];
    const row = weights[layer].subarray((head * T + focus) * T, (head * T + focus + 1) * T);
    const key = row.indexOf(Math.max(...row));
    const score = detail?.scores[focus * T + key].toFixed(1).replace("-", "−");
    return `${quote(tokens[focus])} attends most to ${quote(tokens[key])} (score ${score}, weight ${row[key].toFixed(2)})`;
  });
  return `Layer ${layer + 1}, head ${head + 1}: ${each.join("; in the second sentence, ")}. The values, each times its weight, are summed, and the sum is added to the lane.`;
}

/** What happens at the station that Play has reached. @param {AliveView} view @param {number} station */
export function stationStory(view, station) {
  const { answer } = view;
  const { word_cosines: now, sentences } = answer;
  const word = quote(answer.word);
  const cosine = now ? ` Cosine of the two ${word}: ${figure(now[Math.min(station, now.length - 1)])}.` : "";
  if (station === 0) return `Each token takes its row of the embedding table.${cosine}`;
  if (station === 1) return `The row of its position is added, and a norm rescales the sum.${cosine}`;
  if (station > 2 * answer.layers + 1)
    return sentences.length > 1
      ? `The mean of all its tokens’ vectors is the vector of a sentence. Cosine of the two: ${figure(answer.sentence_cosine ?? 0)}.`
      : "The mean of all its tokens’ vectors is the vector of the sentence.";
  const layer = (station >> 1) - 1;
  if (station % 2)
    return `Layer ${layer + 1}, feed-forward: it works on each token alone, and the residual connection adds its result.${cosine}`;
  const from = sentences.map((_, side) => quote(strongest(view, /** @type {Side} */ (side), layer))).join(" here and ");
  return `Layer ${layer + 1}, attention: the token at hand gets most from ${from}${sentences.length > 1 ? " there" : ""}, and the residual connection adds it.${cosine}`;
}

/** All of it as text. @param {AliveView} view */
export function describe(view) {
  const { answer, state } = view;
  const digits = state.measure === "weights" ? 2 : 1;
  const layers = Array.from({ length: answer.layers }, (_, n) => {
    const each = answer.sentences.map(({ tokens }, i) => {
      const side = /** @type {Side} */ (i);
      const focus = focusOf(state, answer, side);
      const most = sharesOf(view, side, n, focus)
        .slice(0, 4)
        .map(({ name, amount }) => `${name} ${amount.toFixed(digits)}`);
      return `in sentence ${side + 1}, ${quote(tokens[focus])} gets ${most.join(", ")}`;
    });
    const after = answer.word_cosines
      ? `; cosine of the two ${quote(answer.word)} after the layer: ${figure(answer.word_cosines[3 + 2 * n])}`
      : "";
    return `Layer ${n + 1}: ${each.join("; ")}${after}.`;
  });
  return [story(view), ...layers];
}
