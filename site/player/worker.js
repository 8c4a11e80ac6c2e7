// MiniLM at work beside the page, which therefore never waits: a text comes in with a port to answer at.

import { encode, sentenceVector } from "./minilm.js";
import { fetchModel, fetchWord } from "./weights.js";
import { tokenize } from "./word_pieces.js";

/** @type {Promise<MiniLM> | undefined} */
let coming;

/**
 * @param {string} text
 * @param {(bytes: number) => void} tell
 * @returns {Promise<Reading>}
 */
async function read(text, tell) {
  coming ??= fetchModel(tell);
  coming.catch(() => {
    coming = undefined; // so that it is asked for again
  });
  const model = await coming;
  const tokens = tokenize(text, model.vocabulary);
  const ids = tokens.map((token) => model.vocabulary.get(token) ?? 0);
  const { x, weights } = encode(model, await Promise.all(ids.map(fetchWord)));
  return { text, tokens, weights, vector: sentenceVector(x) };
}

addEventListener("message", async ({ data: text, ports: [port] }) => {
  try {
    port.postMessage({ reading: await read(text, (bytes) => port.postMessage({ bytes })) });
  } catch (problem) {
    port.postMessage({ problem: problem instanceof Error ? problem.message : String(problem) });
  }
});
