// What a prediction reveals, and the room that is kept for it until then.

import { element } from "./dom.js";

const LINE = { text: 21, table: 29 }; // the height of a line, and what is kept free around them, as explorer.css has it
const FREE = 16;

/**
 * An empty box as large as what will be there; hidden when that is nothing.
 * @param {Room} room
 */
export function makeRoom(room) {
  const hint = element("p", { class: "prediction-hint" }, "Commit, and the result appears here.");
  const box = element("div", { class: "prediction-room", hidden: room.kind === undefined }, hint);
  if (room.kind === "picture") {
    box.style.width = `${room.width}px`;
    box.style.aspectRatio = `${room.width} / ${room.height}`;
  } else if (room.kind !== undefined) {
    box.style.minHeight = `${LINE[room.kind] * room.lines + FREE}px`;
  }
  return box;
}

/**
 * Put the result into its room. Returns how to let go of it.
 * @param {Told} told
 * @param {HTMLElement} room
 * @returns {() => void}
 */
export function showResult({ result, finding }, room) {
  room.classList.add("prediction-result");
  if (result.kind === "picture") {
    const url = URL.createObjectURL(new Blob([result.png], { type: "image/png" }));
    room.replaceChildren(element("img", { src: url, alt: finding }));
    return () => URL.revokeObjectURL(url);
  }
  if (result.kind === "table") room.replaceChildren(makeTable(result, finding));
  if (result.kind === "text") room.replaceChildren(element("pre", {}, result.text));
  return () => {};
}

/**
 * A table, in a frame of its own that scrolls where it is too wide.
 * @param {TableResult} result
 * @param {string} name
 */
function makeTable({ head, body }, name) {
  const names = head.map((text) => (text ? element("th", { scope: "col" }, text) : element("td")));
  const rows = body.map(([label = "", ...cells]) => {
    const values = cells.map((text) => element("td", {}, text));
    return element("tr", {}, element("th", { scope: "row" }, label), ...values);
  });
  const parts = [element("thead", {}, element("tr", {}, ...names)), element("tbody", {}, ...rows)];
  const table = element("table", { "aria-label": name }, ...parts);
  return element("div", { class: "prediction-scroll", role: "group", "aria-label": "Result", tabindex: 0 }, table);
}
