// An SVG that is told each time all that it should show: it adds what is new, changes what differs, and drops the rest.

const SVG = "http://www.w3.org/2000/svg";

/** @param {number} value */
const short = (value) => String(Math.round(value * 10) / 10);

export class Drawing {
  /** @type {Map<string, { node: SVGElement, told: Map<string, string> }>} */
  shapes = new Map();
  /** @type {Set<string>} */
  used = new Set();

  /**
   * @param {string} label
   * @param {string[]} groups from the back to the front
   */
  constructor(label, groups) {
    this.svg = document.createElementNS(SVG, "svg");
    this.svg.setAttribute("role", "group");
    this.svg.setAttribute("aria-label", label);
    /** @type {Record<string, SVGElement>} */
    this.groups = {};
    for (const name of groups) {
      this.groups[name] = this.svg.appendChild(document.createElementNS(SVG, "g"));
      this.groups[name].setAttribute("class", `alive-in-${name}`);
    }
  }

  /**
   * @param {string} group
   * @param {string} key
   * @param {string} tag
   * @param {Record<string, string | number>} attributes
   * @param {string} text
   */
  put(group, key, tag, attributes, text = "") {
    const id = `${group} ${key}`;
    this.used.add(id);
    const shape = this.shapes.get(id) ?? { node: document.createElementNS(SVG, tag), told: new Map() };
    const { node, told } = shape;
    if (!this.shapes.has(id)) this.groups[group].append(node);
    this.shapes.set(id, shape);
    for (const [name, given] of Object.entries(attributes)) {
      const value = typeof given === "number" ? short(given) : given;
      if (told.get(name) !== value) node.setAttribute(name, value);
      told.set(name, value);
    }
    if (node.textContent !== text) node.textContent = text;
  }

  /**
   * A path; points are [x, y, x, y, …], strings are commands.
   * @param {string} group
   * @param {string} key
   * @param {string} kind
   * @param {string} d
   * @param {Record<string, string | number>} more
   */
  path(group, key, kind, d, more = {}) {
    this.put(group, key, "path", { class: kind, d, ...more });
  }

  /**
   * @param {string} group
   * @param {string} key
   * @param {string} kind
   * @param {XY} at
   * @param {string} text
   * @param {Record<string, string | number>} more
   */
  text(group, key, kind, [x, y], text, more = {}) {
    this.put(group, key, "text", { class: kind, x, y, ...more }, text);
  }

  /** Forget what has not been told since the last time. */
  sweep() {
    for (const [id, { node }] of this.shapes) {
      if (this.used.has(id)) continue;
      node.remove();
      this.shapes.delete(id);
    }
    this.used.clear();
  }
}

/**
 * A path from points and commands: numbers are rounded.
 * @param {TemplateStringsArray} strings
 * @param {...(number | string)} values
 */
export function d(strings, ...values) {
  return strings.reduce((all, text, i) => {
    const value = values[i - 1];
    return all + (typeof value === "number" ? short(value) : value) + text;
  });
}
