// The front end of Explorer: native controls, pictures on canvases, and what they show in words.

const GAP = 28; // between panels, in CSS pixels, as are all lengths here
const PLOT_HEIGHT = [40, 340];
const PLOT_WIDTH = 155; // of a plot with room; narrower screens put panels below one another
const NARROW = [110, 14]; // the least width of a plot, and of one of its columns up to PLOT_WIDTH
const CELL = 72; // the most that one square cell takes
const STRETCH = 1.4; // how much taller than wide a cell may get so that panels have one height
const BAR = 10; // width of the colour bar
const LINE = 15; // height of a line of text
const SHORT = 24; // labels up to this width are not slanted
const LOG_POSITIONS = 200; // of a logarithmic slider

// Values that have no colour are striped: what they are called, and the ground, the stripes and the way these run.
const NOT_FINITE = [
  { name: "NaN", is: Number.isNaN, ground: "#b8b8b8", stripe: "#858585", down: false },
  { name: "−∞", is: (value) => value === -Infinity, ground: "#ececec", stripe: "#cfcfcf", down: true },
  { name: "+∞", is: (value) => value === Infinity, ground: "#333333", stripe: "#666666", down: true },
];

/* ---- Numbers and text ---- */

function formatValue(value) {
  const special = NOT_FINITE.find((kind) => kind.is(value));
  if (special) return special.name;
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) return value.toExponential(2);
  return String(Number(value.toPrecision(4)));
}

function formatStep(value, step) {
  if (step === null) return formatValue(value);
  const [, decimals = "", exponent = "0"] = /(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(step));
  return value.toFixed(Math.min(20, Math.max(0, decimals.length - Number(exponent))));
}

/** The smallest of 1, 2, 5, 10, 20, 50, … that is at least `least`. */
function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= least);
}

/** Share a width among panels: none gets more than it wants, and what the modest ones leave goes to the others. */
function shareOut(width, wanted) {
  const shares = new Map();
  for (const i of [...wanted.keys()].sort((a, b) => wanted[a] - wanted[b])) {
    shares.set(i, Math.min(wanted[i], width / (wanted.length - shares.size)));
    width -= shares.get(i);
  }
  return wanted.map((_, i) => shares.get(i));
}

const clamp = (value, [low, high]) => Math.min(high, Math.max(low, value));

/* ---- Controls ---- */

// Each maker returns { input, read, write, show }: the element, its value (undefined while it is none), how to set it,
// and how to print it.
const MAKERS = {
  range({ min, max, step, log }) {
    const snap = (value) => {
      if (step === null) return Number(value.toPrecision(3));
      return Number((min + Math.round((value - min) / step) * step).toPrecision(12));
    };
    const bounds = log ? { min: 0, max: LOG_POSITIONS, step: 1 } : { min, max, step };
    const input = element("input", { type: "range", ...bounds });
    const fromPosition = (position) => clamp(snap(min * (max / min) ** (position / LOG_POSITIONS)), [min, max]);
    const toPosition = (value) => (LOG_POSITIONS * Math.log(value / min)) / Math.log(max / min);
    const read = () => (log ? fromPosition(input.valueAsNumber) : snap(input.valueAsNumber));
    const show = (value) => formatStep(value, step);
    const write = (value) => {
      if (read() !== value) input.valueAsNumber = log ? toPosition(value) : value;
      input.setAttribute("aria-valuetext", show(value));
      const share = (input.valueAsNumber - input.min) / (input.max - input.min);
      input.style.setProperty("--filled", `${100 * share}%`);
    };
    return { input, read, write, show };
  },

  number({ min, max, step }) {
    const input = element("input", { type: "number", min, max, step });
    const read = () => (input.validity.valid && input.value ? input.valueAsNumber : undefined);
    const write = (value) => {
      if (read() !== value) input.valueAsNumber = value;
    };
    return { input, read, write, show: (value) => formatStep(value, step) };
  },

  select({ options }) {
    const input = element("select", {}, ...options.map((option, i) => element("option", { value: i }, String(option))));
    const write = (value) => {
      input.selectedIndex = options.indexOf(value);
    };
    return { input, read: () => options[input.selectedIndex], write, show: String };
  },

  checkbox() {
    const input = element("input", { type: "checkbox" });
    const write = (value) => {
      input.checked = value;
    };
    return { input, read: () => input.checked, write, show: (value) => (value ? "on" : "off") };
  },

  text({ max_length }) {
    const input = element("input", { type: "text", maxlength: max_length, spellcheck: "false", autocomplete: "off" });
    const write = (value) => {
      if (input.value !== value) input.value = value;
    };
    return { input, read: () => input.value.toWellFormed?.() ?? input.value, write, show: String };
  },
};

