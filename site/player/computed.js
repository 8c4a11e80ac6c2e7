// The model of an explorer that is computed on this page, so that its picture follows a control at once.

import { startOf } from "./model.js";
import { packed, Traits } from "./traits.js";

/**
 * @typedef {{ _panels?: PanelSpec[], _data?: ArrayLike<number>[], _picture?: string, [name: string]: unknown }} Shown
 * @typedef {(values: Record<string, any>, panels: PanelSpec[], width: number) => Shown} Show computes the picture from the values of the controls
 */

/**
 * The model of an explorer whose module exports a function with the name of the module.
 * @param {Header} header
 * @param {() => number} width of a picture, in CSS pixels
 */
export async function computedModel(header, width) {
  const name = String(header.computed);
  return new ComputedModel(header, (await import(`./${name}.js`))[name], width);
}

class ComputedModel extends Traits {
  /**
   * @param {Header} header
   * @param {Show} show
   * @param {() => number} width
   */
  constructor(header, show, width) {
    super(startOf(header));
    const panels = /** @type {PanelSpec[]} */ (header.values[header.states[0][2]]); // with the names of their axes
    this.frames = header.frames;
    this.compute = () => show({ ...header.given, ...this.values }, panels, width());
    this.follow();
  }

  /**
   * @override
   * @param {string} name
   * @param {ControlValue} value
   */
  set(name, value) {
    super.set(name, value);
    if (name !== this.frames) this.follow();
  }

  follow() {
    const { _data, _picture, ...shown } = this.compute();
    if (_data) shown._data = packed(_data);
    if (_picture) shown._picture = new DataView(new TextEncoder().encode(_picture).buffer);
    this.change(shown);
  }
}
