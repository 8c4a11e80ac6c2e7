// A figure that the kernel has drawn: its PNG, or SVG, followed.

import { element } from "./dom.js";

/**
 * Show a figure in `pictures` and follow it. Returns how to stop.
 * @param {ExplorerModel} model
 * @param {Listen} listen
 * @param {{ pictures: HTMLElement, describe: () => void }} explorer
 */
export function showFigure(model, listen, { pictures, describe }) {
  const picture = element("img", { class: "explorer-picture" });
  pictures.append(picture);
  let asked = 0;
  let shown = 0;
  let live = true;

  const load = async () => {
    const turn = ++asked;
    const next = new Image();
    const bytes = model.get("_picture");
    const type = bytes.byteLength && bytes.getUint8(0) === 0x3c ? "image/svg+xml" : "image/png"; // it begins with "<"
    const url = URL.createObjectURL(new Blob([bytes], { type }));
    next.src = url;
    const decoded = next.decode().then(() => true);
    const ready = await decoded.catch(() => false); // the old picture stays until then
    if (!ready || !live || turn < shown) return URL.revokeObjectURL(url);
    URL.revokeObjectURL(picture.src);
    shown = turn;
    picture.src = url;
    picture.style.setProperty("--natural", `${next.naturalWidth}px`);
  };
  listen("change:_picture", load);
  listen("change:_descriptions", describe);
  load();
  const resizing = new ResizeObserver(() => {
    if (pictures.scrollWidth > pictures.clientWidth)
      pictures.tabIndex = 0; // so that the arrow keys scroll it
    else pictures.removeAttribute("tabindex");
  });
  resizing.observe(pictures);
  return () => {
    live = false;
    resizing.disconnect();
    URL.revokeObjectURL(picture.src);
  };
}
