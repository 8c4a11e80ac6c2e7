// The encoder's picture as an SVG, in groups that are written anew when what they should show differs.

const safe = (/** @type {unknown} */ value) => {
  if (typeof value === "number") return Math.round(value * 10) / 10;
  return String(value ?? "").replace(/[&<"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
};

/** Markup in which numbers are rounded and texts stay texts. @param {TemplateStringsArray} strings @param {...unknown} values */
export const markup = (strings, ...values) => String.raw({ raw: strings }, ...values.map(safe));

/** @param {Curve} c */
export const curve = (c) => markup`M${c[0]} ${c[1]}C${c[2]} ${c[3]} ${c[4]} ${c[5]} ${c[6]} ${c[7]}`;

/** Fill a node with markup, in which `markup` has escaped every text. @param {Element} node @param {string} text */
const fill = (node, text) => {
  node.innerHTML = text;
};

const written = /** @type {WeakMap<Element, string>} */ (new WeakMap());

/** Write a node anew where it differs. The button in focus keeps it, or the first one gets it. @param {Element} node @param {string} text */
export const renew = (node, text) => {
  if (written.get(node) === text) return;
  const act = node.querySelector("[data-act]:focus")?.getAttribute("data-act");
  fill(node, text);
  written.set(node, text);
  if (!act) return;
  const buttons = /** @type {SVGElement[]} */ ([...node.querySelectorAll("button, [role=button]")]);
  const again = buttons.find(({ dataset }) => dataset.act === act) ?? buttons[0];
  queueMicrotask(() => again?.focus({ preventScroll: true })); // once the whole picture has been written
};

export class Drawing {
  /** @type {Record<string, (...parts: Parameters<typeof markup>) => void>} what puts markup into each group */
  to = {};
  current = ""; // what the button does that takes part in the tab order; arrow keys lead to the others

  /** @param {SVGElement} svg with a group for each layer of the drawing, from the back to the front */
  constructor(svg) {
    this.svg = svg;
    this.groups = [...svg.children].map((node) => {
      const group = { node, text: "" };
      this.to[node.classList[0].replace("alive-in-", "")] = (...parts) => {
        group.text += markup(...parts);
      };
      return group;
    });
  }

  /** Show what has been put, and only that. */
  show() {
    for (const group of this.groups) {
      renew(group.node, group.text);
      group.text = "";
    }
    this.rove(this.current);
  }

  /** Let one button take part in the tab order. @param {string} act */
  rove(act) {
    const { buttons } = this;
    const next = buttons.find(({ dataset }) => dataset.act === act) ?? buttons[0];
    for (const button of buttons) button.tabIndex = button === next ? 0 : -1;
    this.current = next?.dataset.act ?? "";
  }

  get buttons() {
    return /** @type {SVGElement[]} */ ([...this.svg.querySelectorAll("[role=button]")]);
  }
}
