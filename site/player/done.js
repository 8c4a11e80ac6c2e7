// Which questions and exercises the reader has done. This browser remembers it, and nothing is sent.

import { element } from "./dom.js";

const KEY = "course-done";
const NOTE = "What you have done is remembered in this browser alone.";

/**
 * The lesson and the name of what has its answer at an address, as in "answers/04_attention-causal.html".
 * @param {string} address
 */
const nameOf = (address) => address.replace(/^.*\/|\.\w+$/g, "");

/** @type {Set<string>} */
let done = stored();

/** What is stored; nothing in a browser that stores nothing, or where something else has been stored. */
function stored() {
  try {
    const names = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return new Set(Array.isArray(names) ? names.map(String) : []);
  } catch {
    return new Set();
  }
}

/** Show what is done, and try to store it: a browser that stores nothing remembers it until the page is left. */
function change() {
  showDone();
  try {
    if (done.size) localStorage.setItem(KEY, JSON.stringify([...done]));
    else localStorage.removeItem(KEY);
  } catch (problem) {
    console.info("This browser stores nothing:", problem);
  }
}

/** @param {string} address of the answer */
export const wasDone = (address) => done.has(nameOf(address));

/** @param {string} address of the answer to what the reader has just done */
export function remember(address) {
  done = new Set([...stored(), ...done, nameOf(address)]); // another page may have stored more meanwhile
  change();
}

function forget() {
  done = new Set();
  change();
}

/** Say in the menu how much of each lesson is done, and below it that this can be forgotten. */
export function showDone() {
  const totals = JSON.parse(document.getElementById("totals")?.textContent ?? "{}");
  for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (
    document.querySelectorAll(".bd-docs-nav a, .lessons a")
  )) {
    const lesson = nameOf(link.pathname);
    link.querySelector(".done")?.remove();
    const number = [...done].filter((name) => name.startsWith(`${lesson}-`)).length;
    if (!number || !totals[lesson]) continue;
    const words = number < totals[lesson] ? `${number} of ${totals[lesson]}` : "all done";
    link.append(element("span", { class: "done" }, words));
  }
  for (const menu of document.querySelectorAll(".bd-docs-nav, .lessons")) {
    const below = menu.nextElementSibling;
    if (below?.matches(".forget")) below.remove();
    if (!done.size) continue;
    const button = element("button", { type: "button" }, "Forget it");
    button.addEventListener("click", forget);
    menu.after(element("p", { class: "forget" }, NOTE, " ", button));
  }
}

addEventListener("storage", ({ key }) => {
  if (key !== KEY && key !== null) return;
  done = stored(); // another page has changed it
  showDone();
});
