// An exercise without Python: the reader puts the lines of an answer in order, and hears what the notebook's check says.

import { element } from "./dom.js";
import { movableLines } from "./order_lines.js";

const OFFLINE = "The answer could not be fetched. You may be offline: try again when you are back.";

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
  const verdict = element("div", { class: "order-verdict", tabindex: -1, "aria-live": "polite" });
  const check = element("button", { type: "button", class: "explorer-action prediction-commit" }, "Check");
  const show = element("button", { type: "button", class: "explorer-action prediction-show" }, "Show me");
  const { order, put, places } = movableLines(/** @type {HTMLElement} */ (root.querySelector("ol")), () => tell(-1));

  /**
   * @param {number} wrong the place of the first wrong line, or -1
   * @param {...(Node | string)} words
   */
  const tell = (wrong, ...words) => {
    places.forEach((place, i) => {
      place.classList.toggle("order-wrong", i === wrong);
    });
    verdict.replaceChildren(...words);
  };
  /** @param {Solved} solved */
  const judge = ({ right, wrong, head, passed }) => {
    const now = order();
    if (right.includes(now)) {
      tell(-1, element("strong", {}, head), listOf(passed));
      onDone(address);
      return;
    }
    const place = Math.max(...right.map((other) => [...now].findIndex((line, i) => line !== other[i])));
    const [problem, hint] = wrong[now.slice(0, place)][now[place]];
    tell(
      place,
      element("strong", {}, head.replace(/right\.$/, "not there yet.")),
      element("p", {}, "The first line that is out of place: ", element("code", {}, codeAt(places[place])), "."),
      listOf([`✗ ${problem}`, ...(hint ? [`Hint: ${hint}`] : [])]),
    );
  };
  /** @param {Solved} solved */
  const reveal = (solved) => {
    put(solved.right[0]);
    judge(solved);
    verdict.focus();
  };
  for (const [button, answer] of /** @type {const} */ ([
    [check, judge],
    [show, reveal],
  ])) {
    button.addEventListener("click", async () => {
      const solved = await fetchSolved(address).catch(console.warn);
      if (solved) answer(solved);
      else tell(-1, OFFLINE);
    });
  }
  root.append(element("div", { class: "prediction-actions" }, check, show), verdict);
}

/**
 * @param {string} address
 * @returns {Promise<Solved>}
 */
const fetchSolved = async (address) => (await fetch(address)).json();

/** @param {HTMLElement} place */
const codeAt = (place) => place.querySelector("code")?.textContent ?? "";

/** @param {string[]} lines */
const listOf = (lines) => element("ul", {}, ...lines.map((line) => element("li", {}, line)));
