// The encoder's picture as an SVG, in groups that are written anew when what they should show differs.

/** @type {Record<string, string>} */
const ESCAPED = { "&": "&amp;", "<": "&lt;", '"': "&quot;" };

/** @param {number | string | boolean | null} value */
const safe = (value) => {
  if (typeof value === "number") return Math.round(value * 10) / 10;
  return String(value ?? "").replace(/[&<"]/g, (letter) => ESCAPED[letter]);
};

/** Markup in which numbers are rounded and texts stay texts. @param {TemplateStringsArray} strings @param {...(number | string | boolean | null)} values */
export const markup = (strings, ...values) => {
  let text = strings[0];
  for (let i = 0; i < values.length; i++) text += safe(values[i]) + strings[i + 1];
  return text;
};

/** Fill a node with markup, in which `markup` has escaped every text. @param {Element} node @param {string} text */
export const fill = (node, text) => {
  node.innerHTML = text;
};

/** @param {Curve} c */
export const curve = (c) => markup`M${c[0]} ${c[1]}C${c[2]} ${c[3]} ${c[4]} ${c[5]} ${c[6]} ${c[7]}`;

export class Drawing {
  /** @type {Record<string, { node: Element, now: string, next: string }>} */
  groups = {};
  /** @type {Record<string, (...parts: Parameters<typeof markup>) => void>} what puts markup into each group */
  to = {};
  current = ""; // what the button does that takes part in the tab order; arrow keys lead to the others

  /** @param {SVGElement} svg with a group for each layer of the drawing, from the back to the front */
  constructor(svg) {
    this.svg = svg;
    for (const node of svg.children) {
      const name = node.getAttribute("class")?.replace("alive-in-", "") ?? "";
      const group = { node, now: "", next: "" };
      this.groups[name] = group;
      this.to[name] = (...parts) => {
        group.next += markup(...parts);
      };
    }
  }

  /** Show what has been put, and only that; the button in focus keeps it. */
  show() {
    const focused = this.svg.contains(document.activeElement);
    for (const group of Object.values(this.groups)) {
      if (group.now !== group.next) fill(group.node, group.next);
      [group.now, group.next] = [group.next, ""];
    }
    this.rove(this.current);
    if (focused && !this.svg.contains(document.activeElement)) this.button?.focus({ preventScroll: true });
  }

  /** Let one button take part in the tab order. @param {string} act */
  rove(act) {
    this.button?.setAttribute("tabindex", "-1");
    this.current = this.buttons.some((node) => node.dataset.act === act) ? act : (this.buttons[0]?.dataset.act ?? "");
    this.button?.setAttribute("tabindex", "0");
  }

  get buttons() {
    return /** @type {SVGElement[]} */ ([...this.svg.querySelectorAll("[role=button]")]);
  }

  get button() {
    return this.buttons.find((node) => node.dataset.act === this.current);
  }
}
