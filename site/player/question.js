// The model of a question without a kernel. The answer is fetched once the reader has committed to a choice.

import { Traits } from "./traits.js";

export class AskedModel extends Traits {
  silence = "The answer could not be fetched. You may be offline: try again when you are back.";

  /**
   * @param {Pick<PredictionTraits, "_prompt" | "_choices">} question
   * @param {string} address of the answer
   */
  constructor(question, address) {
    super({ choice: null, committed: false, revealed: false, _outcome: {}, ...question });
    this.address = address;
  }

  /**
   * Fetch the answer after the reader's last step. If that fails, undo the step.
   * @override
   */
  async save_changes() {
    if (this.get("committed") || this.get("revealed")) {
      const outcome = await fetchOutcome(this.address).catch(console.warn);
      if (!outcome) return this.change({ committed: false, revealed: false });
      this.change({ revealed: true, _outcome: outcome });
    }
    super.save_changes();
  }
}

/**
 * @param {string} address
 * @returns {Promise<Told>}
 */
async function fetchOutcome(address) {
  const page = new DOMParser().parseFromString(await (await fetch(address)).text(), "text/html");
  const found = page.getElementById("outcome")?.textContent;
  if (!found) throw new Error(`expected an answer at ${address}, got none`);
  return JSON.parse(found);
}
