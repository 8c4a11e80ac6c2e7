// The search page: the sections that contain the words, those of the best page first.

import { element, say } from "./dom.js";

/**
 * What Pagefind returns for a page, or for one of its sections; it marks the words in the excerpt.
 * @typedef {{ title: string, url: string, excerpt: string, locations: number[] }} Section
 * @typedef {{ meta: { title: string }, sub_results: Section[] }} Page
 */

const PAGES = 8;
const SECTIONS = 3; // of each page, those with most of the words
const pagefind = await import(new URL("../../pagefind/pagefind.js", import.meta.url).href);
const field = /** @type {HTMLInputElement} */ (document.querySelector(".bd-article .bd-search input"));
const status = /** @type {HTMLElement} */ (document.getElementById("search-status"));
const list = /** @type {HTMLElement} */ (document.getElementById("search-results"));

/** @param {string} text */
async function find(text) {
  const { results } = await pagefind.search(text);
  /** @type {Page[]} */
  const pages = await Promise.all(results.slice(0, PAGES).map((/** @type {any} */ result) => result.data()));
  if (text !== field.value) return; // the reader has gone on typing
  list.replaceChildren(...pages.flatMap(sectionsOf));
  say(status, found(text, results.length));
}

/** @param {Page} page */
function sectionsOf({ meta, sub_results }) {
  const best = sub_results.toSorted((a, b) => b.locations.length - a.locations.length).slice(0, SECTIONS);
  return best.map(({ title, url, excerpt }) => {
    const page = title === meta.title ? [] : [element("small", {}, meta.title)];
    const words = element("p");
    words.innerHTML = excerpt; // Pagefind has escaped everything except its marks
    return element("li", {}, element("a", { href: url }, title), " ", ...page, words);
  });
}

/**
 * @param {string} text
 * @param {number} count
 */
function found(text, count) {
  if (!text) return "";
  if (!count) return `No page contains “${text}”.`;
  return count > PAGES ? `The best of ${count} pages` : `${count} ${count === 1 ? "page" : "pages"}`;
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
