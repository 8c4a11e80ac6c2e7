// What rises while the encoder's picture plays: a veil over all that is still to come, and dots that carry it.

import { along, frontOf, ribbonOf } from "./alive_layout.js";
import { focusOf, reachOf } from "./alive_state.js";
import { penOf } from "./dom.js";
import { clamp } from "./numbers.js";

const TRAIN = [0, 0.16, 0.32]; // how late the dots of one ribbon follow each other

/** The colour of a role, as a canvas takes it. @param {HTMLCanvasElement} canvas @param {string} role */
const colourOfRole = (canvas, role) => {
  canvas.style.color = `var(--${role})`;
  return getComputedStyle(canvas).color;
};

/** @param {HTMLCanvasElement} canvas @param {AliveView} view @param {boolean} still without dots */
export const paintFront = (canvas, view, still) => {
  const { plan, state } = view;
  canvas.hidden = state.at >= 1;
  if (canvas.hidden) return;
  const [pen, ratio, y] = [penOf(canvas), window.devicePixelRatio || 1, frontOf(plan, state.at)];
  Object.assign(canvas, { width: Math.round(plan.width * ratio), height: Math.round(plan.height * ratio) }); // and clear it
  pen.scale(ratio, ratio);
  canvas.style.setProperty("--front", `${y}px`); // where the veil, its background, ends
  canvas.style.setProperty("--left", `${plan.gutter - 6}px`);
  if (!still) for (const side of plan.sides) paintDots(pen, canvas, view, side, y);
};

/** @param {CanvasRenderingContext2D} pen @param {HTMLCanvasElement} canvas @param {AliveView} view @param {number} side @param {number} y */
const paintDots = (pen, canvas, { plan, answer, state }, side, y) => {
  const [lanes, focus] = [plan.lanes[side], focusOf(state, answer, side)];
  const roles = ["stream", `sentence-${side + 1}`, "forward", "attention"];
  const [stream, own, forward, attention] = roles.map((role) => colourOfRole(canvas, role));
  /** @param {XY} at @param {number} r @param {string} colour @param {number} alpha */
  const dot = ([x, down], r, colour, alpha = 1) => {
    pen.globalAlpha = alpha;
    pen.fillStyle = colour;
    pen.beginPath();
    pen.arc(x, down, r, 0, 7);
    pen.fill();
  };
  const loop = plan.layers.find(({ gate1, plus2 }) => y < gate1 && y > plus2);
  const turn = loop ? Math.sin(((loop.gate1 - y) / (loop.gate1 - loop.plus2)) * Math.PI) : 0;
  lanes.forEach(({ x }, token) => {
    const [size, reach, colour] = token === focus ? [5.5, 14, own] : [3.2, 10, stream];
    dot([x, Math.max(y, plan.top)], size, colour);
    if (loop) dot([x + turn * reach, y], size - 0.6, forward);
  });
  plan.layers.forEach(({ ribbons }, n) => {
    const way = (ribbons[0] - y) / (ribbons[0] - ribbons[1]);
    const { T, width } = reachOf(answer, state, side, n);
    for (let i = 0; way > 0 && way < 1.4 && i < T * T; i++) {
      const [query, key] = [Math.floor(i / T), i % T];
      const [least, train, alpha] = query === focus ? [0.8, TRAIN, 1] : [4, [0], 0.4];
      const size = width(query, key);
      const c = ribbonOf(lanes[key].x, lanes[query].x, ribbons);
      const there = size < least ? [] : train.map((late) => way - late).filter((t) => t > 0 && t < 1);
      for (const t of there) dot(along(c, t), clamp(0.9 + size * 0.3, [1.2, 5.5]), attention, alpha);
    }
  });
};
