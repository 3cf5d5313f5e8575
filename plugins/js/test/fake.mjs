// A module of the same ABI, written by hand, that misbehaves on demand: what a sound module never
// does.

/** Operations of the fake module. */
export const fake = {echo: 1, trap: 2, outside: 3, badJSON: 4, badUTF8: 5, count: 6, refuse: 7, empty: 8, grow: 9, number: 10, cry: 11, hush: 12};

const i32 = 0x7f;
const i64 = 0x7e;
const texts = [
  [64, '{"ok":'],
  [80, '\xff\xff'],
  [96, '{"n":0}'],
  [112, '{"error":{"code":"EVENT_INVALID","num":4,"message":"no such container","path":"exits[0].container"}}'],
  [240, '42'],
];

/**
 * Builds the module. abi is what pf_abi_version returns; without lists exports that are left out,
 * refuse is the operation that answers with an error payload.
 */
export function fakeModule({abi = 1 << 16, without = [], refuse = fake.refuse} = {}) {
  const word = (pointer, length, failed = 0n) => [0x42, ...leb((BigInt(pointer) << 32n) | (failed << 31n) | BigInt(length))];
  const answers = [
    [refuse, word(112, texts[3][1].length, 1n)], // first: it may take another's number
    // pointer and length of the request itself, so that the answer says which request it belongs
    // to
    [fake.echo, [0x20, 1, 0xad, 0x42, 32, 0x86, 0x20, 2, 0xad, 0x84]],
    [fake.trap, [0x00]],
    [fake.outside, word(65530, 100)],
    [fake.badJSON, word(64, 6)],
    [fake.badUTF8, word(80, 2)],
    // the digit at 101 grows by one with every call, and restarts in a new instance
    [fake.count, [0x41, ...leb(101), 0x41, ...leb(101), 0x2d, 0, 0, 0x41, 1, 0x6a, 0x3a, 0, 0, ...word(96, 7)]],
    [fake.empty, word(64, 0)],
    // 600 pages more: the view that was made before the call is detached, and the instance is due
    // for replacement
    [fake.grow, [0x41, ...leb(600), 0x40, 0, 0x1a, 0x41, ...leb(101), 0x41, ...leb(57), 0x3a, 0, 0, ...word(96, 7)]],
    [fake.number, word(240, 2)],
    [fake.cry, word(96, 7, 1n)], // no error, and the flag of one
    [fake.hush, word(112, texts[3][1].length)], // an error without it
  ];
  const call = answers.flatMap(([op, body]) => [0x20, 0, 0x41, ...leb(op), 0x46, 0x04, 0x40, ...body, ...(body[0] === 0 ? [] : [0x0f]), 0x0b]);
  const functions = [
    ['_initialize', [], [], []],
    ['pf_abi_version', [], [i32], [0x41, ...leb(abi)]],
    ['pf_alloc', [i32], [i32], [0x41, ...leb(32768), 0x41, 0, 0x20, 0, 0x41, ...leb(32000), 0x48, 0x1b]], // 0 from 32000 bytes on
    ['pf_free', [i32], [i32], [0x41, 0]],
    ['pf_call', [i32, i32, i32], [i64], [...call, 0x00]],
  ];
  const exports = functions.map(([name], i) => [...string(name), 0, i]);
  exports.push([...string('memory'), 2, 0]);
  return new Uint8Array([
    0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0,
    ...section(1, functions.map(([, from, to]) => [0x60, ...vector(from.map((t) => [t])), ...vector(to.map((t) => [t]))])),
    ...section(3, functions.map((_, i) => [i])),
    ...section(5, [[0, 1]]),
    ...section(7, exports.filter((e) => !without.some((name) => String(e).startsWith(String(string(name)))))),
    ...section(10, functions.map(([, , , body]) => sized([0, ...body, 0x0b]))),
    ...section(11, texts.map(([at, text]) => [0, 0x41, ...leb(at), 0x0b, ...sized([...text].map((c) => c.charCodeAt(0)))])),
  ]);
}

function leb(value) { // signed; short unsigned values below 64 look the same
  const out = [];
  for (let v = BigInt.asIntN(64, BigInt(value)); ;) {
    const low = Number(v & 0x7fn);
    v >>= 7n;
    if ((v === 0n && !(low & 0x40)) || (v === -1n && low & 0x40)) return [...out, low];
    out.push(low | 0x80);
  }
}

function unsigned(n) {
  return n < 128 ? [n] : [(n & 127) | 128, ...unsigned(n >>> 7)];
}

const sized = (bytes) => [...unsigned(bytes.length), ...bytes];
const vector = (items) => [...unsigned(items.length), ...items.flat()];
const section = (id, items) => [id, ...sized(vector(items))];
const string = (text) => sized([...text].map((c) => c.charCodeAt(0)));
