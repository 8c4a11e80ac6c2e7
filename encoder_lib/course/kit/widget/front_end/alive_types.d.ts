// What the picture of the whole encoder asks of an engine, what it draws and how it is laid out, for the type checker.

type Part = "position" | "attention" | "residual1" | "norm1" | "feed_forward" | "residual2" | "norm2";

/** The query token cannot attend to the key token, in one layer or all (null), in one head or all. Counted from 0. */
interface Cut {
  /** 0 or 1. */
  side: number;
  layer: number | null;
  head: number | null;
  query: number;
  key: number;
}

/** A part is taken out, in one layer or in all. For the position, every token gets the mean of all position rows. */
interface Knockout {
  part: Part;
  layer: number | null;
}

interface Question {
  texts: string[];
  word: string;
  cuts: Cut[];
  knockouts: Knockout[];
  detail: [layer: number, head: number] | null;
}

/** What one head of one layer computes: (T, K) each, and the scores (T, T). */
interface Detail {
  layer: number;
  head: number;
  query: Float32Array;
  key: Float32Array;
  value: Float32Array;
  scores: Float32Array;
  /** The weighted mean of the values. */
  mixed: Float32Array;
}

/**
 * One sentence's run. L layers, H heads, T tokens. Stations of the residual stream from the bottom: token embedding,
 * embedding (with position, normed), then norm1 and norm2 of each layer: 2 + 2L of them.
 */
interface Sentence {
  tokens: string[];
  /** Of the followed word, or -1. */
  place: number;
  /** Attention weights, (H, T, T) in each layer. */
  weights: Float32Array[];
  /** ‖Σ_h weight · value · W_o‖ from the key (column) to the query (row), (T, T) in each layer. */
  arriving: Float32Array[];
  /** ‖value · W_o‖, (H, T) in each layer. */
  values: Float32Array[];
  /** Cosine with the same vector in the run without interventions, (2 + 2L, T). */
  kept: Float32Array;
  detail: Detail | null;
}

interface Answer {
  layers: number;
  heads: number;
  word: string;
  /** The words that both sentences have. */
  common: string[];
  /** One or two. */
  sentences: Sentence[];
  /** Of the two vectors of the word at each station; null with one sentence or without a common word. */
  word_cosines: Float32Array | null;
  sentence_cosine: number | null;
  /** Whether another model may have computed it than the one that answers now. */
  recorded?: boolean;
}

type Compute = (question: Question) => Promise<Answer>;

interface AliveOptions {
  sentences: 1 | 2;
  /** The layer that is open at first, counted from 1. */
  open: number | null;
  /** Whether the reader first marks where the two vectors of the word will part. */
  predict: boolean;
}

interface AliveSetup {
  compute: Compute;
  question: Question;
  /** A first answer, without interventions, so that the picture does not wait for a computation. */
  answer?: Answer | undefined;
  options?: Partial<AliveOptions>;
  title?: string;
  /** What the reader is told when an answer is long in coming. */
  silence?: string;
  /** Is called with each question that the reader's actions lead to. */
  asked?: (question: Question) => void;
}

type Measure = "arrives" | "weights";
type Scope = "head" | "layer" | "all";

/** What the reader has chosen. */
interface AliveState {
  texts: string[];
  word: string;
  cuts: Cut[];
  knockouts: Knockout[];
  /** The token whose attention is shown; null for the followed word. */
  focus: { side: number; token: number } | null;
  /** Whether it stays when the pointer leaves. */
  pinned: boolean;
  /** The layer at hand, which the chips below are about. */
  layer: number;
  open: number | null;
  /** The head that ribbons show, or all of them. */
  head: number | null;
  measure: Measure;
  /** Where a click takes something out. */
  scope: Scope;
  /** The sentence that is shown where only one fits. */
  side: number;
  /** How far Play has come, from 0 to 1. */
  at: number;
  /** The ribbon under the pointer. */
  pointed: string;
  /** Whether the picture waits for the reader's mark, and the station marked. */
  asking: boolean;
  guess: number | null;
}

