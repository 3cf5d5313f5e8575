// What a wrong host or a failing module does to this package: a typed error, and the next answer is
// right.
import assert from 'node:assert/strict';
import {readFile} from 'node:fs/promises';
import process from 'node:process';
import test from 'node:test';
import {Worker} from 'node:worker_threads';
import {Engine, LimitError, PodfateError, RequestError, TrapError, load} from 'podfate';
import {Instance, operations, parse} from 'podfate/instance';

const manifest = {
  apiVersion: 'v1', kind: 'Pod', metadata: {name: 'p'},
  spec: {containers: [{
    name: 'main', image: 'i', restartPolicy: 'Never',
    restartPolicyRules: [{action: 'Restart', exitCodes: {operator: 'In', values: [42]}}],
  }]},
};
const encoder = new TextEncoder();

/** An instance with a compiled policy and a request of n bytes in a buffer of its own. */
async function started() {
  const instance = new Instance((await load()).module);
  const {handle} = parse(instance.ask((at, length) => instance.exports.pf_compile(at, length), encoder.encode(JSON.stringify({manifest}))).bytes);
  const request = encoder.encode('{"container":"main","exitCode":42}');
  const at = instance.exports.pf_alloc(64);
  instance.memory.set(request, at);
  /** The error number of the answer of f, 0 for an answer that is none. */
  const number = (f) => {
    const {failed, bytes} = instance.ask(f, new Uint8Array(0));
    return failed ? parse(bytes).error.num : 0;
  };
  return {instance, exports: instance.exports, handle, request, at, number};
}

test('addresses and lengths are not believed', async () => {
  const {instance, exports, handle, request, at, number} = await started();
  const size = instance.memory.length;
  const wrong = {
    'nowhere': [0, 8], 'before the buffer': [at - 8, 16], 'past the buffer': [at, 65], 'past the memory': [size - 4, 100], 'at its end': [size, 1],
    'highest address': [0xffffffff, 1], 'length of all memory': [at, size], 'length that wraps': [at + 8, 0xffffffff], 'negative': [at, -1],
  };
  for (const [name, [pointer, length]] of Object.entries(wrong)) {
    for (const f of [
      () => exports.pf_call(operations.decide, pointer, length), () => exports.pf_compile(pointer, length), () => exports.pf_eval(handle, pointer, length),
    ]) assert.equal(number(f), 10, name);
    assert.equal(exports.pf_eval_batch(handle, pointer, length, at, 64), -10, name);
    assert.equal(exports.pf_eval_batch(handle, at, 24, pointer, length), -10, name);
  }
  for (const pointer of [0, 1, at + 8, at - 8, size, 0xffffffff]) assert.equal(exports.pf_free(pointer), -10);
  assert.equal(number(() => exports.pf_eval(handle, at, request.length)), 0);
});

test('a freed buffer is no buffer', async () => {
  const {exports, handle, request, at, number} = await started();
  assert.equal(exports.pf_free(at), 0);
  assert.equal(exports.pf_free(at), -10);
  assert.equal(number(() => exports.pf_eval(handle, at, request.length)), 10);
});

test('a stale handle names no policy', async () => {
  const {instance, exports, handle, request, at, number} = await started();
  for (const h of [0, -1, handle + 1, handle + 4096, 0x7fffffff, 0xffffffff]) {
    assert.equal(number(() => exports.pf_eval(h, at, request.length)), 5, String(h));
    assert.equal(exports.pf_release(h), -5, String(h));
    assert.equal(exports.pf_eval_batch(h, at, 24, at + 24, 16), -5, String(h));
  }
  assert.equal(exports.pf_release(handle), 0);
  assert.equal(exports.pf_release(handle), -5);
  assert.equal(number(() => exports.pf_eval(handle, at, request.length)), 5);
  const {handle: next} = parse(instance.ask((a, n) => exports.pf_compile(a, n), encoder.encode(JSON.stringify({manifest}))).bytes);
  assert.notEqual(next, handle, 'the place is taken again, the handle is another');
  assert.equal(exports.pf_reset(), 0);
  assert.equal(exports.pf_release(next), -5);
});

test('answer and batch may not overlap, nor lie askew', async () => {
  const {instance, exports, handle} = await started();
  const at = exports.pf_alloc(256);
  instance.memory.set([0x50, 0x46, 0x42, 0x31, 1, 0, 32, 0], at);
  assert.equal(exports.pf_eval_batch(handle, at, 24, at + 64, 16), 0);
  assert.equal(exports.pf_eval_batch(handle, at, 24, at, 16), -10);
  assert.equal(exports.pf_eval_batch(handle, at, 24, at + 16, 64), -10);
  assert.equal(exports.pf_eval_batch(handle, at + 1, 24, at + 64, 16), -10);
  assert.equal(exports.pf_eval_batch(handle, at, 24, at + 65, 16), -10);
  assert.equal(exports.pf_eval_batch(handle, at, 24, at + 64, 8), -11);
});

test('hostile numbers in a result word are a malformed answer', async () => {
  const {instance} = await started();
  const size = BigInt(instance.memory.length);
  for (const word of [0n, 1n, (size << 32n) | 1n, ((size - 1n) << 32n) | 2n, 0xffffffff_7fffffffn, 0xffffffff_ffffffffn, 64n << 32n]) {
    const outside = word !== 1n; // a byte at address 0 can be read; that it is no JSON is seen by parse
    if (outside) assert.throws(() => instance.ask(() => word, new Uint8Array(1)), (error) => error instanceof TrapError && error.code === 'MALFORMED', String(word));
  }
});

