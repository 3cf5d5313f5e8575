// The module itself, through the package. Runs in Node.js, Deno and Bun.
import assert from 'node:assert/strict';
import {readFile} from 'node:fs/promises';
import test from 'node:test';
import {EventError, LimitError, ModuleError, PolicyError, RequestError, load} from 'podfate';
import {load as loadInline} from 'podfate/inline';

const rules = [{action: 'Restart', exitCodes: {operator: 'In', values: [42]}}];
const pod = (...containers) => ({
  apiVersion: 'v1', kind: 'Pod', metadata: {name: 'p'},
  spec: {containers: containers.map((c) => ({image: 'i', ...c}))},
});
const manifest = pod({name: 'main', restartPolicy: 'Never', restartPolicyRules: rules});
const job = {
  apiVersion: 'batch/v1', kind: 'Job', metadata: {name: 'j'},
  spec: {
    podFailurePolicy: {rules: [
      {action: 'FailJob', onExitCodes: {containerName: 'main', operator: 'In', values: [42]}},
      {action: 'Ignore', onPodConditions: [{type: 'DisruptionTarget', status: 'True'}]},
    ]},
    template: {metadata: {}, spec: {restartPolicy: 'Never', containers: [{name: 'main', image: 'i'}]}},
  },
};

test('describe tells the file that was loaded', async () => {
  const engine = await load();
  const answer = engine.describe();
  assert.equal(answer.product, 'podfate');
  assert.deepEqual(answer.module, {sha256: engine.sha256, bytes: engine.bytes});
});

test('the inline build holds the same module', async () => {
  const [engine, inline] = [await load(), await loadInline()];
  assert.deepEqual([inline.sha256, inline.bytes], [engine.sha256, engine.bytes]);
  assert.equal(inline.compile({manifest}).decide({exitCode: 42}).action, 'Restart');
});

test('a compiled module has the digest that the caller says, and none otherwise', async () => {
  // R-J1: a custom section, so other bytes than the package's, that answer all the same.
  const file = await readFile(new URL(import.meta.resolve('podfate/policy.wasm')));
  const other = await WebAssembly.compile(Uint8Array.from([...file, 0, 2, 1, 0x78]));
  for (const open of [load, loadInline]) {
    for (const source of [other, await WebAssembly.compile(file)]) {
      for (const options of [undefined, {}, {sha256: null}, {instances: 1}]) {
        const engine = await open(source, options);
        assert.deepEqual([engine.sha256, engine.describe().module], ['', undefined]);
      }
      const told = await open(source, {sha256: 'a'.repeat(64), bytes: 7});
      assert.deepEqual(told.describe().module, {sha256: 'a'.repeat(64), bytes: 7});
    }
  }
});

test('a module with one flipped bit is refused before it runs', async () => {
  const file = await readFile(new URL(import.meta.resolve('podfate/policy.wasm')));
  const {sha256} = await load(file);
  for (const at of [0, 8, file.length >> 1, file.length - 1]) {
    const flipped = Uint8Array.from(file);
    flipped[at] ^= 1;
    for (const source of [flipped, new Response(flipped, {headers: {'Content-Type': 'application/wasm'}})]) {
      await assert.rejects(load(source), (error) => error instanceof ModuleError && error.code === 'DIGEST' && error.message.includes(sha256));
    }
  }
});

test('every operation answers with objects', async () => {
  const engine = await load();
  const {decisions} = engine.decide({manifest, exits: [{container: 'main', exitCode: 42}, {container: 'main', exitCode: 1}]});
  assert.deepEqual(decisions.map((d) => d.action), ['Restart', 'Stop']);
  assert.equal(engine.validate({manifest}).valid, true);
  const {pod: end} = engine.simulate({manifest, runs: {main: [{for: '1s', exitCode: 0}]}, until: '1m'});
  assert.equal(end.status.phase, 'Succeeded');
  assert.equal(engine.curve({run: {for: '10s'}, until: '30m'}).untilMillis, 1_800_000);
});

