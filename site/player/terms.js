// Words in reach: a term that was explained earlier shows its row of the glossary when it is pointed at, focused or tapped.

import { element } from "./dom.js";

const GAP = 6; // between a term and its note, and between the note and the edge of the window, in CSS pixels
const PATIENCE = 250; // milliseconds before a note opens under the pointer, or closes behind it

/** @type {Promise<Document> | undefined} */
let glossary;
/** @type {{ term: HTMLAnchorElement, note: HTMLElement } | undefined} */
let shown;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let waiting;

/** @param {HTMLAnchorElement} term */
async function rowOf(term) {
  glossary ??= fetch(term.pathname).then(async (answer) => {
    if (!answer.ok) throw new Error(`expected the glossary at ${term.pathname}, got ${answer.status}`);
    return new DOMParser().parseFromString(await answer.text(), "text/html");
  });
  glossary.catch(() => {
    glossary = undefined; // so that the next term asks for it again
  });
  const row = /** @type {HTMLTableRowElement | null} */ ((await glossary).getElementById(term.hash.slice(1)));
  if (!row) throw new Error(`expected a row of the glossary, got ${term.hash}`);
  return row;
}

/** @param {HTMLTableRowElement} row */
function noteOf({ ownerDocument, cells: [name, meaning, where] }) {
  const parts = [name, meaning].map((cell) => [...document.importNode(cell, true).childNodes]);
  const note = element("span", { class: "term-note", id: "term-note", popover: "manual", role: "note" });
  note.append(element("b", {}, ...parts[0]), element("span", {}, ...parts[1]));
  const href = where?.querySelector("a")?.getAttribute("href");
  if (href) {
    const lesson = ownerDocument.querySelector(`.bd-docs-nav a[href="${href.replace(/#.*/, "")}"]`);
    note.append(element("a", { href }, `Explained in ${lesson?.textContent?.trim()}`));
  }
  return note;
}

/**
 * Show the note of a term, right behind the term, so that the Tab key leads into it.
 * @param {HTMLAnchorElement} term
 */
async function show(term) {
  clearTimeout(waiting);
  if (shown?.term === term) return;
  hide();
  const mine = { term, note: element("span") };
  shown = mine;
  const row = await rowOf(term);
  if (shown !== mine) return; // meanwhile the reader has moved on
  mine.note = noteOf(row);
  term.after(mine.note);
  mine.note.showPopover();
  place(mine.note, term.getClientRects()[0]);
  term.setAttribute("aria-expanded", "true");
  term.setAttribute("aria-describedby", mine.note.id);
}

/**
 * Below the term, or above it where there is no room below.
 * @param {HTMLElement} note
 * @param {DOMRect} term
 */
function place(note, { left, top, bottom }) {
  const { width, height } = note.getBoundingClientRect();
  const below = bottom + GAP + height < innerHeight || top < height + GAP;
  note.style.left = `${scrollX + Math.max(GAP, Math.min(left, document.documentElement.clientWidth - width - GAP))}px`;
  note.style.top = `${scrollY + (below ? bottom + GAP : top - GAP - height)}px`;
}

function hide() {
  clearTimeout(waiting);
  shown?.note.remove();
  for (const name of ["aria-expanded", "aria-describedby"]) shown?.term.removeAttribute(name);
  shown = undefined;
}

/** @param {EventTarget | null} target */
const termOf = (target) =>
  target instanceof Element ? /** @type {HTMLAnchorElement | null} */ (target.closest("a.term")) : null;

/** @param {EventTarget | null} target */
const isShown = (target) => target instanceof Node && (shown?.term.contains(target) || shown?.note.contains(target));

/** @param {HTMLAnchorElement} term */
const tryToShow = (term) =>
  show(term).catch((problem) => {
    console.info(problem);
    hide();
  });

/** Follow the pointer, the focus and the keys on the whole page. */
export function explainTerms() {
  for (const term of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("a.term[title]"))) {
    term.ariaLabel = term.title;
    term.removeAttribute("title"); // which the browser would show beside the note
  }
  addEventListener("pointerover", ({ target, pointerType }) => {
    if (pointerType !== "mouse") return;
    clearTimeout(waiting);
    const term = termOf(target);
    if (term && !isShown(term)) waiting = setTimeout(tryToShow, PATIENCE, term);
    else if (shown && !isShown(target) && !isShown(document.activeElement)) waiting = setTimeout(hide, PATIENCE);
  });
  addEventListener("focusin", ({ target }) => {
    const term = termOf(target);
    if (term) tryToShow(term);
    else if (!isShown(target)) hide();
  });
  addEventListener("click", (event) => {
    const term = termOf(event.target);
    if (!term) {
      if (!isShown(event.target)) hide();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // the reader wants the glossary in another tab
    event.preventDefault();
    show(term).catch(() => location.assign(term.href)); // the link leads there
  });
  addEventListener("keydown", ({ key }) => {
    if (key !== "Escape" || !shown) return;
    if (shown.note.contains(document.activeElement)) shown.term.focus();
    hide();
  });
}
