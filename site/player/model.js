// The model of an explorer without a kernel, in which each control leads to a recorded state.

import { nearestState } from "./nearest.js";
import { joined, numbersOf, viewOf } from "./recording.js";
import { Traits } from "./traits.js";

/**
 * The traits of an explorer before it shows anything.
 * @param {Pick<Header, "title" | "controls" | "frames" | "colours" | "start">} header
 */
export function startOf({ title, controls, frames, colours, start }) {
  const tables = Object.entries(colours).map(([name, table]) => [name, viewOf(Uint8Array.from(table))]);
  return {
    title,
    error: "",
    _controls: controls,
    _frames: frames,
    _colours: Object.fromEntries(tables),
    _panels: [],
    _tokens: {},
    _picture: viewOf(new Uint8Array()),
    ...start,
  };
}

export class RecordedModel extends Traits {
  /** The direction in which the last key moves a slider: up (1), down (-1), or none (0). */
  heading = 0;
  state = -1;

  /** @param {Recording} recording */
  constructor({ header, bytes }) {
    super(startOf(header));
    this.recording = { header, codes: joined(bytes) };
  }

  /**
   * @override
   * @param {string} name
   * @param {ControlValue} value
   */
  set(name, value) {
    const { header } = this.recording;
    if (name === header.frames) {
      super.set(name, value);
      return;
    }
    const slides = header.controls.some((control) => control.name === name && control.kind === "range");
    const before = { ...this.values };
    this.go(nearestState(header, this.state, { name, value, heading: slides ? this.heading : 0 }));
    const moved = header.controls.filter((other) => other.name !== name && this.get(other.name) !== before[other.name]);
    this.change({ _moved: moved.map(({ label }) => `“${label}”`).join(" and ") });
  }

  /**
   * Show a state: its controls, its picture and its words.
   * @param {number} state
   */
  go(state) {
    const { header } = this.recording;
    const moved = this.state !== state;
    const [at, descriptions, panels, limits, tokens, arrays, picture] = header.states[state];
    const values = header.names.map((name, i) => [name, header.values[at[i]]]);
    this.state = state;
    this.change(Object.fromEntries(values.filter(([name]) => name !== header.frames)));
    if (!moved) return;
    const said = { _descriptions: header.values[descriptions] };
    if (picture.length) {
      const svg = picture.map((line) => header.values[line]).join("\n");
      this.change({ _picture: viewOf(new TextEncoder().encode(svg)), ...said });
      return;
    }
    this.change({
      _panels: header.values[panels],
      _limits: header.values[limits],
      _tokens: header.values[tokens],
      _data: new DataView(numbersOf(this.recording, arrays).buffer),
      ...said,
    });
  }
}
