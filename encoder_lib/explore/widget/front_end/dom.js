// Helpers for the front end of every widget.

/** Make an element. Strings among the children become text, never markup. */
function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "boolean") node[name] = value;
    else node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

/** Set the text of a live region; a screen reader hears it only when it is new. */
function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Keep key presses inside `node`: outside, JupyterLab would take arrows as cell moves and "d d" as "delete cell". */
function keepKeys(node) {
  node.dataset.lmSuppressShortcuts = "true";
  node.addEventListener("keydown", (event) => event.stopPropagation());
}

/** Listen to a widget's model for as long as one view of it lives. Returns [listen, stop]. */
function listener(model) {
  const pairs = [];
  const listen = (events, callback) => {
    model.on(events, callback);
    pairs.push([events, callback]);
  };
  const stop = () => pairs.forEach(([events, callback]) => model.off(events, callback));
  return [listen, stop];
}

/**
 * Give a widget that has loaded late its ears back. When its front end takes more than two seconds to load, on a busy
 * machine, anywidget draws it all the same but from then on drops whatever the kernel says. An event brings the model
 * itself; if that drops a message without a meaning, the base class takes over, and asks for what was missed.
 */
function initialize({ model }) {
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
