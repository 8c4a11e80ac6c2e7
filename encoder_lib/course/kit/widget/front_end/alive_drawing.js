// An SVG that is told each time all that it should show: it adds what is new, changes what differs, and drops the rest.

const SVG = "http://www.w3.org/2000/svg";

/** @param {number | string} value */
const short = (value) => (typeof value === "number" ? String(Math.round(value * 10) / 10) : value);

/** A path from commands and numbers, which are rounded. @param {TemplateStringsArray} strings @param {...number} values */
export const d = (strings, ...values) => strings.reduce((all, text, i) => all + short(values[i - 1]) + text);

/** @param {Curve} c */
export const curve = (c) => d`M${c[0]} ${c[1]}C${c[2]} ${c[3]} ${c[4]} ${c[5]} ${c[6]} ${c[7]}`;

/** @param {number} x @param {number} y @param {number} r */
export const circle = (x, y, r) => d`M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;

/** What makes a shape a button: what it does, and what it is called. @param {string} act @param {string} label @returns {Attributes} */
export const press = (act, label) => ({ role: "button", "data-act": act, "aria-label": label });

export class Drawing {
  /** @type {Map<string, { node: SVGElement, told: Attributes }>} */
  shapes = new Map();
  used = new Set();
  svg = document.createElementNS(SVG, "svg");
  /** @type {Record<string, SVGElement>} */
  groups = {};

  /** @param {string[]} names of groups, from the back to the front */
  constructor(names) {
    for (const name of names) {
      this.groups[name] = this.svg.appendChild(document.createElementNS(SVG, "g"));
      this.groups[name].setAttribute("class", `alive-in-${name}`);
    }
  }

  /** @param {string} group @param {string} key @param {string} tag @param {Attributes} attributes @param {string} text */
  put(group, key, tag, attributes, text = "") {
    const id = `${group} ${key} ${tag}`;
    this.used.add(id);
    const shape = this.shapes.get(id) ?? { node: document.createElementNS(SVG, tag), told: {} };
    const { node, told } = shape;
    if (!node.parentNode) this.groups[group].append(node);
    this.shapes.set(id, shape);
    for (const [name, value] of Object.entries(attributes)) {
      if (told[name] !== value) node.setAttribute(name, short(value));
    }
    shape.told = attributes;
    if (node.textContent !== text) node.textContent = text;
  }

  /** @param {string} group @param {string} key @param {string} kind @param {string} path @param {Attributes} more */
  path(group, key, kind, path, more = {}) {
    this.put(group, key, "path", { class: kind, d: path, ...more });
  }

  /** @param {string} group @param {string} key @param {string} kind @param {XY} at @param {string} text @param {Attributes} more */
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
