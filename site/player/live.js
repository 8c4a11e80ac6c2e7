// An explorer in which the reader types: MiniLM runs in the browser, once the reader has asked for it.

import { element, say } from "./dom.js";
import { showHeads } from "./heads.js";
import { COSINE, MEGABYTES, read, WEIGHT } from "./reader.js";
import { Traits } from "./traits.js";

/** @typedef {import("./model.js").RecordedModel} RecordedModel */

/** @type {[string, string]} */
const TYPING = ["Type your own", "MiniLM then runs in your browser on what you type."];
const KEPT = 8; // texts whose results are kept, as with a kernel

/** For each explorer, the function that shows what MiniLM computes, and the controls with the texts, in this order. */
const EXPLORERS = {
  heads: { show: showHeads, texts: ["sentence"] },
};

/** The model of an explorer of texts without a kernel. */
export class LiveModel extends Traits {
  silence = "MiniLM is still computing.";
  reads = false;
  /** @type {Map<string, Reading>} */
  readings = new Map();

  /** @param {RecordedModel} recorded whose state it takes over */
  constructor({ values, recording: { header } }) {
    super({ ...values, _controls: header.typed });
    this.frames = header.frames;
    this.explorer = EXPLORERS[header.live || "heads"];
  }

  /**
   * @override
   * @param {string} name
   * @param {ControlValue} value
   */
  set(name, value) {
    super.set(name, value);
    if (name !== this.frames && !this.reads) this.follow();
  }

  /** The current texts. */
  get wanted() {
    return this.explorer.texts.map((name) => /** @type {string} */ (this.get(name)));
  }

  /** Run MiniLM on what has been typed. While it computes, only the newest text waits. */
  async follow() {
    this.reads = true;
    this.change({ _drawing: true });
    let error = "";
    try {
      await this.read();
    } catch (problem) {
      error = `MiniLM could not compute this text: ${reason(problem)}`;
    }
    this.reads = false;
    this.change({ error, _drawing: false });
  }

  /**
   * Compute what is missing, and show it.
   * @param {(fraction: number) => void} [report]
   */
  async read(report) {
    const missing = () => this.wanted.find((text) => !this.readings.has(text));
    for (let next = missing(); next !== undefined; next = missing()) {
      this.readings.set(next, await read(next, report));
    }
    const found = this.wanted.map((text) => /** @type {Reading} */ (this.readings.get(text)));
    this.change(this.explorer.show(this.values, found));
    for (const old of [...this.readings.keys()].slice(0, -KEPT)) this.readings.delete(old);
  }
}

/**
 * A line with a button that fetches MiniLM, which tells how much of it has arrived.
 * @param {(report: (fraction: number) => void) => Promise<unknown>} start fetches it
 * @param {string} kept what stays if it can't be fetched
 * @param {[what: string, then: string]} words what it is for
 */
export function offer(start, kept, [what, then] = TYPING) {
  const button = element(
    "button",
    { type: "button", class: "explorer-action" },
    `${what}: fetch ${Math.round(MEGABYTES)} MB`,
  );
  const bar = element("progress", { "aria-label": "How much of MiniLM has arrived", hidden: true });
  const words = element("span", { role: "status" }, then);
  button.addEventListener("click", async () => {
    if (!bar.hidden) return; // it is being fetched
    bar.hidden = false;
    say(words, "MiniLM is being fetched.");
    try {
      await start((fraction) => {
        bar.value = fraction;
      });
    } catch (problem) {
      say(words, `MiniLM could not be fetched: ${reason(problem)}. ${kept}`);
    }
    bar.hidden = true;
  });
  return element("p", { class: "recorded-offer" }, button, bar, words);
}

/** What a reader needs to know who compares numbers with JupyterLab. */
export const NOTE = `MiniLM runs here in your browser, with weights rounded to ten bits. Compared with JupyterLab, an attention weight differs by at most ${WEIGHT}, and the cosine of two sentences by at most ${COSINE}.`;

/** @param {unknown} problem */
const reason = (problem) => (problem instanceof Error ? problem.message : String(problem));
