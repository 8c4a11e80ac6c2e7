// Which recorded state belongs to the new value of a control.

/**
 * How far apart two values of a control are: as a fraction of the slider's range, or 1 for two different choices.
 * @param {RecordedControl} control
 * @param {ControlValue} a
 * @param {ControlValue} b
 */
export function distance(control, a, b) {
  if (control.kind !== "range" || typeof a !== "number" || typeof b !== "number") return a === b ? 0 : 1;
  return Math.abs(a - b) / (control.max - control.min);
}

/**
 * The state in which the moved control is nearest to its new value, and the others are nearest to their current values.
 * A key that moves a slider up (1) or down (-1) leads to a stop on that side, however small its step is.
 * @param {Header} header
 * @param {number} from the state that is shown
 * @param {{ name: string, value: ControlValue, heading: number }} move
 */
export function nearestState(header, from, { name, value, heading }) {
  const { names, controls, values, frames } = header;
  const place = names.indexOf(name);
  /** @param {number} state @param {number} i */
  const at = (state, i) => /** @type {ControlValue} */ (values[header.states[state][0][i]]);
  const now = Number(at(from, place));
  const all = header.states.map((_, state) => state);
  const there = heading ? all.filter((state) => (Number(at(state, place)) - now) * heading > 0) : [];
  const others = names.map((_, i) => i).filter((i) => names[i] !== frames && i !== place);
  /** @param {number} state */
  const far = (state) =>
    1000 * distance(controls[place], value, at(state, place)) +
    others.reduce((sum, i) => sum + distance(controls[i], at(from, i), at(state, i)), 0);
  const states = there.length ? there : all;
  const distances = states.map(far);
  return states[distances.indexOf(Math.min(...distances))];
}
