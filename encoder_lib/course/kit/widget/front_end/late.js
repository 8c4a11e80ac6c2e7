// A work-around for anywidget 0.11.0, where a front end that loads late is drawn but never hears from the kernel.

/**
 * Give a widget that has loaded late its ears back.
 *
 * In anywidget 0.11.0, `AnyModel._handle_comm_msg` (packages/anywidget/src/widget.ts) awaits `Runtime.ready` before it
 * takes a message. `Runtime` (runtime.ts) rejects that promise two seconds after it was made, "Failed to initialize
 * model.", even if the front end is merely slow to load on a busy machine, and from then on every message is dropped.
 * Waiting came with pull request 804 of manzt/anywidget, the limit with 828. Once the limit no longer rejects what
 * messages wait for, this function can go; tests/browser/test_late_front_end.py shows it.
 *
 * An event brings the model itself; if that drops a message without a meaning, the base class takes over, and asks for
 * what was missed.
 * @param {{ model: Model }} props
 */
export function initialize({ model }) {
  /** @param {KernelModel} itself */
  const ask = (itself) => {
    itself._handle_comm_msg({ content: { data: {} } }).catch(() => {
      const hear = Object.getPrototypeOf(Object.getPrototypeOf(itself))._handle_comm_msg;
      itself.comm.on_msg((message) => hear.call(itself, message));
      itself.comm.send({ method: "request_state" });
    });
  };
  model.on("change:_loaded", ask); // known on this page alone
  model.set("_loaded", true);
  model.off("change:_loaded", ask);
}
