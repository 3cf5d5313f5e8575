// Plays conformance vectors on the exports of the module, wherever it runs. The format is in
// plugins/README.md of the repository.
import {load} from 'podfate';
import {Instance} from 'podfate/instance';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', {ignoreBOM: true});
const payloads = ['pf_call', 'pf_compile', 'pf_eval'];

/**
 * Plays the vectors and gives the line that runners print, the number of vectors and of those that
 * differ.
 *
 * lines: async iterable of vectors. sha256: of bytes, in hexadecimal digits, or a promise of them.
 * fold: takes the bytes that the digest is over with update, and gives it with digest('hex').
 */
export async function conform(lines, sha256, fold, engine, version, report) {
  const {module, sha256: loaded} = await load();
  const player = new Player(module);
  let count = 0;
  let mismatches = 0;
  for await (const line of lines) {
    if (line.trim() === '') continue;
    const vector = JSON.parse(line);
    const answer = player.play(vector);
    fold.update(encoder.encode(`${vector.id}\n`));
    fold.update(answer);
    fold.update(encoder.encode('\n'));
    count++;
    if (vector.d ? await sha256(answer) === vector.d : decoder.decode(answer) === (vector.a ?? '')) continue;
    mismatches++;
    if (mismatches <= 10) report(`${vector.id}: got ${decoder.decode(answer).slice(0, 2000)}\nwant ${vector.a ?? vector.d}`);
  }
  return {
    line: `engine=${engine} version=${version} module=${loaded} count=${count} mismatches=${mismatches} digest=${await fold.digest('hex')}`,
    count, mismatches,
  };
}

/** Evaluates one exit n times on one instance and gives the size of its memory at the end. */
export async function evaluate(n) {
  const player = new Player((await load()).module);
  player.play({do: 'new'});
  player.play({do: 'pf_compile', s: '{"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"main","image":"x"}]}}}'});
  const answer = decoder.decode(player.play({do: 'pf_eval', x: [1 << 12], s: '{"container":"main","exitCode":42,"reason":"\\u0045rror"}', times: n}));
  if (!answer.includes('"action":"Restart"')) throw new Error(answer);
  return player.instance.memory.length;
}

class Player {
  constructor(module) {
    this.module = module;
  }

  /** The bytes of the answer to a vector. */
  play(vector) {
    if (vector.do === 'new') return encoder.encode(String(this.renew().pf_abi_version()));
    const request = requestOf(vector);
    const given = (vector.x ?? []).map((x) => {
      if (typeof x !== 'string') return x;
      const [buffer, offset] = x.split('+').map(Number);
      return this.buffers[buffer] + offset;
    });
    try {
      let answer;
      for (let i = 0; i < (vector.times ?? 1); i++) answer = this.once(vector, given, request);
      return answer;
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError || error instanceof RangeError || error.name === 'InternalError')) throw error;
      this.renew();
      return encoder.encode('trap');
    }
  }

  renew() {
    this.instance = new Instance(this.module);
    this.buffers = [];
    return this.instance.exports;
  }

  once({do: name, out = 0}, given, request) {
    const {instance, instance: {exports}} = this;
    if (name === 'write') {
      instance.memory.set(request, given[0]);
      return new Uint8Array();
    }
    const lent = [];
    const lend = (n) => {
      const at = exports.pf_alloc(Math.max(n, 1)) >>> 0;
      if (at === 0) throw new Error(`there is no room for ${n} bytes`);
      lent.push(at);
      return [at, n];
    };
    const x = [...given];
    if (request) {
      x.push(...lend(request.length));
      instance.memory.set(request, lent[0]);
      if (name === 'pf_eval_batch') x.push(...lend(out));
    }
    let result = exports[name](...x);
    let answer;
    if (payloads.includes(name)) {
      result = BigInt.asUintN(64, result);
      const at = Number(result >> 32n);
      answer = instance.memory.slice(at, at + Number(result & 0x7fffffffn));
      const error = decoder.decode(answer.subarray(0, 9)) === '{"error":';
      if ((result >> 31n & 1n) !== (error ? 1n : 0n)) answer = encoder.encode('flag' + decoder.decode(answer));
    } else {
      answer = String(result);
      if (name === 'pf_alloc') {
        answer = '0';
        if (result !== 0) {
          const at = result >>> 0;
          this.buffers.push(at);
          answer = at % 8 === 0 && instance.memory.subarray(at, at + x[0]).every((byte) => byte === 0) ? 'ok' : 'no buffer';
        }
      } else if (name === 'pf_eval_batch' && request && result >= 0) {
        answer += ' ' + Array.from(instance.memory.subarray(lent[1], lent[1] + out), hex).join('');
      }
      answer = encoder.encode(answer);
    }
    for (const at of lent) exports.pf_free(at);
    return answer;
  }
}

const hex = (byte) => byte.toString(16).padStart(2, '0');
const unpacked = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

/** The bytes of a vector's request; undefined if it brings none. */
function requestOf({s, b, r, rb}) {
  if (s !== undefined) return encoder.encode(s);
  if (b !== undefined) return unpacked(b);
  const list = r ?? rb;
  if (!list) return undefined;
  const parts = [];
  for (let i = 0; i < list.length; i += 2) parts.push([r ? encoder.encode(list[i]) : unpacked(list[i]), list[i + 1]]);
  const bytes = new Uint8Array(parts.reduce((sum, [part, times]) => sum + part.length * times, 0));
  let end = 0;
  for (const [part, times] of parts) {
    for (let i = 0; i < times; i++, end += part.length) bytes.set(part, end);
  }
  return bytes;
}