test('what the core refuses is thrown with class, code, path and faults', async () => {
  const engine = await load();
  assert.throws(() => engine.decide({manifest, exits: [{container: 'nobody', exitCode: 1}]}), (error) => {
    assert(error instanceof EventError);
    assert.deepEqual([error.name, error.code, error.num, error.path, error.faults.length], ['EventError', 'EVENT_INVALID', 4, 'exits[0].container', 1]);
    return true;
  });
  assert.throws(() => engine.compile({manifest: pod({name: 'main', restartPolicyRules: rules})}), PolicyError);
  assert.throws(() => engine.compile({manifest, cluster: {version: '1.2'}}), PolicyError);
  assert.throws(() => engine.compile(new TextEncoder().encode('{')), (error) => error instanceof PolicyError && error.code === 'BAD_JSON');
  assert.throws(() => engine.decide(new TextEncoder().encode('{')), (error) => error instanceof RequestError && error.code === 'BAD_JSON');
  assert.throws(() => engine.compile(new Uint8Array([0x22, 0xff, 0x22])), (error) => error instanceof PolicyError && error.code === 'BAD_UTF8');
  assert.throws(() => engine.decide({manifest, exits: Array(10001).fill({exitCode: 1})}), (error) => error instanceof LimitError && error.limit !== undefined);
  assert.throws(() => engine.decide({text: 'x'.repeat(1 << 20)}), (error) => error instanceof LimitError && error.num === 6);
  assert.throws(() => engine.decide({text: 'x'.repeat(20 << 20)}), (error) => error instanceof LimitError && error.num === 6);
  assert.equal(engine.call(99).json().error.code, 'UNSUPPORTED_OP');
});

test('a byte order mark before a JSON text is passed over', async () => {
  const engine = await load();
  const text = JSON.stringify({manifest, exits: [{container: 'main', exitCode: 42}]});
  const marked = new TextEncoder().encode('\ufeff' + text);
  assert.deepEqual(engine.decide(marked), engine.decide(new TextEncoder().encode(text)));
  assert.deepEqual(engine.compile(new TextEncoder().encode('\ufeff' + JSON.stringify({manifest}))).containers, ['main']);
});

test('the same request gives the same bytes from many instances', async () => {
  const request = new TextEncoder().encode(JSON.stringify({manifest, exits: [{container: 'main', exitCode: 42}]}));
  const answers = new Set();
  for (let i = 0; i < 3; i++) {
    const engine = await load();
    for (let k = 0; k < 50; k++) answers.add(String(engine.call('decide', request).bytes));
  }
  assert.equal(answers.size, 1);
});

test('a policy decides one exit after the other', async () => {
  const policy = (await load()).compile({manifest});
  assert.deepEqual(policy.containers, ['main']);
  const {action, delayMillis, decidedBy} = policy.decide({container: 'main', exitCode: 42, restarts: 3, ranForMillis: 1000});
  assert.deepEqual([action, delayMillis, decidedBy.path], ['Restart', 40000, 'spec.containers[0].restartPolicyRules[0]']);
  assert.equal(policy.decide(new TextEncoder().encode('{"container":"main","exitCode":1}')).action, 'Stop');
  assert.throws(() => policy.decide({container: 'nobody', exitCode: 1}), EventError);
  assert.throws(() => policy.decide(new Uint8Array([0x7b, 0xff])), (error) => error instanceof EventError && error.code === 'BAD_UTF8');
});

