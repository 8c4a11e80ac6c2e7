// Handles on points of a plane: each is a button that the pointer drags and the arrow keys move.

import { element } from "./dom.js";
import { formatStep } from "./format.js";
import { clamp } from "./numbers.js";
import { snap } from "./slider.js";

/** How far a key moves a point, in steps of its sliders; with Shift five times as far. @type {Record<string, [right: number, up: number]>} */
const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

export class Handles {
  /** @type {[point: number, button: HTMLButtonElement][]} */
  buttons = [];

  /**
   * @param {PlaneOnPage} plane
   * @param {Ranges} ranges
   */
  constructor(plane, { of, value, move }) {
    this.plane = plane;
    this.of = of;
    this.value = value;
    this.move = move;
    this.root = element("div", { class: "explorer-handles" });
    plane.canvas.replaceWith(this.root);
    this.root.append(plane.canvas);
    for (const [point] of plane.spec.drags ?? []) this.buttons.push([point, this.button(point)]);
    this.root.append(...this.buttons.map(([, button]) => button));
  }

  /** @param {number} point */
  button(point) {
    const button = element("button", { type: "button", "aria-roledescription": "point that arrow keys move" });
    button.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      button.setPointerCapture(event.pointerId);
    });
    button.addEventListener("pointermove", (event) => {
      if (button.hasPointerCapture(event.pointerId)) this.drag(point, event);
    });
    button.addEventListener("keydown", (event) => this.press(point, event));
    return button;
  }

  /** @param {number} point */
  names(point) {
    const [, ...names] = this.plane.spec.drags?.find(([other]) => other === point) ?? [point, "", ""];
    return names;
  }

  /**
   * @param {number} point
   * @param {PointerEvent} event
   */
  drag(point, { clientX, clientY }) {
    const { left, top } = this.plane.canvas.getBoundingClientRect();
    this.to(point, this.plane.placeOf(clientX - left, clientY - top));
  }

  /**
   * @param {number} point
   * @param {KeyboardEvent} event
   */
  press(point, event) {
    if (!Object.hasOwn(KEYS, event.key) || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const far = event.shiftKey ? 5 : 1;
    const places = this.names(point).map((name, i) => {
      return this.value(name) + far * KEYS[event.key][i] * (this.of(name)?.step ?? 0.1);
    });
    this.to(point, places);
  }

  /**
   * Move a point to a place, as far as its sliders reach.
   * @param {number} point
   * @param {number[]} place
   */
  to(point, place) {
    /** @type {Record<string, number>} */
    const values = {};
    this.names(point).forEach((name, i) => {
      const control = this.of(name);
      if (control) values[name] = snap(control, clamp(place[i], [control.min, control.max]));
    });
    if (Object.keys(values).some((name) => values[name] !== this.value(name))) this.move(values);
  }

  /** Put each button on its point, and name it. */
  place() {
    for (const [point, button] of this.buttons) {
      const [x, y] = this.plane.pixel(point);
      const numbers = this.names(point).map((name) => formatStep(this.value(name), this.of(name)?.step ?? null));
      Object.assign(button.style, { left: `${x}px`, top: `${y}px` });
      button.setAttribute("aria-label", `${this.plane.spec.names[point]}: ${numbers.join(", ")}`);
    }
  }
}
