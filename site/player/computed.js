// The model of an explorer that is computed on this page, so that its picture follows a control at once.

import { withMinus } from "./format_numbers.js";
import { startOf } from "./model.js";
import { packed, Traits } from "./traits.js";

/**
 * @typedef {{ _panels?: PanelSpec[], _data?: ArrayLike<number>[], _picture?: string, _descriptions?: string[], [name: string]: unknown }} Shown
 * @typedef {(values: Record<string, any>, panels: PanelSpec[], width: number) => Shown} Show computes the picture from the values of the controls
 */

/**
 * What computes an explorer, by its name; its module is loaded when an explorer needs it.
 * @type {Record<string, () => Promise<Show>>}
 */
const SHOWS = {
  attend: async () => (await import("./attend.js")).attend,
  cost: async () => (await import("./cost.js")).cost,
  normalise: async () => (await import("./normalise.js")).normalise,
  one_query: async () => (await import("./one_query.js")).one_query,
  paint_mask: async () => (await import("./paint_mask.js")).paint_mask,
  positional: async () => (await import("./positional.js")).positional,
};

/**
 * The model of an explorer that is computed here.
 * @param {Header} header
 * @param {() => number} width of a picture, in CSS pixels
 */
export async function computedModel(header, width) {
  return new ComputedModel(header, await SHOWS[header.computed](), width);
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
    if (shown._descriptions) shown._descriptions = shown._descriptions.map(withMinus);
    if (_data) shown._data = packed(_data);
    if (_picture) shown._picture = new DataView(new TextEncoder().encode(_picture).buffer);
    this.change(shown);
  }
}
