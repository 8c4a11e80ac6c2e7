// An explorer in which the reader types: MiniLM reads the text on this page, once the reader has asked for it.

import { element, say } from "./dom.js";
import { showHeads } from "./heads.js";
import { COSINE, MEGABYTES, read, WEIGHT } from "./reader.js";
import { Traits } from "./traits.js";

/** @typedef {import("./model.js").RecordedModel} RecordedModel */

/** The model of `explore.heads` without a kernel: a text, a layer and a head. */
export class LiveHeads extends Traits {
  silence = "MiniLM is still reading.";
  reads = false;

  /**
   * @param {RecordedModel} recorded where it goes on from
   * @param {Reading} reading of the text that was there
   */
  constructor(recorded, reading) {
    super({ ...recorded.values, _controls: recorded.recording.header.live });
    this.reading = reading;
    this.look();
    this.follow();
  }

  /**
   * @override
   * @param {string} name
   * @param {ControlValue} value
   */
  set(name, value) {
    super.set(name, value);
    if (name === "layer") this.look();
    if (name === "sentence" && !this.reads) this.follow();
  }

  /** Read what is typed; while MiniLM reads, only the newest text waits. */
  async follow() {
    this.reads = true;
    this.change({ _drawing: true });
    let error = "";
    try {
      while (this.reading.text !== this.get("sentence")) {
        this.reading = await read(this.get("sentence"));
        this.look();
      }
    } catch (problem) {
      error = `This text could not be read: ${reason(problem)}`;
    }
    this.reads = false;
    this.change({ error, _drawing: false });
  }

  look() {
    this.change(showHeads(this.get("_panels"), this.reading, this.get("layer")));
  }
}

/**
 * What stands below the controls of a recorded explorer: a button that fetches MiniLM, and what has come so far.
 * @param {RecordedModel} recorded
 * @param {(model: LiveHeads) => void} start draws the explorer anew, when MiniLM has read the text that is there
 */
export function offer(recorded, start) {
  const button = element("button", { type: "button" }, `Type your own: fetch ${Math.round(MEGABYTES)} MB`);
  const bar = element("progress", { "aria-label": "What has come of MiniLM", hidden: true });
  const words = element("span", { role: "status" }, "MiniLM then reads in your browser what you type.");
  button.addEventListener("click", async () => {
    if (!bar.hidden) return; // it is coming
    bar.hidden = false;
    say(words, "MiniLM is on its way.");
    try {
      const reading = await read(recorded.get("sentence"), (share) => {
        bar.value = share;
      });
      start(new LiveHeads(recorded, reading));
    } catch (problem) {
      say(words, `MiniLM could not be fetched: ${reason(problem)}. The recorded sentences stay.`);
    }
    bar.hidden = true;
  });
  return element("p", { class: "recorded-offer" }, button, bar, words);
}

/** What a reader who compares has to know. */
export const NOTE = `MiniLM reads here in your browser, from numbers rounded to ten bits: beside JupyterLab a weight is off by at most ${WEIGHT}, and the cosine of two sentences by ${COSINE}.`;

/** @param {unknown} problem */
const reason = (problem) => (problem instanceof Error ? problem.message : String(problem));
