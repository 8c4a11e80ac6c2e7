// The picture of the whole encoder on a page: at once from a recording, and then from MiniLM in the browser.

import { mount } from "./alive.js";
import { same } from "./alive_state.js";
import { element, say } from "./dom.js";
import { unpack } from "./kernel.js";
import { ALONE, CHANGED, MEGABYTES, compute as runMiniLM, WEIGHT } from "./reader.js";
import { viewOf } from "./recording.js";

/** @typedef {{ question: Question, answer: Answer }} Known */

const OFFER = `This was computed beforehand. For your own sentences, and for whatever you cut or take out, MiniLM runs in your browser, which fetches ${Math.round(MEGABYTES)} MB the first time.`;
const FETCHING = `MiniLM is being fetched, ${Math.round(MEGABYTES)} MB, and then computes your change.`;
const RUNS = `MiniLM now runs in your browser, with weights rounded to ten bits, and all numbers of the picture are its own, those from before a change too. Compared with the notebook, attention weights differ by at most ${WEIGHT} and cosines by ${CHANGED}, or by ${ALONE} without residual connections.`;

/**
 * Draw the picture in its place.
 * @param {Pick<Recording, "bytes"> & { header: AliveHeader }} recording
 * @param {HTMLElement} place
 */
export function playAlive({ header: { title, options, answers }, bytes }, place) {
  const data = viewOf(bytes);
  const known = answers.map(({ question, answer }) => ({
    question,
    answer: { ...unpack(answer, data), recorded: true },
  }));
  const [{ question, answer }] = known;
  const notice = makeNotice();
  const root = element("section", { "aria-label": title });
  place.replaceChildren(root);
  const compute = engine(known, notice.during);
  mount(root, { question, compute, answer, options, title });
  root.append(notice.node);
  place.dataset.playing = "";
}

/**
 * Answers questions: the known ones at once, all others by MiniLM, one after another. While it computes, only the
 * newest question waits. Once it has answered one, it answers all, so that numbers side by side come from one model.
 * @param {Known[]} known
 * @param {ReturnType<typeof makeNotice>["during"]} during
 * @returns {Compute}
 */
export function engine(known, during) {
  /** @type {Promise<void> | undefined} */
  let running;
  let [newest, computes] = [0, false];
  return async (question) => {
    newest += 1;
    const turn = newest;
    const found = computes ? undefined : known.find((one) => isAnswered(question, one));
    if (found) return found.answer;
    while (running) await running;
    if (turn !== newest) throw new Error("a newer question has been asked");
    const coming = during((report) => runMiniLM(question, report));
    const idle = () => {
      running = undefined;
    };
    running = coming.then(idle, idle);
    const answer = await coming;
    computes = true;
    return answer;
  };
}

/**
 * Whether an answer is known. A question without a word that all sentences have is about the longest one.
 * @param {Question} question
 * @param {Known} known
 */
function isAnswered({ word, detail, ...asked }, { question, answer }) {
  const { texts, cuts, knockouts } = question;
  if (question.word !== word && answer.common.includes(word)) return false;
  if (!same([asked.texts, asked.cuts, asked.knockouts], [texts, cuts, knockouts])) return false;
  return !detail || same(detail, question.detail);
}

/** The words below the picture: what a change costs, how much of MiniLM has arrived, and how exact it is. */
function makeNotice() {
  const words = element("span", { role: "status" }, OFFER);
  const bar = element("progress", { "aria-label": "How much of MiniLM has arrived", hidden: true });
  /**
   * @template T
   * @param {(report: (fraction: number) => void) => Promise<T>} work
   */
  const during = async (work) => {
    try {
      const done = await work((fraction) => {
        bar.hidden = false;
        bar.value = fraction;
        say(words, FETCHING);
      });
      say(words, RUNS);
      return done;
    } catch (problem) {
      if (!bar.hidden) say(words, OFFER);
      throw problem;
    } finally {
      bar.hidden = true;
    }
  };
  return { node: element("p", { class: "recorded-note recorded-progress" }, bar, words), during };
}
