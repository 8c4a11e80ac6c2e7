// Helpers for the page: elements, pens, live regions, keys and listeners.

/**
 * Make an element. Strings among the children become text, never markup.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, string | number | boolean>} attributes
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "boolean") Reflect.set(node, name, value);
    else node.setAttribute(name, String(value));
  }
  node.append(...children);
  return node;
}

/**
 * What draws on a canvas.
 * @param {HTMLCanvasElement} canvas
 */
export function penOf(canvas) {
  const pen = canvas.getContext("2d");
  if (!pen) throw new Error("this browser draws nothing on a canvas");
  return pen;
}

/** Whether the reader has asked the system for little motion. */
export const isCalm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/**
 * Set the text of a live region; a screen reader hears it only when it is new.
 * @param {Element} node
 * @param {string} text
 */
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/**
 * Keep key presses inside `node`: outside, Jupyter would take arrows as cell moves and "d d" as "delete cell".
 *
 * Notebook 7 hears a key before it gets here, and passes over the mark only on the very element that has the focus.
 * @param {HTMLElement} node
 */
export function keepKeys(node) {
  node.addEventListener("focusin", ({ target }) => {
    if (target instanceof HTMLElement) target.dataset.lmSuppressShortcuts = "true";
  });
  node.addEventListener("keydown", (event) => event.stopPropagation());
}

/**
 * Listen to a widget's model for as long as one view of it lives. Returns [listen, stop].
 * @param {Model} model
 * @returns {[Listen, () => void]}
 */
export function listener(model) {
  /** @type {[string, () => void][]} */
  const pairs = [];
  /** @type {Listen} */
  const listen = (events, callback) => {
    model.on(events, callback);
    pairs.push([events, callback]);
  };
  const stop = () => {
    for (const [events, callback] of pairs) model.off(events, callback);
  };
  return [listen, stop];
}
