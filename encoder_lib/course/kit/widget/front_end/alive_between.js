// Between the towers and above them: the two vectors of the word as strands, and those of the sentences as arrows.

import { curve, markup } from "./alive_drawing.js";
import { distanceOf, mix } from "./alive_layout.js";
import { hueOf } from "./alive_tower.js";
import { figure, stationName } from "./alive_words.js";
import { clamp } from "./numbers.js";

const MOVED = 0.0015; // the least change of a cosine that is shown
const HANDS = [-1, 1]; // to the left for the first sentence, to the right for the second

/** @type {Draw} */
export const drawBetween = (view) => {
  const { to, plan, answer, before, state } = view;
  if (answer.sentences.length < 2) return;
  if (!state.asking) drawAngle(view);
  if (!answer.word_cosines || !before.word_cosines) return;
  const name = plan.wide ? `both “${answer.word}”` : answer.word;
  to.strands`<text class="alive-token alive-followed alive-middle" x="${plan.middle}" y="${plan.bottom + 16}">${name}</text>`;
  if (state.asking) drawQuestion(view);
  else drawStrands(view, answer.word_cosines, before.word_cosines);
};

/** A strand on its way to one station's gap, and on to the next bend. @param {Plan} plan @param {Float32Array} cosines @param {number} i @param {number} sign */
const strandOf = ({ bends, middle, radius, top }, cosines, i, sign) => {
  const [from, to] = [i - 1, i].map((at) => middle + (at < 0 ? 0 : (sign * distanceOf(cosines[at]) * radius) / 2));
  const [[low, high], half] = [bends[i], (bends[i][0] + bends[i][1]) / 2];
  return curve([from, low, from, half, to, half, to, high]) + markup`V${bends[i + 1]?.[0] ?? top}`;
};

/** Two strands, at each station as far apart as the word's two vectors are at length 1. @param {AliveView} view @param {Float32Array} now @param {Float32Array} was */
const drawStrands = (view, now, was) => {
  const { to, plan, state } = view;
  const { bends, middle, centre, bottom, wide } = plan;
  const moved = now.some((cosine, i) => Math.abs(cosine - was[i]) > MOVED);
  now.forEach((cosine, i) => {
    HANDS.forEach((sign, side) => {
      const strand = strandOf(plan, now, i, sign);
      to.strands`<path class="alive-strand" style="${hueOf(cosine, side)}" d="${strand}"/>`;
      if (moved) to.ghosts`<path class="alive-was" d="${strandOf(plan, was, i, sign)}"/>`;
    });
    if (i % 2) drawCosine(view, i, cosine, moved ? was[i] : 1);
  });
  to.strands`<text class="alive-quiet alive-middle" x="${middle}" y="${bottom + 31}">${wide ? "gap: distance, numbers: cosine" : "gap: distance"}</text>`;
  if (state.guess === null) return;
  const [y, half] = [(bends[state.guess][0] + bends[state.guess][1]) / 2, centre / 2 - 8];
  to.marks`<path class="alive-mark" d="M${middle - half} ${y}h${2 * half}"/>`;
  to.marks`<text class="alive-figure alive-lit" x="${middle - half}" y="${y - 4}">${wide ? "your mark" : "you"}</text>`;
};

/** The cosine at a station: beside the strands, or between them where they leave no room. @param {AliveView} view @param {number} i @param {number} now @param {number} was */
const drawCosine = ({ to, plan, state }, i, now, was) => {
  const { middle, centre, radius, wide, bends } = plan;
  const x = middle + (Math.max(distanceOf(now), distanceOf(was)) * radius) / 2 + (wide ? 10 : 5);
  const beside = x < middle + centre / 2 - (wide ? 34 : 27);
  const lit = i === bends.length - 1 || i === 3 + 2 * state.layer ? " alive-lit" : "";
  const y = i === 1 ? plan.table.plus : plan.layers[(i - 3) / 2].gate2 + 9;
  const kind = `alive-figure${lit}${beside ? "" : " alive-middle"}`;
  to.strands`<text class="${kind}" x="${beside ? x : middle}" y="${y}">${wide ? figure(now) : now.toFixed(2)}</text>`;
};

/** Before the strands are shown: a target at each height. @type {Draw} */
const drawQuestion = ({ to, plan: { bends, middle, centre, top, wide } }) => {
  const half = centre / 2 - 8;
  bends.slice(1).forEach(([low], i) => {
    const [station, end] = [i + 1, bends[i + 2]?.[0] ?? top];
    const name = station === 1 ? "position" : station % 2 ? "feed-forward" : "attention";
    to.targets`<rect role="button" tabindex="-1" aria-label="They part ${stationName(station)}" rx="5" class="alive-guess"
      data-act="guess ${station}" x="${middle - half}" y="${end + 1.5}" width="${2 * half}" height="${low - end - 3}"/>`;
    to.marks`<text class="alive-quiet alive-middle" x="${middle}" y="${(low + end) / 2 + 4}">${wide ? `${name}?` : "?"}</text>`;
  });
};

/** The vectors of the two sentences, with the angle between them. @type {Draw} */
const drawAngle = ({ to, plan, answer, before }) => {
  const [now, was] = [answer, before].map(({ sentence_cosine }) => sentence_cosine ?? 0);
  const [x, y, long, moved] = [plan.middle, plan.top - 12, plan.wide ? 46 : 32, Math.abs(now - was) > MOVED];
  const [half, old] = [now, was].map((cosine) => Math.acos(clamp(cosine, [-1, 1])) / 2);
  const arrow = markup`M${x} ${y}v${-long}m-4 8l4 -8l4 8`; // upright
  const turn = (/** @type {number} */ angle) => markup`rotate(${(180 * angle) / Math.PI} ${x} ${y})`;
  HANDS.forEach((sign, side) => {
    if (moved) to.ghosts`<path class="alive-was" transform="${turn(sign * old)}" d="${arrow}"/>`;
    to.strands`<path class="alive-arrow alive-stroke-${side + 1}" transform="${turn(sign * half)}" d="${arrow}"/>`;
    if (!plan.sides.includes(side)) return;
    const [lanes, last] = [plan.lanes[side], plan.lanes[side].length - 1];
    const [from, up] = [(lanes[0].x + lanes[last].x) / 2 - sign * 7, plan.top - 36];
    const way = curve([from, up, mix(from, x, 0.5), up, mix(from, x, 0.7), y, x, y]);
    to.lanes`<path class="alive-to alive-stroke-${side + 1}" d="${way}"/>`;
  });
  const [dx, dy, r] = [Math.sin(half), Math.cos(half), 1].map((part) => 0.42 * long * part);
  to.strands`<path class="alive-arc" d="M${x - dx} ${y - dy}A${r} ${r} 0 0 1 ${x + dx} ${y - dy}"/>`;
  to.strands`<text class="alive-headline alive-middle" x="${x}" y="18">${figure(now)}</text>`;
  const name = moved ? `before: ${figure(was)}` : plan.wide ? "cosine of the sentences" : "cosine";
  to.strands`<text class="alive-quiet alive-middle" x="${x}" y="33">${name}</text>`;
};
