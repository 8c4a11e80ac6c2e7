// The search page: the sections that contain the words, those of the best page first.

import { element, say } from "./dom.js";
import { byWord, wordsOf } from "./search_words.js";

/**
 * What Pagefind returns for a page, or for one of its sections; it marks the words in the excerpt.
 * @typedef {{ title: string, url: string, excerpt: string, weighted_locations: { balanced_score: number }[] }} Section
 * @typedef {{ meta: { title: string }, sub_results: Section[] }} Page
 * @typedef {{ id: string, score: number, data: () => Promise<Page> }} Result
 */

const PAGES = 8;
const SECTIONS = 3; // of each page, those with most of the words
const pagefind = await import(new URL("../../pagefind/pagefind.js", import.meta.url).href);
const field = /** @type {HTMLInputElement} */ (document.querySelector(".bd-article .bd-search input"));
const status = /** @type {HTMLElement} */ (document.getElementById("search-status"));
const list = /** @type {HTMLElement} */ (document.getElementById("search-results"));

/** @param {string} text */
async function find(text) {
  const words = wordsOf(text);
  /** @type {(query: string) => Promise<Result[]>} */
  const search = async (query) => (await pagefind.search(query)).results;
  const all = await search(words.join(" "));
  const results = all.length || words.length < 2 ? all : byWord(await Promise.all(words.map(search)));
  const pages = await Promise.all(results.slice(0, PAGES).map((result) => result.data()));
  if (text !== field.value) return; // the reader has gone on typing
  list.replaceChildren(...pages.flatMap(sectionsOf));
  say(status, found(text, all.length, results.length));
}

/** @param {Page} page */
function sectionsOf({ meta, sub_results }) {
  const best = sub_results.toSorted((a, b) => weightOf(b) - weightOf(a)).slice(0, SECTIONS);
  return best.map(({ title, url, excerpt }) => {
    const page = title === meta.title ? [] : [element("small", {}, meta.title)];
    const words = element("p");
    words.innerHTML = excerpt; // Pagefind has escaped everything except its marks
    return element("li", {}, element("a", { href: url }, title), " ", ...page, words);
  });
}

/** @param {Section} section */
const weightOf = ({ weighted_locations }) =>
  weighted_locations.reduce((sum, { balanced_score }) => sum + balanced_score, 0);

/**
 * @param {string} text
 * @param {number} all how many pages contain all words
 * @param {number} count how many contain any
 */
function found(text, all, count) {
  if (!text) return "";
  if (!count) return `No page contains “${text}”.`;
  const pages = count > PAGES ? `The best of ${count} pages` : `${count} ${count === 1 ? "page" : "pages"}`;
  return all ? pages : `No page contains all of these words. ${pages} with some of them`;
}

field.value = new URLSearchParams(location.search).get("q") ?? "";
field.addEventListener("input", () => {
  history.replaceState(null, "", `?${new URLSearchParams({ q: field.value })}`);
  find(field.value);
});
field.form?.addEventListener("submit", (event) => event.preventDefault());
field.focus();
await pagefind.options({ excerptLength: 24 });
if (field.value) find(field.value);
