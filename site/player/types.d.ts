// What the recorder writes and the player reads, for the type checker.

/** Where an array is: its first code, rows, columns, the columns of the array that it is cut from, the step between two
 * codes, and whether a row holds the differences to the row above. */
type ArrayPlace = [begin: number, rows: number, columns: number, stride: number, step: number, above: 0 | 1];

/** One recorded state: the indices of its values, words, panels and arrays, and of the lines of its picture. */
type RecordedState = [
  at: number[],
  descriptions: number,
  panels: number,
  limits: number,
  tokens: number,
  arrays: number[],
  picture: number[],
];

/** A control and its recorded values; null if it takes all values. */
type RecordedControl = ControlSpec & { stops: ControlValue[] | null };

interface Header {
  title: string;
  names: string[];
  controls: RecordedControl[];
  start: Record<string, ControlValue>;
  frames: string;
  colours: Record<string, number[]>;
  values: unknown[];
  states: RecordedState[];
  arrays: ArrayPlace[];
  /** The module that shows what MiniLM computes in the browser, or ""; and the controls for typing. */
  live: "" | "heads";
  typed: ControlSpec[];
  /** The module, and its function, that compute the explorer, or "". */
  computed: string;
  /** The arguments that the explorer was made with. */
  given: Record<string, unknown>;
}

/** A file of the recorder, unzipped: the header, and the bytes of all numbers. */
interface Recording {
  header: Header;
  bytes: Uint8Array<ArrayBuffer>;
}

/** The header of a recording of the whole encoder, which Python writes in kit/widget/alive_messages.py. */
interface AliveHeader {
  title: string;
  options: AliveOptions;
  /** The first one is shown at once. */
  answers: { question: Question; answer: Packed<Answer> }[];
}

/** The header of a recording of a search, which Python writes in kit/widget/search.py. */
interface SearchHeader {
  title: string;
  options: SearchOptions;
  query: SearchQuery;
  /** The vectors of the texts have length 1: (N, D). */
  found: Packed<SearchFound & { vectors: Float32Array }>;
}

/** A linear map with its bias; or the gain and bias of a norm. */
interface Affine {
  weight: Float32Array;
  bias: Float32Array;
}

/** The parameters of one layer, by the names that they have in the course. */
interface Layer {
  attention: { q_proj: Affine; k_proj: Affine; v_proj: Affine; out_proj: Affine };
  norm1: Affine;
  feed_forward: { linear1: Affine; linear2: Affine };
  norm2: Affine;
}

/** MiniLM without its embedding table, which is fetched in pieces. `mean` is the mean of all position rows. */
interface MiniLM {
  vocabulary: Map<string, number>;
  embedding: { position: { weight: Float32Array; mean: Float32Array }; norm: Affine };
  layers: Layer[];
}

/** What interventions change in one layer: where attention is cut, in one head or all, and which parts are taken out. */
interface LayerChange {
  cuts: { head: number | null; query: number; key: number }[];
  out: Part[];
}

/** What interventions change in one sentence. placeless: whether every token gets the mean of all position rows. */
interface Changes {
  placeless: boolean;
  layers: LayerChange[];
}

/** The tensors of one layer: scores and weights (H, T, T), and (T, D) the others. `mixed` enters the output projection. */
interface LayerRun {
  x: Float32Array;
  query: Float32Array;
  key: Float32Array;
  value: Float32Array;
  scores: Float32Array;
  weights: Float32Array;
  mixed: Float32Array;
  attention: Float32Array;
  norm1: Float32Array;
  feed_forward: Float32Array;
  norm2: Float32Array;
}

/** A sentence's run through MiniLM: the rows of the embedding table (T, D), the embedding (T, D), and the layers. */
interface Run {
  tokens: string[];
  token: Float32Array;
  embedding: Float32Array;
  layers: LayerRun[];
}

/** A text, its tokens, its vector of length 1, and the attention weights (H, T, T) of each layer. */
interface Reading {
  text: string;
  tokens: string[];
  vector: Float32Array;
  weights: Float32Array[];
}
