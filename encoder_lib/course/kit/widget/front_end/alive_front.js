// What rises while the encoder's picture plays: a veil over all that is still to come, and dots that carry it.

import { along, frontOf, ribbonOf } from "./alive_layout.js";
import { focusOf, headIn, isCut, isOut, reachOf } from "./alive_state.js";
import { penOf } from "./dom.js";
import { clamp } from "./numbers.js";

const EDGE = 26; // pixels over which the veil thickens
const TRAIN = [0, 0.16, 0.32]; // how late the dots of one ribbon follow each other

/**
 * The colour of a role, as a canvas takes it.
 * @param {HTMLCanvasElement} canvas
 * @param {string} role
 */
function colourOfRole(canvas, role) {
  canvas.style.color = `var(--${role})`;
  return getComputedStyle(canvas).color;
}

/** @param {HTMLCanvasElement} canvas @param {AliveView} view @param {boolean} still */
export function paintFront(canvas, view, still) {
  const { plan, answer, state } = view;
  const pen = penOf(canvas);
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [plan.width, plan.height].map((size) => Math.round(size * ratio));
  canvas.hidden = state.at >= 1;
  if (canvas.hidden) return;
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, plan.width, plan.height);
  const y = frontOf(plan, state.at);
  const veil = pen.createLinearGradient(0, Math.max(0, y - EDGE), 0, Math.max(1, y));
  const ground = colourOfRole(canvas, "ground");
  veil.addColorStop(0, ground);
  veil.addColorStop(1, `color-mix(in srgb, ${ground} 0%, transparent)`);
  pen.globalAlpha = 0.88;
  pen.fillStyle = veil;
  pen.fillRect(plan.gutter - 6, 0, plan.width, Math.max(0, y));
  pen.globalAlpha = 1;
  if (still) return;
  for (const side of plan.sides) paintDots(pen, canvas, view, side, y);
}

/** @param {CanvasRenderingContext2D} pen @param {HTMLCanvasElement} canvas @param {AliveView} view @param {Side} side @param {number} y */
function paintDots(pen, canvas, { plan, answer, state }, side, y) {
  const focus = focusOf(state, answer, side);
  const [stream, own, forward, attention] = ["stream", `sentence-${side + 1}`, "forward", "attention"].map((role) =>
    colourOfRole(canvas, role),
  );
  /** @param {XY} at @param {number} r @param {string} colour */
  const dot = ([x, down], r, colour) => {
    pen.fillStyle = colour;
    pen.beginPath();
    pen.arc(x, down, r, 0, 7);
    pen.fill();
  };
  const lanes = plan.lanes[side];
  const busy = plan.layers.find(({ gate1, plus2 }) => y < gate1 && y > plus2);
  lanes.forEach(({ x }, token) => {
    const large = token === focus;
    dot([x, Math.max(y, plan.top)], large ? 5.5 : 3.2, large ? own : stream);
    if (!busy) return;
    const turn = Math.sin(((busy.gate1 - y) / (busy.gate1 - busy.plus2)) * Math.PI);
    dot([x + turn * (large ? 14 : 10), y], large ? 4.5 : 3, forward);
  });
  plan.layers.forEach(({ ribbons }, n) => {
    const way = (ribbons[0] - y) / (ribbons[0] - ribbons[1]);
    if (way < 0 || way > 1.4 || isOut(state, "attention", n)) return;
    const { T, amount, scale } = reachOf(answer, side, n, { head: headIn(state, n), measure: state.measure });
    for (let i = 0; i < T * T; i++) {
      const [query, key] = [Math.floor(i / T), i % T];
      const size = amount(query, key) * scale;
      if (size < (query === focus ? 0.8 : 4) || isCut(state, { side, layer: n, head: headIn(state, n), query, key }))
        continue;
      const curve = ribbonOf(lanes[key].x, lanes[query].x, ribbons);
      pen.globalAlpha = query === focus ? 1 : 0.4;
      for (const late of query === focus ? TRAIN : [0]) {
        if (way >= late && way - late <= 1)
          dot(along(curve, way - late), clamp(0.9 + size * 0.3, [1.2, 5.5]), attention);
      }
      pen.globalAlpha = 1;
    }
  });
}
