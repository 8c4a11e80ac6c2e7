// Where everything stands: from the sizes of panels and texts to a layout, without looking at the page.
// Margins come first, then a plot whose cells are square where there is room for it.

import { clamp } from "./numbers.js";
import { niceStep } from "./ticks.js";

const GAP = 28; // between panels, in CSS pixels, as are all lengths here
const TOP = 6;
/** @type {Limits} */
const PLOT_HEIGHT = [40, 340];
const PLOT_WIDTH = 155; // of a plot with room; narrower screens put panels below one another
const LEAST_WIDTH = { plot: 110, column: 14 }; // of a plot, and of one of its columns up to PLOT_WIDTH
const CELL = 72; // the most that one square cell takes
const ROW_LABEL = 13; // height of a row with room for a label
const SHORT = 24; // labels up to this width are not slanted
export const BAR = 10; // width of the colour bar
export const LINE = 15; // height of a line of text

const LABEL_GAP = 6; // between two labels

/**
 * Lay out panels side by side, or below one another where `total`, the width for all, is too narrow: those of a row share
 * one height, and all of them one bottom margin and one number of title lines, so that plots begin and end level.
 * @param {PanelSizes[]} panels
 * @param {number} total
 * @returns {PanelLayout[]}
 */
export function layOut(panels, total) {
  const margins = panels.map(marginsOf);
  const { widths, across } = widthsOf(panels, margins, total);
  const rooms = panels.map((_, i) => Math.max(60, widths[i] - margins[i].left - margins[i].right));
  const square = panels.map(({ rows, columns }, i) => clamp(Math.min(rooms[i] / columns, CELL) * rows, PLOT_HEIGHT));
  const plots = panels.map((panel, i) => {
    const first = i - (i % across);
    return plotOf(panel, rooms[i], Math.max(...square.slice(first, first + across)));
  });
  const bottoms = panels.map((panel, i) => bottomOf(panel, plots[i].slanted));
  const deepest = Math.max(...bottoms);
  const wholes = plots.map(({ width }, i) => margins[i].left + width + margins[i].right);
  const titleLines = Math.max(...panels.map(({ title }, i) => Math.ceil((1.1 * title) / wholes[i]))); // roughly
  return plots.map((plot, i) => {
    const bottom = panels.some(({ alone }) => alone) ? bottoms[i] : deepest;
    const size = { width: wholes[i], height: TOP + plot.height + bottom };
    return { ...plot, left: margins[i].left, top: TOP, bottom, size, titleLines };
  });
}

/**
 * The margins: names and labels of the rows to the left, the colour bar and its numbers to the right.
 * @param {PanelSizes} panel
 */
function marginsOf({ rowLabels, numbers, named }) {
  return { left: rowLabels + 8 + (named.y ? LINE + 4 : 0), right: 12 + BAR + 6 + numbers + 2 };
}

/**
 * The width of each panel, and how many are in a row: as many as have room, in rows of one length, which share the width.
 * @param {PanelSizes[]} panels
 * @param {{ left: number, right: number }[]} margins
 * @param {number} total
 */
function widthsOf(panels, margins, total) {
  const least = panels.map(
    ({ columns, least = clamp(columns * LEAST_WIDTH.column, [LEAST_WIDTH.plot, PLOT_WIDTH]) }, i) => {
      return margins[i].left + least + margins[i].right;
    },
  );
  const wanted = panels.map(({ rows, columns }, i) => {
    const plot = Math.max(PLOT_WIDTH, columns * Math.min(CELL, PLOT_HEIGHT[1] / rows));
    return margins[i].left + plot + margins[i].right;
  });
  const most = panels.some(({ alone }) => alone) ? 1 : panels.length;
  const room = clamp(Math.floor((total + GAP) / (Math.max(...least) + GAP)), [1, most]);
  const across = Math.ceil(panels.length / Math.ceil(panels.length / room)); // four stand two by two, and not three and one
  /** @type {number[]} */
  const widths = [];
  while (widths.length < panels.length) {
    const row = wanted.slice(widths.length, widths.length + across);
    widths.push(...shareOut((row.length * (total + GAP)) / across - row.length * GAP, row));
  }
  return { widths, across };
}

/**
 * Share a width among panels: none gets more than it wants, and what the modest ones leave goes to the others.
 * @param {number} width
 * @param {number[]} wanted
 */
export function shareOut(width, wanted) {
  const shares = wanted.slice();
  const modestFirst = [...wanted.keys()].sort((a, b) => wanted[a] - wanted[b]);
  let left = width;
  modestFirst.forEach((i, done) => {
    shares[i] = Math.min(wanted[i], left / (wanted.length - done));
    left -= shares[i];
  });
  return shares;
}

/**
 * The plot, in a row of panels of one height.
 * @param {PanelSizes} panel
 * @param {number} room
 * @param {number} height
 */
function plotOf({ rows, columns, columnLabels }, room, height) {
  const width = Math.min(room, Math.max(PLOT_WIDTH, (height * columns) / rows));
  const slanted = columnLabels > SHORT && columnLabels + LABEL_GAP > width / columns;
  const row = niceStep(ROW_LABEL / (height / rows));
  const column = niceStep((slanted ? LINE : columnLabels + LABEL_GAP) / (width / columns));
  return { width, height, slanted, every: { row, column } };
}

/**
 * The bottom margin: labels and name of the columns.
 * @param {PanelSizes} panel
 * @param {boolean} slanted
 */
function bottomOf({ columnLabels, named }, slanted) {
  return 6 + (slanted ? columnLabels * 0.71 + 10 : LINE) + (named.x ? LINE + 2 : 0);
}
