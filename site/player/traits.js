// The common part of all models, as anywidget has them: values by name, and callbacks for their changes.

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

  /** A kernel would send an echo; without one, it comes from here. */
  save_changes() {
    this.notify("msg:custom");
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
   * Set new values, and call the callbacks.
   * @param {Record<string, any>} values
   */
  change(values) {
    Object.assign(this.values, values);
    for (const name of Object.keys(values)) this.notify(`change:${name}`);
  }

  /** @param {string} event */
  notify(event) {
    for (const callback of [...this.listenersTo(event)]) callback();
  }
}

/**
 * The numbers of some arrays, one after another, as the front end expects them.
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