test('a batch equals single decisions', async () => {
  const policy = (await load()).compile({manifest: pod({name: 'a', restartPolicy: 'Never', restartPolicyRules: rules}, {name: 'b'})});
  const batch = policy.batch(1); // grows
  const exits = [];
  for (const container of ['a', 'b']) {
    for (let exitCode = 0; exitCode < 256; exitCode++) exits.push({container, exitCode, restarts: exitCode % 9, ranForMillis: exitCode === 255 ? 2 ** 40 + 5 : 977 * exitCode});
  }
  exits.forEach((exit, i) => batch.add({...exit, tag: i}));
  const verdicts = policy.decideBatch(batch);
  assert.deepEqual([verdicts.length, verdicts.errors, [...verdicts].length], [exits.length, 0, exits.length]);
  exits.forEach((exit, i) => {
    const one = policy.decide(exit);
    const verdict = verdicts.at(i);
    assert.deepEqual(
      [verdict.action, verdict.because, verdict.level, verdict.rule, verdict.container, verdict.tag, verdict.delayMillis],
      [one.action, one.because, one.decidedBy.level, one.decidedBy.rule ?? null, one.container, i, one.delayMillis ?? -1]);
    assert.equal(verdicts.action(i), one.action);
  });
  assert.throws(() => verdicts.at(exits.length), RangeError);
});

test('a batch of failed Pods is judged by the Job', async () => {
  const policy = (await load()).compile({manifest: job});
  assert.deepEqual(policy.conditions, [{type: 'DisruptionTarget', status: 'True'}]);
  const batch = policy.batch(4, 'pods');
  batch.add({container: 'main', exitCode: 42});
  batch.add({container: 'main', exitCode: 1, conditions: [{type: 'DisruptionTarget', status: 'True'}]});
  batch.add({container: 'main', exitCode: 1, restarts: 1});
  batch.add({container: 'main', exitCode: 1, more: true});
  batch.add({container: 'main', exitCode: 42});
  const verdicts = [...policy.decideBatch(batch)];
  assert.deepEqual(verdicts.map((v) => v.action), ['FailJob', 'Ignore', 'Count', '', 'FailJob']);
  assert.deepEqual(verdicts.map((v) => [v.rule, v.counted, v.more]), [[0, true, false], [1, false, false], [null, true, false], [null, false, true], [0, true, false]]);
  assert.deepEqual(verdicts[1].condition, {type: 'DisruptionTarget', status: 'True'});
  assert.equal(verdicts[2].delayMillis, 20000);
});

test('the answer to a batch goes where the caller wants it', async () => {
  const policy = (await load()).compile({manifest});
  const batch = policy.batch(2);
  batch.add({exitCode: 42});
  batch.add({exitCode: 1});
  const block = new Uint8Array(1000).fill(7);
  const verdicts = policy.decideBatch(batch, block.subarray(100));
  assert.equal(verdicts.bytes.buffer, block.buffer);
  assert.deepEqual([...verdicts].map((v) => v.action), ['Restart', 'Stop']);
  assert.deepEqual([block[99], block[100 + 16 + 48]], [7, 7]);
  assert.throws(() => policy.decideBatch(batch, new Uint8Array(63)), RangeError);
});

test('an event that makes no sense fails alone', async () => {
  const policy = (await load()).compile({manifest});
  const batch = policy.batch(3);
  batch.add({exitCode: 42, tag: 1});
  batch.add({container: 'nobody', exitCode: 42, tag: 2});
  batch.add({exitCode: 42, ranForMillis: -1, tag: 3});
  const verdicts = policy.decideBatch(batch);
  assert.equal(verdicts.errors, 2);
  assert.deepEqual([...verdicts].map((v) => [v.status, v.action, v.tag]), [[0, 'Restart', 1], [4, '', 2], [4, '', 3]]);
});

test('records are written as numbers, and length says how many count', async () => {
  const policy = (await load()).compile({manifest});
  const batch = policy.batch(256);
  for (let i = 0; i < 256; i++) {
    batch.view.setInt32(24 + 32 * i, i, true);
    batch.view.setUint16(24 + 32 * i + 4, 0xffff, true);
  }
  batch.length = 256;
  const restarted = [...policy.decideBatch(batch)].flatMap((v, i) => v.action === 'Restart' ? [i] : []);
  assert.deepEqual(restarted, [42]);
  batch.length = 42;
  assert.equal(policy.decideBatch(batch).length, 42);
});

