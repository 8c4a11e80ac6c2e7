// What rises while the encoder's picture plays: a veil over all that is still to come, and dots that carry it.

import { markup, renew } from "./alive_drawing.js";
import { along, frontOf, ribbonOf } from "./alive_layout.js";
import { focusOf, reachOf } from "./alive_state.js";
import { clamp } from "./numbers.js";

const TRAIN = [0, 0.16, 0.32]; // how late the dots of one ribbon follow each other
const REACH = 64; // how far above and below the front there are dots

/** Veil and dots are layers that the browser moves, so that nothing below is painted anew. @param {HTMLElement} front @param {AliveView} view @param {boolean} still without dots */
export const paintFront = (front, view, still) => {
  const { plan, state } = view;
  renew(front, state.at < 1 ? "<svg></svg>" : "");
  const svg = front.firstElementChild;
  if (!svg) return;
  const y = Math.round(frontOf(plan, state.at)); // at whole pixels, layers are only copied
  front.style.setProperty("--front", `${y}px`);
  front.style.setProperty("--left", `${plan.gutter - 6}px`);
  svg.setAttribute("viewBox", `0 ${y - REACH} ${plan.width} ${2 * REACH}`);
  renew(svg, still ? "" : plan.sides.map((side) => dotsOf(view, side)).join(""));
};

/** @param {AliveView} view @param {number} side */
const dotsOf = ({ plan, answer, state }, side) => {
  const y = frontOf(plan, state.at);
  const [lanes, focus] = [plan.lanes[side], focusOf(state, answer, side)];
  let dots = "";
  /** @param {XY} at @param {number} r @param {string} kind */
  const dot = ([x, down], r, kind) => {
    dots += markup`<circle class="alive-${kind}" cx="${x}" cy="${down}" r="${r}"/>`;
  };
  const loop = plan.layers.find(({ gate1, plus2 }) => y < gate1 && y > plus2);
  const turn = loop ? Math.sin(((loop.gate1 - y) / (loop.gate1 - loop.plus2)) * Math.PI) : 0;
  lanes.forEach(({ x }, token) => {
    const [size, reach, kind] = token === focus ? [5.5, 14, `fill-${side + 1}`] : [3.2, 10, "stream"];
    dot([x, Math.max(y, plan.top)], size, kind);
    if (loop) dot([x + turn * reach, y], size - 0.6, "forward");
  });
  plan.layers.forEach(({ ribbons }, n) => {
    const way = (ribbons[0] - y) / (ribbons[0] - ribbons[1]);
    const { T, width } = reachOf(answer, state, side, n);
    for (let i = 0; way > 0 && way < 1.4 && i < T * T; i++) {
      const [query, key] = [Math.floor(i / T), i % T];
      const [least, train, kind] = query === focus ? [0.8, TRAIN, "attention"] : [4, [0], "attention alive-faint"];
      const size = width(query, key);
      const c = ribbonOf(lanes[key].x, lanes[query].x, ribbons);
      const there = size < least ? [] : train.map((late) => way - late).filter((t) => t > 0 && t < 1);
      for (const t of there) dot(along(c, t), clamp(0.9 + size * 0.3, [1.2, 5.5]), kind);
    }
  });
  return dots;
};
