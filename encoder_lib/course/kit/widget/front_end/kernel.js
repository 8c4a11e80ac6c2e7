// Widgets that ask the kernel: a question is sent as a message, and its answer comes back as numbers in one buffer.

import { stayInView } from "./below.js";
import { element } from "./dom.js";

const SILENCE = "No answer from the kernel yet. Another cell may be running; if not, run this cell again.";
export const PATIENCE = 4000; // milliseconds without an answer, after which the reader is told

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
const kernelEngine = (model) => {
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

/** Draw a widget that asks. `mount` draws it, and returns how to follow a question that Python sets, and how to stop. @template Asked, Answered, Options @param {AskedProps<Asked, Answered, Options>} props @param {(root: HTMLElement, given: AskedSetup<Asked, Answered, Options>) => AskedView<Asked>} mount */
export const renderAsking = ({ model, el }, mount) => {
  const [title, question, data] = [model.get("title"), model.get("_question"), model.get("_data")];
  const root = el.appendChild(element("section", { "aria-label": title }));
  const [compute, leave] = kernelEngine(model);
  const answer = data.byteLength ? /** @type {any} */ (unpack(model.get("_answer"), data)) : undefined;
  const options = model.get("_options");
  const asked = (/** @type {typeof question} */ asked) => model.set("_question", asked); // for another view
  const { follow, stop } = mount(root, { compute, question, answer, options, title, silence: SILENCE, asked });
  const hear = () => follow(model.get("_question"));
  model.on("change:_question", hear);
  stayInView(root);
  return () => {
    model.off("change:_question", hear);
    leave();
    stop?.();
  };
};
