// The page around a question: the folds below it that explain its result, and the cell that the reader has gone on to.

const FOLD = "details.after";
const GROWING = 1500; // milliseconds in which pictures may still arrive
const BY_HAND = ["wheel", "pointerdown", "touchmove", "keydown"]; // what moves the page, or means to
const ASKS = /\bpredict\(/; // the cell of a question, which may not have run yet

/**
 * Open the folds between a question and the next one, now and when the notebook draws one later, or anew; a reader can
 * close them again. Where the question does not stand in a notebook, they are left to a click. Returns how to stop.
 * @param {HTMLElement} question
 * @returns {() => void}
 */
export function openBelow(question) {
  const opened = new WeakSet();
  const open = () => {
    for (const fold of foldsBelow(question)) {
      if (!opened.has(fold)) fold.setAttribute("open", "");
      opened.add(fold);
    }
  };
  const observer = new MutationObserver((records) => {
    const nodes = records.flatMap(({ addedNodes }) => [...addedNodes]).filter((node) => node instanceof Element);
    if (nodes.some((node) => node.matches(FOLD) || node.querySelector(`${FOLD}, .prediction`))) open();
  });
  observer.observe(document.body, { childList: true, subtree: true });
  open();
  return () => observer.disconnect();
}

/**
 * @param {HTMLElement} question
 * @returns {Generator<Element>}
 */
function* foldsBelow(question) {
  const page = question.closest(".jp-Notebook, article"); // JupyterLab and Notebook 7; the web edition
  const parts = [...(page?.querySelectorAll(`.prediction, .jp-CodeCell, ${FOLD}`) ?? [])];
  for (const part of parts.slice(parts.indexOf(question) + 1)) {
    if (part.matches(FOLD)) yield part;
    else if (part.matches(".prediction") || ASKS.test(part.textContent ?? "")) return;
  }
}

/**
 * Shift+Enter leads to the next cell, which JupyterLab brings to the middle: bring the question or explorer, once it is
 * drawn, back.
 * @param {HTMLElement} drawing
 */
export function stayInView(drawing) {
  const drawn = new ResizeObserver(() => {
    drawn.disconnect();
    const next = drawing.closest(".jp-Cell")?.nextElementSibling;
    if (next?.matches(".jp-mod-active")) bringIntoView(drawing, "start");
  });
  drawn.observe(drawing);
}

/**
 * Bring a part of the page into view, and again for as long as it grows, but not against the reader's own hand.
 * @param {HTMLElement} part
 * @param {"start" | "end"} edge the one that is in view if the part is taller than its room
 */
export function bringIntoView(part, edge) {
  const grown = new ResizeObserver(() => {
    const room = part.closest(".jp-WindowedPanel-outer")?.clientHeight ?? innerHeight;
    part.scrollIntoView({ block: part.offsetHeight > room ? edge : "nearest" });
  });
  grown.observe(part);
  const moved = new AbortController();
  const leave = () => {
    grown.disconnect();
    moved.abort();
  };
  for (const hand of BY_HAND) addEventListener(hand, leave, { capture: true, signal: moved.signal });
  setTimeout(leave, GROWING);
}
