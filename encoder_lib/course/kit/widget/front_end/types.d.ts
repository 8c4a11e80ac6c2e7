// What travels from Python and between the modules, for the type checker. Lengths are CSS pixels.

/** What a control can hold. */
type ControlValue = number | string | boolean;

/** A slider. Without a `step`, which a logarithmic one may lack, it takes every number. */
interface RangeSpec {
  kind: "range";
  name: string;
  label: string;
  min: number;
  max: number;
  step: number | null;
  log: boolean;
}

interface SelectSpec {
  kind: "select";
  name: string;
  label: string;
  options: (string | number)[];
}

interface CheckboxSpec {
  kind: "checkbox";
  name: string;
  label: string;
}

interface TextSpec {
  kind: "text";
  name: string;
  label: string;
  max_length: number;
}

/** Work that goes on round by round. */
interface RoundsSpec {
  kind: "rounds";
  name: string;
  label: string;
  max: number;
}

type ControlSpec = RangeSpec | SelectSpec | CheckboxSpec | TextSpec | RoundsSpec;

/** A control on the page. */
interface Input<Value extends ControlValue = ControlValue> {
  input: HTMLInputElement | HTMLSelectElement;
  read(): Value;
  write(value: Value): void;
  /** The value in words. */
  show(value: Value): string;
}

/** What a heatmap is called and how its numbers are cut into frames: `Heatmap.to_spec` in views.py. */
interface PanelSpec {
  title: string;
  x_label: string;
  y_label: string;
  x_ticks: string[] | null;
  y_ticks: string[] | null;
  cmap: string;
  rows: number;
  columns: number;
  frames: number;
  stride: number;
  /** What NaN stands for. */
  missing: string;
  tile: number | null;
  shift_rows: boolean;
  /** The controls that a click on a tile sets: to its row, and to its column. */
  picks?: [row: string, column: string];
  /** For each cell, the checkbox that a click on it switches. */
  toggles?: string[][];
  /** What is drawn of points in a plane, whose coordinates are the columns; a heatmap has none. */
  plane?: PlaneSpec;
  /** What is drawn of boxes, whose edges and opacity are the columns. */
  boxes?: BoxesSpec;
  bars?: BarsSpec;
}

/** Boxes that are laid out anew from frame to frame: `Boxes.to_spec` in boxes.py. */
interface BoxesSpec {
  /** Width and height of the picture in the unit of the boxes. */
  size: [width: number, height: number];
  /** For each box a role of the palette, a look, or its place among the colours of words. */
  colours: (string | number)[];
  /** For each frame, or for all of them, a text for each box. */
  labels: string[][];
  /** For each box the frame that a click on it leads to, or -1; or no such numbers at all. */
  steps: number[];
  /** The least width that leaves room for them. */
  least: number;
  /** Whether the texts are as large as the words of a drawing. */
  large: boolean;
  /** How much of its height a box without a label takes. */
  slim: number;
}

/** Bars, which are points of a plane: `Bars.to_spec` in bars.py. After them come as many outlines, and the mean and the standard deviation as one point. */
interface BarsSpec {
  count: number;
  /** The title of each frame. */
  titles: string[];
}

type PathLook = "thin" | "thick" | "dashed";

/** Points in a plane: `Plane.to_spec` in plane.py. */
interface PlaneSpec {
  names: string[];
  /** For each point, the place of its colour among the colours of words. */
  colours: number[];
  x_limits: Limits;
  y_limits: Limits;
  /** How much wider than high the picture is, where there is room. */
  wide: number;
  /** Whether named points are tips of arrows from the origin, and glide around it. */
  arrows: boolean;
  turns: boolean;
  /** The radius of a circle around the origin, 0 for none; the two points between whose arrows the angle is shown. */
  circle: number;
  angle: [from: number, to: number] | null;
  /** Points that are joined by a line. */
  paths: [points: number[], look: PathLook][];
  /** Whether points without a name are small dots. */
  dots: boolean;
  /** Points that are open rings, and those around a tinted area. */
  rings: number[];
  area: number[];
  /** Points that can be dragged, and the two controls that have their numbers. */
  drags?: [point: number, x: string, y: string][];
}

