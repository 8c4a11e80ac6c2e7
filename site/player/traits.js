// What anywidget's models have in common: values by name, and callbacks that hear of their changes.

/** @implements {Model} */
export class Traits {
  /** @type {Map<string, Set<() => void>>} */
  listeners = new Map();

  /** @param {Record<string, any>} values */
  constructor(values) {
    this.values = values;
  }

  /** @param {string} name */
  get(name) {
    return this.values[name];
  }

  /**
   * @param {string} name
   * @param {any} value
   */
  set(name, value) {
    this.change({ [name]: value });
  }

  /** There is no kernel that could not hear. */
  save_changes() {
    this.tell("msg:custom");
  }

  /**
   * @param {string} events
   * @param {any} callback
   */
  on(events, callback) {
    for (const event of events.split(" ")) this.listenersTo(event).add(callback);
  }

  /**
   * @param {string} events
   * @param {any} callback
   */
  off(events, callback) {
    for (const event of events.split(" ")) this.listenersTo(event).delete(callback);
  }

  /** @param {string} event */
  listenersTo(event) {
    const known = this.listeners.get(event) ?? new Set();
    this.listeners.set(event, known);
    return known;
  }

  /**
   * Take new values, and tell those who listen.
   * @param {Record<string, any>} values
   */
  change(values) {
    Object.assign(this.values, values);
    for (const name of Object.keys(values)) this.tell(`change:${name}`);
  }

  /** @param {string} event */
  tell(event) {
    for (const callback of [...this.listenersTo(event)]) callback();
  }
}

/**
 * The numbers of panels, one after another, as explorers want them.
 * @param {ArrayLike<number>[]} arrays
 */
export function packed(arrays) {
  const numbers = new Float32Array(arrays.reduce((sum, { length }) => sum + length, 0));
  arrays.reduce((start, array) => {
    numbers.set(array, start);
    return start + array.length;
  }, 0);
  return new DataView(numbers.buffer);
}