/** A labelled control that follows its trait and sets it. */
function makeControl(control, model, listen) {
  const { name, kind, label } = control;
  const { input, read, write, show } = MAKERS[kind](control);
  input.dataset.control = name;
  const output = element("output", { "data-for": name, "aria-live": "off" });
  const follow = () => {
    write(model.get(name));
    output.textContent = show(model.get(name));
  };
  input.addEventListener("input", () => {
    const value = read();
    if (value === undefined) return;
    model.set(name, value); // redraws at once whatever needs no kernel
    model.save_changes(); // while the kernel is busy, only the newest value waits
  });
  listen(`change:${name}`, follow);
  follow();
  return element("label", { class: `explorer-control explorer-${kind}` }, element("span", {}, label), input, output);
}

/* ---- Heatmaps ---- */

/** One stripe pattern for each kind of value that has no colour. */
const stripes = NOT_FINITE.map(({ ground, stripe, down }) => {
  const tile = element("canvas", { width: 8, height: 8 });
  const pen = tile.getContext("2d");
  pen.fillStyle = ground;
  pen.fillRect(0, 0, 8, 8);
  pen.strokeStyle = stripe;
  pen.lineWidth = 2;
  for (const x of [-8, 0, 8]) {
    pen.moveTo(x, down ? 0 : 8);
    pen.lineTo(x + 8, down ? 8 : 0);
  }
  pen.stroke();
  return pen.createPattern(tile, "repeat");
});

/** A square of the stripes for one kind of value, with its name. */
function keyEntry(kind, name) {
  const swatch = element("canvas", { width: 12, height: 12, class: "explorer-swatch" });
  const pen = swatch.getContext("2d");
  pen.fillStyle = stripes[NOT_FINITE.indexOf(kind)];
  pen.fillRect(0, 0, 12, 12);
  return element("span", {}, swatch, name);
}

/** 256 colours, three bytes each, as 256 pixels. */
function toPixels(table) {
  const pixels = new Uint8ClampedArray(1024).fill(255);
  for (let i = 0; i < 256; i++) {
    for (let j = 0; j < 3; j++) pixels[4 * i + j] = table.getUint8(3 * i + j);
  }
  return new Uint32Array(pixels.buffer);
}

/** Cut `text` with an ellipsis until it is at most `width` wide. */
function fit(pen, text, width) {
  if (pen.measureText(text).width <= width) return text;
  const letters = Array.from(text);
  while (letters.length && pen.measureText(`${letters.join("")}…`).width > width) letters.pop();
  return `${letters.join("")}…`;
}

class HeatmapPanel {
  constructor(announce) {
    this.announce = announce;
    this.canvas = element("canvas", { class: "explorer-picture", tabindex: 0, role: "application" });
    this.pen = this.canvas.getContext("2d");
    this.caption = element("figcaption");
    this.key = element("p", { class: "explorer-key" });
    this.figure = element("figure", { class: "explorer-panel" }, this.caption, this.canvas, this.key);
    this.cells = element("canvas"); // one pixel for each cell
    this.cursor = null; // [row, column] that the reader points at
    this.marked = null; // the row of the word that the reader has chosen above
    this.canvas.addEventListener("pointermove", (event) => this.point(this.cellAt(event)));
    this.canvas.addEventListener("pointerleave", () => this.point(null));
    this.canvas.addEventListener("keydown", (event) => this.move(event));
    this.canvas.addEventListener("blur", () => this.point(null));
  }

