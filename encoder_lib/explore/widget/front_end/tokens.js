// The words of a sentence as buttons: the one that is pointed at or focused shows, in the colours of all, where it looks.

const TOLD = 12; // words that a reading names

const inPercent = (share) => (share > 0 && share < 0.005 ? "< 1 %" : `${Math.round(100 * share)} %`);

/** Black or white, whichever stands out better from a colour: at least 4.5 to 1 from any (relative luminance, WCAG 2.2). */
function inkOn(colour) {
  const linear = colour.map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] > 0.179 ? "#000000" : "#ffffff";
}

class TokensPanel {
  /** `tell` is called when the reader has chosen a word. */
  constructor(tell) {
    this.tell = tell;
    this.caption = element("p", { class: "explorer-caption" });
    this.row = element("div", { class: "explorer-words", role: "toolbar" });
    this.root = element("div", { class: "explorer-tokens" }, this.caption, this.row);
    this.buttons = [];
    this.touched = false; // whether the reader has chosen a word
    for (const kind of ["pointerover", "focusin"]) this.row.addEventListener(kind, (event) => this.choose(event));
    this.row.addEventListener("keydown", (event) => this.move(event));
  }

  /** Take the heatmap whose rows look; words that stay keep their buttons, and with them the focus. */
  describe({ title, chosen }, heatmap) {
    this.heatmap = heatmap;
    this.words = heatmap.spec.y_ticks;
    this.chosen ??= chosen;
    this.caption.textContent = title;
    this.row.setAttribute("aria-label", title);
    while (this.buttons.length > this.words.length) this.buttons.pop().remove();
    while (this.buttons.length < this.words.length) {
      this.buttons.push(element("button", { type: "button" }, element("span"), element("small")));
      this.row.append(this.buttons.at(-1));
    }
    this.words.forEach((word, i) => say(this.buttons[i].firstChild, word));
  }

  /** The chosen word; the last one when the sentence has become too short for it. */
  get place() {
    return Math.min(this.chosen, this.words.length - 1);
  }

  paint() {
    const weights = this.heatmap.row(this.place);
    this.buttons.forEach((button, i) => {
      const colour = this.heatmap.colour(weights[i]);
      Object.assign(button.style, { background: `rgb(${colour})`, color: inkOn(colour) });
      button.tabIndex = i === this.place ? 0 : -1; // Tab goes to the chosen word, arrow keys to the others
      button.setAttribute("aria-pressed", i === this.place);
      say(button.lastChild, inPercent(weights[i]));
    });
  }

  choose(event) {
    const place = this.buttons.indexOf(event.target.closest("button"));
    if (place < 0) return;
    this.chosen = place;
    this.touched = true;
    this.paint();
    this.tell();
  }

  move(event) {
    const [place, last] = [this.buttons.indexOf(event.target), this.buttons.length - 1];
    const goals = { ArrowLeft: place - 1, ArrowUp: place - 1, ArrowRight: place + 1, ArrowDown: place + 1, Home: 0, End: last };
    if (!(event.key in goals) || event.altKey || event.ctrlKey || event.metaKey) return; // those are the browser's
    event.preventDefault();
    this.buttons[clamp(goals[event.key], [0, last])].focus();
  }

  /** Where the chosen word looks, in words, the strongest look first. */
  reading() {
    const weights = this.heatmap.row(this.place);
    const seen = [...weights.keys()].filter((i) => weights[i] > 0).sort((a, b) => weights[b] - weights[a]);
    const told = seen.slice(0, TOLD).map((i) => `${this.words[i]} ${inPercent(weights[i])}`);
    if (seen.length > TOLD) told.push(`${seen.length - TOLD} more`);
    return `“${this.words[this.place]}” looks at ${told.join(", ") || "nothing"}`;
  }
}
