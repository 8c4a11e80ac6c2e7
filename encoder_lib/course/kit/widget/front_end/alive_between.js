// Between the towers and above them: the two vectors of the word as strands, and those of the sentences as arrows.

import { d } from "./alive_drawing.js";
import { distanceOf, mix } from "./alive_layout.js";
import { curve, hueOf } from "./alive_tower.js";
import { stationName } from "./alive_words.js";
import { clamp } from "./numbers.js";

const MOVED = 0.0015; // the least change of a cosine that is shown
/** @type {[Side, number][]} */
const HANDS = [
  [0, -1],
  [1, 1],
];

/** @param {AliveView} view */
export function drawBetween(view) {
  const { answer, state } = view;
  if (answer.sentences.length < 2) return;
  if (answer.word_cosines && answer.word_before) {
    if (state.asking) drawQuestion(view);
    else drawStrands(view, answer.word_cosines, answer.word_before);
  }
  if (!state.asking) drawAngle(view, answer.sentence_cosine ?? 0, answer.sentence_before ?? 0);
}

/** @param {AliveView} view */
function drawLabels({ drawing, plan, answer }) {
  const { word } = answer;
  const at = (/** @type {number} */ down) => /** @type {XY} */ ([plan.middle, plan.bottom + down]);
  drawing.text(
    "strands",
    "word",
    "alive-token alive-followed alive-middle",
    at(17),
    plan.wide ? `${word} | ${word}` : word,
  );
  drawing.text(
    "strands",
    "gap",
    "alive-quiet alive-middle",
    at(31),
    plan.wide ? "gap: distance of the two" : "gap = distance",
  );
}

/** Two strands, at each station as far apart as the word's two vectors at length 1. @param {AliveView} view @param {Float32Array} now @param {Float32Array} was */
function drawStrands(view, now, was) {
  const { drawing, plan, state } = view;
  const { bends, middle, radius, wide } = plan;
  /** @param {Float32Array} cosines @param {number} i @param {number} sign */
  const at = (cosines, i, sign) => middle + (i < 0 ? 0 : (sign * distanceOf(cosines[i]) * radius) / 2);
  /** @param {Float32Array} cosines @param {number} i @param {number} sign */
  const piece = (cosines, i, sign) => {
    const [[low, high], from, to] = [bends[i], at(cosines, i - 1, sign), at(cosines, i, sign)];
    return (
      curve([from, low, from, (low + high) / 2, to, (low + high) / 2, to, high]) + d`V${bends[i + 1]?.[0] ?? plan.top}`
    );
  };
  const moved = now.some((cosine, i) => Math.abs(cosine - was[i]) > MOVED);
  bends.forEach((_, i) => {
    for (const [side, sign] of HANDS) {
      if (moved) drawing.path("ghosts", `strand${i}${side}`, "alive-was", piece(was, i, sign));
      drawing.path("strands", `${i}${side}`, "alive-strand", piece(now, i, sign), {
        style: `stroke:${hueOf(now[i], side)}`,
      });
    }
    if (i % 2 === 0) return;
    const x = Math.max(at(now, i, 1), moved ? at(was, i, 1) : 0) + (wide ? 10 : 5);
    const room = plan.middle + plan.centre / 2 - (wide ? 36 : 26); // beside the strands, or inside where they are too wide
    const fits = x < room;
    const lit = i === bends.length - 1 || i === 3 + 2 * state.layer ? " alive-lit" : "";
    const y = i === 1 ? plan.table.plus : plan.layers[(i - 3) / 2].gate2 + 9;
    const end = fits ? "" : " alive-end";
    drawing.text(
      "strands",
      `n${i}`,
      `alive-figure${lit}${end}`,
      [fits ? x : at(now, i, 1) - 6, y],
      now[i].toFixed(wide ? 3 : 2),
    );
  });
  drawLabels(view);
  if (state.guess !== null) drawMark(view, state.guess);
}

