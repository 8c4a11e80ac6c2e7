// The values that have no colour.

/** @type {NotFinite[]} */
export const NOT_FINITE = [
  { name: "NaN", is: Number.isNaN, ground: "#b8b8b8", stripe: "#858585", down: false },
  { name: "−∞", is: (value) => value === -Infinity, ground: "#ececec", stripe: "#cfcfcf", down: true },
  { name: "+∞", is: (value) => value === Infinity, ground: "#333333", stripe: "#666666", down: true },
];