  /** Take what the panel is called, how large it is and its colours: all that stays the same from frame to frame. */
  describe(spec, table) {
    this.spec = spec;
    this.pixels = toPixels(table);
    this.caption.textContent = spec.title;
    Object.assign(this.cells, { width: spec.columns, height: spec.rows });
    this.image = this.cells.getContext("2d").createImageData(spec.columns, spec.rows);
    this.labelWidths = {};
    if (this.cursor) this.cursor = [Math.min(this.cursor[0], spec.rows - 1), Math.min(this.cursor[1], spec.columns - 1)];
  }

  /** Take the numbers of one frame and the limits of the colours. */
  fill(values, limits, shift) {
    const [low, high] = (this.limits = limits);
    this.values = values;
    this.shift = shift; // rows that have moved out at the top
    const target = new Uint32Array(this.image.data.buffer);
    const scale = 256 / (high - low);
    let strange = false;
    for (let i = 0; i < values.length; i++) {
      const value = values[i];
      if (Number.isFinite(value)) {
        target[i] = this.pixels[Math.max(0, Math.min(255, Math.floor((value - low) * scale)))];
      } else {
        target[i] = 0; // transparent: paint() lays stripes there
        strange = true;
      }
    }
    this.cells.getContext("2d").putImageData(this.image, 0, 0);
    this.strange = strange ? NOT_FINITE.filter((kind) => values.some(kind.is)) : [];
    const names = this.strange.map(({ name }) => this.inWords(name));
    if (this.key.textContent !== names.join("")) {
      this.key.replaceChildren(...this.strange.map((kind, i) => keyEntry(kind, names[i])));
    }
  }

  /** The numbers of one row. */
  row(index) {
    return this.values.subarray(index * this.spec.columns, (index + 1) * this.spec.columns);
  }

  /** The colour of a finite value: red, green and blue. */
  colour(value) {
    const [low, high] = this.limits;
    const pixel = this.pixels[clamp(Math.floor(((value - low) * 256) / (high - low)), [0, 255])];
    return [0, 8, 16].map((shift) => (pixel >> shift) & 255);
  }

  /** Frame the row of a chosen word if the rows are those words. */
  mark(words, place) {
    this.marked = String(words) === String(this.spec.y_ticks) ? place : null;
  }

  /** A value as it is read out; what NaN stands for is the panel's to say. */
  inWords(value) {
    return value === "NaN" ? this.spec.missing : value;
  }

  label(axis, index) {
    const ticks = this.spec[`${axis}_ticks`];
    const place = axis === "y" && this.spec.shift_rows ? index + this.shift : index;
    return ticks ? ticks[place] : String(place);
  }

  /** Width of the widest label of an axis. */
  widest(axis) {
    const ticks = this.spec[`${axis}_ticks`] ?? [String(this.spec[axis === "x" ? "columns" : "rows"] + this.spec.frames)];
    this.labelWidths[axis] ??= Math.min(96, Math.max(...ticks.map((text) => this.pen.measureText(text).width)));
    return this.labelWidths[axis];
  }

  /* -- Geometry: margins first, then a plot whose cells are square where there is room for it. -- */

  /** Measure the margins; return the least width of the panel and the width that it would fill. */
  measure(style) {
    const { rows, columns } = this.spec;
    this.style = style;
    this.pen.font = style.font;
    this.left = this.widest("y") + 8 + (this.spec.y_label ? LINE + 4 : 0);
    const numbers = [...this.limits, (this.limits[0] + this.limits[1]) / 2].map(formatValue);
    this.right = 12 + BAR + 6 + Math.max(...numbers.map((text) => this.pen.measureText(text).width)) + 2;
    const plot = Math.max(PLOT_WIDTH, columns * Math.min(CELL, PLOT_HEIGHT[1] / rows));
    const least = clamp(columns * NARROW[1], [NARROW[0], PLOT_WIDTH]);
    return [least, plot].map((width) => this.left + width + this.right);
  }