/** The name of a point, and where it is painted. */
interface PlacedName {
  i: number;
  /** Its left end, and the middle of its height. */
  x: number;
  y: number;
  width: number;
}

/** The sliders that the handles of a plane move. */
interface Ranges {
  of(name: string): RangeSpec | null;
  value(name: string): number;
  move(values: Record<string, number>): void;
}

/** A plane as it is painted, with what its handles need of it. */
interface PlaneOnPage {
  canvas: HTMLCanvasElement;
  spec: PlaneSpec;
  pixel(point: number): number[];
  placeOf(right: number, down: number): number[];
}

/** The words above the panels, and the panel whose rows they are. */
interface TokensSpec {
  panel: number;
  title: string;
  chosen: number;
}

/** The traits of an explorer, apart from its controls. */
interface ExplorerTraits {
  title: string;
  error: string;
  _controls: ControlSpec[];
  _descriptions: string[];
  _panels: PanelSpec[];
  _limits: Limits[];
  _colours: Record<string, DataView<ArrayBuffer>>;
  _data: DataView<ArrayBuffer>;
  _frames: string;
  _tokens: TokensSpec | { panel?: undefined };
  _picture: DataView<ArrayBuffer>;
}

/** The names of the columns, above those of the rows first; the rows, each after its name; which columns hold text. */
interface TableResult {
  kind: "table";
  head: string[];
  body: string[][];
  texts: number[];
}

/** What a question reveals: the index of the right choice, what one sees and why, and the result. */
interface Told {
  answer: number;
  finding: string;
  result:
    | { kind?: undefined }
    | { kind: "picture"; svg: string; phone?: string }
    | { kind: "text"; text: string }
    | TableResult;
}

/** The traits of a question. */
interface PredictionTraits {
  choice: number | null;
  committed: boolean;
  revealed: boolean;
  _prompt: string;
  _choices: string[];
  /** Empty until the reveal. */
  _outcome: Told | { answer?: undefined };
}

/** A widget's model, as anywidget hands it out. */
interface Model {
  set(name: string, value: unknown): void;
  save_changes(): void;
  /** What the reader is told when there is no echo, where there is no kernel. */
  silence?: string;
  on(events: string, callback: (model: KernelModel) => void): void;
  off(events: string, callback: (model: KernelModel) => void): void;
}

interface ExplorerModel extends Model {
  get<Name extends keyof ExplorerTraits>(name: Name): ExplorerTraits[Name];
  get(control: string): ControlValue;
}

interface PredictionModel extends Model {
  get<Name extends keyof PredictionTraits>(name: Name): PredictionTraits[Name];
}

/** The model behind it, as ipywidgets has it. */
interface KernelModel {
  _handle_comm_msg(message: object): Promise<void>;
  comm: { on_msg(callback: (message: object) => void): void; send(content: object): void };
}

/** Calls back at these events for as long as a view lives. */
type Listen = (events: string, callback: () => void) => void;

/** The smallest and the largest colour. */
type Limits = [low: number, high: number];

/** [row, column]. */
type Cell = [row: number, column: number];

/** What one panel shows: the numbers of one frame, row by row, and `shift`, the rows that have left at the top. */
interface Matrix {
  spec: PanelSpec;
  title: string;
  palette: Uint32Array;
  values: Float32Array;
  limits: Limits;
  shift: number;
  /** The step that is shown, in words, and the longest such words. */
  step?: { now: string; longest: string } | undefined;
}

/** Values that have no colour are striped: what they are called, the ground, the stripes and the way these run. */
interface NotFinite {
  name: string;
  is(value: number): boolean;
  ground: string;
  stripe: string;
  down: boolean;
}

