// Paints one heatmap: cells, labels, colour bar and frames, all from a scene.

import { colourOf, inkOn, isLight } from "./colour.js";
import { element, penOf } from "./dom.js";
import { fixed, formatValue } from "./format.js";
import { BAR, LINE } from "./layout.js";
import { clamp } from "./numbers.js";
import { stripesOf } from "./stripes.js";
import { fit, LONGEST } from "./text.js";
import { labelled, labelOf, tileSize } from "./ticks.js";

// A frame is white inside and black outside, so that it stands out from every colour.
const FRAME = [
  { grow: 1, colour: "#ffffff", line: 2 },
  { grow: 2.5, colour: "#1a1a1a", line: 1.5 },
];
const MOST_NUMBERS = 60; // with more cells, no numbers are written into them
const FEW = 16; // rows or columns; fewer have lines between them
const CHOSEN = 3; // pixels by which the frame of the chosen tile is thicker
const bar = element("canvas", { width: 1, height: 256 });

/**
 * Paint a scene. The pen's unit is a CSS pixel.
 * @param {CanvasRenderingContext2D} pen
 * @param {Scene} scene
 */
export function paint(pen, scene) {
  const { matrix, style, marked, cursor, chosen } = scene;
  const side = tileSize(matrix.spec);
  pen.setTransform(style.ratio, 0, 0, style.ratio, 0, 0);
  pen.clearRect(0, 0, pen.canvas.width, pen.canvas.height);
  pen.font = style.font;
  paintCells(pen, scene);
  pen.fillStyle = style.colour;
  paintRows(pen, scene);
  paintColumns(pen, scene);
  paintBar(pen, scene);
  if (marked !== null) paintFrame(pen, scene, [marked, 0], [1, matrix.spec.columns]);
  if (chosen) paintFrame(pen, scene, chosen, [side, side], CHOSEN);
  if (cursor) paintFrame(pen, scene, cursor, [side, side]);
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Scene} scene
 */
function paintCells(pen, scene) {
  const { left, top, width, height } = scene.layout;
  const { rows, columns } = scene.matrix.spec;
  const { ratio } = scene.style;
  const shrunk = columns > width * ratio || rows > height * ratio;
  pen.imageSmoothingEnabled = shrunk; // otherwise every cell keeps its sharp edges
  pen.drawImage(scene.cells, left, top, width, height);
  for (const kind of scene.strange) paintStripes(pen, scene, kind);
  if (scene.matrix.spec.tile) return;
  if (Math.max(rows, columns) < FEW && Math.min(width / columns, height / rows) > 7) paintGrid(pen, scene);
  if (rows * columns <= MOST_NUMBERS) paintNumbers(pen, scene);
}

/**
 * The ways to write these numbers, best first: whole, with two decimals, in less room.
 * @param {number[]} numbers
 */
function waysToWrite(numbers) {
  if (numbers.every(Number.isInteger)) return [numbers.map((number) => fixed(number, 0))];
  const exact = numbers.map((number) => fixed(number, 2));
  if (numbers.some((number) => Math.abs(number) > 1)) return [exact, numbers.map((number) => fixed(number, 1))];
  return [exact, exact.map((text) => (text.endsWith("1.00") ? text.slice(0, -1) : text.replace("0.", ".")))];
}

/**
 * The numbers of all cells, where they fit.
 * @param {CanvasRenderingContext2D} pen
 * @param {Scene} scene
 */
function paintNumbers(pen, { matrix, layout: { left, top, width, height } }) {
  const { rows, columns } = matrix.spec;
  const finite = [...matrix.values.keys()].filter((i) => Number.isFinite(matrix.values[i]));
  const [wide, high] = [width / columns, height / rows];
  const fits = (/** @type {string} */ text) => pen.measureText(text).width <= wide - 8 && high >= LINE;
  const texts = waysToWrite(finite.map((i) => matrix.values[i])).find((way) => way.every(fits)) ?? [];
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  texts.forEach((text, n) => {
    const i = finite[n];
    pen.fillStyle = inkOn(colourOf(matrix.values[i], matrix));
    pen.fillText(text, left + ((i % columns) + 0.5) * wide, top + (Math.floor(i / columns) + 0.5) * high);
  });
}

/**
 * Thin lines in the colour of the page between a few cells.
 * @param {CanvasRenderingContext2D} pen
 * @param {Scene} scene
 */
function paintGrid(pen, { matrix: { spec }, style, layout: { left, top, width, height } }) {
  pen.fillStyle = isLight(style.colour) ? "#11111199" : "#ffffff99";
  for (let row = 1; row < spec.rows; row++) pen.fillRect(left, top + (row * height) / spec.rows, width, 1);
  for (let column = 1; column < spec.columns; column++)
    pen.fillRect(left + (column * width) / spec.columns, top, 1, height);
}

