// What of a reader's question is looked for, and which pages answer it best if none has all of its words.

/** Words that make a question and are on every page. */
const FILLING = new Set(
  "a an and are as at be by can do does for from has have how i in is it its my of on or that the their there this to was we what when where which who why with you your".split(
    " ",
  ),
);
const ROOT = /(?:\bsqrt\b|\b(?:square )?root of\b)[\s(]*/gi; // as one types what is printed as √

/**
 * The words to look for. If a question consists of words that every page has, these are looked for.
 * @param {string} text
 */
export function wordsOf(text) {
  const words = text.replace(ROOT, "√").split(/\s+/).filter(Boolean);
  const telling = words.filter((word) => !FILLING.has(word.toLowerCase().replace(/\W+$/, "")));
  return telling.length ? telling : words;
}

/**
 * The pages that were found for each word: those with most of the words first, and of these the one with the best score.
 * @template {{ id: string, score: number }} Result
 * @param {Result[][]} found
 * @returns {Result[]} for each page what was found for the word that it matches best
 */
export function byWord(found) {
  /** @type {Map<string, Result[]>} */
  const pages = new Map();
  for (const result of found.flat()) pages.set(result.id, [...(pages.get(result.id) ?? []), result]);
  const total = (/** @type {Result[]} */ results) => results.reduce((sum, { score }) => sum + score, 0);
  const best = (/** @type {Result[]} */ results) => results.toSorted((a, b) => b.score - a.score)[0];
  return [...pages.values()].toSorted((a, b) => b.length - a.length || total(b) - total(a)).map(best);
}
