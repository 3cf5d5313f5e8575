import assert from 'node:assert/strict';
import test from 'node:test';
import {Engine, EventError, LimitError, ModuleError, PodfateError, TrapError, load as loadModule, operations} from 'podfate';
import {fake, fakeModule} from './fake.mjs';

const bytes = fakeModule();
const sha256 = Array.from(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)), (b) => b.toString(16).padStart(2, '0')).join('');
const load = (source = bytes, options = {sha256}) => loadModule(source, options);
const code = (want, Class = PodfateError) => (error) => error instanceof Class && error.name === Class.name && error.code === want;
const refused = (want) => (error) => error instanceof ModuleError && error.code === want;

test('every kind of source gives the same engine', async () => {
  const sources = {
    'Uint8Array': bytes,
    'a view into a larger buffer': new Uint8Array([9, 9, ...bytes, 9]).subarray(2, bytes.length + 2),
    'ArrayBuffer': bytes.buffer.slice(0),
    'Response': new Response(bytes),
    'Response with another MIME type': new Response(bytes, {headers: {'Content-Type': 'application/octet-stream'}}),
    'Response that is compiled as it streams': new Response(bytes, {headers: {'Content-Type': 'application/wasm'}}),
    'promise of a Response': Promise.resolve(new Response(bytes)),
    'data URL': 'data:application/wasm;base64,' + btoa(String.fromCharCode(...bytes)),
  };
  for (const [name, source] of Object.entries(sources)) {
    const engine = await load(source);
    assert.equal(engine.sha256, sha256, name);
    assert.equal(engine.bytes, bytes.length, name);
    assert.deepEqual(engine.call(fake.echo, {name}).json(), {name});
  }
});

test('a compiled module is taken with the digest it is said to have', async () => {
  const engine = await load(new WebAssembly.Module(bytes), {sha256, bytes: bytes.length});
  assert.equal(engine.sha256, sha256);
  assert.deepEqual(engine.call(fake.echo, {a: 1}).json(), {a: 1});
});

test('bytes with another digest are refused before they are compiled', async () => {
  const flipped = bytes.slice();
  flipped[flipped.length - 1] ^= 1;
  for (const source of [flipped, new Response(flipped), new Response(flipped, {headers: {'Content-Type': 'application/wasm'}}), new Uint8Array([1, 2, 3])]) {
    await assert.rejects(load(source), refused('DIGEST'));
  }
  await assert.rejects(loadModule(bytes), refused('DIGEST'), 'without a digest the package expects its own module');
  await loadModule(bytes, {sha256: null});
  await assert.rejects(loadModule(new Uint8Array([1, 2, 3]), {sha256: null}), refused('ABI'));
});

test('a failed download is named', async () => {
  await assert.rejects(load(new Response('gone', {status: 404})), /HTTP 404/);
  await assert.rejects(load(42), TypeError);
});

test('another major version of the ABI is refused, a higher minor one accepted', async () => {
  await assert.rejects(load(fakeModule({abi: 2 << 16}), {sha256: null}), refused('ABI'));
  await assert.rejects(load(fakeModule({abi: 5}), {sha256: null}), refused('ABI'));
  await load(fakeModule({abi: (1 << 16) + 7}), {sha256: null});
});

test('a module without the exports is refused', async () => {
  for (const name of ['_initialize', 'pf_alloc', 'pf_call', 'memory']) {
    await assert.rejects(load(fakeModule({without: [name]}), {sha256: null}), refused('ABI'), name);
  }
});

test('a request may be an object or the bytes of a JSON text', async () => {
  const engine = await load();
  const text = '{ "spaces" : "kept" }';
  const answer = engine.call(fake.echo, new TextEncoder().encode(text));
  assert.equal(new TextDecoder().decode(answer.bytes), text);
  assert.equal(answer.failed, false);
});

test('answers are copies: a later call does not change them', async () => {
  const engine = await load();
  const first = engine.call(fake.echo, {call: 1});
  const second = engine.call(fake.echo, {call: 2});
  assert.deepEqual([first.json(), second.json()], [{call: 1}, {call: 2}]);
  assert.equal(new TextDecoder().decode(first.bytes), '{"call":1}');
});

test('two interleaved users of one engine get their own answers', async () => {
  const engine = await load();
  const user = async (name) => {
    const answers = [];
    for (let i = 0; i < 100; i++) {
      answers.push(engine.call(fake.echo, {name, i}).json());
      await null; // the other one's turn
    }
    return answers;
  };
  const [a, b] = await Promise.all([user('a'), user('b')]);
  assert.deepEqual(a, Array.from({length: 100}, (_, i) => ({name: 'a', i})));
  assert.deepEqual(b, Array.from({length: 100}, (_, i) => ({name: 'b', i})));
});

test('a trap drops the instance and the next call gets a new one', async () => {
  const engine = await load();
  assert.deepEqual(engine.call(fake.count).json(), {n: 1});
  assert.deepEqual(engine.call(fake.count).json(), {n: 2});
  assert.throws(() => engine.call(fake.trap), code('TRAP', TrapError));
  assert.deepEqual(engine.call(fake.count).json(), {n: 1});
});

test('of several instances the next takes over at once', async () => {
  const engine = await load(bytes, {sha256, instances: 2});
  engine.call(fake.count);
  assert.throws(() => engine.call(fake.trap), code('TRAP', TrapError));
  assert.deepEqual(engine.call(fake.count).json(), {n: 1});
  assert.deepEqual(engine.call(fake.count).json(), {n: 2}, 'it is kept');
});

test('a request without room leaves the instance as it was', async () => {
  const engine = await load();
  engine.call(fake.count);
  assert.throws(() => engine.call(fake.echo, {text: 'x'.repeat(40000)}), code('LIMIT_EXCEEDED', LimitError));
  assert.deepEqual(engine.call(fake.count).json(), {n: 2});
});

test('a disposed engine is not called', async () => {
  const engine = await load();
  engine.dispose();
  assert.throws(() => engine.call(fake.echo), TypeError);
  assert.equal(engine.memoryBytes, 0);
});

test('a malformed answer drops the instance as well', async () => {
  const engine = await load();
  for (const operation of [fake.outside, fake.badJSON, fake.badUTF8, fake.empty, fake.number, fake.cry, fake.hush]) {
    engine.call(fake.count);
    assert.throws(() => engine.call(operation), code('MALFORMED', TrapError), String(operation));
    assert.deepEqual(engine.call(fake.count).json(), {n: 1}, String(operation));
  }
});

test('memory may grow during a call; an instance that grew far is replaced', async () => {
  const engine = await load();
  assert.deepEqual(engine.call(fake.grow).json(), {n: 9});
  assert.deepEqual(engine.call(fake.count).json(), {n: 1});
});

test('an error payload is an answer of call and an exception of the methods', async () => {
  const engine = await load();
  const answer = engine.call(fake.refuse);
  assert.equal(answer.failed, true);
  assert.equal(answer.json().error.code, 'EVENT_INVALID');
  const other = new Engine(new WebAssembly.Module(fakeModule({refuse: operations.decide})));
  assert.throws(() => other.decide({}), (error) => error instanceof EventError && error.num === 4 && error.path === 'exits[0].container');
});

test('an operation that does not exist is a programming error', async () => {
  const engine = await load();
  assert.throws(() => engine.call('deside'), TypeError);
  assert.deepEqual(operations, {describe: 1, validate: 2, decide: 3, simulate: 4, curve: 5, explain: 6, table: 7, compare: 8, suggest: 9, translate: 10, fleet: 11});
});
