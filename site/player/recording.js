// The files that the recorder writes: unpacked, and their numbers and pictures as explorers want them.

const MISSING = -32768; // the code of NaN
const HEADER = 122; // bytes of a bitmap before its pixels, of version 4

/**
 * @param {string} url
 * @returns {Promise<Recording>}
 */
export async function fetchRecording(url) {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`expected a recording at ${url}, got ${answer.status}`);
  const file = await answer.blob();
  const packed = new DataView(await file.slice(0, 4).arrayBuffer()).getUint32(0, true);
  const pictures = file.slice(4 + packed);
  const opened = file
    .slice(4, 4 + packed)
    .stream()
    .pipeThrough(new DecompressionStream("gzip"));
  const bytes = new Uint8Array(await new Response(opened).arrayBuffer());
  const end = 4 + new DataView(bytes.buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, end)));
  return { header, codes: joined(bytes.subarray(end)), pictures };
}

/**
 * Whole numbers whose lower bytes come first, and then all higher ones.
 * @param {Uint8Array} planes
 */
export function joined(planes) {
  const count = planes.length / 2;
  return Int16Array.from({ length: count }, (_, i) => planes[i] | (planes[count + i] << 8));
}

/**
 * The numbers of some arrays, one after another.
 * @param {Recording} recording
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
  const row = new Int16Array(columns); // which wraps around, as the differences do
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < columns; c++) {
      row[c] = codes[begin + r * stride + c] + (above ? row[c] : 0);
      numbers[r * columns + c] = row[c] === MISSING ? Number.NaN : row[c] * step;
    }
  }
}

/**
 * A picture as BMP: what was stored of it, drawn on the one before.
 * @param {Recording} recording
 * @param {number} place
 */
export async function pictureOf({ header, pictures }, place) {
  const [begin, length, before] = header.pictures[place];
  const layers = [[begin, length]];
  if (before >= 0) layers.unshift(header.pictures[before].slice(0, 2));
  const images = await Promise.all(
    layers.map(([from, size]) => createImageBitmap(pictures.slice(from, from + size, "image/webp"))),
  );
  const canvas = new OffscreenCanvas(images[0].width, images[0].height);
  const pen = canvas.getContext("2d");
  if (!pen) throw new Error("this browser draws nothing on a canvas");
  for (const image of images) pen.drawImage(image, 0, 0);
  return bitmapOf(pen.getImageData(0, 0, canvas.width, canvas.height));
}

/**
 * The pixels behind a header: a browser that is busy takes a second to pack them as PNG.
 * @param {ImageData} image
 */
function bitmapOf({ data, width, height }) {
  const view = new DataView(new ArrayBuffer(HEADER + data.length));
  view.setUint16(0, 0x424d); // "BM"
  const masks = [0xff, 0xff00, 0xff0000, 0xff000000]; // red, green, blue and opacity, as a canvas has them
  const fields = { 2: HEADER + data.length, 10: HEADER, 14: HEADER - 14, 18: width, 22: -height, 34: data.length };
  for (const [at, value] of Object.entries(fields)) view.setInt32(Number(at), value, true); // rows from the top: -height
  view.setUint16(26, 1, true); // one plane
  view.setUint16(28, 32, true); // bits of a pixel
  view.setUint32(30, 3, true); // colours by masks
  masks.forEach((mask, i) => {
    view.setUint32(54 + 4 * i, mask, true);
  });
  view.setUint32(70, 0x73524742, true); // "sRGB"
  new Uint8Array(view.buffer, HEADER).set(data);
  return view;
}
