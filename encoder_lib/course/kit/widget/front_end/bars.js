// Numbers as bars on the page, with their mean and one standard deviation around it; they glide from step to step.

import { fixed } from "./format.js";
import { clamp } from "./numbers.js";
import { Plane } from "./plane.js";
import { niceStep } from "./ticks.js";

const WIDE = 0.7; // the width of a bar, where a bar and the space after it make 1; as in bars.py
const SCALE = 16; // width of the numbers beside the bars, in CSS pixels

export class Bars extends Plane {
  get count() {
    return /** @type {BarsSpec} */ (this.matrix.spec.bars).count;
  }

  /**
   * The sizes that a layout depends on, with room for the numbers of the scale.
   * @override
   * @param {Style} style
   * @param {number} total
   * @returns {PanelSizes}
   */
  sizes(style, total) {
    return { ...super.sizes(style, total), rowLabels: SCALE };
  }

  /**
   * The pixel of a place: here, a bar takes one unit of the width.
   * @override
   * @param {number} x
   * @param {number} y
   * @returns {[x: number, y: number]}
   */
  at(x, y) {
    const { left, top, width, height } = /** @type {{ layout: PanelLayout }} */ (this.place).layout;
    const [[start, end], [low, high]] = [this.spec.x_limits, this.spec.y_limits];
    return [left + (width * (x - start)) / (end - start), top + (height * (high - y)) / (high - low)];
  }

  /** @override */
  paintPicture() {
    const { pen, points, count } = this;
    const { style, layout } = /** @type {{ style: Style, layout: PanelLayout }} */ (this.place);
    const [mean, deviation] = points.slice(-2);
    Object.assign(pen, { strokeStyle: style.colour, fillStyle: style.colour, lineWidth: 1, textAlign: "center" });
    this.paintBand(mean, deviation);
    this.paintScale();
    for (let i = 0; i < 2 * count; i++) this.paintBar(i);
    Object.assign(pen, { fillStyle: style.colour, textAlign: "center", lineWidth: 3, strokeStyle: this.ground });
    for (let i = 0; i < count; i++) {
      const [x, y] = this.inside(i);
      const below = points[2 * i + 1] < 0;
      const number = clamp(y + (below ? 10 : -9), [layout.top + 6, layout.top + layout.height - 6]);
      this.write(fixed(points[2 * i + 1], 2), x, number);
      pen.fillText(this.spec.names[i], x, layout.top + layout.height + 12);
    }
    const [x, y] = this.at(count + 1.05, mean);
    const lines = ["mean", fixed(mean, 2), `± ${fixed(deviation, 2)}`];
    const middle = clamp(y, [layout.top + 20, layout.top + layout.height - 20]);
    lines.forEach((line, i) => {
      this.write(line, x, middle + 14 * (i - 1));
    });
  }

  /**
   * Text that can be read where a line runs behind it.
   * @param {string} text
   * @param {number} x
   * @param {number} y
   */
  write(text, x, y) {
    this.pen.strokeText(text, x, y);
    this.pen.fillText(text, x, y);
  }

  /**
   * The top of a bar, or the edge of the picture where the bar goes beyond it.
   * @param {number} i
   * @returns {[x: number, y: number]}
   */
  inside(i) {
    const [x, y] = this.pixel(i);
    const { top, height } = /** @type {{ layout: PanelLayout }} */ (this.place).layout;
    return [x, clamp(y, [top, top + height])];
  }

  /**
   * @param {number} mean
   * @param {number} deviation
   */
  paintBand(mean, deviation) {
    const { pen } = this;
    const { left, width } = /** @type {{ layout: PanelLayout }} */ (this.place).layout;
    const [end, y] = this.at(this.count + 0.6, mean);
    const [, upper] = this.at(0, mean + deviation);
    pen.globalAlpha = 0.13;
    pen.fillRect(left, upper, width, 2 * (y - upper));
    pen.globalAlpha = 1;
    pen.setLineDash([7, 5]);
    pen.beginPath();
    pen.moveTo(left, y);
    pen.lineTo(end, y);
    pen.stroke();
    pen.setLineDash([]);
  }

  /** The line at 0, and numbers beside it. */
  paintScale() {
    const { pen } = this;
    const { left, width, height } = /** @type {{ layout: PanelLayout }} */ (this.place).layout;
    const [low, high] = this.spec.y_limits;
    const step = niceStep((30 * (high - low)) / height);
    Object.assign(pen, { globalAlpha: 0.75, textAlign: "right" });
    for (let n = Math.ceil(low / step); n * step <= high; n++) {
      const [, y] = this.at(0, n * step);
      pen.fillText(String(n * step).replace("-", "−"), left - 6, y);
      if (n === 0) pen.fillRect(left, y, width, 1);
    }
    pen.globalAlpha = 1;
  }

  /**
   * A bar, or one of the outlines that follow all bars.
   * @param {number} i
   */
  paintBar(i) {
    const { pen } = this;
    const [x, y] = this.inside(i);
    const [, zero] = this.at(0, 0);
    const half = (this.at(WIDE, 0)[0] - this.at(0, 0)[0]) / 2;
    const colour = this.colour(i);
    Object.assign(pen, { fillStyle: colour, strokeStyle: colour, lineWidth: 1.5 });
    if (i < this.count) pen.fillRect(x - half, Math.min(y, zero), 2 * half, Math.abs(y - zero));
    else {
      pen.globalAlpha = 0.6;
      pen.strokeRect(x - half, Math.min(y, zero), 2 * half, Math.abs(y - zero));
      pen.globalAlpha = 1;
    }
  }
}
