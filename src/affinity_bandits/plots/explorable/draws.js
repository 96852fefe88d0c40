"use strict";

// Random numbers as the library draws them: numpy's Philox 4x64-10, keyed by a BLAKE2b hash of seed
// and purpose (affinity_bandits.model.streams, affinity_bandits.simulation.draws).

const WORD = (1n << 64n) - 1n;
const HALF = 2 ** 32;

const BLAKE_START = [
  0x6a09e667f3bcc908n, 0xbb67ae8584caa73bn, 0x3c6ef372fe94f82bn, 0xa54ff53a5f1d36f1n,
  0x510e527fade682d1n, 0x9b05688c2b3e6c1fn, 0x1f83d9abfb41bd6bn, 0x5be0cd19137e2179n,
];
const BLAKE_ORDER = [
  "0123456789abcdef", "ea489fd61c02b753", "b8c052fdae367194", "7931dcbe265a40f8", "905724afe1bc683d",
  "2c6a0b834d75fe19", "c51fed4a0763928b", "db7ec13950f4862a", "6fe9b308c2d714a5", "a2847615fb9e3cd0",
];
const BLAKE_MIXES = ["048c", "159d", "26ae", "37bf", "05af", "16bc", "278d", "349e"];
const PERSON = "affinity-bandits";

function wordsOf(text) {
  const words = new Array(16).fill(0n);
  for (let i = 0; i < text.length; i++)
    words[i >> 3] |= BigInt(text.charCodeAt(i)) << BigInt(8 * (i & 7));
  return words;
}

// The first 128 bits of BLAKE2b of a text of at most 128 ASCII characters (RFC 7693).
function blake(text) {
  const person = wordsOf(PERSON);
  const start = [...BLAKE_START];
  start[0] ^= 0x01010010n;  // a digest of 16 bytes, no key, one leaf
  start[6] ^= person[0];
  start[7] ^= person[1];
  const v = [...start, ...BLAKE_START];
  v[12] ^= BigInt(text.length);
  v[14] ^= WORD;
  const message = wordsOf(text);
  const turn = (x, by) => (x >> by) | ((x << (64n - by)) & WORD);
  for (let round = 0; round < 12; round++)
    BLAKE_MIXES.forEach((places, i) => {
      const [a, b, c, d] = [...places].map(one => parseInt(one, 16));
      const [x, y] = [0, 1].map(k => message[parseInt(BLAKE_ORDER[round % 10][2 * i + k], 16)]);
      v[a] = (v[a] + v[b] + x) & WORD;
      v[d] = turn(v[d] ^ v[a], 32n);
      v[c] = (v[c] + v[d]) & WORD;
      v[b] = turn(v[b] ^ v[c], 24n);
      v[a] = (v[a] + v[b] + y) & WORD;
      v[d] = turn(v[d] ^ v[a], 16n);
      v[c] = (v[c] + v[d]) & WORD;
      v[b] = turn(v[b] ^ v[c], 63n);
    });
  return [0, 1].map(i => start[i] ^ v[i] ^ v[i + 8]);
}

// The product of two words, as its upper and lower word. A word of 64 bits is two numbers below
// 2**32, the upper half first: BigInt would take ten times as long. No step exceeds 2**53.
const made = [0, 0, 0, 0];
function multiply(ah, al, bh, bl) {
  const ll = upper(al, bl), lh = Math.imul(al, bh) >>> 0, hl = Math.imul(ah, bl) >>> 0;
  const middle = ll + lh + hl;
  const high = upper(al, bh) + upper(ah, bl) + (Math.imul(ah, bh) >>> 0) + Math.floor(middle / HALF);
  made[0] = (upper(ah, bh) + Math.floor(high / HALF)) >>> 0;
  made[1] = high >>> 0;
  made[2] = middle >>> 0;
  made[3] = Math.imul(al, bl) >>> 0;
}

// The upper half of the product of two numbers below 2**32.
function upper(a, b) {
  return Math.floor(((a >>> 16) * b + Math.floor((a & 0xffff) * b / 65536)) / 65536);
}

// The four words of a block of a replicate's stream; blocks count from 0.
function philox(key, replicate, block) {
  let [[k0h, k0l], [k1h, k1l]] = key;
  let c0h = 0, c0l = block + 1, c1h = 0, c1l = 0, c2h = 0, c2l = replicate, c3h = 0, c3l = 0;
  for (let round = 0; round < 10; round++) {
    multiply(0xd2e7470e, 0xe14c6c93, c0h, c0l);
    const [ph, pl, qh, ql] = made;
    multiply(0xca5a8263, 0x95121157, c2h, c2l);
    c0h = (made[0] ^ c1h ^ k0h) >>> 0;
    c0l = (made[1] ^ c1l ^ k0l) >>> 0;
    c1h = made[2];
    c1l = made[3];
    c2h = (ph ^ c3h ^ k1h) >>> 0;
    c2l = (pl ^ c3l ^ k1l) >>> 0;
    c3h = qh;
    c3l = ql;
    k0l += 0x7f4a7c15;
    k0h = (k0h + 0x9e3779b9 + (k0l >= HALF ? 1 : 0)) >>> 0;
    k0l >>>= 0;
    k1l += 0x84caa73b;
    k1h = (k1h + 0xbb67ae85 + (k1l >= HALF ? 1 : 0)) >>> 0;
    k1l >>>= 0;
  }
  return [[c0h, c0l], [c1h, c1l], [c2h, c2l], [c3h, c3l]];
}

// Return a function that gives the number at a position of a stream, uniform in [0, 1).
function uniforms(seed, role, replicate) {
  const key = blake(`[${seed},"${role}",null]`).map(one => [Number(one >> 32n), Number(one & 0xffffffffn)]);
  let drawn = -1, words = null;
  return position => {
    const block = position >> 2;
    if (block !== drawn) {
      words = philox(key, replicate, block);
      drawn = block;
    }
    const [high, low] = words[position & 3];
    return (high * 2 ** 21 + (low >>> 11)) * 2 ** -53;
  };
}
