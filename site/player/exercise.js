// What the exercises of a page have in common: two buttons, the answer, which is fetched for them, and the verdict.

import { element } from "./dom.js";

const OFFLINE = "The answer could not be fetched. You may be offline: try again when you are back.";

/**
 * Add the buttons and the verdict to an exercise. Returns a function that says something in place of the verdict.
 * @template Found
 * @param {HTMLElement} root
 * @param {string} address of the answer
 * @param {(found: Found) => void} judge
 * @param {(found: Found) => void} reveal
 */
export function withVerdict(root, address, judge, reveal) {
  const verdict = element("div", { class: "exercise-verdict", tabindex: -1, "aria-live": "polite" });
  const check = element("button", { type: "button", class: "explorer-action prediction-commit" }, "Check");
  const show = element("button", { type: "button", class: "explorer-action prediction-show" }, "Show me");
  /** @param {...(Node | string)} words */
  const tell = (...words) => verdict.replaceChildren(...words);
  /** @param {(found: Found) => void} answer */
  const answering = async (answer) => {
    const found = await fetchJson(address).catch(console.warn);
    if (found) answer(found);
    else tell(OFFLINE);
  };
  check.addEventListener("click", () => answering(judge));
  show.addEventListener("click", async () => {
    await answering(reveal);
    verdict.focus();
  });
  root.append(element("div", { class: "prediction-actions" }, check, show), verdict);
  return { tell, check };
}

/** @param {string} address */
const fetchJson = async (address) => (await fetch(address)).json();

/**
 * The words of a verdict as a check gives them: its head, and a list.
 * @param {string} head as it is for a right answer
 * @param {boolean} right
 */
export function headOf(head, right) {
  return element("strong", {}, right ? head : head.replace(/right\.$/, "not there yet."));
}

/** @param {string[]} lines */
export const listOf = (lines) => element("ul", {}, ...lines.map((line) => element("li", {}, line)));