/** What the page gives a picture: the colour of text, its fonts, and how many pixels make a CSS pixel. */
interface Style {
  colour: string;
  font: string;
  titleFont: string;
  ratio: number;
}

/** What the layout of one panel depends on: how many cells, and how wide its texts are. */
interface PanelSizes {
  rows: number;
  columns: number;
  /** The widest label of a column, of a row, of the colour bar; and the title on one line. */
  columnLabels: number;
  rowLabels: number;
  numbers: number;
  title: number;
  /** The least width of the plot, where its cells do not say it. */
  least?: number;
  /** Whether the axes have names. */
  named: { x: boolean; y: boolean };
  /** Whether it needs all the width, so that the panels stand below one another. */
  alone?: boolean;
}

/** Where everything of one panel stands: a plot with margins, which hold the labels and the colour bar. */
interface PanelLayout {
  left: number;
  top: number;
  width: number;
  height: number;
  bottom: number;
  /** The whole picture, margins included. */
  size: { width: number; height: number };
  slanted: boolean;
  /** Every how many rows and columns there is room for a label. */
  every: { row: number; column: number };
  titleLines: number;
}

/** All that a picture is painted from. */
interface Scene {
  matrix: Matrix;
  /** One pixel for each cell. */
  cells: HTMLCanvasElement;
  strange: NotFinite[];
  layout: PanelLayout;
  style: Style;
  /** The row of the word that the reader has chosen above. */
  marked: number | null;
  /** The cell that the reader points at, or the first one of the tile. */
  cursor: Cell | null;
  /** The first cell of the tile that is shown large. */
  chosen: Cell | null;
}

/** What is searched for, and in which texts. */
interface SearchQuery {
  question: string;
  texts: string[];
}

/** The cosine of each text with the question. */
interface SearchFound {
  cosines: Float32Array;
}

interface SearchOptions {
  /** How many texts are allowed, and how many characters a text or question may have. */
  fewest: number;
  most: number;
  longest: number;
}

interface SearchSetup {
  compute: (query: SearchQuery) => Promise<SearchFound>;
  query: SearchQuery;

  found: SearchFound | undefined;
  options: SearchOptions;
  title: string;
  /** What the reader is told when an answer takes long. */
  silence: string;
  /** Whether only this query is shown, until `unlock` is called. */
  locked?: boolean;
}

/** The model of a widget whose front end asks by messages. */
interface AskedModel<Asked, Answered, Options = unknown> {
  get(name: "title"): string;
  get(name: "_question"): Asked;
  get(name: "_options"): Options;
  get(name: "_answer"): Packed<Answered>;
  get(name: "_data"): DataView<ArrayBuffer>;
  set(name: "_question", question: Asked): void;
  send(content: { id: string; question: Asked }): void;
  on(events: string, callback: (reply: KernelReply<Answered>, buffers: DataView<ArrayBuffer>[]) => void): void;
  off(events: string, callback: (reply: KernelReply<Answered>, buffers: DataView<ArrayBuffer>[]) => void): void;
}

interface AskedProps<Asked, Answered, Options> {
  model: AskedModel<Asked, Answered, Options>;
  el: HTMLElement;
}

/** What a widget that asks is drawn from. */
interface AskedSetup<Asked, Answered, Options> {
  compute: (question: Asked) => Promise<Answered>;
  question: Asked;
  /** Nothing where Python has not computed one. */
  answer: Answered | undefined;
  options: Options;
  title: string;
  silence: string;
  /** Is called with each question that the reader's actions lead to. */
  asked: (question: Asked) => void;
}

/** How a widget that asks follows a question that Python sets, and how it stops. */
interface AskedView<Asked> {
  follow: (question: Asked) => void;
  stop?: () => void;
}

type KernelReply<Answered> = { id: string; answer: Packed<Answered> } | { id: string; error: string };
