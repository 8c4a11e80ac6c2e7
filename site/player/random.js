// The random numbers of `torch.randn(…, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)`.

const [N, M] = [624, 397]; // the length of the generator's state, and the offset of the word that each word is mixed with

/**
 * `count` normal numbers, a multiple of 16, by the Box–Muller transform of pairs of uniform numbers.
 * @param {number} seed from 0 to 2³² − 1
 * @param {number} count
 */
export function randn(seed, count) {
  const next = twister(seed);
  const numbers = Float64Array.from({ length: count }, () => ((next() & 0x1fffff) * 2 ** 32 + next()) / 2 ** 53);
  for (let i = 0; i < count; i += i % 16 === 7 ? 9 : 1) {
    const radius = Math.sqrt(-2 * Math.log(1 - numbers[i]));
    const angle = 2 * Math.PI * numbers[i + 8];
    [numbers[i], numbers[i + 8]] = [radius * Math.cos(angle), radius * Math.sin(angle)];
  }
  return numbers;
}

/**
 * Integers of 32 bits from the Mersenne twister of Matsumoto and Nishimura (1998).
 * @param {number} seed
 */
function twister(seed) {
  const state = new Uint32Array(N);
  state[0] = seed;
  for (let i = 1; i < N; i++) state[i] = Math.imul(1812433253, state[i - 1] ^ (state[i - 1] >>> 30)) + i;
  let at = 0;
  return () => {
    const [now, after] = [at, (at + 1) % N];
    const mixed = (state[now] & 0x80000000) | (state[after] & 0x7fffffff);
    state[now] = state[(now + M) % N] ^ (mixed >>> 1) ^ (mixed & 1 ? 0x9908b0df : 0);
    at = after;
    let y = state[now];
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    return (y ^ (y >>> 18)) >>> 0;
  };
}

/**
 * The checksum of a text in UTF-8, as in `zlib.crc32`.
 * @param {string} text
 */
export function crc32(text) {
  let sum = -1;
  for (const byte of new TextEncoder().encode(text)) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum >>> 0;
}
