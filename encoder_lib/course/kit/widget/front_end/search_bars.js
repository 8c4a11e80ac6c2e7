// A search that answers while the reader types: texts as bars, sorted by their cosine with the question.

import { element, isCalm, keepKeys, say } from "./dom.js";
import { fixed } from "./format.js";
import { PATIENCE, renderAsking } from "./kernel.js";
import { initialize } from "./late.js";

const [GLIDE, REST] = [150, 800]; // milliseconds: of a move, and until the order is read out

/** What is wrong with some texts, or "". @param {string[]} texts @param {SearchOptions} options */
const problemOf = (texts, { fewest, most, longest }) => {
  if (texts.length < fewest || texts.length > most)
    return `Write ${fewest} to ${most} texts, one on each line. Now there are ${texts.length}.`;
  const sizes = texts.map((text) => [...text].length);
  const place = sizes.findIndex((size) => size > longest);
  return place < 0 ? "" : `Text ${place + 1} has ${sizes[place]} characters, and at most ${longest} are allowed.`;
};

/** One text, with its bar and its cosine. */
const makeRow = () =>
  element("li", {}, element("span"), element("i", { "aria-hidden": true }, element("b")), element("data"));

/** Where a row is, and its bar as shares of its width, also on the way there. @param {HTMLElement} row */
const placeOf = (row) => {
  const bar = /** @type {HTMLElement} */ (row.querySelector("b"));
  const { left, width } = getComputedStyle(bar);
  const whole = bar.parentElement?.clientWidth || 1;
  const [from, size] = [left, width].map((pixels) => `${(100 * Number.parseFloat(pixels)) / whole}%`);
  return { row, bar, top: row.getBoundingClientRect().top, left: from, width: size };
};

/** Let a row and its bar move from where they were. @param {ReturnType<typeof placeOf>} from */
const glide = ({ row, bar, top, left, width }) => {
  for (const move of row.getAnimations({ subtree: true })) move.cancel();
  const to = placeOf(row);
  const duration = isCalm() ? 0 : GLIDE;
  row.animate({ transform: [`translateY(${top - to.top}px)`, "none"] }, { duration, easing: "ease-out" });
  bar.animate({ left: [left, to.left], width: [width, to.width] }, { duration, easing: "ease-out" });
};

/** Draw the search in `root`. A locked one takes no other query. @param {HTMLElement} root @param {SearchSetup} setup */
export function mount(root, { compute, query, found, options, title, silence, locked = false }) {
  const { fewest, most, longest } = options;
  const attributes = { maxlength: longest, readOnly: locked, spellcheck: "false", autocomplete: "off" };
  const field = element("input", { type: "text", value: query.question, ...attributes });
  const editor = element("textarea", { rows: most, spellcheck: "false" }, query.texts.join("\n"));
  const limits = `One text on each line: ${fewest} to ${most} texts of at most ${longest} characters.`;
  const fold = element("details", { hidden: locked }, element("summary", {}, "Change the texts"));
  fold.append(element("label", {}, limits, editor));
  const error = element("p", { role: "alert", hidden: true });
  const list = element("ol", { role: "list", "aria-label": "Texts, the highest cosine first" });
  const order = element("p", { class: "search-bars-order", role: "status" });
  root.classList.add("search-bars");
  root.append(element("p", {}, title), element("label", {}, "Question", field), error, list, order, fold);
  keepKeys(root);
  /** @type {HTMLLIElement[]} */
  let rows = [];
  let [latest, answered, busy, resting] = [query, query, false, 0];
  const written = () => editor.value.split("\n").flatMap((line) => line.trim() || []);

  /** Show texts with their cosines, or as they were given where there are none. @param {string[]} texts @param {Float32Array | undefined} cosines */
  const show = (texts, cosines) => {
    const before = rows.map(placeOf);
    rows = texts.map((_, i) => rows[i] ?? makeRow());
    const values = texts.map((_, i) => cosines?.[i] ?? 0);
    const low = Math.min(0, ...values);
    for (const [i, row] of rows.entries()) {
      say(row.children[0], texts[i]);
      say(row.children[2], cosines ? fixed(values[i], 2) : "");
      const shares = { zero: -low, from: Math.min(values[i], 0) - low, size: Math.abs(values[i]) };
      for (const [name, share] of Object.entries(shares)) row.style.setProperty(`--${name}`, `${share / (1 - low)}`);
    }
    list.replaceChildren(...rows.toSorted((a, b) => values[rows.indexOf(b)] - values[rows.indexOf(a)]));
    for (const from of before) if (from.row.isConnected) glide(from);
  };

  /** @param {string} problem */
  const complain = (problem) => {
    error.hidden = !problem;
    say(error, problem && `${problem} The bars show the last answer.`);
  };

  const readOut = () => {
    const lines = [...list.children].map(
      ({ children }, i) => `${i + 1}. ${children[0].textContent} ${children[2].textContent}`,
    );
    say(order, lines.join("; "));
  };

  /** Answer the latest query; while one is being computed, only the newest waits. */
  const ask = async () => {
    if (busy) return;
    busy = true;
    while (latest !== answered) {
      answered = latest;
      const timer = setTimeout(complain, PATIENCE, silence);
      try {
        show(answered.texts, answered.question.trim() ? (await compute(answered)).cosines : undefined);
        complain(problemOf(written(), options));
      } catch (problem) {
        complain(problem instanceof Error ? problem.message : String(problem));
      }
      clearTimeout(timer);
      clearTimeout(resting);
      resting = setTimeout(readOut, REST);
    }
    busy = false;
  };

  const change = () => {
    const problem = problemOf(written(), options);
    complain(problem);
    const query = { question: field.value, texts: problem ? latest.texts : written() };
    if (JSON.stringify(query) !== JSON.stringify(latest)) latest = query;
    ask();
  };
  root.addEventListener("input", change);
  /** Take a query from elsewhere. @param {SearchQuery} query */
  const take = ({ question, texts }) => {
    [field.value, editor.value] = [question, texts.join("\n")];
    change();
  };
  const unlock = () => {
    [field.readOnly, fold.hidden] = [false, false];
    field.focus();
    field.select();
  };
  show(query.texts, found?.cosines);
  return { take, unlock };
}

/** @param {AskedProps<SearchQuery, SearchFound, SearchOptions>} props */
const render = (props) =>
  renderAsking(props, (root, { question, answer, ...given }) => ({
    follow: mount(root, { ...given, query: question, found: answer }).take,
  }));

export default { initialize, render };
