// Whether the kernel hears: it has an echo for each message, unless it is busy with something else or was restarted.

const PATIENCE = 2000; // milliseconds without an echo, after which the reader is told
const SILENCE = "No answer from the kernel. Another cell may be running; if not, run this cell again.";

/**
 * How to send a model's changes. `tell` is called with words when they have no echo, and with "" when one has come.
 * @param {Model} model
 * @param {Listen} listen
 * @param {(words: string) => void} tell
 * @returns {() => void}
 */
export function sender(model, listen, tell) {
  let timer = 0;
  listen("msg:custom", () => {
    clearTimeout(timer);
    timer = 0;
    tell("");
  });
  return () => {
    timer ||= setTimeout(() => tell(model.silence ?? SILENCE), PATIENCE);
    model.save_changes();
  };
}
