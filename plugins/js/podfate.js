/**
 * Podfate: what will Kubernetes do when this container exits?
 *
 * Loads policy.wasm, which imports nothing, and calls its operations. Works the same in Node.js, Deno, Bun, browsers
 * and their workers; there is no dependency. Requests and answers are JSON: the same bytes in give the same bytes out
 * everywhere.
 *
 *   const engine = await Podfate.load(new URL('./policy.wasm', import.meta.url));
 *   engine.decide({manifest, exits: [{container: 'main', exitCode: 42}]}).decisions[0].action;
 */

/** Numbers of the operations, for pf_call. They never change; {@link Engine#describe} lists those of a module. */
export const operations = Object.freeze({describe: 1, validate: 2, decide: 3, simulate: 4, curve: 5});

/** Major version of the module's ABI that this loader speaks. */
const abiMajor = 1;

/** Linear memory never shrinks, so an instance that grew past this many bytes is replaced by a fresh one. */
const recycleBytes = 32 << 20;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', {fatal: true, ignoreBOM: true});

/**
 * What the module refused, or what is wrong with the module.
 *
 * code is that of the error payload (MANIFEST_INVALID, EVENT_INVALID, …), or one of this loader's own:
 * DIGEST (other bytes than asked for), ABI (not a module of this ABI), TRAP (the call ended the instance),
 * MALFORMED (what came back is no answer). num is the payload's number, 0 for the loader's own codes.
 */
export class PodfateError extends Error {
  /** @param {string} code  @param {string} message  @param {object} [detail] the payload's error object */
  constructor(code, message, detail = {}, options) {
    super(message, options);
    this.name = 'PodfateError';
    this.code = code;
    this.num = detail.num ?? 0;
    this.path = detail.path;
    this.faults = detail.faults ?? [];
    this.offset = detail.offset;
    this.limit = detail.limit;
  }
}

export class Podfate {
  /**
   * Compiles a module and starts one instance of it.
   *
   * source: address (URL or string; a file: URL is read from disk), Response or a promise of one, ArrayBuffer,
   * Uint8Array, or a WebAssembly.Module that is compiled already. Without it, policy.wasm beside this file.
   *
   * options.sha256: the digest that the bytes must have, 64 lower-case hexadecimal digits; anything else is refused
   * with code DIGEST, and so is a place without Web Crypto (a page that came over plain HTTP), where bytes cannot be
   * checked. Of a compiled module the bytes are gone: its digest is taken as told.
   * options.bytes: size of the file, for a compiled module.
   *
   * @returns {Promise<Engine>}
   */
  static async load(source = new URL('./policy.wasm', import.meta.url), {sha256, bytes} = {}) {
    if (source instanceof WebAssembly.Module) return new Engine(source, sha256 ?? '', bytes ?? 0);
    const file = await readAll(await source);
    const digest = await hexDigest(file);
    if (sha256 !== undefined && digest !== sha256) {
      throw new PodfateError('DIGEST', digest === ''
        ? 'the digest of the module cannot be checked: there is no Web Crypto here'
        : `the module has the SHA-256 ${digest}, not ${sha256}`);
    }
    return new Engine(await WebAssembly.compile(file), digest, file.byteLength);
  }
}

/** A compiled module with one live instance. Calls are synchronous, so callers cannot meet inside an instance. */
export class Engine {
  #module;
  #instance = null;

  /** Use {@link Podfate.load}. */
  constructor(module, sha256, bytes) {
    this.#module = module;
    /** SHA-256 of the file, 64 lower-case hexadecimal digits; '' if it could not be computed. */
    this.sha256 = sha256;
    /** Size of the file in bytes; 0 if not known. */
    this.bytes = bytes;
    this.#instance = new Instance(module); // a module of another kind is refused here, not at the first call
  }

  /**
   * Runs one operation, by name or number, on a request: an object, or the bytes of a JSON text.
   *
   * Returns the answer's bytes and whether it is an error payload; json() gives it as an object, the same each time.
   * An error payload is not an exception here. It throws {@link PodfateError} for TRAP and MALFORMED, and for a
   * request that the module has no room for (LIMIT_EXCEEDED): then the instance is dropped, the next call gets a new
   * one, and the request is not tried again.
   *
   * @param {string|number} operation
   * @param {object|Uint8Array} [request]
   * @returns {{bytes: Uint8Array, failed: boolean, json: () => object}}
   */
  call(operation, request = {}) {
    const number = typeof operation === 'number' ? operation : operations[operation];
    if (number === undefined) throw new TypeError(`no operation is called ${JSON.stringify(operation)}`);
    const bytes = request instanceof Uint8Array ? request : encoder.encode(JSON.stringify(request));
    const instance = this.#instance ?? new Instance(this.#module);
    this.#instance = null; // taken back only after a sound answer
    const {answer, failed} = instance.call(number, bytes);
    const value = parse(answer);
    if (instance.memoryBytes <= recycleBytes) this.#instance = instance;
    return {bytes: answer, failed, json: () => value};
  }

