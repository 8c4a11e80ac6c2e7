// The page around a question: the folds below it that explain its result, and the cell that the reader has gone on to.

const FOLD = "details.after";
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
 * Shift+Enter leads to the next cell, which JupyterLab brings to the middle: bring the question, once it is drawn, back.
 * @param {HTMLElement} question
 */
export function stayInView(question) {
  const drawn = new ResizeObserver(() => {
    drawn.disconnect();
    const next = question.closest(".jp-Cell")?.nextElementSibling;
    if (next?.matches(".jp-mod-active")) question.scrollIntoView({ block: "nearest" });
  });
  drawn.observe(question);
}
