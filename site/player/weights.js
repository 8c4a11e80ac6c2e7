// MiniLM's weights, from the files that site/minilm.py writes beside the player.

import { D } from "./minilm.js";

const HOME = new URL("../minilm/", import.meta.url);
const PARTS = ["embedding", "layer1", "layer2", "layer3", "layer4", "layer5", "layer6"];
const GROUP = 64; // numbers of a row with one scale
const ROWS = 32; // of the embedding table in a file

/**
 * The vocabulary, and all weights except the embedding table.
 * @param {(bytes: number) => void} report hears how many bytes have arrived
 * @returns {Promise<MiniLM>}
 */
export async function fetchModel(report) {
  const names = ["vocabulary.txt", ...PARTS.map((part) => `${part}.safetensors`)];
  const [text, ...files] = await Promise.all(names.map((name) => fetchBytes(name, report)));
  const [embedding, ...layers] = files.map((file) => nested(unpack(file)));
  const words = new TextDecoder().decode(text).split("\n");
  return { vocabulary: new Map(words.map((word, id) => [word, id])), embedding, layers };
}

/** @type {Map<number, Promise<Float32Array>>} */
const tables = new Map();

/**
 * A token's row of the embedding table, whose pieces are fetched when they are needed.
 * @param {number} id
 */
export async function fetchWord(id) {
  const piece = Math.floor(id / ROWS);
  const coming = tables.get(piece) ?? fetchBytes(`words/${piece}.safetensors`).then((file) => unpack(file).weight);
  tables.set(piece, coming);
  coming.catch(() => tables.delete(piece)); // so that the next text asks for it again
  const row = id % ROWS;
  return (await coming).subarray(row * D, (row + 1) * D);
}

/**
 * @param {string} name
 * @param {(bytes: number) => void} [report]
 */
async function fetchBytes(name, report) {
  const answer = await fetch(new URL(name, HOME)).catch(() => {
    throw new Error("the site does not answer, you may be offline");
  });
  if (!answer.ok || !answer.body) throw new Error(`the site answers ${answer.status} for ${name}`);
  const counted = new TransformStream({
    transform(bytes, out) {
      report?.(bytes.length);
      out.enqueue(bytes);
    },
  });
  return new Response(answer.body.pipeThrough(counted)).arrayBuffer();
}

/**
 * The tensors of a safetensors file by name; each matrix is assembled from its three parts.
 * @param {ArrayBuffer} file
 */
export function unpack(file) {
  const end = 8 + Number(new DataView(file).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(file, 8, end - 8)));
  /** @param {string} name */
  const bytes = (name) => file.slice(end + header[name].data_offsets[0], end + header[name].data_offsets[1]);
  /** @type {Record<string, Float32Array>} */
  const numbers = {};
  for (const name of Object.keys(header)) {
    const matrix = name.replace(/\.high$/, "");
    if (matrix !== name) numbers[matrix] = matrixOf(bytes(name), bytes(`${matrix}.low`), bytes(`${matrix}.scale`));
    if (header[name].dtype === "F32") numbers[name] = new Float32Array(bytes(name));
  }
  return numbers;
}

/**
 * Number = (4 · high + low) · scale; `packed` in site/minilm.py describes the layout.
 * @param {ArrayBuffer} high eight bits of a number
 * @param {ArrayBuffer} low two bits, of four numbers in a byte
 * @param {ArrayBuffer} scale the upper half of a float32, for 64 numbers
 */
function matrixOf(high, low, scale) {
  const [upper, lower] = [new Int8Array(high), new Uint8Array(low)];
  const scales = new Float32Array(Uint32Array.from(new Uint16Array(scale), (half) => half << 16).buffer);
  const numbers = new Float32Array(upper.length);
  for (let i = 0; i < upper.length; i++) {
    numbers[i] = (4 * upper[i] + ((lower[i >> 2] >> (2 * (i & 3))) & 3)) * scales[Math.floor(i / GROUP)];
  }
  return numbers;
}

/**
 * `{ "norm1.bias": … }` as `{ norm1: { bias: … } }`.
 * @param {Record<string, Float32Array>} numbers
 */
function nested(numbers) {
  /** @type {any} */
  const all = {};
  for (const [name, value] of Object.entries(numbers)) {
    const path = name.split(".");
    const last = path.pop() ?? "";
    path.reduce((part, step) => (part[step] ??= {}), all)[last] = value;
  }
  return all;
}
