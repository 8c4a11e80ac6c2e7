// Between the towers and above them: the two vectors of the word as strands, and those of the sentences as arrows.

import { curve, d, press } from "./alive_drawing.js";
import { distanceOf, mix } from "./alive_layout.js";
import { hueOf } from "./alive_tower.js";
import { figure, stationName } from "./alive_words.js";
import { clamp } from "./numbers.js";

const MOVED = 0.0015; // the least change of a cosine that is shown
const HANDS = [-1, 1]; // to the left for the first sentence, to the right for the second

/** @type {Draw} */
export const drawBetween = (view) => {
  const { drawing, plan, answer, state } = view;
  if (answer.sentences.length < 2) return;
  if (!state.asking) drawAngle(view);
  if (!answer.word_cosines) return;
  const name = plan.wide ? `both “${answer.word}”` : answer.word;
  drawing.text("strands", "word", "alive-token alive-followed alive-middle", [plan.middle, plan.bottom + 17], name);
  if (state.asking) drawQuestion(view);
  else drawStrands(view);
};

/** A strand on its way to one station's gap, and on to the next bend. @param {Plan} plan @param {Float32Array} cosines @param {number} i @param {number} sign */
const strandOf = ({ bends, middle, radius, top }, cosines, i, sign) => {
  const [from, to] = [i - 1, i].map((at) => middle + (at < 0 ? 0 : (sign * distanceOf(cosines[at]) * radius) / 2));
  const [[low, high], half] = [bends[i], (bends[i][0] + bends[i][1]) / 2];
  return curve([from, low, from, half, to, half, to, high]) + d`V${bends[i + 1]?.[0] ?? top}`;
};

/** Two strands, at each station as far apart as the word's two vectors are at length 1. @type {Draw} */
const drawStrands = (view) => {
  const { drawing, plan, answer, state } = view;
  const { bends, middle, centre, bottom, wide } = plan;
  const [now, was] = [answer.word_cosines ?? new Float32Array(), answer.word_before ?? new Float32Array()];
  const moved = now.some((cosine, i) => Math.abs(cosine - was[i]) > MOVED);
  bends.forEach((_, i) => {
    HANDS.forEach((sign, side) => {
      if (moved) drawing.path("ghosts", `strand${i} ${side}`, "alive-was", strandOf(plan, was, i, sign));
      drawing.path("strands", `${i} ${side}`, "alive-strand", strandOf(plan, now, i, sign), {
        style: hueOf(now[i], side),
      });
    });
    if (i % 2) drawCosine(view, i, now[i], moved ? was[i] : 1);
  });
  drawing.text(
    "strands",
    "gap",
    "alive-quiet alive-middle",
    [middle, bottom + 32],
    wide ? "gap: their distance" : "distance",
  );
  if (state.guess === null) return;
  const [y, half] = [(bends[state.guess][0] + bends[state.guess][1]) / 2, centre / 2 - 8];
  drawing.path("marks", "guess", "alive-mark", d`M${middle - half} ${y}h${2 * half}`);
  drawing.text("marks", "guess", "alive-figure alive-lit", [middle - half, y - 4], wide ? "your mark" : "you");
};

/** The cosine at a station: beside the strands, or between them where they leave no room. @param {AliveView} view @param {number} i @param {number} now @param {number} was */
const drawCosine = ({ drawing, plan, state }, i, now, was) => {
  const { middle, centre, radius, wide, bends } = plan;
  const x = middle + (Math.max(distanceOf(now), distanceOf(was)) * radius) / 2 + (wide ? 10 : 5);
  const beside = x < middle + centre / 2 - (wide ? 34 : 24);
  const lit = i === bends.length - 1 || i === 3 + 2 * state.layer ? " alive-lit" : "";
  const at = /** @type {XY} */ ([beside ? x : middle, i === 1 ? plan.table.plus : plan.layers[(i - 3) / 2].gate2 + 9]);
  drawing.text(
    "strands",
    `n${i}`,
    `alive-figure${lit}${beside ? "" : " alive-middle"}`,
    at,
    wide ? figure(now) : now.toFixed(2),
  );
};

/** Before the strands are shown: a target at each height. @type {Draw} */
const drawQuestion = ({ drawing, plan }) => {
  const half = plan.centre / 2 - 8;
  plan.bends.forEach(([low], station) => {
    if (!station) return;
    const end = plan.bends[station + 1]?.[0] ?? plan.top;
    const box = { x: plan.middle - half, y: end + 1.5, width: 2 * half, height: low - end - 3, rx: 5 };
    drawing.put("targets", `guess${station}`, "rect", {
      class: "alive-guess",
      ...press(`guess ${station}`, `They part ${stationName(station)}`),
      ...box,
    });
    const name = station === 1 ? "position" : station % 2 ? "feed-forward" : "attention";
    drawing.text(
      "marks",
      `ask${station}`,
      "alive-quiet alive-middle",
      [plan.middle, (low + end) / 2 + 4],
      plan.wide ? `${name}?` : "?",
    );
  });
};

/** The vectors of the two sentences, with the angle between them. @type {Draw} */
const drawAngle = ({ drawing, plan, answer }) => {
  const [now, was] = [answer.sentence_cosine ?? 0, answer.sentence_before ?? 0];
  const [x, y, long] = [plan.middle, plan.top - 12, plan.wide ? 46 : 32];
  const moved = Math.abs(now - was) > MOVED;
  const half = Math.acos(clamp(now, [-1, 1])) / 2;
  /** @param {number} turn */
  const arrow = (turn) => {
    const [dx, dy] = [Math.sin(turn), -Math.cos(turn)];
    const [tx, ty] = [x + dx * long, y + dy * long];
    const [ends, barb] = [d`M${x} ${y}L${tx} ${ty}`, d`L${tx} ${ty}L${tx - 8 * dx + 4 * dy} ${ty - 8 * dy - 4 * dx}`];
    return `${ends}${d`M${tx - 8 * dx - 4 * dy} ${ty - 8 * dy + 4 * dx}`}${barb}`;
  };
  HANDS.forEach((sign, side) => {
    if (moved) drawing.path("ghosts", `arrow${side}`, "alive-was", arrow((sign * Math.acos(clamp(was, [-1, 1]))) / 2));
    drawing.path("strands", `arrow${side}`, `alive-arrow alive-stroke-${side + 1}`, arrow(sign * half));
    if (!plan.sides.includes(side)) return;
    const [lanes, last] = [plan.lanes[side], plan.lanes[side].length - 1];
    const [from, up] = [(lanes[0].x + lanes[last].x) / 2 - sign * 7, plan.top - 36];
    drawing.path(
      "lanes",
      `to${side}`,
      `alive-to alive-stroke-${side + 1}`,
      curve([from, up, mix(from, x, 0.5), up, mix(from, x, 0.7), y, x, y]),
    );
  });
  const [dx, dy, r] = [0.42 * long * Math.sin(half), 0.42 * long * Math.cos(half), 0.42 * long];
  drawing.path("strands", "arc", "alive-arc", d`M${x - dx} ${y - dy}A${r} ${r} 0 0 1 ${x + dx} ${y - dy}`);
  drawing.text("strands", "cosine", "alive-headline alive-middle", [x, 18], figure(now));
  const name = moved ? `before: ${figure(was)}` : plan.wide ? "cosine of the sentences" : "cosine";
  drawing.text("strands", "what", "alive-quiet alive-middle", [x, 33], name);
};