/**
 * Stripe the cells of one kind, as many at once as stand side by side.
 * @param {CanvasRenderingContext2D} pen
 * @param {Scene} scene
 * @param {NotFinite} kind
 */
function paintStripes(pen, { matrix, layout }, kind) {
  const { rows, columns } = matrix.spec;
  const [wide, high] = [layout.width / columns, layout.height / rows];
  pen.beginPath();
  for (let row = 0; row < rows; row++) {
    const y = layout.top + row * high;
    for (let column = 0, start = 0; column < columns; start = ++column) {
      while (column < columns && kind.is(matrix.values[row * columns + column])) column++;
      if (column > start) pen.rect(layout.left + start * wide, y, (column - start) * wide, high);
    }
  }
  pen.fillStyle = stripesOf(kind);
  pen.fill();
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Scene} scene
 */
function paintRows(pen, { matrix, layout }) {
  const { spec } = matrix;
  const { left, top, height, every } = layout;
  const cell = height / spec.rows;
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  for (const row of labelled(spec.rows, every.row, spec.tile, spec.shift_rows ? matrix.shift : 0)) {
    pen.fillText(fit(pen, labelOf(matrix, "y", row), LONGEST), left - 7, top + (row + 0.5) * cell);
  }
  const name = fit(pen, spec.y_label, height);
  paintTurned(pen, name, [LINE / 2, top + height / 2], -Math.PI / 2, "center");
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Scene} scene
 */
function paintColumns(pen, { matrix, layout }) {
  const { spec } = matrix;
  const { left, top, width, height, bottom, slanted, every } = layout;
  const cell = width / spec.columns;
  const y = top + height;
  pen.textAlign = "center";
  pen.textBaseline = "top";
  for (const column of labelled(spec.columns, every.column, spec.tile)) {
    const [text, x] = [fit(pen, labelOf(matrix, "x", column), LONGEST), left + (column + 0.5) * cell];
    if (slanted) paintTurned(pen, text, [x + 3, y + 8], -Math.PI / 4, "right");
    else pen.fillText(text, x, y + 6);
  }
  pen.textAlign = "center";
  pen.textBaseline = "bottom";
  pen.fillText(fit(pen, spec.x_label, width), left + width / 2, y + bottom);
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {string} text
 * @param {[x: number, y: number]} place
 * @param {number} angle
 * @param {CanvasTextAlign} align
 */
function paintTurned(pen, text, [x, y], angle, align) {
  pen.save();
  pen.translate(x, y);
  pen.rotate(angle);
  pen.textAlign = align;
  pen.textBaseline = "middle";
  pen.fillText(text, 0, 0);
  pen.restore();
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Scene} scene
 */
function paintBar(pen, { matrix, layout }) {
  const { top, height } = layout;
  const [low, high] = matrix.limits;
  const x = layout.left + layout.width + 12;
  const colours = new Uint8ClampedArray(matrix.palette.slice().reverse().buffer);
  penOf(bar).putImageData(new ImageData(colours, 1, 256), 0, 0);
  pen.imageSmoothingEnabled = true;
  pen.drawImage(bar, x, top, BAR, height);
  pen.textAlign = "left";
  pen.textBaseline = "middle";
  for (const share of height < 3 * LINE ? [0, 1] : [0, 0.5, 1]) {
    const y = clamp(top + height * (1 - share), [top + 5, top + height - 4]);
    pen.fillText(formatValue(low + share * (high - low)), x + BAR + 6, y);
  }
}

/**
 * Frame so many rows and columns, from a cell on.
 * @param {CanvasRenderingContext2D} pen
 * @param {Scene} scene
 * @param {Cell} cell
 * @param {Cell} count
 * @param {number} thicker
 */
function paintFrame(pen, { matrix, layout }, [row, column], [down, across], thicker = 0) {
  const { rows, columns } = matrix.spec;
  const [wide, high] = [(across * layout.width) / columns, (down * layout.height) / rows];
  const x = layout.left + (column * layout.width) / columns;
  const y = layout.top + (row * layout.height) / rows;
  for (const { grow, colour, line } of FRAME) {
    const out = grow + (grow > 1 ? thicker / 2 : 0);
    pen.strokeStyle = colour;
    pen.lineWidth = line + (grow > 1 ? thicker : 0);
    pen.strokeRect(x - out, y - out, wide + 2 * out, high + 2 * out);
  }
}
