// The live search on a page: a recorded question at once, and any other once the reader has fetched MiniLM.

import { element } from "./dom.js";
import { unpack } from "./kernel.js";
import { offer } from "./live.js";
import { COSINE, read } from "./reader.js";
import { viewOf } from "./recording.js";
import { mount } from "./search_bars.js";

const NOTE = `MiniLM runs here in your browser, with weights rounded to ten bits. A cosine differs from that in JupyterLab by at most ${COSINE}.`;

/**
 * Draw the search in its place. The vectors of the texts are recorded, so that only the question has to be encoded.
 * @param {Pick<Recording, "bytes"> & { header: SearchHeader }} recording
 * @param {HTMLElement} place
 */
export function playSearch({ header: { title, options, query, found }, bytes }, place) {
  const { cosines, vectors } = unpack(found, viewOf(bytes));
  const size = vectors.length / query.texts.length;
  const known = new Map(query.texts.map((text, i) => [text, vectors.subarray(i * size, (i + 1) * size)]));
  /** @param {SearchQuery} query */
  const compute = async ({ question, texts }) => {
    for (const text of texts) if (!known.has(text)) known.set(text, (await read(text)).vector);
    const { vector } = await read(question);
    return { cosines: Float32Array.from(texts, (text) => cosineOf(vector, known.get(text) ?? vector)) };
  };
  const root = element("section", { "aria-label": title });
  const silence = "MiniLM is still computing.";
  const search = mount(root, { compute, query, found: { cosines }, options, title, silence, locked: true });
  const fetching = offer(async (report) => {
    await read(query.question, report);
    fetching.replaceWith(element("p", { class: "recorded-note" }, NOTE));
    search.unlock();
  }, "The recorded question stays.");
  root.append(fetching);
  place.replaceChildren(root);
  place.dataset.playing = "";
}

/**
 * The cosine of two vectors of length 1.
 * @param {Float32Array} a
 * @param {Float32Array} b
 */
const cosineOf = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