  /** Take a width; return the height that goes with it. */
  allot(width) {
    this.room = Math.max(60, width - this.left - this.right);
    this.natural = clamp(Math.min(this.room / this.spec.columns, CELL) * this.spec.rows, PLOT_HEIGHT);
    return this.natural;
  }

  /** Take the height that panels share, unless it would stretch the cells; return the margin that the labels need. */
  settle(height) {
    this.height = Math.min(height, Math.max(STRETCH * this.natural, 1.5 * LINE * this.spec.rows));
    this.width = Math.min(this.room, Math.max(PLOT_WIDTH, (height * this.spec.columns) / this.spec.rows));
    const cell = this.width / this.spec.columns;
    this.slanted = this.widest("x") > SHORT && this.widest("x") + 6 > cell;
    const labels = this.slanted ? this.widest("x") * 0.71 + 10 : LINE;
    return 6 + labels + (this.spec.x_label ? LINE + 2 : 0);
  }

  /** How many lines the title takes, roughly: panels keep the same room for it, so that their plots start level. */
  titleLines() {
    this.pen.font = this.style.titleFont;
    return Math.ceil((1.1 * this.pen.measureText(this.spec.title).width) / (this.left + this.width + this.right));
  }

  resize(bottom, lines) {
    const ratio = window.devicePixelRatio || 1;
    this.top = 6;
    this.shrunk = this.spec.columns > this.width * ratio || this.spec.rows > this.height * ratio;
    const [width, height] = [this.left + this.width + this.right, this.top + this.height + bottom];
    Object.assign(this.canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
    Object.assign(this.canvas.style, { width: `${width}px`, height: `${height}px` });
    this.figure.style.width = `${width}px`;
    this.caption.style.minHeight = `${1.5 * lines}em`;
    this.pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.bottom = bottom;
  }

  /* -- Painting -- */

  paint() {
    const { pen, left, top, width, height, spec } = this;
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    pen.imageSmoothingEnabled = this.shrunk; // otherwise every cell keeps its sharp edges
    pen.drawImage(this.cells, left, top, width, height);
    this.strange.forEach((kind) => this.paintStripes(kind));
    pen.font = this.style.font;
    pen.fillStyle = pen.strokeStyle = this.style.color;
    pen.lineWidth = 1;
    this.paintRows();
    this.paintColumns();
    this.paintBar();
    if (this.marked !== null) this.paintFrame(this.marked, 0, spec.columns);
    if (this.cursor) this.paintFrame(...this.cursor, 1);
  }

  paintStripes(kind) {
    const { columns, rows } = this.spec;
    const [wide, high] = [this.width / columns, this.height / rows];
    this.pen.beginPath();
    for (let row = 0; row < rows; row++) {
      for (let column = 0, start = 0; column < columns; start = ++column) {
        while (column < columns && kind.is(this.values[row * columns + column])) column++;
        if (column > start) this.pen.rect(this.left + start * wide, this.top + row * high, (column - start) * wide, high);
      }
    }
    this.pen.fillStyle = stripes[NOT_FINITE.indexOf(kind)];
    this.pen.fill();
  }

  paintRows() {
    const { pen, left, top, height, spec } = this;
    const cell = height / spec.rows;
    const step = spec.tile ?? niceStep(13 / cell); // one label for each tile, in its middle
    const first = spec.tile ? spec.tile >> 1 : spec.shift_rows ? (step - (this.shift % step)) % step : 0; // labels travel
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    for (let row = first; row < spec.rows; row += step) {
      pen.fillText(fit(pen, this.label("y", row), 96), left - 7, top + (row + 0.5) * cell);
    }
    if (spec.y_label) this.paintTurned(spec.y_label, LINE / 2, top + height / 2, -Math.PI / 2, "center", height);
  }

  paintColumns() {
    const { pen, left, top, width, height, spec } = this;
    const cell = width / spec.columns;
    const step = spec.tile ?? niceStep((this.slanted ? LINE : this.widest("x") + 8) / cell);
    const y = top + height;
    pen.textAlign = "center";
    pen.textBaseline = "top";
    for (let column = spec.tile ? spec.tile >> 1 : 0; column < spec.columns; column += step) {
      const [text, x] = [this.label("x", column), left + (column + 0.5) * cell];
      if (this.slanted) this.paintTurned(text, x + 3, y + 8, -Math.PI / 4, "right", 96);
      else pen.fillText(fit(pen, text, 96), x, y + 6);
    }
    pen.textAlign = "center";
    pen.textBaseline = "bottom";
    if (spec.x_label) pen.fillText(fit(pen, spec.x_label, width), left + width / 2, y + this.bottom);
  }

  paintTurned(text, x, y, angle, align, room) {
    const { pen } = this;
    pen.save();
    pen.translate(x, y);
    pen.rotate(angle);
    pen.textAlign = align;
    pen.textBaseline = "middle";
    pen.fillText(fit(pen, text, room), 0, 0);
    pen.restore();
  }

  paintBar() {
    const { pen, top, height } = this;
    const [low, high] = this.limits;
    const x = this.left + this.width + 12;
    const bar = new ImageData(new Uint8ClampedArray(this.pixels.slice().reverse().buffer), 1, 256);
    this.bar ??= element("canvas", { width: 1, height: 256 });
    this.bar.getContext("2d").putImageData(bar, 0, 0);
    pen.imageSmoothingEnabled = true;
    pen.drawImage(this.bar, x, top, BAR, height);
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    const marks = height < 3 * LINE ? [0, 1] : [0, 0.5, 1];
    for (const share of marks) {
      const y = clamp(top + height * (1 - share), [top + 5, top + height - 4]);
      pen.fillText(formatValue(low + share * (high - low)), x + BAR + 6, y);
    }
  }

  /** Frame some cells of one row, from `column` on. */
  paintFrame(row, column, columns) {
    const { pen, spec } = this;
    const [wide, high] = [(columns * this.width) / spec.columns, this.height / spec.rows];
    const x = this.left + (column * this.width) / spec.columns;
    const y = this.top + row * high;
    const frame = (grow, color, line) => {
      pen.strokeStyle = color;
      pen.lineWidth = line;
      pen.strokeRect(x - grow, y - grow, wide + 2 * grow, high + 2 * grow);
    };
    frame(1, "#ffffff", 2);
    frame(2.5, "#1a1a1a", 1.5);
  }

  /* -- Reading values -- */

  cellAt({ offsetX, offsetY }) {
    const row = Math.floor(((offsetY - this.top) / this.height) * this.spec.rows);
    const column = Math.floor(((offsetX - this.left) / this.width) * this.spec.columns);
    return row >= 0 && row < this.spec.rows && column >= 0 && column < this.spec.columns ? [row, column] : null;
  }

  move(event) {
    const [lastRow, lastColumn] = [this.spec.rows - 1, this.spec.columns - 1];
    const page = Math.max(1, Math.round(this.spec.rows / 8));
    const steps = {
      ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1],
      PageUp: [-page, 0], PageDown: [page, 0],
      Home: [event.ctrlKey ? -lastRow : 0, -lastColumn], End: [event.ctrlKey ? lastRow : 0, lastColumn],
    };
    if (event.key === "Escape") this.point(null);
    if (!(event.key in steps)) return;
    event.preventDefault();
    const [down, right] = this.cursor ? steps[event.key] : [0, 0]; // the first press shows the first cell
    const [row, column] = this.cursor ?? [0, 0];
    this.point([clamp(row + down, [0, lastRow]), clamp(column + right, [0, lastColumn])]);
  }

