// Node.js, Deno and Bun: file: addresses are read from disk.
import {readFile} from 'node:fs/promises';
import {sha256} from './digest.js';
import {open} from './source.js';

export * from './api.js';

/** Makes an engine. Without a source: of policy.wasm next to this file. */
export function load(source = new URL('./policy.wasm', import.meta.url), options = {}) {
  return open(source, sha256, options, readFile);
}
