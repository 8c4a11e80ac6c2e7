// The words of a sentence as buttons: the one that is pointed at or focused colours all of them by its attention weights.

import { colourOf, inkOn } from "./colour.js";
import { element, say } from "./dom.js";
import { percent } from "./format.js";
import { rowOf } from "./matrix.js";
import { clamp } from "./numbers.js";

const TOLD = 12; // words that a reading names

/**
 * What a word attends to, as a sentence, the largest attention weight first.
 * @param {string} word
 * @param {string[]} words
 * @param {Float32Array} weights
 */
export function attendsTo(word, words, weights) {
  const seen = [...weights.keys()].filter((i) => weights[i] > 0).sort((a, b) => weights[b] - weights[a]);
  const listed = seen.slice(0, TOLD).map((i) => `${words[i]} ${percent(weights[i])}`);
  if (seen.length > TOLD) listed.push(`${seen.length - TOLD} more`);
  return `“${word}” attends to ${listed.join(", ") || "nothing"}`;
}

export class Tokens {
  touched = false; // whether the reader has chosen a word
  /** @type {HTMLButtonElement[]} */
  buttons = [];

  /**
   * @param {TokensSpec} spec
   * @param {Matrix} matrix
   * @param {() => void} tell is called when the reader has chosen a word
   */
  constructor(spec, matrix, tell) {
    this.tell = tell;
    this.caption = element("p", { class: "explorer-caption" });
    this.row = element("div", { class: "explorer-words", role: "toolbar" });
    this.root = element("div", { class: "explorer-tokens" }, this.caption, this.row);
    this.row.addEventListener("pointerover", (event) => this.choose(event));
    this.row.addEventListener("focusin", (event) => this.choose(event));
    this.row.addEventListener("keydown", (event) => this.move(event));
    this.chosen = spec.chosen;
    this.matrix = matrix;
    this.show(spec, matrix);
  }

  /**
   * Take the matrix whose rows look; words that stay keep their buttons, and with them the focus.
   * @param {TokensSpec} spec
   * @param {Matrix} matrix
   */
  show({ title }, matrix) {
    this.matrix = matrix;
    say(this.caption, title);
    this.row.setAttribute("aria-label", title);
    while (this.buttons.length > this.words.length) this.buttons.pop()?.remove();
    while (this.buttons.length < this.words.length) {
      const button = element("button", { type: "button" }, element("span"), element("small"));
      this.buttons.push(button);
      this.row.append(button);
    }
    this.paint();
  }

  get words() {
    return this.matrix.spec.y_ticks ?? [];
  }

  /** The chosen word; the last one when the sentence has become too short for it. */
  get place() {
    return Math.min(this.chosen, this.words.length - 1);
  }

  paint() {
    const weights = rowOf(this.matrix, this.place);
    this.buttons.forEach((button, i) => {
      const colour = colourOf(weights[i], this.matrix);
      Object.assign(button.style, { background: `rgb(${colour})`, color: inkOn(colour) });
      button.tabIndex = i === this.place ? 0 : -1; // Tab goes to the chosen word, arrow keys to the others
      button.setAttribute("aria-pressed", String(i === this.place));
      const [word, share] = button.children;
      say(word, this.words[i]);
      say(share, percent(weights[i]));
    });
  }

  /**
   * Which button an event happened on; -1 for none.
   * @param {Event} event
   */
  buttonOf({ target }) {
    return this.buttons.findIndex((button) => target instanceof Node && button.contains(target));
  }

  /** @param {Event} event */
  choose(event) {
    const place = this.buttonOf(event);
    if (place < 0) return;
    this.chosen = place;
    this.touched = true;
    this.paint();
    this.tell();
  }

  /** @param {KeyboardEvent} event */
  move(event) {
    const place = this.buttonOf(event);
    const last = this.buttons.length - 1;
    /** @type {Record<string, number>} */
    const goals = {
      ArrowLeft: place - 1,
      ArrowUp: place - 1,
      ArrowRight: place + 1,
      ArrowDown: place + 1,
      Home: 0,
      End: last,
    };
    if (!Object.hasOwn(goals, event.key)) return;
    if (event.altKey || event.ctrlKey || event.metaKey) return; // those are the browser's
    event.preventDefault();
    this.buttons[clamp(goals[event.key], [0, last])].focus();
  }

  /** What the chosen word attends to, as a sentence. */
  reading() {
    return attendsTo(this.words[this.place], this.words, rowOf(this.matrix, this.place));
  }

  /**
   * The chosen word's row in another matrix, if that has these words along its rows.
   * @param {Matrix} matrix
   */
  rowIn({ spec }) {
    const words = spec.y_ticks ?? [];
    const same = words.length === this.words.length && words.every((word, i) => word === this.words[i]);
    return same ? this.place : null;
  }
}