test('recursion and size bombs are error 6', async () => {
  const engine = await load();
  const nested = (n, open, close) => encoder.encode(open.repeat(n) + close.repeat(n));
  for (const bytes of [
    nested(65, '[', ']'), nested(500000, '[', ']'), nested(200000, '{"a":', '}'), encoder.encode('['.repeat(1 << 20)), encoder.encode(' '.repeat((1 << 20) + 1)),
  ]) {
    for (const operation of ['decide', 'validate', 'simulate', 'curve']) {
      const {failed, json} = engine.call(operation, bytes);
      assert.equal(failed && json().error.num, 6);
    }
    assert.throws(() => engine.compile(bytes), LimitError);
  }
  assert.throws(() => engine.compile(nested(64, '[', ']')), (error) => error instanceof PodfateError && error.num !== 6);
  assert.equal(engine.compile({manifest}).decide({exitCode: 42}).action, 'Restart');
});

test('a call from the end of the stack is an error, and poisons nothing', async () => {
  const engine = await load();
  const policy = engine.compile({manifest});
  let failures = 0;
  const deeper = () => {
    try {
      deeper();
    } catch {
      // Here little of the stack is left; less with each frame that the exception leaves.
    }
    if (failures > 50) return;
    try {
      assert.equal(policy.decide({exitCode: 42}).action, 'Restart');
    } catch (error) {
      failures++;
      assert(error instanceof TrapError || error instanceof RangeError || error.name === 'InternalError', error); // Firefox has its own
    }
  };
  deeper();
  assert(failures > 0, 'the end of the stack was not reached');
  assert.equal(policy.decide({exitCode: 42}).action, 'Restart');
});

test('two million decisions leave at most 8 MiB', async (t) => {
  const engine = await load();
  const policy = engine.compile({manifest});
  const exits = [1, 42].map((exitCode) => encoder.encode(JSON.stringify({container: 'main', exitCode})));
  const batch = policy.batch(4096);
  for (let i = 0; i < 4096; i++) batch.add({exitCode: i % 256});
  const into = new Uint8Array(16 + 24 * 4096);
  let restarts = 0;
  for (let i = 0; i < 200_000; i++) if (policy.decide(exits[i & 1]).action === 'Restart') restarts++;
  for (let i = 0; i < 440; i++) {
    const verdicts = policy.decideBatch(batch, into);
    for (let k = 0; k < verdicts.length; k++) if (verdicts.action(k) === 'Restart') restarts++;
  }
  assert.equal(restarts, 100_000 + 440 * 16);
  t.diagnostic?.(`${engine.memoryBytes / (1 << 20)} MiB`);
  assert(engine.memoryBytes <= 8 << 20, `${engine.memoryBytes} bytes`);
});

test('workers have their own engines of one module', async () => {
  const engine = await load();
  assert.throws(() => structuredClone(engine).decide({}), TypeError, 'an engine cannot be sent, only its module');
  const answers = await Promise.all([0, 1, 2].map((n) => new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./worker.mjs', import.meta.url), {workerData: {module: engine.module, manifest, code: 41 + n}});
    worker.once('message', resolve);
    worker.once('error', reject);
  })));
  assert.deepEqual(answers, [['Stop'], ['Restart'], ['Stop']]);
});

// The test build of the module, with operations that fail in the ways there are; see wasm/guest.
const trapFile = process.env.PODFATE_TRAP_MODULE;
const skip = !trapFile && 'PODFATE_TRAP_MODULE names no test build of the module';

test('a trap poisons nothing but its own instance', {skip}, async () => {
  const engine = await load(await readFile(trapFile), {sha256: null, instances: 2});
  const policy = engine.compile({manifest});
  const traps = {'write to a nil map': 0xF001, 'index out of range': 0xF002, 'stack overflow': 0xF003, 'out of memory': 0xF004};
  const tattoo = () => engine.call(0xF007, encoder.encode('secret')).json().kept;
  for (const [name, operation] of Object.entries(traps)) {
    assert.equal(tattoo(), 1, name);
    assert.equal(tattoo(), 2, name);
    assert.throws(() => engine.call(operation, {}), (error) => error instanceof TrapError && error.code === 'TRAP', name);
    assert.equal(tattoo(), 1, `${name}: the next instance knows nothing of it`);
    assert.throws(() => engine.call(operation, {}), TrapError, name);
    assert.equal(policy.decide({exitCode: 42}).action, 'Restart', `${name}: the policy is compiled again`);
    assert.equal(policy.decide({exitCode: 1}).action, 'Stop', name);
    assert.throws(() => engine.call(operation, {}), TrapError, name);
    const batch = policy.batch(1);
    batch.add({exitCode: 42});
    assert.equal(policy.decideBatch(batch).action(0), 'Restart', name);
  }
  assert.match(caught(() => engine.call(0xF001, {})).message, /assignment to entry in nil map/);
});

test('what the module recovered from is an error, and drops the instance too', {skip}, async () => {
  const engine = await load(await readFile(trapFile), {sha256: null});
  engine.call(0xF007, encoder.encode('secret'));
  assert.equal(caught(() => engine.call(0xF008, {})).code, 'INTERNAL');
  assert.equal(engine.call(0xF007, encoder.encode('secret')).json().kept, 1);
});

test('garbage is collected in the module', {skip}, async () => {
  const engine = await load(await readFile(trapFile), {sha256: null});
  for (let i = 0; i < 100_000; i++) engine.call(0xF009, {});
  assert(engine.memoryBytes <= 8 << 20, `${engine.memoryBytes} bytes`);
});

function caught(f) {
  try {
    f();
  } catch (error) {
    assert(error instanceof TrapError);
    return error;
  }
  assert.fail('nothing was thrown');
}
