// MiniLM for the page. It runs in a worker, which starts with the first text or question.

export const MEGABYTES = 14.1; // of the weights and the vocabulary
export const [WEIGHT, COSINE] = [0.02, 0.003]; // the largest errors of rounding in 200 texts, measured in tests/site
export const [CHANGED, ALONE] = [0.01, 0.03]; // of a cosine after an intervention; where residual connections are out

/** @typedef {(fraction: number) => void} Report hears which fraction of the weights has arrived */

/** @type {Worker | undefined} */
let worker;

/**
 * MiniLM's tokens, weights and vectors of a text. The first text fetches the model.
 * @param {string} text
 * @param {Report} [report]
 * @returns {Promise<Reading>}
 */
export const read = (text, report) => ask({ text }, report);

/**
 * MiniLM's answer to a question about one or two sentences, with interventions.
 * @param {Question} question
 * @param {Report} [report]
 * @returns {Promise<Answer>}
 */
export const compute = (question, report) => ask({ question }, report);

/**
 * @param {{ text: string } | { question: Question }} message
 * @param {Report} [report]
 * @returns {Promise<any>}
 */
function ask(message, report) {
  worker ??= new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  const { port1, port2 } = new MessageChannel();
  worker.postMessage(message, [port2]);
  const answered = new AbortController();
  let arrived = 0;
  return new Promise((resolve, reject) => {
    port1.onmessage = ({ data: { bytes, found, problem } }) => {
      arrived += bytes ?? 0;
      if (bytes) report?.(arrived / (1e6 * MEGABYTES));
      else answered.abort();
      if (found) resolve(found);
      if (problem) reject(new Error(problem));
    };
    const fail = () => {
      worker = undefined; // its file did not arrive, so the next text starts another one
      reject(new Error("the site does not answer, you may be offline"));
    };
    worker?.addEventListener("error", fail, { signal: answered.signal });
  });
}
