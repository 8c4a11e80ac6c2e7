// An exercise without Python: the reader paints a mask, cell by cell, and hears what the notebook's check says.

import { element } from "./dom.js";
import { headOf, listOf, withVerdict } from "./exercise.js";
import explorer from "./explorer.js";
import { fixed } from "./format.js";
import { offer } from "./live.js";
import { startOf } from "./model.js";
import { CHANGED, compute } from "./reader.js";
import { packed, Traits } from "./traits.js";

const NOTE = `MiniLM runs here in your browser, with weights rounded to ten bits. Compared with JupyterLab, a cosine differs by at most ${CHANGED}.`;

/**
 * What site/paint.py has found by judging masks, which are written as zeros and ones, row by row: the right one, known
 * mistakes, and each cell that alone is wrong, in the order in which the check finds them; each with its problem and hint.
 * @typedef {{ head: string, right: string, mistakes: [mask: string, said: string[]][], cells: [cell: number, said: string[]][] }} Judged
 * @typedef {{ panel: PanelSpec, colours: Record<string, number[]>, texts: string[], word: string }} Grid the vectors of a word in the texts, if there are any, are compared under the mask
 */

/**
 * @param {HTMLElement} root
 * @param {(address: string) => void} onDone hears the address of the answer once it is right or shown
 */
export function playPaint(root, onDone) {
  const address = root.dataset.paint ?? "";
  /** @type {Grid} */
  const grid = JSON.parse(root.dataset.grid ?? "");
  const words = grid.panel.x_ticks ?? [];
  const model = new Mask(grid, () => tell());

  /** @param {Judged} judged */
  const judge = (judged) => {
    const wrong = findWrong(judged, model.mask);
    if (!wrong) {
      tell(headOf(judged.head, true));
      onDone(address);
      return;
    }
    const [row, column] = [Math.floor(wrong.cell / words.length), wrong.cell % words.length];
    const place = `The first wrong cell: row ${row} (${words[row]}), column ${column} (${words[column]}).`;
    tell(headOf(judged.head, false), ...(wrong.known ? [] : [element("p", {}, place)]), listOf(wrong.said));
  };
  /** @param {Judged} judged */
  const reveal = (judged) => {
    model.paint(judged.right);
    judge(judged);
  };
  explorer.render({ model, el: root });
  if (grid.word) {
    const fetching = offer(
      async (report) => {
        await model.compare(report);
        fetching.replaceWith(element("p", { class: "recorded-note" }, NOTE));
      },
      "The mask can be painted without it.",
      ["See the cosine", "MiniLM then runs in your browser, under your mask."],
    );
    root.append(fetching);
  }
  const { tell } = withVerdict(root, address, judge, reveal);
}

/**
 * What is wrong with a mask, and the check's words; null if nothing is.
 * @param {Judged} judged
 * @param {string} mask
 */
export function findWrong({ right, mistakes, cells }, mask) {
  const first = cells.find(([cell]) => mask[cell] !== right[cell]);
  if (!first) return null;
  const known = mistakes.find(([mistake]) => mistake === mask);
  const [problem, hint] = (known ?? first)[1];
  return { cell: first[0], known: Boolean(known), said: [`✗ ${problem}`, ...(hint ? [`Hint: ${hint}`] : [])] };
}

/** The model of the grid: each cell is a value, whether it is allowed. */
class Mask extends Traits {
  cosine = "";
  asked = 0;

  /**
   * @param {Grid} grid
   * @param {() => void} onChange
   */
  constructor(grid, onChange) {
    const { panel, colours } = grid;
    const names = (panel.toggles ?? []).flat();
    const start = Object.fromEntries(names.map((name) => [name, true]));
    super(startOf({ title: "The mask", controls: [], frames: "", colours, start }));
    this.grid = grid;
    this.names = names;
    this.onChange = onChange;
    this.change({ _panels: [panel], _limits: [[0, 1]] });
    this.show();
  }

  /** Zeros and ones, row by row. */
  get mask() {
    return this.names.map((name) => Number(this.get(name))).join("");
  }

  /** @param {string} mask */
  paint(mask) {
    this.change(Object.fromEntries(this.names.map((name, i) => [name, mask[i] === "1"])));
    this.follow();
  }

  /**
   * @override
   * @param {string} name
   * @param {ControlValue} value
   */
  set(name, value) {
    super.set(name, value);
    this.follow();
  }

  follow() {
    this.onChange();
    this.show();
    if (this.asked) this.compare().catch(console.warn);
  }

  show() {
    const { mask } = this;
    const size = this.grid.panel.columns;
    const rows = Array.from({ length: size }, (_, i) => mask.slice(i * size, (i + 1) * size));
    const weights = rows.map((row) =>
      [...row].map((one) => (one === "1" ? 1 / row.replaceAll("0", "").length : Number.NaN)),
    );
    const hidden = mask.replaceAll("1", "").length;
    this.change({
      _data: packed(weights),
      _descriptions: [`${hidden} of ${mask.length} weights are masked out. ${this.cosine}`.trim()],
    });
  }

  /**
   * Compare the word's two vectors under the mask, which all heads of all layers have. Only the newest mask counts.
   * @param {(fraction: number) => void} [report]
   */
  async compare(report) {
    this.asked += 1;
    const [turn, { texts, word, panel }] = [this.asked, this.grid];
    const hidden = [...this.mask].flatMap((one, i) => (one === "0" ? [i] : []));
    const cuts = texts.flatMap((_, side) =>
      hidden.map((i) => ({
        side,
        layer: null,
        head: null,
        query: Math.floor(i / panel.columns),
        key: i % panel.columns,
      })),
    );
    const { word_cosines } = await compute({ texts, word, cuts, knockouts: [], detail: null }, report);
    if (turn !== this.asked) return;
    this.cosine = `The cosine of ${word} and ${word} is ${fixed(word_cosines?.at(-1) ?? 0, 3)}.`;
    this.show();
  }
}