test('a half-written batch is refused as a whole, with its reason', async () => {
  const policy = (await load()).compile({manifest});
  const good = policy.batch(2);
  good.add({exitCode: 42});
  good.add({exitCode: 1});
  const broken = (change) => {
    const bytes = good.bytes.slice();
    change(new DataView(bytes.buffer));
    return bytes;
  };
  const cases = {
    'nothing': [new Uint8Array(0), EventError],
    'half a header': [good.bytes.slice(0, 12), EventError],
    'no magic': [broken((v) => v.setUint32(0, 0)), EventError],
    'another version': [broken((v) => v.setUint16(4, 2, true)), PolicyError],
    'records of no size': [broken((v) => v.setUint16(6, 0, true)), EventError],
    'more than there are': [broken((v) => v.setUint32(8, 3, true)), EventError],
    'fewer than there are': [broken((v) => v.setUint32(8, 1, true)), EventError],
    'more than any': [broken((v) => v.setUint32(8, 0xffffffff, true)), EventError],
    'a question that is none': [broken((v) => v.setUint32(12, 2, true)), EventError],
    'the end is missing': [good.bytes.slice(0, -1), EventError],
  };
  for (const [name, [bytes, Class]] of Object.entries(cases)) {
    assert.throws(() => policy.decideBatch(bytes), (error) => error.constructor === Class && error.num > 0, name);
  }
  assert.equal(policy.decideBatch(good).length, 2);
  assert.throws(() => policy.batch(1, 'cats'), TypeError);
  assert.throws(() => policy.decideBatch([1, 2, 3]), TypeError);
  assert.throws(() => policy.decide(), TypeError);
  for (const event of [{exitCode: 2 ** 32 + 42}, {exitCode: 0.5}, {exitCode: 1, restarts: -1}, {exitCode: 1, tag: 2 ** 32}, {exitCode: 1, container: 65536}, {exitCode: 1, ranForMillis: 0.5}]) {
    assert.throws(() => good.add(event), RangeError, JSON.stringify(event));
  }
  assert.equal(good.length, 2, 'what does not fit is not added');
});

test('what cannot be meant is an error, not another answer', async () => {
  const engine = await load();
  const policy = engine.compile({manifest});
  for (const exit of [{exitCode: 42, restarts: NaN}, {exitCode: 42, restarts: 1, ranForMillis: Infinity}, {exitCode: NaN}]) {
    assert.throws(() => policy.decide(exit), RangeError, 'JSON.stringify writes null, and null is left out');
  }
  assert.equal(policy.decide({exitCode: 42, reason: null}).action, 'Restart');
  for (const bytes of [new ArrayBuffer(2), new DataView(new ArrayBuffer(2)), new Uint16Array(1)]) {
    assert.throws(() => engine.curve(bytes), TypeError, 'JSON.stringify writes {}');
  }
  for (const operation of ['toString', '__proto__', 2 ** 32 + 1, 1.5, -1, NaN, null]) {
    assert.throws(() => engine.call(operation), TypeError, String(operation));
  }
  const batch = policy.batch(1);
  batch.add({container: 'main', exitCode: 42});
  for (const into of [new ArrayBuffer(100), new Uint16Array(100), [], null]) assert.throws(() => policy.decideBatch(batch, into), TypeError);
  for (const length of [NaN, -1, 1.5, 2 ** 32]) assert.throws(() => { batch.length = length; }, RangeError);
  assert.equal(batch.length, 1);
  const other = engine.compile({manifest: pod({name: 'side'}, {name: 'main', restartPolicy: 'Never', restartPolicyRules: rules})});
  assert.throws(() => other.decideBatch(batch), TypeError, 'container 0 is another one there');
  assert.equal(engine.compile({manifest, cluster: {version: '1.35'}}).decideBatch(batch).action(0), 'Restart', 'here it is the same');
});

