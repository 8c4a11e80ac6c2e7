// Reads the files that the recorder writes.

const MISSING = -32768; // the code of NaN

/**
 * @param {string} url
 * @returns {Promise<{ header: any, bytes: Uint8Array<ArrayBuffer> }>}
 */
export async function fetchRecording(url) {
  const answer = await fetch(url);
  if (!answer.ok || !answer.body) throw new Error(`expected a recording at ${url}, got ${answer.status}`);
  const opened = answer.body.pipeThrough(new DecompressionStream("gzip"));
  const all = new Uint8Array(await new Response(opened).arrayBuffer());
  const end = 4 + new DataView(all.buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(all.subarray(4, end)));
  return { header, bytes: all.subarray(end) };
}

/** @param {Uint8Array<ArrayBuffer>} bytes */
export const viewOf = ({ buffer, byteOffset, byteLength }) => new DataView(buffer, byteOffset, byteLength);

/**
 * Integers of 16 bits, of which all lower bytes come first, and then all higher ones.
 * @param {Uint8Array} planes
 */
export function joined(planes) {
  const count = planes.length / 2;
  return Int16Array.from({ length: count }, (_, i) => planes[i] | (planes[count + i] << 8));
}

/**
 * The numbers of some arrays, one after another.
 * @param {{ header: Header, codes: Int16Array }} recording
 * @param {number[]} arrays
 */
export function numbersOf({ header, codes }, arrays) {
  const places = arrays.map((array) => header.arrays[array]);
  const numbers = new Float32Array(places.reduce((sum, [, rows, columns]) => sum + rows * columns, 0));
  let start = 0;
  for (const place of places) {
    fill(numbers.subarray(start), codes, place);
    start += place[1] * place[2];
  }
  return numbers;
}

/**
 * @param {Float32Array} numbers
 * @param {Int16Array} codes
 * @param {ArrayPlace} place
 */
function fill(numbers, codes, [begin, rows, columns, stride, step, above]) {
  const row = new Int16Array(columns); // 16 bits, as the differences wrap around
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < columns; c++) {
      row[c] = codes[begin + r * stride + c] + (above ? row[c] : 0);
      numbers[r * columns + c] = row[c] === MISSING ? Number.NaN : row[c] * step;
    }
  }
}