type XY = [x: number, y: number];
type Heights = [low: number, high: number];
/** A cubic Bézier curve: four points, x and y in turn. */
type Curve = number[];

/** Where the parts of one layer are, from its lower edge to its upper one. */
interface LayerPlan {
  begin: number;
  /** Where ribbons begin, above what an open layer shows, and where they end. */
  ribbons: Heights;
  plus1: number;
  gate1: number;
  plus2: number;
  gate2: number;
  end: number;
  /** How far the layer is open, from 0 to 1, and its scale. */
  open: number;
  scale: number;
}

interface Lane {
  x: number;
  width: number;
}

interface Plan {
  width: number;
  height: number;
  wide: boolean;
  /** Of the names at the left, and of the strands between the towers. */
  gutter: number;
  centre: number;
  /** Of the strands. */
  middle: number;
  /** The sentences that are shown. */
  sides: number[];
  lanes: Lane[][];
  /** Whether the tokens are written at an angle. */
  turned: boolean;
  right: number;
  bottom: number;
  table: { y: number; plus: number };
  layers: LayerPlan[];
  top: number;
  /** From where to where each station of a lane reaches, and in between, where a part begins to read it. */
  stretches: [low: number, branch: number, high: number][];
  /** Where the strands move to each station's gap. */
  bends: Heights[];
  /** Pixels of a distance of 1 between the strands. */
  radius: number;
}

type PlanOf = (given: { width: number; words: number[][]; open: number[]; side: number }) => Plan;
type LanesOf = (
  words: number[][],
  sides: number[],
  frame: { left: number; room: number; centre: number },
) => Pick<Plan, "lanes" | "turned" | "right">;

/** All that a picture is drawn from. `before` is the answer without interventions. */
interface AliveView {
  /** What puts markup into each group of the drawing. */
  to: import("./alive_drawing.js").Drawing["to"];
  plan: Plan;
  answer: Answer;
  before: Answer;
  state: AliveState;
}

/** What a picture has of the model. Before the first answer it has nothing, and no view. */
interface AliveGot {
  /** The newest. */
  answer: Answer;
  /** On its way there. */
  shown: Answer;
  /** Without interventions. */
  before: Answer;
  /** How far each layer is open. */
  open: number[];
  /** What is drawn. */
  view: AliveView;
}

type Draw = (view: AliveView) => void;
type DrawSide = (view: AliveView, side: number) => void;
type DrawLayer = (view: AliveView, side: number, layer: number) => void;
type DrawToken = (view: AliveView, side: number, token: number, kind: string) => void;

/** How much of each token reaches another in one layer. */
interface Reach {
  T: number;
  amount: (query: number, key: number) => number;
  /** Of the ribbon, in pixels. */
  width: (query: number, key: number) => number;
}

/** What arrives at a token from another one, now and without interventions. */
interface Share {
  key: number;
  name: string;
  amount: number;
  was: number;
}

/** What words are made from. */
type Seen = Pick<AliveView, "answer" | "before" | "state">;

/** An answer as it travels: each array is replaced by its place in one array of float32. */
type Packed<T> = T extends Float32Array
  ? { at: number; size: number }
  : T extends object
    ? { [K in keyof T]: Packed<T[K]> }
    : T;

type Unpacked<T> = T extends { at: number; size: number }
  ? Float32Array
  : T extends object
    ? { [K in keyof T]: Unpacked<T[K]> }
    : T;

/** What the hands on the picture can do. */
interface AliveHands {
  set: (change: Partial<AliveState>) => void;
  stop: (at?: number) => void;
  tell: () => void;
  state: AliveState;
  got: AliveGot;
  toggle: () => void;
  /** Take the reader's mark, or none, and show the strands. */
  guess: (station: number | null) => void;
}

/** What draws the picture. */
type AliveDrawing = import("./alive_drawing.js").Drawing;
