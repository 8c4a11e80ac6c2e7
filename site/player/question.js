// The model of a question without a kernel: what it reveals is fetched when the reader has committed.

import { Traits } from "./traits.js";

export class AskedModel extends Traits {
  /**
   * @param {Pick<PredictionTraits, "_prompt" | "_choices" | "_room">} question
   * @param {string} address of the answer
   */
  constructor(question, address) {
    super({ choice: null, committed: false, revealed: false, _told: {}, ...question });
    this.address = address;
  }

  /**
   * Take a step of the reader; after the last one the answer follows.
   * @override
   * @param {string} name
   * @param {any} value
   */
  set(name, value) {
    super.set(name, value);
    if (name === "committed" || name === "revealed") this.reveal(name === "committed");
  }

  /** @param {boolean} committed */
  async reveal(committed) {
    const { shown, chosen } = await fetchAnswers(this.address);
    const told = committed ? { ...chosen[this.get("choice")], result: shown.result } : shown;
    this.change({ revealed: true, _told: told });
  }
}

/**
 * @param {string} address
 * @returns {Promise<Answers>}
 */
async function fetchAnswers(address) {
  const page = await (await fetch(address)).text();
  const told = new DOMParser().parseFromString(page, "text/html").getElementById("told")?.textContent;
  if (!told) throw new Error(`expected an answer at ${address}, got none`);
  const answers = JSON.parse(told);
  const { result } = answers.shown;
  if (result.kind === "picture") {
    result.png = new DataView(Uint8Array.from(atob(result.png), (letter) => letter.charCodeAt(0)).buffer);
  }
  return answers;
}
