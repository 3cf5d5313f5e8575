// The ABI of one instance. Everything that knows of pointers is in this file; what each export does
// is in wasm/doc.go.
import {LimitError, ModuleError, PodfateError, TrapError} from './errors.js';

/** Numbers of the operations, for pf_call. They never change; describe lists those of a module. */
export const operations = Object.freeze({
  describe: 1, validate: 2, decide: 3, simulate: 4, curve: 5, explain: 6, table: 7, compare: 8, suggest: 9, translate: 10, fleet: 11,
});

/**
 * Linear memory never shrinks, so an instance that grew past this many bytes is replaced by a fresh
 * one.
 */
export const recycleBytes = 16 << 20;

/** Major version of the module's ABI that this package speaks. */
const abiMajor = 1;

/**
 * Texts up to this length are written into the memory as they are encoded, which saves a copy and
 * takes three times the room.
 */
const directly = 4096;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', {fatal: true, ignoreBOM: true});

// A result word comes as a BigInt; read in halves it costs no arithmetic on BigInts.
const word = new BigInt64Array(1);
const halves = new Uint32Array(word.buffer);

/**
 * One instance with its own memory. After a {@link TrapError} its memory is damaged although its
 * exports still answer.
 */
export class Instance {
  /** Handles of the policies that are compiled here, the oldest first. */
  handles = new Map();
  #buffers = [{at: 0, size: 0}, {at: 0, size: 0}]; // lent by the module: for requests, for the answers of batches
  #bytes = new Uint8Array(); // of the whole memory
  #view = new Uint8Array(); // of the buffer for requests

  constructor(module) {
    let exports;
    try {
      ({exports} = new WebAssembly.Instance(module, {}));
    } catch (cause) {
      throw new ModuleError('ABI', 'the module cannot be started without imports', {}, {cause});
    }
    for (const name of ['_initialize', 'pf_abi_version', 'pf_alloc', 'pf_free', 'pf_call']) {
      if (typeof exports[name] !== 'function') throw new ModuleError('ABI', `the module does not export ${name}`);
    }
    if (!(exports.memory instanceof WebAssembly.Memory)) throw new ModuleError('ABI', 'the module does not export memory');
    this.exports = exports;
    const version = this.run(() => {
      exports._initialize();
      return exports.pf_abi_version();
    });
    if (version >>> 16 !== abiMajor) {
      throw new ModuleError('ABI', `the module has ABI ${version >>> 16}.${version & 0xffff}, this package needs ${abiMajor}`);
    }
  }

  /**
   * The memory as it is now. A call may make it grow, and then an older view is detached and has no
   * length.
   */
  get memory() {
    if (this.#bytes.length === 0) this.#bytes = new Uint8Array(this.exports.memory.buffer);
    return this.#bytes;
  }

  /**
   * Runs an operation by its number on a JSON text, or on the bytes of one. Gives {@link
   * Instance#ask}'s answer.
   */
  call(operation, request) {
    return this.ask((at, length) => this.exports.pf_call(operation, at, length), request);
  }

  /**
   * Writes a request, a text or bytes, into the memory, calls f with its address and length, and
   * gives {failed, bytes}: whether the answer is an error payload, and where it lies in the memory.
   * Copy or decode those bytes before the next call.
   */
  ask(f, request) {
    try {
      if (request.length > directly && typeof request === 'string') request = encoder.encode(request);
      const room = typeof request === 'string' ? 3 * request.length : request.length; // a UTF-16 unit takes up to three bytes
      const at = this.reserve(0, room);
      if (typeof request === 'string') word[0] = f(at, encoder.encodeInto(request, this.#request()).written);
      else {
        this.memory.set(request, at);
        word[0] = f(at, room);
      }
      const start = halves[1];
      const failed = halves[0] >>> 31 === 1;
      const end = start + (halves[0] & 0x7fffffff);
      const {memory} = this;
      if (start === end || end > memory.length) throw malformed('the answer lies outside the module\'s memory');
      return {failed, bytes: memory.subarray(start, end)};
    } catch (cause) {
      throw this.#trapped(cause);
    }
  }

  /**
   * Where requests are written. The view is kept: to make one takes as long as to write a small
   * request.
   */
  #request() {
    const {at, size} = this.#buffers[0];
    if (this.#view.length !== size || this.#view.byteOffset !== at) this.#view = this.memory.subarray(at, at + size);
    return this.#view;
  }

  /** Runs f, which calls exports, and turns whatever the engine throws into a {@link TrapError}. */
  run(f) {
    try {
      return f();
    } catch (cause) {
      throw this.#trapped(cause);
    }
  }

  #trapped(cause) {
    if (cause instanceof PodfateError) return cause;
    return new TrapError('TRAP', `the module ended the call: ${this.#diagnostic() || cause.message}`, {}, {cause});
  }

  /** What the module's runtime printed before it ended. */
  #diagnostic() {
    const {pf_diag: at, pf_diag_len: length} = this.exports;
    return at && length ? new TextDecoder().decode(this.memory.subarray(at.value, at.value + length.value)).trim() : '';
  }

  /**
   * Makes room for n bytes in one of the two buffers and gives its address. Buffers are kept and
   * grow by doubling.
   */
  reserve(which, n) {
    const buffer = this.#buffers[which];
    if (buffer.at !== 0 && n <= buffer.size) return buffer.at;
    if (buffer.at !== 0) this.exports.pf_free(buffer.at);
    buffer.at = 0;
    for (const size of [Math.max(n, 2 * buffer.size, 4096), n]) { // exactly n where twice as much is too much
      buffer.size = size;
      buffer.at = this.exports.pf_alloc(size) >>> 0;
      if (buffer.at !== 0) break;
    }
    if (buffer.at === 0) {
      buffer.size = 0;
      throw new LimitError('LIMIT_EXCEEDED', `there is no room for a request of ${n} bytes`, {num: 6, limit: 'requestBytes'});
    }
    if (buffer.at + n > this.memory.length) throw malformed('the request buffer lies outside the module\'s memory');
    return buffer.at;
  }
}

/**
 * The object in an answer. failed, where it is given, has to agree with it: a payload of an error
 * has that error.
 */
export function parse(bytes, failed) {
  let value;
  try {
    value = JSON.parse(decoder.decode(bytes));
  } catch (cause) {
    throw malformed('the answer is not JSON', cause);
  }
  if (value === null || typeof value !== 'object') throw malformed('the answer is not an object');
  if (failed !== undefined && failed !== (typeof value.error?.code === 'string')) throw malformed('the answer and its flag disagree');
  return value;
}

function malformed(message, cause) {
  return new TrapError('MALFORMED', message, {}, {cause});
}