  /** What the module knows: versions, gates, operations, limits, and the file that was loaded. */
  describe() {
    return this.#ask('describe', this.sha256 ? {module: {sha256: this.sha256, bytes: this.bytes}} : {});
  }

  /** Would the API server accept request.manifest? Faults are the answer, not an exception. */
  validate(request) {
    return this.#ask('validate', request);
  }

  /** What happens after each of request.exits? */
  decide(request) {
    return this.#ask('decide', request);
  }

  #ask(operation, request) {
    const answer = this.call(operation, request);
    if (!answer.failed) return answer.json();
    const {error} = answer.json();
    throw new PodfateError(error.code, error.message, error);
  }
}

/** One instance with its own memory. After a trap its memory is damaged although its exports still answer. */
class Instance {
  #exports;
  #buffer = 0; // of the request, in the instance's memory; 0: none yet
  #capacity = 0;

  constructor(module) {
    let exports;
    try {
      ({exports} = new WebAssembly.Instance(module, {}));
    } catch (cause) {
      throw new PodfateError('ABI', 'the module cannot be started without imports', {}, {cause});
    }
    for (const name of ['_initialize', 'pf_abi_version', 'pf_alloc', 'pf_free', 'pf_call']) {
      if (typeof exports[name] !== 'function') throw new PodfateError('ABI', `the module does not export ${name}`);
    }
    if (!(exports.memory instanceof WebAssembly.Memory)) throw new PodfateError('ABI', 'the module does not export memory');
    this.#exports = exports;
    const version = guarded(() => {
      exports._initialize();
      return exports.pf_abi_version();
    });
    if (version >>> 16 !== abiMajor) {
      throw new PodfateError('ABI', `the module has ABI ${version >>> 16}.${version & 0xffff}, this loader needs ${abiMajor}`);
    }
  }

  get memoryBytes() {
    return this.#exports.memory.buffer.byteLength;
  }

  call(number, request) {
    return guarded(() => {
      this.#reserve(request.length);
      new Uint8Array(this.#exports.memory.buffer, this.#buffer, request.length).set(request);
      const word = BigInt.asUintN(64, this.#exports.pf_call(number, this.#buffer, request.length));
      const pointer = Number(word >> 32n);
      const length = Number(word & 0x7fffffffn);
      const memory = this.#exports.memory.buffer; // the call may have grown it: an older view is detached
      if (length === 0 || pointer + length > memory.byteLength) {
        throw new PodfateError('MALFORMED', 'the answer lies outside the module\'s memory');
      }
      // Copied at once: the bytes are the guest's and hold only until the next call.
      return {answer: new Uint8Array(memory, pointer, length).slice(), failed: (word >> 31n & 1n) === 1n};
    });
  }

  /** Makes room for n bytes. The buffer is kept from call to call and grows by doubling. */
  #reserve(n) {
    if (this.#buffer !== 0 && n <= this.#capacity) return;
    if (this.#buffer !== 0) this.#exports.pf_free(this.#buffer);
    this.#buffer = 0;
    for (const size of [Math.max(n, 2 * this.#capacity, 4096), n]) { // exactly n where twice as much is too much
      this.#buffer = this.#exports.pf_alloc(size) >>> 0;
      this.#capacity = size;
      if (this.#buffer !== 0) break;
    }
    if (this.#buffer === 0) throw new PodfateError('LIMIT_EXCEEDED', `a request of ${n} bytes is too large`, {num: 6, limit: 'requestBytes'});
    if (this.#buffer + n > this.#exports.memory.buffer.byteLength) {
      throw new PodfateError('MALFORMED', 'the request buffer lies outside the module\'s memory');
    }
  }
}

/** Runs f and turns whatever the engine throws into a TRAP. */
function guarded(f) {
  try {
    return f();
  } catch (cause) {
    if (cause instanceof PodfateError) throw cause;
    throw new PodfateError('TRAP', 'the module ended the call: ' + cause.message, {}, {cause});
  }
}

function parse(answer) {
  let value;
  try {
    value = JSON.parse(decoder.decode(answer));
  } catch (cause) {
    throw new PodfateError('MALFORMED', 'the answer is not JSON', {}, {cause});
  }
  if (value === null || typeof value !== 'object') throw new PodfateError('MALFORMED', 'the answer is not an object');
  return value;
}

async function readAll(source) {
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  if (typeof source === 'string' || source instanceof URL) {
    if (String(source).startsWith('file:')) { // Node.js does not fetch files
      const {readFile} = await import('node:fs/promises');
      return new Uint8Array(await readFile(new URL(source)));
    }
    source = await fetch(source);
  }
  if (typeof source?.arrayBuffer !== 'function') throw new TypeError('a module comes from a URL, a Response, bytes or a WebAssembly.Module');
  if (source.ok === false) throw new PodfateError('ABI', `the module could not be fetched: HTTP ${source.status}`);
  return new Uint8Array(await source.arrayBuffer());
}

async function hexDigest(bytes) {
  const subtle = globalThis.crypto?.subtle;
  if (!subtle) return '';
  const digest = new Uint8Array(await subtle.digest('SHA-256', bytes));
  return Array.from(digest, (b) => b.toString(16).padStart(2, '0')).join('');
}