test('a batch of any size is answered, and memory stays that of one call', async () => {
  const engine = await load();
  const policy = engine.compile({manifest});
  const batch = policy.batch(65536);
  for (let i = 0; i < 65536; i++) batch.view.setUint16(24 + 32 * i + 4, 0xffff, true);
  batch.length = 65536;
  for (let i = 0; i < 3; i++) assert.equal(policy.decideBatch(batch).errors, 0);
  const count = 2 * 65536 + 3;
  batch.length = count; // the others are written below
  for (let i = 65536; i < count; i++) {
    batch.view.setInt32(24 + 32 * i, 42, true);
    batch.view.setUint16(24 + 32 * i + 4, i % 7 === 0 ? 1 : 0, true);
    batch.view.setUint32(24 + 32 * i + 12, i, true);
  }
  for (const given of [batch, batch.bytes]) {
    const verdicts = policy.decideBatch(given);
    const wrong = Math.floor((count - 1) / 7) - Math.floor(65535 / 7);
    assert.deepEqual([verdicts.length, verdicts.errors, [...verdicts].length], [count, wrong, count]);
    assert.deepEqual([verdicts.action(0), verdicts.action(65537), verdicts.at(count - 1).tag, verdicts.view.getUint32(8, true)], ['Stop', 'Restart', count - 1, count]);
  }
  assert(engine.memoryBytes > 0 && engine.memoryBytes <= 12 << 20, `${engine.memoryBytes} bytes: an instance would be replaced after each`);
  assert.throws(() => policy.decideBatch(batch, new Uint8Array(16 + 24 * count - 1)), RangeError);
});

test('a failed Pod that straddles two calls is judged as one', async () => {
  const policy = (await load()).compile({manifest: job});
  const count = 65536 + 5; // Pods of three containers: the last of the first call is not the last of its Pod
  const batch = policy.batch(count, 'pods');
  batch.length = count;
  for (let i = 0; i < count; i++) {
    batch.view.setInt32(24 + 32 * i, i % 3 === 2 ? 42 : 0, true);
    batch.view.setUint16(24 + 32 * i + 4, 0, true);
    batch.view.setUint16(24 + 32 * i + 6, i % 3 === 2 || i === count - 1 ? 0 : 4, true);
  }
  const verdicts = policy.decideBatch(batch);
  assert.equal(verdicts.errors, 0);
  for (let i = 2; i < count; i += 3) assert.deepEqual([verdicts.action(i), verdicts.action(i - 1)], ['FailJob', ''], String(i));
  for (let i = 0; i < count; i++) batch.view.setUint16(24 + 32 * i + 6, 4, true);
  assert.throws(() => policy.decideBatch(batch), LimitError);
});

test('disposed policies are gone, others go on', async () => {
  const engine = await load();
  const [a, b] = [engine.compile({manifest}), engine.compile({manifest})];
  a.dispose();
  a.dispose();
  assert.throws(() => a.decide({exitCode: 42}), (error) => error instanceof PolicyError && error.code === 'UNKNOWN_HANDLE');
  assert.throws(() => a.decideBatch(b.batch(1)), PolicyError);
  assert.equal(b.decide({exitCode: 42}).action, 'Restart');
  if (Symbol.dispose) b[Symbol.dispose]();
  else b.dispose();
  assert.throws(() => b.decide({exitCode: 42}), PolicyError);
  const c = engine.compile({manifest});
  engine.dispose();
  assert.throws(() => c.decide({exitCode: 42}), TypeError);
  c.dispose(); // in either order
});

test('more policies than the module keeps are compiled again when they are asked', async () => {
  const engine = await load();
  const policies = Array.from({length: 4200}, (_, i) => engine.compile({manifest: pod({
    name: 'main', restartPolicy: 'Never', restartPolicyRules: [{action: 'Restart', exitCodes: {operator: 'In', values: [i % 255 + 1]}}],
  })}));
  for (const i of [0, 1, 4199, 2000, 103, 104]) {
    assert.equal(policies[i].decide({exitCode: i % 255 + 1}).action, 'Restart', String(i));
    assert.equal(policies[i].decide({exitCode: 255 - i % 255}).action, 'Stop', String(i));
  }
});