/** @param {AliveView} view @param {number} station */
function drawMark({ drawing, plan }, station) {
  const y = (plan.bends[station][0] + plan.bends[station][1]) / 2;
  const half = plan.centre / 2 - 8;
  drawing.path("marks", "guess", "alive-mark", d`M${plan.middle - half} ${y}h${2 * half}`);
  drawing.text(
    "marks",
    "guess",
    "alive-figure alive-lit",
    [plan.middle - half, y - 4],
    plan.wide ? "your mark" : "you",
  );
}

/** Before the strands are shown: a target at each height. @param {AliveView} view */
function drawQuestion(view) {
  const { drawing, plan } = view;
  const half = plan.centre / 2 - 8;
  drawing.path("strands", "hidden", "alive-was", d`M${plan.middle} ${plan.table.y}V${plan.top}`);
  plan.bends.forEach(([low, high], station) => {
    if (!station) return;
    const end = plan.bends[station + 1]?.[0] ?? plan.top;
    drawing.put("targets", `guess${station}`, "rect", {
      ...{ class: "alive-guess", x: plan.middle - half, y: end + 1.5, width: 2 * half, height: low - end - 3, rx: 5 },
      ...{ role: "button", "data-act": "guess", "data-station": station },
      "aria-label": `They part here: ${stationName(station)}`,
    });
    const name = station === 1 ? "position" : station % 2 ? "feed-forward" : "attention";
    const role = station === 1 ? "position" : station % 2 ? "forward" : "attention";
    const label = plan.wide ? `${name} ?` : "?";
    drawing.text(
      "strands",
      `g${station}`,
      `alive-figure alive-middle alive-${role}`,
      [plan.middle, (low + Math.min(high, end)) / 2 + 4],
      label,
    );
  });
  drawLabels(view);
}

/** The vectors of the two sentences, with the angle between them. @param {AliveView} view @param {number} now @param {number} was */
function drawAngle({ drawing, plan }, now, was) {
  const long = plan.wide ? 46 : 32;
  const [x, y] = [plan.middle, plan.top - 12];
  const moved = Math.abs(now - was) > MOVED;
  /** @param {number} cosine @param {number} sign */
  const arrow = (cosine, sign) => {
    const half = Math.acos(clamp(cosine, [-1, 1])) / 2;
    const [dx, dy] = [sign * Math.sin(half), -Math.cos(half)];
    const [tx, ty] = [x + dx * long, y + dy * long];
    const head = d`M${tx - 8 * dx - 4 * dy} ${ty - 8 * dy + 4 * dx}L${tx} ${ty}L${tx - 8 * dx + 4 * dy} ${ty - 8 * dy - 4 * dx}`;
    return d`M${x} ${y}L${tx} ${ty}` + head;
  };
  for (const [side, sign] of HANDS) {
    if (moved) drawing.path("ghosts", `arrow${side}`, "alive-was", arrow(was, sign));
    drawing.path("strands", `arrow${side}`, `alive-arrow alive-stroke-${side + 1}`, arrow(now, sign));
    const lanes = plan.lanes[side];
    if (!plan.sides.includes(side)) continue;
    const from = (lanes[0].x + lanes[lanes.length - 1].x) / 2;
    const way = [from - sign * 7, plan.top - 36, mix(from, x, 0.5), plan.top - 36, mix(from, x, 0.7), y, x, y];
    drawing.path("lanes", `to${side}`, `alive-to alive-stroke-${side + 1}`, curve(way));
  }
  const half = Math.acos(clamp(now, [-1, 1])) / 2;
  const [r, dx, dy] = [long * 0.42, Math.sin(half), Math.cos(half)].map((v, i, [all]) => (i ? v * all : v));
  drawing.path("strands", "arc", "alive-arc", d`M${x - dx} ${y - dy}A${r} ${r} 0 0 1 ${x + dx} ${y - dy}`);
  drawing.text("strands", "cosine", "alive-headline alive-middle", [x, 18], now.toFixed(3));
  const name = moved ? `before: ${was.toFixed(3)}` : plan.wide ? "cosine of the sentences" : "cosine";
  drawing.text("strands", "what", "alive-quiet alive-middle", [x, 33], name);
}
