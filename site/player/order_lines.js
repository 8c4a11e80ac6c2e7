// Lines of code that change places: dragged, moved by arrow keys, or picked up and put down by two clicks.

import { element, say } from "./dom.js";

/** @typedef {{ number: string, code: Element, handle: HTMLButtonElement }} Line its number in the answer */

/**
 * Make the lines of a list movable.
 * @param {HTMLElement} list
 * @param {() => void} onMove
 */
export function movableLines(list, onMove) {
  const places = /** @type {HTMLElement[]} */ ([...list.querySelectorAll("[data-line]")]);
  const lines = places.map(lineOf);
  const heard = element("p", { class: "order-heard", role: "status" });
  /** @type {Line | undefined} */
  let picked; // by a click, or held by the pointer
  let dragged = false;
  list.after(heard);

  const draw = () => {
    lines.forEach((line, i) => {
      if (places[i].firstElementChild !== line.handle) places[i].replaceChildren(line.handle, line.code);
      places[i].classList.toggle("order-picked", line === picked);
      line.handle.setAttribute("aria-pressed", String(line === picked));
    });
  };
  /**
   * @param {Line} line
   * @param {number} to
   */
  const move = (line, to) => {
    const from = lines.indexOf(line);
    if (to === from || to < 0 || to >= lines.length) return;
    lines.splice(to, 0, ...lines.splice(from, 1));
    draw();
    say(heard, `Now line ${to + 1} of ${lines.length}.`);
    onMove();
  };
  /** @param {Line} [line] */
  const pick = (line) => {
    picked = line;
    draw();
  };
  /** @param {Event} event */
  const placeAt = ({ target }) => places.findIndex((place) => target instanceof Node && place.contains(target));

  list.addEventListener("keydown", (event) => {
    const line = lines[placeAt(event)];
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (event.key === "Escape") pick();
    if (!line || !by) return;
    event.preventDefault();
    move(line, lines.indexOf(line) + by);
    line.handle.focus();
  });
  list.addEventListener("pointerdown", (event) => {
    const line = lines[placeAt(event)];
    const held = event.pointerType === "mouse" || (event.target instanceof Element && event.target.closest("button"));
    if (!line || !held || event.button) return; // a finger beside the handle scrolls
    event.preventDefault(); // nothing is selected
    line.handle.focus({ preventScroll: true });
    dragged = false;
    const before = picked;
    picked = line;
    list.setPointerCapture(event.pointerId);
    const follow = new AbortController();
    list.addEventListener(
      "pointermove",
      ({ clientY }) => {
        const to = nearest(places, clientY);
        dragged ||= to !== lines.indexOf(line);
        if (!dragged) return;
        move(line, to);
        draw();
      },
      { signal: follow.signal },
    );
    for (const end of ["pointerup", "pointercancel"]) {
      list.addEventListener(
        end,
        () => {
          follow.abort();
          line.handle.focus({ preventScroll: true });
          if (dragged || end === "pointercancel" || before === line) return pick();
          if (!before) return pick(line);
          move(before, lines.indexOf(line));
          pick();
        },
        { signal: follow.signal },
      );
    }
  });
  // A finger beside a handle scrolls, so it is heard here, once it has not.
  list.addEventListener("click", (event) => {
    const { pointerType } = /** @type {PointerEvent} */ (event);
    const at = placeAt(event);
    const beside = event.target instanceof Element && !event.target.closest("button");
    if (!picked || at < 0 || !beside || pointerType !== "touch") return;
    move(picked, at);
    pick();
  });
  draw();
  return {
    /** The numbers of the lines, in their present order. */
    order: () => lines.map(({ number }) => number).join(""),
    /** @param {string} order */
    put(order) {
      lines.sort((a, b) => order.indexOf(a.number) - order.indexOf(b.number));
      pick();
    },
    places,
  };
}

/**
 * @param {HTMLElement} place
 * @returns {Line}
 */
function lineOf(place) {
  const code = /** @type {Element} */ (place.querySelector("code"));
  const label = `Move the line ${code.textContent}`;
  const handle = element("button", { type: "button", class: "order-handle", "aria-label": label }, "⠿");
  return { number: place.dataset.line ?? "", code, handle };
}

/**
 * The place whose middle is nearest to a height in the window.
 * @param {HTMLElement[]} places
 * @param {number} y
 */
function nearest(places, y) {
  const far = places.map((place) => {
    const { top, bottom } = place.getBoundingClientRect();
    return Math.abs((top + bottom) / 2 - y);
  });
  return far.indexOf(Math.min(...far));
}
