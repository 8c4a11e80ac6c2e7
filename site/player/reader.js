// MiniLM for the page, in a worker that starts with the first text.

export const MEGABYTES = 14.1; // of the weights and the vocabulary
export const [WEIGHT, COSINE] = [0.02, 0.003]; // the most that their rounding changes in 200 texts, tests/site measures it
export const WAY = 0.005; // and of the cosine of a word on its way

/** @type {Worker | undefined} */
let worker;

/**
 * What MiniLM makes of a text. The first one fetches the weights, and `tell` hears which share of them has come.
 * @param {string} text
 * @param {(share: number) => void} [tell]
 * @returns {Promise<Reading>}
 */
export function read(text, tell) {
  worker ??= new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  const { port1, port2 } = new MessageChannel();
  worker.postMessage({ text }, [port2]);
  const answered = new AbortController();
  let come = 0;
  return new Promise((resolve, reject) => {
    port1.onmessage = ({ data: { bytes, reading, problem } }) => {
      come += bytes ?? 0;
      if (bytes) tell?.(come / (1e6 * MEGABYTES));
      else answered.abort();
      if (reading) resolve(reading);
      if (problem) reject(new Error(problem));
    };
    const fail = () => {
      worker = undefined; // its file has not come: the next text asks for it again
      reject(new Error("no answer comes, you may be offline"));
    };
    worker?.addEventListener("error", fail, { signal: answered.signal });
  });
}
