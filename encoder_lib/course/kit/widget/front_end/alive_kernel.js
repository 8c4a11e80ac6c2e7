// The engine in the kernel: a question is sent as a message, and its answer comes back as numbers in one buffer.

/** An answer from its header, in which each array is a place in `data`: float32, the lowest byte first. @template Header @param {Header} header @param {DataView<ArrayBuffer>} data @returns {Unpacked<Header>} */
export const unpack = (header, { buffer, byteOffset, byteLength }) => {
  const numbers = new Float32Array(buffer.slice(byteOffset, byteOffset + byteLength)); // a copy, as it may lie at an odd place
  /** @param {any} value @returns {any} */
  const read = (value) => {
    if (!value || typeof value !== "object") return value;
    if (Array.isArray(value)) return value.map(read);
    if ("at" in value) return numbers.subarray(value.at, value.at + value.size);
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, read(inner)]));
  };
  return read(header);
};

/** How to ask the kernel: [compute, stop]. @template Asked, Answered @param {AskedModel<Asked, Answered>} model @returns {[(question: Asked) => Promise<Answered>, () => void]} */
export const kernelEngine = (model) => {
  const view = crypto.getRandomValues(new Uint32Array(2)).join("-"); // every view of a widget hears all answers
  /** @type {Map<string, { resolve: (answer: Answered) => void, reject: (error: Error) => void }>} */
  const waiting = new Map();
  let asked = 0;
  /** @param {KernelReply<Answered>} reply @param {DataView<ArrayBuffer>[]} buffers */
  const hear = (reply, buffers) => {
    const question = waiting.get(reply?.id);
    waiting.delete(reply?.id);
    if ("error" in reply) question?.reject(new Error(reply.error));
    else question?.resolve(/** @type {any} */ (unpack(reply.answer, buffers[0])));
  };
  model.on("msg:custom", hear);
  /** @param {Asked} question @returns {Promise<Answered>} */
  const compute = (question) =>
    new Promise((resolve, reject) => {
      const id = `${view}-${++asked}`;
      waiting.set(id, { resolve, reject });
      model.send({ id, question });
    });
  return [compute, () => model.off("msg:custom", hear)];
};
