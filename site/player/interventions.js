// Runs of MiniLM under interventions. What a layer gives depends on its own changes and on those below it. So each layer
// is kept under a name that lists these changes, and only the layers from the lowest new change upwards are computed. In
// these layers, the tokens that the change has not reached yet keep what they have without changes.

import { embed, encodeLayer } from "./minilm.js";

const KEPT = 96; // layers: 16 runs

/**
 * What the cuts and knockouts of a question change in one sentence.
 * @param {Pick<Question, "cuts" | "knockouts">} question
 * @param {number} side 0 for the first sentence, 1 for the second
 * @param {number} layers
 * @returns {Changes}
 */
export function changesOf({ cuts, knockouts }, side, layers) {
  /** @param {{ layer: number | null }} change @param {number} n */
  const concerns = ({ layer }, n) => layer === null || layer === n;
  return {
    placeless: knockouts.some(({ part }) => part === "position"),
    layers: Array.from({ length: layers }, (_, n) => ({
      cuts: cuts.filter((cut) => cut.side === side && concerns(cut, n)),
      out: knockouts.filter((knockout) => concerns(knockout, n)).map(({ part }) => part),
    })),
  };
}

/**
 * A name that is the same for changes that do the same.
 * @param {LayerChange} change
 */
function nameOf({ cuts, out }) {
  const parts = out.filter((part) => part !== "position");
  return [...new Set([...parts, ...cuts.map(({ head, query, key }) => `${head},${query},${key}`)])].sort().join(" ");
}

/** The runs of one model. */
export class Runs {
  /** @type {Map<string, LayerRun>} */
  kept = new Map();
  /** How many layers have been computed so far. */
  computed = 0;

  /** @param {Pick<MiniLM, "embedding" | "layers">} model */
  constructor(model) {
    this.model = model;
  }

  /**
   * One sentence through the encoder.
   * @param {string[]} tokens
   * @param {Float32Array[]} words the row of the embedding table for each token
   * @param {Changes} [changes]
   * @param {Run} [before] the same sentence without changes
   * @returns {Run}
   */
  run(tokens, words, changes = changesOf({ cuts: [], knockouts: [] }, 0, this.model.layers.length), before) {
    const { placeless, layers } = changes;
    const { token, embedding } = embed(this.model.embedding, words, placeless);
    let name = `${placeless} ${tokens.join(" ")}`;
    let x = /** @type {Float32Array} */ (embedding);
    const passed = this.model.layers.map((parameters, n) => {
      name += `\n${nameOf(layers[n])}`;
      const layer = this.kept.get(name) ?? encodeLayer(x, parameters, layers[n], before?.layers[n]);
      this.computed += this.kept.has(name) ? 0 : 1;
      this.kept.delete(name); // and put back as the newest
      this.kept.set(name, layer);
      x = layer.norm2;
      return layer;
    });
    for (const old of [...this.kept.keys()].slice(0, -KEPT)) this.kept.delete(old);
    return { tokens, token, embedding, layers: passed };
  }
}
