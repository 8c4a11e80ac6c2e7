// The panels of a view: shown, laid out, and kept up with the model.

import { Bars } from "./bars.js";
import { Boxes } from "./boxes.js";
import { isLight, toPalette } from "./colour.js";
import { isCalm, say } from "./dom.js";
import { Heatmap } from "./heatmap.js";
import { layOut } from "./layout.js";
import { cutOut } from "./matrix.js";
import { Plane } from "./plane.js";
import { valueInWords } from "./play.js";
import { stepsTo } from "./slider.js";
import { Tokens } from "./tokens.js";

const HINT = "Point at a cell, or focus a picture and press the arrow keys, to read its value.";

/** @param {DataView<ArrayBuffer>} view */
function floats({ buffer, byteOffset, byteLength }) {
  return new Float32Array(buffer.slice(byteOffset, byteOffset + byteLength)); // a copy, as it may lie at an odd place
}

/**
 * Show the panels of a view in `pictures`, and its words, if it has them, in `above`; read them out in `readout` and follow the model. Returns how to stop.
 * @param {ExplorerModel} model
 * @param {Listen} listen
 * @param {{ above: HTMLElement, pictures: HTMLElement, readout: HTMLElement, frame: () => number, describe: () => void, send: () => void }} explorer
 */
export function showPanels(model, listen, { above, pictures, readout, frame, describe, send }) {
  /** @type {(Heatmap | Plane | Boxes)[]} */
  const panels = [];
  /** @type {Tokens | null} */
  let tokens = null; // the words above the panels, where there are any
  let specs = model.get("_panels");
  let dark = false; // the theme of the page, as `arrange` finds it
  let palettes = specs.map(paletteOf);
  let data = floats(model.get("_data"));

  /** @param {PanelSpec} spec */
  function paletteOf({ cmap }) {
    return cmap ? toPalette(model.get("_colours")[cmap], dark) : new Uint32Array();
  }

  const announce = () => {
    const speaking = panels.find((panel) => panel.cursor);
    const title = panels.length > 1 && speaking?.matrix.title ? `${speaking.matrix.title}: ` : "";
    const chosen = tokens?.touched ? tokens.reading() : "";
    say(readout, speaking ? title + speaking.reading() : chosen || HINT);
    readout.classList.toggle("explorer-hint", !speaking && !chosen);
  };

  const markRows = () => {
    for (const panel of panels) {
      panel.marked = tokens ? tokens.rowIn(panel.matrix) : null;
      if (panel instanceof Heatmap) panel.chosen = chosenIn(panel.matrix);
    }
  };

  /** @param {string} name */
  const rangeOf = (name) => {
    const control = model.get("_controls").find((other) => other.name === name);
    return control?.kind === "range" ? control : null;
  };

  /** @type {Ranges} */
  const ranges = {
    of: rangeOf,
    value: (name) => Number(model.get(name)),
    move: (values) => {
      for (const [name, value] of Object.entries(values)) model.set(name, value);
      send();
    },
  };

  /**
   * The first cell of the tile that two controls say.
   * @param {Matrix} matrix
   * @returns {Cell | null}
   */
  const chosenIn = ({ spec: { picks, tile } }) => {
    if (!picks || !tile) return null;
    const places = picks.map((name) => {
      const control = rangeOf(name);
      return control ? tile * stepsTo(control, Number(model.get(name))) : 0;
    });
    return [places[0], places[1]];
  };

  /**
   * Show a tile large: set its controls, and bring the picture beside it into view. Or switch a cell.
   * @param {PanelSpec} spec
   * @param {Cell} cell
   */
  const pick = ({ picks = ["", ""], tile, toggles }, cell) => {
    if (toggles) {
      const name = toggles[cell[0]][cell[1]];
      model.set(name, !model.get(name));
      send();
      return;
    }
    picks.forEach((name, i) => {
      const control = rangeOf(name);
      if (control) model.set(name, control.min + (cell[i] / (tile ?? 1)) * (control.step ?? 1));
    });
    send();
    showWord();
    const large = panels.find((panel) => !panel.matrix.spec.picks);
    large?.figure.scrollIntoView({ block: "nearest", inline: "nearest", behavior: isCalm() ? "auto" : "smooth" });
  };

  /** @param {number} frame */
  const goTo = (frame) => {
    const control = rangeOf(model.get("_frames"));
    if (control) ranges.move({ [control.name]: control.min + frame * (control.step ?? 1) });
  };

  const showWord = () => {
    markRows();
    for (const panel of panels) panel.paint();
    announce();
  };

  const show = () => {
    const matrices = cutOut(specs, palettes, model.get("_limits"), data, frame());
    for (const { spec, values } of matrices) {
      for (const [point, ...names] of spec.plane?.drags ?? []) values.set(names.map(ranges.value), 2 * point);
    }
    const counted = matrices.find(({ spec }) => spec.frames > 1 && !spec.title.includes("{frame}"));
    if (counted) counted.step = stepShown();
    matrices.forEach((matrix, i) => {
      if (panels[i]) panels[i].show(matrix);
      else if (matrix.spec.bars) panels.push(new Bars(matrix));
      else if (matrix.spec.boxes) panels.push(new Boxes(matrix, goTo));
      else if (matrix.spec.plane) panels.push(new Plane(matrix, ranges));
      else panels.push(new Heatmap(matrix, announce, (cell) => pick(panels[i].matrix.spec, cell)));
    });
    panels.length = matrices.length;
    tokens = showTokens(matrices);
    markRows();
    const parts = panels.map(({ figure }) => figure);
    if (parts.some((part, i) => part !== pictures.children[i]) || pictures.children.length > parts.length) {
      pictures.replaceChildren(...parts);
    }
  };

  /** The step that is shown, in words. */
  const stepShown = () => {
    const control = rangeOf(model.get("_frames"));
    if (!control) return undefined;
    const [now, longest] = [Number(model.get(control.name)), control.max];
    return { now: valueInWords(control, now), longest: valueInWords(control, longest) };
  };

  /** @param {Matrix[]} matrices */
  const showTokens = (matrices) => {
    const spec = model.get("_tokens");
    if (spec.panel === undefined) {
      tokens?.root.remove();
      return null;
    }
    const matrix = matrices[spec.panel];
    const shown = tokens ?? new Tokens(spec, matrix, showWord);
    if (tokens) shown.show(spec, matrix);
    else above.append(shown.root);
    return shown;
  };

  const arrange = () => {
    const total = pictures.clientWidth;
    if (!total) return; // hidden: the ResizeObserver calls again
    const { color, fontFamily } = getComputedStyle(pictures);
    if (isLight(color) !== dark) {
      dark = !dark;
      palettes = specs.map(paletteOf);
      show();
    }
    const ratio = window.devicePixelRatio || 1;
    const style = { colour: color, font: `11px ${fontFamily}`, titleFont: `600 13px ${fontFamily}`, ratio };
    const sizes = panels.map((panel) => panel.sizes(style, total));
    const layouts = layOut(sizes, total);
    panels.forEach((panel, i) => {
      panel.arrange(layouts[i], style);
    });
  };

  const redraw = () => {
    show();
    arrange();
    describe();
    announce();
  };

  // One message from the kernel may change several traits: draw once, when all of them have been set.
  let waiting = false;
  let newPanels = false;
  let newData = false;
  const redrawSoon = () => {
    if (waiting) return;
    waiting = true;
    queueMicrotask(() => {
      if (newData) data = floats(model.get("_data"));
      if (newPanels) {
        specs = model.get("_panels");
        palettes = specs.map(paletteOf);
      }
      [waiting, newPanels, newData] = [false, false, false];
      redraw();
    });
  };
  listen("change:_panels change:_colours", () => {
    newPanels = true;
    redrawSoon();
  });
  listen("change:_data", () => {
    newData = true;
    redrawSoon();
  });
  listen("change:_limits change:_frames change:_descriptions change:_tokens", redrawSoon);
  const dragged = new Set(specs.flatMap(({ plane }) => plane?.drags ?? []).flatMap(([, ...names]) => names));
  for (const { name } of model.get("_controls")) {
    listen(`change:${name}`, () => {
      if (name === model.get("_frames") || dragged.has(name)) redrawSoon();
    });
  }

  show();
  announce();
  readout.hidden = !panels.some((panel) => panel instanceof Heatmap); // it has no cells to read
  const resizing = new ResizeObserver(arrange);
  resizing.observe(pictures);
  const themes = new MutationObserver(() => requestAnimationFrame(arrange)); // the page hides while its theme changes
  themes.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light"] });
  return () => {
    for (const panel of panels) if (panel instanceof Plane) panel.stop();
    resizing.disconnect();
    themes.disconnect();
  };
}
