// What a prediction reveals.

import { element } from "./dom.js";

/**
 * Put the result below the question. Returns how to let go of it.
 * @param {Told} told
 * @param {HTMLElement} question
 * @returns {() => void}
 */
export function showResult({ result, finding }, question) {
  /** @param {HTMLElement} shown */
  const put = (shown) => question.append(element("div", { class: "prediction-result" }, shown));
  if (result.kind === "table") put(makeTable(result, finding));
  if (result.kind === "text") put(element("pre", {}, result.text));
  if (result.kind !== "picture") return () => {};
  const url = URL.createObjectURL(new Blob([result.svg], { type: "image/svg+xml" }));
  const picture = element("img", { src: url, alt: finding });
  const { phone } = result;
  const source = phone && element("source", { media: "(max-width: 600px)", srcset: phone });
  put(source ? element("picture", {}, source, picture) : picture);
  return () => URL.revokeObjectURL(url);
}

/**
 * A table, in a frame of its own that scrolls where it is too wide.
 * @param {TableResult} result
 * @param {string} name
 */
function makeTable({ head, body, texts }, name) {
  /** @param {number} place */
  const look = (place) => (texts.includes(place) ? { class: "text" } : {});
  const names = head.map((text, i) => (text ? element("th", { scope: "col", ...look(i) }, text) : element("td")));
  const rows = body.map(([label = "", ...cells]) => {
    const values = cells.map((text, i) => element("td", look(i + 1), text));
    return element("tr", {}, element("th", { scope: "row" }, label), ...values);
  });
  const parts = [element("thead", {}, element("tr", {}, ...names)), element("tbody", {}, ...rows)];
  const table = element("table", { class: "dataframe", "aria-label": name }, ...parts);
  return element("div", { class: "prediction-scroll", role: "group", "aria-label": "Result", tabindex: 0 }, table);
}
