// What only a browser does: fetching the module, from servers that are set up well and badly.
import assert from 'node:assert/strict';
import test from 'node:test';
import {ModuleError, load} from 'podfate';

test('the module is fetched from beside the script, or from anywhere', async () => {
  const {sha256} = await load();
  for (const address of ['/package/policy.wasm', new URL('/package/policy.wasm', location.href), '/plain/policy.wasm']) {
    assert.equal((await load(address)).sha256, sha256, String(address));
  }
  assert.equal((await load(fetch('/package/policy.wasm'))).sha256, sha256);
});

test('what is not the module is refused', async () => {
  await assert.rejects(load('/flipped/policy.wasm'), (error) => error instanceof ModuleError && error.code === 'DIGEST');
  await assert.rejects(load('/nowhere/policy.wasm'), (error) => error instanceof ModuleError && error.message.includes('404'));
  await assert.rejects(load('/test/browser/page.html', {sha256: null}), (error) => error instanceof ModuleError && error.code === 'ABI');
});
