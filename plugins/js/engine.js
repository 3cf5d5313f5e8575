// Engine and policies: what a program works with once it has the module.
import {Batch, Verdicts, answerBytes, answerErrors, answerHead, calls, refused} from './batch.js';
import {EventError, PodfateError, PolicyError, TrapError, exception} from './errors.js';
import {Instance, operations, parse, recycleBytes} from './instance.js';

/**
 * A compiled module with the instances that run it. Calls are synchronous and each has an instance
 * to itself. An engine belongs to one thread: send the WebAssembly.Module to a worker, and let it
 * make its own.
 */
export class Engine {
  #module;
  #idle = [];

  /**
   * Starts instances of a module: one unless told otherwise, of which one works at a time. A second
   * takes the next call at once after a trap, which otherwise waits a few milliseconds for a new
   * one.
   */
  constructor(module, {sha256 = '', bytes = 0, instances = 1} = {}) {
    this.#module = module;
    /** SHA-256 of the file, 64 lower-case hexadecimal digits; '' if nobody said. */
    this.sha256 = sha256;
    /** Size of the file in bytes; 0 if not known. */
    this.bytes = bytes;
    for (let i = 0; i < Math.max(1, instances); i++) this.#idle.push(new Instance(module)); // not one of ours is refused here
  }

  /** The compiled module, to send to a worker. null after dispose. */
  get module() {
    return this.#module;
  }

  /** Bytes of linear memory of the instances that wait for a call. */
  get memoryBytes() {
    return this.#idle.reduce((sum, instance) => sum + instance.memory.length, 0);
  }

  /**
   * Runs one operation, by name or number, on a request: an object, or the bytes of a JSON text.
   *
   * Gives the answer's bytes and whether it is an error payload, which is no exception here; json()
   * is the answer as an object, the same each time. Throws a TrapError, and a LimitError for a
   * request that the module has no room for.
   */
  call(operation, request = {}) {
    const number = Object.hasOwn(operations, operation) ? operations[operation] : operation;
    if (typeof number !== 'number' || number !== number >>> 0) throw new TypeError(`no operation is called ${String(operation)}`);
    const text = encode(request);
    return this.#use((instance) => {
      const {failed, bytes} = instance.call(number, text);
      const value = parse(bytes, failed);
      if (failed && value.error.num === 9) throw exception(value.error); // INTERNAL: to be treated as a trap
      return {bytes: bytes.slice(), failed, json: () => value};
    });
  }

  /** What the module knows: versions, gates, operations, limits, and the file that was loaded. */
  describe() {
    return this.#ask(operations.describe, this.sha256 ? {module: {sha256: this.sha256, bytes: this.bytes}} : {});
  }

  /** Would the API server accept request.manifest? Faults are the answer, not an exception. */
  validate(request) {
    return this.#ask(operations.validate, request);
  }

  /** What happens after each of request.exits? */
  decide(request) {
    return this.#ask(operations.decide, request);
  }

  /** What becomes of the Pod over time? */
  simulate(request) {
    return this.#ask(operations.simulate, request);
  }

  /** When do restarts come? */
  curve(request) {
    return this.#ask(operations.curve, request);
  }

  /** Any of these in words and drawings: {of, request} gives {answer, document}. */
  explain(request) {
    return this.#ask(operations.explain, request);
  }

  /** What does every exit code lead to, for the container and for its Job? */
  table(request) {
    return this.#ask(operations.table, request);
  }

  /** Two to eight variants of a request: where do their answers differ? */
  compare(request) {
    return this.#ask(operations.compare, request);
  }

  /**
   * The smallest edits that change the outcome of an exit, or the shortest policy that does what is
   * wished.
   */
  suggest(request) {
    return this.#ask(operations.suggest, request);
  }

  /**
   * The same policy written for a draft, a proposal or a release, and what is lost on the
   * way.
   */
  translate(request) {
    return this.#ask(operations.translate, request);
  }

  /** What many Pods on many nodes cost, calculated. */
  fleet(request) {
    return this.#ask(operations.fleet, request);
  }

  /**
   * Reads a manifest once, for many decisions. request is that of decide without exits: an object,
   * or the bytes of a JSON text. The policy outlives the instance that compiled it. Throws a
   * PolicyError for a manifest that is not valid.
   */
  compile(request) {
    return new Policy((f) => this.#use(f), (policy) => this.#forget(policy), encode(request).slice());
  }

  /** Lets go of the instances. Calls of this engine and of its policies fail from now on. */
  dispose() {
    this.#module = null;
    this.#idle = [];
  }

  #ask(number, request) {
    const text = encode(request);
    return this.#use((instance) => result(instance.call(number, text)));
  }

  /** Releases a policy wherever it is compiled. An instance that fails at it is dropped. */
  #forget(policy) {
    this.#idle = this.#idle.filter((instance) => {
      try {
        forget(instance, policy);
        return true;
      } catch {
        return false;
      }
    });
  }

  /**
   * Calls f with an instance that nobody else has. It comes back only if it answered or refused: at
   * the end of the stack, what ends a call inside the module is a RangeError, and no TrapError can
   * be made of it.
   */
  #use(f) {
    if (this.#module === null) throw new TypeError('the engine was disposed of');
    const instance = this.#idle.pop() ?? new Instance(this.#module);
    let sound = false;
    try {
      const answer = f(instance);
      sound = true;
      return answer;
    } catch (error) {
      sound = error instanceof PodfateError && !(error instanceof TrapError);
      throw error;
    } finally {
      if (sound && instance.memory.length <= recycleBytes) this.#idle.push(instance);
    }
  }
}

