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
  const rows = tokens.map((token) => fetchWord(model.vocabulary.get(token) ?? 0));
  const { x, ...way } = encode(model, await Promise.all(rows));
  return { text, tokens, ...way, vector: sentenceVector(x) };
}

addEventListener("message", async ({ data: { text }, ports: [port] }) => {
  try {
    const reading = await read(text, (bytes) => port.postMessage({ bytes }));
    const moved = [...reading.stations, ...reading.weights].map((numbers) => numbers.buffer);
    port.postMessage({ reading }, /** @type {ArrayBuffer[]} */ (moved));
  } catch (problem) {
    port.postMessage({ problem: problem instanceof Error ? problem.message : String(problem) });
  }
});
