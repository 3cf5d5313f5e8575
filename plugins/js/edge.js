// Runtimes that compile no code while they run, such as Cloudflare Workers: the module is imported,
// and handed over.
import {open} from './source.js';
import {sha256} from './digest.js';

export * from './api.js';

/** Makes an engine of a WebAssembly.Module: import module from 'podfate/policy.wasm'. */
export async function load(source, options = {}) {
  if (source === undefined) throw new TypeError("this runtime needs the module: load(module), from import module from 'podfate/policy.wasm'");
  return open(source, sha256, options);
}