/** A manifest that was read once. {@link Engine#compile} makes it. */
export class Policy {
  #use;
  #forget;
  #source; // the request, by which another instance compiles it again; undefined after dispose

  /** Use {@link Engine#compile}. */
  constructor(use, forget, source) {
    this.#use = use;
    this.#forget = forget;
    this.#source = source;
    const {handle, ...names} = use((instance) => this.#compile(instance));
    Object.assign(this, names); // containers, conditions, dropped, warnings, cluster
  }

  /**
   * What happens after one exit? An entry of decide's exits, which may say how often the container
   * was restarted before (restarts) and how long it ran (ranForMillis): then the answer says how
   * long the back-off waits (delayMillis).
   */
  decide(exit) {
    const request = encode(exit);
    return this.#with((instance, handle) => result(
      instance.ask((at, length) => instance.exports.pf_eval(handle, at, length), request), EventError));
  }

  /**
   * An empty batch of events about this manifest: exits of containers, or with 'pods' failed Pods
   * of a Job.
   */
  batch(capacity, about) {
    return new Batch(this.containers, this.conditions, capacity, about);
  }

  /**
   * Answers a {@link Batch}, or the bytes of one in the layout of wasm/doc.go, of any length: what
   * one call of the module does not take is answered in several. The answer's bytes are written
   * into the given Uint8Array, or into a new one. An event that makes no sense fails alone, by its
   * status; a bad header is an EventError, a Pod of more than 65,536 events a LimitError. A Batch
   * of a policy with other containers is a TypeError: its numbers would mean others here.
   */
  decideBatch(batch, into) {
    if (batch instanceof Batch && !batch.speaksOf(this.containers, this.conditions)) {
      throw new TypeError('the batch was made by a policy with other containers or conditions');
    }
    if (into !== undefined && !(into instanceof Uint8Array)) throw new TypeError('the answer is written into a Uint8Array');
    const request = batch instanceof Batch ? batch.bytes : batch;
    if (!(request instanceof Uint8Array)) throw new TypeError('a batch is a Batch, or a Uint8Array');
    const {room, parts} = calls(request);
    if (into && into.length < room) throw new RangeError(`the answer takes ${room} bytes, there is room for ${into.length}`);
    const bytes = into ? into.subarray(0, room) : new Uint8Array(room);
    let count = 0;
    let errors = 0;
    for (const part of parts) {
      errors += this.#with((instance, handle) => instance.run(() => answerPart(instance, handle, part, bytes)));
      count += part.count;
    }
    answerHead(bytes, count, errors);
    return new Verdicts(bytes, this.containers, this.conditions);
  }

  /**
   * Forgets the policy; asking it throws from now on. One that is not disposed of goes when the
   * module needs its place.
   */
  dispose() {
    if (this.#source === undefined) return;
    this.#source = undefined;
    this.#forget(this);
  }

  #with(f) {
    if (this.#source === undefined) throw new PolicyError('UNKNOWN_HANDLE', 'the policy was disposed of', {num: 5});
    return this.#use((instance) => f(instance, instance.handles.get(this) ?? this.#compile(instance).handle));
  }

  #compile(instance) {
    for (;;) {
      const {failed, bytes} = instance.ask((at, length) => instance.exports.pf_compile(at, length), this.#source);
      const answer = parse(bytes, failed);
      if (!failed) {
        instance.handles.set(this, answer.handle);
        return answer;
      }
      const [oldest] = instance.handles.keys();
      if (!oldest || !answer.error.limit?.startsWith('handle')) throw exception(answer.error, PolicyError);
      forget(instance, oldest); // it is compiled again when it is asked
    }
  }
}

/**
 * Answers one of the {@link calls} of a batch into bytes, and gives how many of its events made no
 * sense.
 */
function answerPart(instance, handle, {head, records, at, count}, bytes) {
  const length = head.length + records.length;
  const room = answerBytes(count);
  const from = instance.reserve(0, length);
  const to = instance.reserve(1, room);
  instance.memory.set(head, from);
  instance.memory.set(records, from + head.length);
  const answered = instance.exports.pf_eval_batch(handle, from, length, to, room);
  if (answered < 0) throw refused(-answered);
  const answer = instance.memory.subarray(to, to + room);
  const errors = answerErrors(answer, count);
  if (errors < 0) throw new TrapError('MALFORMED', `what came back is not the answer to ${count} events`);
  bytes.set(answer.subarray(answerBytes(0)), at);
  return errors;
}

function forget(instance, policy) {
  const handle = instance.handles.get(policy);
  if (handle === undefined) return;
  instance.handles.delete(policy);
  instance.run(() => instance.exports.pf_release(handle));
}

/** The bytes of a JSON text, as they are, or the text of an object. */
function encode(request) {
  if (request instanceof Uint8Array) return request;
  const bytes = request instanceof ArrayBuffer || ArrayBuffer.isView(request); // which JSON.stringify would call {}
  const text = bytes ? undefined : JSON.stringify(request);
  if (text === undefined) throw new TypeError('a request is an object, or the bytes of a JSON text in a Uint8Array');
  if (text.includes('null')) JSON.stringify(request, finite);
  return text;
}

/**
 * Throws for NaN and Infinity, which JSON.stringify writes as null, and null is as good as left
 * out.
 */
function finite(name, value) {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new RangeError(`${name}: ${value} is no number of JSON`);
  return value;
}

/** The object in an answer of {@link Instance#ask}, or the exception that it stands for. */
function result({failed, bytes}, OfText) {
  const value = parse(bytes, failed);
  if (failed) throw exception(value.error, OfText);
  return value;
}

for (const Class of [Engine, Policy]) {
  if (Symbol.dispose) Class.prototype[Symbol.dispose] = Class.prototype.dispose;
}
