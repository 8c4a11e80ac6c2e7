// An exercise without Python: the reader types a number or a shape, and hears the check's hints.

import { element } from "./dom.js";
import { headOf, listOf, withVerdict } from "./exercise.js";

const TOLERANCE = 1e-4; // as the checks have it
const NO_NUMBER = "Expected a number, or the numbers of a shape with commas between them.";

/**
 * What site/typed.py has computed: the numbers of the answer, known mistakes with their hints, and the hints of the
 * exercise, which get stronger with each try.
 * @typedef {{ head: string, answer: number[], mistakes: [numbers: number[], hint: string][], hints: string[] }} Computed
 */

/**
 * @param {HTMLElement} root
 * @param {(address: string) => void} onDone hears the address of the answer once it is right or shown
 */
export function playTyped(root, onDone) {
  const address = root.dataset.typed ?? "";
  const field = element("input", { type: "text", inputmode: "decimal", autocomplete: "off", spellcheck: false });
  const label = element("label", {}, "Your answer", field);
  let tries = 0;

  /** @param {Computed} computed */
  const judge = ({ head, answer, mistakes, hints }) => {
    const typed = numbersIn(field.value);
    if (!typed) {
      tell(NO_NUMBER);
    } else if (same(typed, answer)) {
      tell(headOf(head, true));
      onDone(address);
    } else {
      const known = mistakes.find(([numbers]) => same(typed, numbers));
      const hint = known ? known[1] : hints[Math.min(tries, hints.length - 1)];
      tries += 1;
      tell(headOf(head, false), listOf([`✗ ${field.value.trim()} is not the answer`, `Hint: ${hint}`]));
    }
  };
  /** @param {Computed} computed */
  const reveal = (computed) => {
    field.value = computed.answer.join(", ");
    judge(computed);
  };
  root.append(label);
  const { tell, check } = withVerdict(root, address, judge, reveal);
  field.addEventListener("input", () => tell());
  field.addEventListener("keydown", ({ key }) => {
    if (key === "Enter") check.click();
  });
}

/**
 * The numbers of a text such as "3,152,384", "(2, 1, 1, 4)" or "0.5"; null for anything else. A comma before three
 * digits and no space separates thousands.
 * @param {string} text
 */
function numbersIn(text) {
  const parts = text
    .trim()
    .replace(/^(torch\.Size)?[([]+|[)\]]+$/g, "")
    .replace(/(?<=\d),(?=\d{3}(?!\d))/g, "")
    .split(/[\s,]+/)
    .filter(Boolean)
    .map((part) => Number(part.replace("−", "-")));
  return parts.length && parts.every(Number.isFinite) ? parts : null;
}

/**
 * @param {number[]} typed
 * @param {number[]} wanted
 */
function same(typed, wanted) {
  return typed.length === wanted.length && typed.every((number, i) => Math.abs(number - wanted[i]) <= TOLERANCE);
}
