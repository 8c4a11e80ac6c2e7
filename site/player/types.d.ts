// What the recorder writes, and what the player makes of it, for the type checker.

/** Where an array lies: its first code, rows, columns, the columns of the array it is cut from, its step, differences. */
type ArrayPlace = [begin: number, rows: number, columns: number, stride: number, step: number, above: 0 | 1];

/** One recorded state: the places of its values, of what is said and drawn, of its arrays, and of its picture's lines. */
type RecordedState = [
  at: number[],
  descriptions: number,
  panels: number,
  limits: number,
  tokens: number,
  way: number,
  arrays: number[],
  picture: number[],
];

/** A control, and the values at which it stops; null where it takes all. */
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
  /** What shows a reading of MiniLM, of an explorer that it can bring alive, or "", and its controls with a kernel. */
  live: "" | "heads" | "walk";
  typed: ControlSpec[];
  /** The module and function that compute the explorer, or "". */
  computed: string;
  /** What the explorer was made with. */
  given: Record<string, unknown>;
}

/** A file of the recorder, unpacked: the header, and the codes of all arrays. */
interface Recording {
  header: Header;
  codes: Int16Array;
}

/** What the page of an answer holds: what is told when one asks to be shown, and after a commitment to each choice. */
interface Answers {
  shown: Told;
  chosen: Told[];
  /** The way around the heatmaps of its picture, or "". */
  heatmaps: string;
}

/** A map with its constants, or what stretches and shifts a normalised row. */
interface Affine {
  weight: Float32Array;
  bias: Float32Array;
}

/** The weights of one layer, by the names that they have in the course. */
interface Layer {
  attention: { q_proj: Affine; k_proj: Affine; v_proj: Affine; out_proj: Affine };
  norm1: Affine;
  feed_forward: { linear1: Affine; linear2: Affine };
  norm2: Affine;
}

/** MiniLM without its word table, which is fetched in pieces. */
interface MiniLM {
  vocabulary: Map<string, number>;
  embedding: { position: { weight: Float32Array }; norm: Affine };
  layers: Layer[];
}

/**
 * A text, and what MiniLM makes of it: its tokens, its vector of length 1, the vectors (T, D)
 * at each station of the way, and the weights (H, T, T) of each layer.
 */
interface Reading {
  text: string;
  tokens: string[];
  vector: Float32Array;
  stations: Float32Array[];
  weights: Float32Array[];
}
