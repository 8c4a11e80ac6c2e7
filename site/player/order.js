// An exercise without Python: the reader puts the lines of an answer in order, and hears what the notebook's check says.

import { element } from "./dom.js";
import { headOf, listOf, withVerdict } from "./exercise.js";
import { movableLines } from "./order_lines.js";

/**
 * What site/order.py has found by running the orders. `wrong` has the check's problem and hint by the lines that are
 * right so far, and the line that follows them.
 * @typedef {{ right: string[], wrong: Record<string, Record<string, string[]>>, head: string, passed: string[] }} Solved
 */

/**
 * @param {HTMLElement} root
 * @param {(address: string) => void} onDone hears the address of the answer once the order is right or shown
 */
export function playOrder(root, onDone) {
  const address = root.dataset.order ?? "";
  const list = /** @type {HTMLElement} */ (root.querySelector("ol"));
  const { order, put, places } = movableLines(list, () => say(-1));

  /** @param {Solved} solved */
  const judge = ({ right, wrong, head, passed }) => {
    const now = order();
    if (right.includes(now)) {
      say(-1, headOf(head, true), listOf(passed));
      onDone(address);
      return;
    }
    const place = Math.max(...right.map((other) => [...now].findIndex((line, i) => line !== other[i])));
    const [problem, hint] = wrong[now.slice(0, place)][now[place]];
    say(
      place,
      headOf(head, false),
      element("p", {}, "The first line that is out of place: ", element("code", {}, codeAt(places[place])), "."),
      listOf([`✗ ${problem}`, ...(hint ? [`Hint: ${hint}`] : [])]),
    );
  };
  /** @param {Solved} solved */
  const reveal = (solved) => {
    put(solved.right[0]);
    judge(solved);
  };
  const { tell } = withVerdict(root, address, judge, reveal);
  /**
   * @param {number} wrong the place of the first wrong line, or -1
   * @param {...(Node | string)} words
   */
  function say(wrong, ...words) {
    places.forEach((place, i) => {
      place.classList.toggle("order-wrong", i === wrong);
    });
    tell(...words);
  }
}

/** @param {HTMLElement} place */
const codeAt = (place) => place.querySelector("code")?.textContent ?? "";
