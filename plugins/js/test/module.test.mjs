// The module itself. It lies in wasm/ of the repository, beside the packages, and is copied into each when it is built.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {existsSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import test from 'node:test';
import {fileURLToPath} from 'node:url';
import {Podfate, PodfateError} from '../podfate.js';

const url = new URL('../../../wasm/policy.wasm', import.meta.url);
const skip = !existsSync(url) && 'wasm/policy.wasm has not been built';
const manifest = {
  apiVersion: 'v1', kind: 'Pod', metadata: {name: 'p'},
  spec: {containers: [{name: 'main', image: 'i', restartPolicy: 'Never', restartPolicyRules: [
    {action: 'Restart', exitCodes: {operator: 'In', values: [42]}},
  ]}]},
};

test('describe tells the file that was loaded', {skip}, async () => {
  const engine = await Podfate.load(url);
  const answer = engine.describe();
  assert.equal(answer.product, 'podfate');
  assert.deepEqual(answer.module, {sha256: engine.sha256, bytes: engine.bytes});
});

test('decide and validate answer with objects', {skip}, async () => {
  const engine = await Podfate.load(url);
  const {decisions} = engine.decide({manifest, exits: [{container: 'main', exitCode: 42}, {container: 'main', exitCode: 1}]});
  assert.deepEqual(decisions.map((d) => d.action), ['Restart', 'Stop']);
  assert.equal(engine.validate({manifest}).valid, true);
});

test('what the core refuses is thrown with code, path and faults', {skip}, async () => {
  const engine = await Podfate.load(url);
  assert.throws(() => engine.decide({manifest, exits: [{container: 'nobody', exitCode: 1}]}), (error) => {
    assert(error instanceof PodfateError);
    assert.equal(error.code, 'EVENT_INVALID');
    assert.equal(error.num, 4);
    assert.equal(error.path, 'exits[0].container');
    assert.equal(error.faults.length, 1);
    return true;
  });
});

test('the same request gives the same bytes from many instances', {skip}, async () => {
  const request = new TextEncoder().encode(JSON.stringify({manifest, exits: [{container: 'main', exitCode: 42}]}));
  const answers = new Set();
  for (let i = 0; i < 3; i++) {
    const engine = await Podfate.load(url);
    for (let k = 0; k < 50; k++) answers.add(Buffer.from(engine.call('decide', request).bytes).toString());
  }
  assert.equal(answers.size, 1);
});

test('the conformance runner counts vectors and mismatches', {skip}, async () => {
  const engine = await Podfate.load(url);
  const request = JSON.stringify({manifest, exits: [{container: 'main', exitCode: 42}]});
  const answer = new TextDecoder().decode(engine.call('decide', new TextEncoder().encode(request)).bytes);
  const folder = mkdtempSync(join(tmpdir(), 'podfate-'));
  try {
    const run = (vectors) => {
      const file = join(folder, 'vectors.jsonl');
      writeFileSync(file, vectors.map((v) => JSON.stringify(v) + '\n').join(''));
      try {
        return [0, execFileSync(process.execPath, [fileURLToPath(new URL('../conformance.mjs', import.meta.url)), file, fileURLToPath(url)], {encoding: 'utf8', stdio: 'pipe'})];
      } catch (error) {
        return [error.status, error.stdout];
      }
    };
    const good = {id: 'a', op: 'decide', request, answer, failed: false};
    const [status, line] = run([good, {...good, id: 'b'}]);
    assert.equal(status, 0, line);
    assert.match(line, new RegExp(`^engine=node version=\\S+ module=${engine.sha256} count=2 mismatches=0 digest=[0-9a-f]{64}\\n$`));
    assert.match(run([good, {...good, answer: '{}'}])[1], /count=2 mismatches=1/);
    assert.equal(run([{...good, failed: true}])[0], 1);
    assert.equal(run([])[0], 1, 'a run without vectors must not pass');
  } finally {
    rmSync(folder, {recursive: true});
  }
});
