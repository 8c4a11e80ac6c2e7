// The explorer of 11: how much one layer computes and moves through memory, by the number of tokens.

import { axes, circle, INKS, line, polyline, scale, svg, text } from "./drawing.js";
import { general } from "./format_numbers.js";

const PLACES = [16, 32, 64, 128, 256, 512, 1024, 2048, 4096]; // tokens
const HEAD = 32; // components of a head, as in MiniLM
const TOSS_UP = 2; // within this factor of the balance either side may limit
const PARTS = ["projections", "feed-forward", "attention, explicit", "attention, fused"];
const PART_INKS = [INKS.blue, INKS.orange, INKS.green, INKS.black];
/** @type {Record<string, number>} */
const BYTES = { float64: 8, float32: 4, bfloat16: 2 };

/**
 * The operations and bytes of each part of a layer, counted as in `encoder_lib.course.fast_encoder.costs.layer_costs`.
 * @param {Record<string, any>} values
 */
function layerCosts({ batch, tokens, width: D, number }) {
  const [F, rows, scores] = [4 * D, batch * tokens, batch * (D / HEAD) * tokens ** 2];
  const meeting = batch * 4 * tokens ** 2 * D;
  const counted = [
    [8 * rows * D ** 2, 4 * (2 * rows * D + D ** 2)],
    [4 * rows * D * F, 2 * (rows * (D + F) + D * F)],
    [meeting, 4 * rows * D + 6 * scores],
    [meeting, 4 * rows * D],
  ];
  return counted.map(([flops, moved]) => ({ flops, bytes: BYTES[number] * moved }));
}

/** @typedef {ReturnType<typeof layerCosts>} Costs */

/**
 * @param {Record<string, any>} values
 * @param {PanelSpec[]} _
 * @param {number} width
 */
export function cost(values, _, width) {
  const { tokens, padding, balance } = values;
  const padded = layerCosts(values);
  const without = layerCosts({ ...values, tokens: Math.max(1, Math.ceil((tokens * (100 - padding)) / 100)) });
  const every = PLACES.map((place) => layerCosts({ ...values, tokens: place }));
  const stacked = width < 600;
  const [wide, below] = stacked ? [width, 290] : [width / 2 - 10, 0];
  const places = [
    { left: 42, top: 52, right: wide - 8, bottom: 250 },
    { left: stacked ? 42 : wide + 62, top: 52 + below, right: width - 8, bottom: 250 + below },
  ];
  const key = PARTS.map((part, i) => {
    const [x, y] = stacked ? [4 + (i % 2) * 156, 10 + 16 * Math.floor(i / 2)] : [4 + 170 * i, 10];
    return line(x, y, x + 18, y, PART_INKS[i], 2) + text(x + 24, y + 4.5, part);
  });
  const top = stacked ? 26 : 6;
  const shifted = places.map((box) => ({ ...box, top: box.top + top, bottom: box.bottom + top }));
  const names = /** @type {const} */ (["flops", "bytes"]);
  const drawn = names.map((name, side) => {
    const y = scale(side ? [5e3, 1e13] : [1e4, 1e13], [shifted[side].bottom, shifted[side].top], true);
    const x = scale([PLACES[0] / 1.3, 1.3 * 4096], [shifted[side].left, shifted[side].right], true);
    const title = side ? "Bytes: explicit attention moves more" : "FLOPs: both attentions do the same";
    const parts = PARTS.map((_, i) => {
      const curve = polyline(
        every.map((costs, n) => [x(PLACES[n]), y(costs[i][name])]),
        PART_INKS[i],
        2,
      );
      const ring = padding ? circle(x(tokens), y(without[i][name]), 4, "white", PART_INKS[i]) : "";
      return curve + circle(x(tokens), y(padded[i][name]), 4, PART_INKS[i]) + ring;
    });
    const powers = [4, 6, 8, 10, 12].map(
      (n) => /** @type {[number, string]} */ ([y(10 ** n), `10${"⁴⁶⁸"[n / 2 - 2] ?? (n === 10 ? "¹⁰" : "¹²")}`]),
    );
    const ticks = PLACES.filter((_, n) => n % 2 === 0).map(
      (place) => /** @type {[number, string]} */ ([x(place), String(place)]),
    );
    const chosen = line(x(tokens), shifted[side].top, x(tokens), shifted[side].bottom, INKS.grey);
    return chosen + parts.join("") + axes(shifted[side], title, ticks, powers);
  });
  return {
    _picture: svg(width, shifted[1].bottom + 26, ...key, ...drawn),
    _descriptions: [inWords(values, padded, balance) + waste(padding, padded, without)],
  };
}

/**
 * The sizes, operations and bytes in words, and whether memory or arithmetic limits each kind of attention.
 * @param {Record<string, any>} values
 * @param {Costs} costs
 * @param {number} balance
 */
function inWords({ tokens, batch, width, number }, costs, balance) {
  const [projections, network, explicit, fused] = costs;
  /** @param {Costs[number]} part */
  const intensity = ({ flops, bytes }) => (flops / bytes).toFixed(1);
  return (
    `${batch} sequence${batch === 1 ? "" : "s"} of ${tokens} tokens, width ${width}, ${number}. Projections ` +
    `${short(projections.flops)}FLOP, feed-forward ${short(network.flops)}FLOP, attention ${short(explicit.flops)}FLOP. ` +
    `The projections move ${short(projections.bytes)}B, explicit attention ${short(explicit.bytes)}B with ` +
    `${intensity(explicit)} FLOPs for each, fused ${short(fused.bytes)}B with ${intensity(fused)}: where a byte takes as ` +
    `long as ${balance.toFixed(1)} FLOPs, ${limit(explicit, balance)} the explicit one and ${limit(fused, balance)} the fused one.`
  );
}

/**
 * Whether memory or arithmetic limits a part. Within a factor of two of the balance, counts can't tell.
 * @param {Costs[number]} part
 * @param {number} balance
 */
function limit({ flops, bytes }, balance) {
  const ratio = flops / bytes / balance;
  if (ratio < 1 / TOSS_UP) return "memory limits";
  return ratio > TOSS_UP ? "arithmetic limits" : "either may limit";
}

/**
 * How many of the operations remain without padding.
 * @param {number} padding
 * @param {Costs} padded
 * @param {Costs} without
 */
function waste(padding, padded, without) {
  if (!padding) return "";
  const [left, whole] = [without, padded].map((costs) => costs.slice(0, 3).reduce((sum, { flops }) => sum + flops, 0));
  return ` With ${padding} % padding, the unpadded layer does ${((100 * left) / whole).toFixed(0)} % of the operations.`;
}

/**
 * A large number with at most three digits and its prefix: 1.2 G.
 * @param {number} number
 */
function short(number) {
  const sizes = /** @type {const} */ ([
    [1e12, "T"],
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
  ]);
  const [size, letter] = sizes.find(([least]) => number >= least) ?? [1, ""];
  return `${general(number / size, 3)} ${letter}`;
}
