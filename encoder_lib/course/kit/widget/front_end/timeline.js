// The stations of a way as boxes in a row, and above each one the value that is reached there, as a curve.

import { inkOn } from "./colour.js";
import { element, penOf, say } from "./dom.js";
import { clamp } from "./numbers.js";
import { paintTurned } from "./painting.js";

const [LEFT, RIGHT, ABOVE] = [36, 14, 22]; // margins, in CSS pixels, as are all lengths here
const CURVE = 130; // height of the curve
const BOXES = ABOVE + CURVE + 16; // where they begin
const BOX = 84; // height of one, in which its name stands upright
const HEIGHT = BOXES + BOX + 20; // with the names of layers below
const PACE = 1200; // milliseconds at a station, when it plays
const BLUE = [0, 114, 178]; // a station on the curve
const ORANGE = [213, 94, 0]; // one beside it

export class Timeline {
  frame = 0;
  width = 0;
  step = 0; // the width of a station
  playing = 0; // the timer, while it walks by itself
  /** @type {Style | null} */
  style = null;

  /**
   * @param {TimelineSpec} spec
   * @param {(frame: number) => void} go is called with the station that the reader points at
   */
  constructor(spec, go) {
    this.spec = spec;
    this.caption = element("figcaption");
    this.canvas = element("canvas", { class: "explorer-picture", role: "img" });
    this.pen = penOf(this.canvas);
    this.button = element("button", { type: "button", class: "explorer-action" }, "Play");
    this.figure = element(
      "figure",
      { class: "explorer-panel explorer-timeline" },
      this.caption,
      this.canvas,
      this.button,
    );
    this.go = go;
    this.button.addEventListener("click", () => (this.playing ? this.stop() : this.play()));
    this.canvas.addEventListener("click", ({ offsetX }) => go(Math.floor((offsetX - LEFT) / this.step)));
  }

  /**
   * @param {TimelineSpec} spec
   * @param {number} frame
   */
  show(spec, frame) {
    this.spec = spec;
    this.frame = frame;
    say(this.caption, spec.title);
    this.paint();
  }

  /** Walk on, a station after the other; from the last one, begin again. */
  play() {
    const last = () => this.frame === this.spec.stations.length - 1;
    this.go(last() ? 0 : this.frame + 1);
    this.playing = setInterval(() => {
      if (last() || !this.figure.isConnected) this.stop();
      else this.go(this.frame + 1);
    }, PACE);
    say(this.button, "Stop");
  }

  stop() {
    clearInterval(this.playing);
    this.playing = 0;
    say(this.button, "Play");
  }

  /**
   * Take all the width that there is, and paint.
   * @param {number} width
   * @param {Style} style
   */
  arrange(width, style) {
    [this.width, this.style, this.step] = [width, style, (width - LEFT - RIGHT) / this.spec.stations.length];
    Object.assign(this.canvas, { width: Math.round(width * style.ratio), height: Math.round(HEIGHT * style.ratio) });
    Object.assign(this.canvas.style, { width: `${width}px`, height: `${HEIGHT}px` });
    this.paint();
  }

  /** @param {number} value */
  y(value) {
    return ABOVE + (CURVE * (1 - value)) / (1 - Math.min(0, ...this.spec.values));
  }

  /**
   * Where a station's mark stands.
   * @param {number} station
   * @returns {[x: number, y: number]}
   */
  at(station) {
    return [LEFT + (station + 0.5) * this.step, this.y(this.spec.values[station])];
  }

  /** Paint, once there is a place to paint at. */
  paint() {
    const { pen, style, width, frame } = this;
    if (!style) return;
    pen.setTransform(style.ratio, 0, 0, style.ratio, 0, 0);
    pen.clearRect(0, 0, width, HEIGHT);
    Object.assign(pen, { font: style.font, strokeStyle: style.colour, textBaseline: "middle", lineWidth: 2 });
    pen.beginPath();
    this.spec.stations.forEach(([, , through], i) => {
      if (through) pen.lineTo(...this.at(i));
    });
    pen.stroke();
    Object.assign(pen, { fillStyle: style.colour, textAlign: "right", lineWidth: 1 });
    for (const value of [0, 0.5, 1]) {
      pen.fillText(String(value), LEFT - 8, this.y(value));
      pen.fillRect(LEFT - 5, this.y(value), 5, 1);
    }
    pen.textAlign = "center";
    this.spec.stations.forEach((_, i) => {
      this.paintStation(pen, i, style.colour);
    });
    const [x, y] = this.at(frame);
    pen.strokeRect(x, y + 8, 0, BOXES - y - 8);
    pen.fillText(this.spec.values[frame].toFixed(3), clamp(x, [LEFT + 15, width - 18]), y - 14);
  }

  /**
   * Its mark, on the curve or beside it, its box, and the name of the layer that begins with it.
   * @param {CanvasRenderingContext2D} pen
   * @param {number} station
   * @param {string} ink
   */
  paintStation(pen, station, ink) {
    const [name, layer, through] = this.spec.stations[station];
    const [colour, lit, [x, y]] = [through ? BLUE : ORANGE, station === this.frame, this.at(station)];
    const size = lit ? 5.5 : 3.5;
    pen.beginPath();
    if (through) pen.arc(x, y, size, 0, 2 * Math.PI);
    else pen.rect(x - size, y - size, 2 * size, 2 * size);
    pen.fillStyle = `rgb(${colour})`;
    pen.fill();
    pen.globalAlpha = lit ? 1 : 0.28;
    pen.fillStyle = `rgb(${colour})`;
    pen.fillRect(x - this.step / 2 + 1, BOXES, this.step - 2, BOX);
    pen.globalAlpha = 1;
    pen.fillStyle = lit ? inkOn(colour) : ink;
    const free = station % 2 === 0 && Math.abs(station - this.frame) !== 1; // a name is as high as two narrow boxes
    if (lit || free || this.step >= 13) paintTurned(pen, name, [x, BOXES + BOX / 2], -Math.PI / 2, "center");
    pen.fillStyle = ink;
    const first = layer !== (this.spec.stations[station - 1]?.[1] ?? 0);
    const title = this.step < 13 ? String(layer) : `layer ${layer}`;
    if (layer && first) pen.fillText(title, x + 1.5 * this.step, BOXES + BOX + 12);
  }
}
