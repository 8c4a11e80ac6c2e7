// MiniLM in a worker, so that the page never waits for it. A text or a question arrives with a port for the answer.

import { Answers } from "./answer.js";
import { D } from "./minilm.js";
import { meanRow } from "./tensors.js";
import { fetchModel, fetchWord } from "./weights.js";
import { tokenize } from "./word_pieces.js";

/** @typedef {(bytes: number) => void} Report hears how many bytes have arrived */

/** @type {Promise<{ vocabulary: Map<string, number>, answers: Answers }> | undefined} */
let coming;

/**
 * MiniLM, which is fetched only once, or again after an error.
 * @param {Report} report
 */
async function start(report) {
  coming ??= fetchModel(report).then((model) => ({ vocabulary: model.vocabulary, answers: new Answers(model) }));
  coming.catch(() => {
    coming = undefined;
  });
  return coming;
}

/**
 * A text's tokens, and their rows of the embedding table.
 * @param {string} text
 * @param {Map<string, number>} vocabulary
 */
async function lookUp(text, vocabulary) {
  const tokens = tokenize(text, vocabulary);
  return { tokens, words: await Promise.all(tokens.map((token) => fetchWord(vocabulary.get(token) ?? 0))) };
}

/**
 * @param {string} text
 * @param {Report} report
 * @returns {Promise<Reading>}
 */
async function read(text, report) {
  const { vocabulary, answers } = await start(report);
  const { tokens, words } = await lookUp(text, vocabulary);
  const { layers } = answers.runs.run(tokens, words);
  const mean = meanRow(layers[layers.length - 1].norm2, D);
  const length = Math.hypot(...mean);
  return {
    text,
    tokens,
    weights: layers.map(({ weights }) => weights),
    vector: Float32Array.from(mean, (value) => value / length),
  };
}

/**
 * @param {Question} question
 * @param {Report} report
 */
async function answer(question, report) {
  const { vocabulary, answers } = await start(report);
  const texts = await Promise.all(question.texts.map((text) => lookUp(text, vocabulary)));
  return answers.answer(question, texts);
}

addEventListener("message", async ({ data: { text, question }, ports: [port] }) => {
  /** @type {Report} */
  const report = (bytes) => port.postMessage({ bytes });
  try {
    port.postMessage({ found: question ? await answer(question, report) : await read(text, report) });
  } catch (problem) {
    port.postMessage({ problem: problem instanceof Error ? problem.message : String(problem) });
  }
});
