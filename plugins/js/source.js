// Where the module comes from, and whether it is the one that was asked for.
import {Engine} from './engine.js';
import {ModuleError} from './errors.js';

/**
 * Makes an engine of source: an address (URL or string), a Response or a promise of one, bytes, or
 * a WebAssembly.Module. readFile reads a file: URL, where there are files.
 *
 * Bytes with another SHA-256 than options.sha256 never run: that is own, the digest of the
 * package's module, unless the caller says otherwise, and null compares nothing. A compiled module
 * has no bytes left to compare, so its digest is only what the caller says it is, never own.
 */
export async function open(source, own, {sha256: told, bytes, ...options} = {}, readFile) {
  source = await source;
  if (source instanceof WebAssembly.Module) return new Engine(source, {sha256: told ?? '', bytes, ...options});
  if (typeof source === 'string' || source instanceof URL) {
    source = readFile && String(source).startsWith('file:') ? await readFile(new URL(source)) : await fetch(source);
  }
  const {module, file} = typeof source?.arrayBuffer === 'function' ? await stream(source) : {file: view(source)};
  const digest = await hexDigest(file);
  const expected = told === undefined ? own : told;
  if (expected !== null && digest !== expected) {
    throw new ModuleError('DIGEST', digest === ''
      ? 'the digest of the module cannot be checked: there is no Web Crypto here'
      : `the module has the SHA-256 ${digest}, not ${expected}`);
  }
  return new Engine(await module ?? await compile(file), {sha256: digest, bytes: file.byteLength, ...options});
}

/**
 * Compiles a response while it arrives. The module is undefined where that cannot be, as with
 * another MIME type.
 */
async function stream(response) {
  if (response.ok === false) throw new ModuleError('ABI', `the module could not be fetched: HTTP ${response.status}`);
  const streams = typeof WebAssembly.compileStreaming === 'function' && response instanceof Response && response.headers.get('Content-Type') === 'application/wasm';
  const module = streams && WebAssembly.compileStreaming(response.clone()).catch(() => undefined); // the bytes say what is wrong
  return {module: module || undefined, file: new Uint8Array(await response.arrayBuffer())};
}

async function compile(file) {
  try {
    return await WebAssembly.compile(file);
  } catch (cause) {
    if (/unsafe-eval|Content Security Policy|CSP/i.test(cause.message)) { // the words are the browser's, and each says one of these
      throw new ModuleError('ABI', "the content security policy of this page lets no WebAssembly run: script-src needs 'wasm-unsafe-eval'", {}, {cause});
    }
    throw new ModuleError('ABI', 'the file is not a WebAssembly module', {}, {cause});
  }
}

function view(source) {
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  throw new TypeError('a module comes from an address, a Response, bytes or a WebAssembly.Module');
}

/**
 * SHA-256 in hexadecimal digits; '' where there is no Web Crypto, as on a page that came over plain
 * HTTP.
 */
async function hexDigest(bytes) {
  const subtle = globalThis.crypto?.subtle;
  if (!subtle) return '';
  const digest = new Uint8Array(await subtle.digest('SHA-256', bytes));
  return Array.from(digest, (b) => b.toString(16).padStart(2, '0')).join('');
}
