// Started with --conditions workerd: there the package neither fetches nor reads, it takes a
// compiled module.
import assert from 'node:assert/strict';
import {readFile} from 'node:fs/promises';
import {ModuleError, TrapError, load} from 'podfate';

const file = await readFile(new URL(import.meta.resolve('podfate/policy.wasm')));
await assert.rejects(load(), TypeError);
const engine = await load(await WebAssembly.compile(file), {sha256: 'as told', bytes: file.length});
assert.deepEqual([engine.sha256, engine.bytes], ['as told', file.length]);
const manifest = {apiVersion: 'v1', kind: 'Pod', metadata: {name: 'p'}, spec: {containers: [{name: 'main', image: 'i'}]}};
assert.equal(engine.compile({manifest}).decide({exitCode: 1}).action, 'Restart');
file[100] ^= 1;
await assert.rejects(load(file), ModuleError);
assert.equal(typeof TrapError, 'function');