  point(cell) {
    if (String(cell) === String(this.cursor)) return;
    this.cursor = cell;
    this.paint();
    this.announce(this.reading());
  }

  /** Where the cursor is and the value there, in words. */
  reading() {
    if (!this.cursor) return "";
    const [row, column] = this.cursor;
    const value = this.inWords(formatValue(this.values[row * this.spec.columns + column]));
    const where = `${this.spec.y_label || "row"} ${this.label("y", row)}, ${this.spec.x_label || "column"} ${this.label("x", column)}`;
    return `${where}: ${value}`;
  }
}

/* ---- The explorer ---- */

function render({ model, el }) {
  const [listen, stop] = listener(model);
  const controls = model.get("_controls");
  const pictures = element("div", { class: "explorer-pictures" });
  const readout = element("p", { class: "explorer-readout", "aria-live": "polite" });
  const description = element("p", { class: "explorer-description", "aria-live": "polite" });
  const error = element("p", { class: "explorer-error", role: "alert", hidden: true });
  const root = element(
    "section",
    { class: "explorer", "aria-label": model.get("title") },
    element("p", { class: "explorer-title" }, model.get("title")),
    element("div", { class: "explorer-controls" }, ...controls.map((control) => makeControl(control, model, listen))),
    pictures, readout, description, error,
  );
  keepKeys(root);
  el.append(root);

  const frame = () => {
    const control = controls.find(({ name }) => name === model.get("_frames"));
    return control ? Math.round((model.get(control.name) - control.min) / control.step) : 0;
  };

  const describe = () => {
    const texts = model.get("_descriptions");
    const text = texts[Math.min(frame(), texts.length - 1)];
    say(description, text);
    for (const picture of pictures.querySelectorAll("canvas.explorer-picture")) {
      const name = picture.closest("figure").querySelector("figcaption").textContent;
      picture.setAttribute("aria-label", name ? `${name}. ${text}` : text);
    }
    for (const picture of pictures.querySelectorAll("img")) picture.alt = text;
  };

  const complain = () => {
    const problem = model.get("error");
    error.hidden = !problem;
    say(error, problem && `${problem}. The picture is the last one that could be drawn.`);
    root.classList.toggle("explorer-stale", Boolean(problem));
  };

  const drawings = model.get("_panels").length ? heatmaps() : figurePicture();
  listen("change:error", complain);
  complain();
  describe();
  return () => {
    stop();
    drawings();
  };

  /** Show the panels of a view and follow them. Returns how to stop. */
  function heatmaps() {
    const hint = "Point at a cell, or focus a picture and press the arrow keys, to read its value.";
    const panels = [];
    let tokens = null; // the words above the panels, where there are any
    let data = null;

    const announce = () => {
      const speaking = panels.find((panel) => panel.cursor);
      const title = panels.length > 1 && speaking?.spec.title ? `${speaking.spec.title}: ` : "";
      const chosen = tokens?.touched ? tokens.reading() : "";
      say(readout, speaking ? title + speaking.reading() : chosen || hint);
      readout.classList.toggle("explorer-hint", !speaking && !chosen);
    };

    const markRows = () => panels.forEach((panel) => panel.mark(tokens?.words, tokens?.place));

    const showWord = () => {
      markRows();
      panels.forEach((panel) => panel.paint());
      announce();
    };

    const describePanels = () => {
      const specs = model.get("_panels");
      while (panels.length < specs.length) panels.push(new HeatmapPanel(announce));
      panels.length = specs.length;
      panels.forEach((panel, i) => panel.describe(specs[i], model.get("_colours")[specs[i].cmap]));
      const { panel, ...words } = model.get("_tokens");
      tokens = panel === undefined ? null : (tokens ?? new TokensPanel(showWord));
      tokens?.describe(words, panels[panel]);
      const parts = [...(tokens ? [tokens.root] : []), ...panels.map(({ figure }) => figure)];
      if (parts.some((part, i) => part !== pictures.children[i]) || pictures.children.length > parts.length) {
        pictures.replaceChildren(...parts);
      }
    };

    const takeData = () => {
      const view = model.get("_data");
      data = new Float32Array(view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength));
    };

    const fill = () => {
      const limits = model.get("_limits");
      let start = 0;
      panels.forEach((panel, i) => {
        const { rows, columns, frames, stride } = panel.spec;
        const size = rows * columns;
        const shift = Math.min(frame(), frames - 1);
        panel.fill(data.subarray(start + shift * stride, start + shift * stride + size), limits[i], shift);
        start += (frames - 1) * stride + size;
      });
      tokens?.paint();
      markRows();
    };

    const arrange = () => {
      const total = pictures.clientWidth;
      if (!total) return; // hidden: the ResizeObserver calls again
      const { color, fontFamily } = getComputedStyle(pictures);
      const style = { color, font: `11px ${fontFamily}`, titleFont: `600 13px ${fontFamily}` };
      const sizes = panels.map((panel) => panel.measure(style));
      const least = Math.max(...sizes.map(([width]) => width));
      const across = clamp(Math.floor((total + GAP) / (least + GAP)), [1, panels.length]);
      const widths = [];
      while (widths.length < panels.length) {
        const row = sizes.slice(widths.length, widths.length + across).map(([, wanted]) => wanted);
        widths.push(...shareOut((row.length * (total + GAP)) / across - row.length * GAP, row));
      }
      const height = Math.max(...panels.map((panel, i) => panel.allot(widths[i])));
      const bottom = Math.max(...panels.map((panel) => panel.settle(height)));
      const lines = Math.max(...panels.map((panel) => panel.titleLines()));
      panels.forEach((panel) => panel.resize(bottom, lines));
      panels.forEach((panel) => panel.paint());
    };

    const redraw = () => {
      fill();
      arrange();
      describe();
      announce();
    };

    // One message from the kernel may change several traits: draw once, when all of them have been set.
    const pending = new Set();
    const later = (task) => () => {
      if (!pending.size) {
        queueMicrotask(() => {
          if (pending.has(takeData)) takeData();
          if (pending.has(describePanels)) describePanels();
          pending.clear();
          redraw();
        });
      }
      pending.add(task);
    };
    listen("change:_panels change:_colours change:_tokens", later(describePanels));
    listen("change:_data", later(takeData));
    listen("change:_limits change:_frames change:_descriptions", later(redraw));
    for (const { name } of controls) {
      listen(`change:${name}`, () => {
        if (name === model.get("_frames")) redraw();
      });
    }

    describePanels();
    takeData();
    fill();
    announce();
    const resizing = new ResizeObserver(arrange);
    resizing.observe(pictures);
    const themes = new MutationObserver(() => requestAnimationFrame(arrange)); // the page hides while its theme changes
    themes.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light"] });
    return () => {
      resizing.disconnect();
      themes.disconnect();
    };
  }

  /** Show the PNG of a figure and follow it. Returns how to stop. */
  function figurePicture() {
    const picture = element("img", { class: "explorer-picture" });
    pictures.append(picture);
    readout.hidden = true;
    let asked = 0;
    let shown = 0;
    let live = true;

    const load = async () => {
      const turn = ++asked;
      const next = new Image();
      const url = (next.src = URL.createObjectURL(new Blob([model.get("_picture")], { type: "image/png" })));
      const ready = await next.decode().then(() => true, () => false); // the old picture stays until then
      if (!ready || !live || turn < shown) return URL.revokeObjectURL(url);
      URL.revokeObjectURL(picture.src);
      shown = turn;
      picture.src = url;
    };
    listen("change:_picture", load);
    listen("change:_descriptions", describe);
    load();
    return () => {
      live = false;
      URL.revokeObjectURL(picture.src);
    };
  }
}

export default { initialize, render };
