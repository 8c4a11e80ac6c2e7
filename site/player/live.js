// An explorer in which the reader types: MiniLM reads the text on this page, once the reader has asked for it.

import { element, say } from "./dom.js";
import { showHeads } from "./heads.js";
import { COSINE, MEGABYTES, read, WEIGHT, WORD } from "./reader.js";
import { Traits } from "./traits.js";
import { showWalk } from "./walk.js";

/** @typedef {import("./model.js").RecordedModel} RecordedModel */

const KEPT = 8; // readings, as with a kernel

/** What shows readings, and which texts are read for it, in this order. */
const EXPLORERS = {
  heads: { show: showHeads, texts: ["sentence"] },
  walk: { show: showWalk, texts: ["first", "second"] },
};

/** The model of an explorer of texts, without a kernel. */
export class LiveModel extends Traits {
  silence = "MiniLM is still reading.";
  reads = false;
  /** @type {Map<string, Reading>} */
  readings = new Map();

  /** @param {RecordedModel} recorded where it goes on from */
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

  /** The texts that are there now. */
  get wanted() {
    return this.explorer.texts.map((name) => /** @type {string} */ (this.get(name)));
  }

  /** Read what is typed; while MiniLM reads, only the newest text waits. */
  async follow() {
    this.reads = true;
    this.change({ _drawing: true });
    let error = "";
    try {
      await this.read();
    } catch (problem) {
      error = `This text could not be read: ${reason(problem)}`;
    }
    this.reads = false;
    this.change({ error, _drawing: false });
  }

  /**
   * Read until nothing is missing, and show it.
   * @param {(share: number) => void} [tell]
   */
  async read(tell) {
    const missing = () => this.wanted.find((text) => !this.readings.has(text));
    for (let next = missing(); next !== undefined; next = missing()) {
      this.readings.set(next, await read(next, tell));
    }
    const found = this.wanted.map((text) => /** @type {Reading} */ (this.readings.get(text)));
    this.change(this.explorer.show(this.values, found));
    for (const old of [...this.readings.keys()].slice(0, -KEPT)) this.readings.delete(old);
  }
}

/**
 * What stands below the controls of a recorded explorer: a button that fetches MiniLM, and what has come so far.
 * @param {RecordedModel} recorded
 * @param {(model: LiveModel) => void} start draws the explorer anew, when MiniLM has read the text that is there
 */
export function offer(recorded, start) {
  const button = element(
    "button",
    { type: "button", class: "explorer-action" },
    `Type your own: fetch ${Math.round(MEGABYTES)} MB`,
  );
  const bar = element("progress", { "aria-label": "What has come of MiniLM", hidden: true });
  const words = element("span", { role: "status" }, "MiniLM then reads in your browser what you type.");
  button.addEventListener("click", async () => {
    if (!bar.hidden) return; // it is coming
    bar.hidden = false;
    say(words, "MiniLM is on its way.");
    try {
      const model = new LiveModel(recorded);
      await model.read((share) => {
        bar.value = share;
      });
      start(model);
    } catch (problem) {
      say(words, `MiniLM could not be fetched: ${reason(problem)}. The recorded sentences stay.`);
    }
    bar.hidden = true;
  });
  return element("p", { class: "recorded-offer" }, button, bar, words);
}

/** What a reader who compares has to know. */
export const NOTE = `MiniLM reads here in your browser, from numbers rounded to ten bits: beside JupyterLab a weight is off by at most ${WEIGHT}, the cosine of two sentences by ${COSINE}, of two words on their way by ${WORD}.`;

/** @param {unknown} problem */
const reason = (problem) => (problem instanceof Error ? problem.message : String(problem));
