// Batches: many events about one policy as numbers, in the layout of wasm/doc.go, so that no object
// is made for an event.
import {exception} from './errors.js';

const headerBytes = 24;
const eventBytes = 32;
const answerHeaderBytes = 16;
const verdictBytes = 24;
const maxEvents = 65536; // in one call of the module

const none = 0xffff;
const questions = ['exits', 'pods'];

// The words of the numbers in a verdict, append-only. A test holds them equal to those of the core.
export const words = Object.freeze({
  actions: ['', 'Restart', 'RestartAllContainers', 'Stop', 'FailJob', 'FailIndex', 'Ignore', 'Count', 'Complete', 'Terminate', 'TerminatePod', 'RestartPod'],
  levels: ['', 'rule', 'container', 'pod', 'default', 'limit'],
  reasons: [
    '', 'rule_matched', 'policy_always', 'policy_on_failure_failed', 'policy_on_failure_succeeded', 'policy_never', 'unknown_pod_policy',
    'sidecar_always_restarts', 'init_completed', 'init_retried', 'ephemeral_never_restarts', 'unknown_action', 'unknown_operator',
    'no_rule_matched', 'managed_by', 'policy_always_pod', 'restart_limit_reached',
  ],
  ignored: ['', 'unknown_action', 'gate_off', 'sidecar', 'init_completed', 'no_policy', 'restart_limit'],
});

/** The word of a number; of one that a newer module has, the number. */
const spelled = (list, n) => words[list][n] ?? String(n);

/**
 * Events about one manifest, in one block of memory that grows as it fills. {@link Policy#batch}
 * makes it.
 *
 * Programs that have the numbers already write them into view, record after record, and set length.
 */
export class Batch {
  #names; // of the policy: containers and conditions
  #containers; // numbers by name
  #conditions; // bits by type and status
  #stranger; // the number of a container that the manifest does not name
  #block;
  #length = 0;

  constructor(containers, conditions, capacity = 1024, about = 'exits') {
    const question = questions.indexOf(about);
    if (question < 0) throw new TypeError(`a batch is about ${questions.join(' or ')}, not ${about}`);
    this.#names = [containers, conditions];
    this.#containers = new Map(containers.map((name, i) => [name, i]));
    this.#conditions = new Map(conditions.map(({type, status}, i) => [`${type}=${status}`, 1n << BigInt(i)]));
    this.#stranger = question === 0 ? none - 1 : none; // nobody's; a Job's rules without a name count for strangers too
    this.#grow(capacity);
    this.view.setUint32(0, 0x31424650, true); // PFB1
    this.view.setUint16(4, 1, true);
    this.view.setUint16(6, eventBytes, true);
    this.view.setUint32(12, question, true);
  }

  /** How many events there are. Setting it does not clear what records held before. */
  get length() {
    return this.#length;
  }

  set length(n) {
    if (n !== n >>> 0) throw new RangeError(`length: ${n} is not a whole number from 0 to 4294967295`);
    if (headerBytes + n * eventBytes > this.#block.byteLength) this.#grow(n);
    this.#length = n;
    this.view.setUint32(8, n, true);
  }

  /** The whole batch as the module takes it. */
  get bytes() {
    return new Uint8Array(this.#block, 0, headerBytes + this.#length * eventBytes);
  }

  /**
   * Adds an event. container is a name, or a number (its place in the policy's containers); it may
   * be left out for the only container of a Pod. restarts (of the container since its back-off was
   * last reset; for Pods the failures in a row before this one) says that the history is known, and
   * how long to wait will be answered. conditions are those of the Pod, [{type, status}]; more says
   * that the next event is about the same Pod. Rules of proposals ask for restartCount, that of the
   * container in its status, and for restartSum, that of all containers of the Pod. A number that
   * does not fit its place is a RangeError.
   */
  add({container, exitCode = 0, oomKilled = false, restarts, ranForMillis = 0, conditions, more = false, tag = 0, restartCount, restartSum}) {
    const at = headerBytes + this.#length * eventBytes;
    const number = typeof container === 'string' ? this.#containers.get(container) ?? this.#stranger : container ?? none;
    if (exitCode !== (exitCode | 0)) throw new RangeError(`exitCode: ${exitCode} is not a whole number of 32 bits`);
    if (number !== (number & 0xffff)) throw new RangeError(`container: there is no number ${number}`);
    if ((restarts ?? 0) !== (restarts ?? 0) >>> 0) throw new RangeError(`restarts: ${restarts} is not a whole number from 0 to 4294967295`);
    if (tag !== tag >>> 0) throw new RangeError(`tag: ${tag} is not a whole number from 0 to 4294967295`);
    if (!Number.isSafeInteger(ranForMillis)) throw new RangeError(`ranForMillis: ${ranForMillis} is not a whole number`);
    const counted = restartCount !== undefined || restartSum !== undefined;
    for (const [name, n] of Object.entries(counted ? {restartCount, restartSum} : {})) {
      if ((n ?? 0) !== (n ?? 0) >>> 0) throw new RangeError(`${name}: ${n} is not a whole number from 0 to 4294967295`);
    }
    let bits = counted ? BigInt(restartCount ?? 0) | BigInt(restartSum ?? restartCount) << 32n : 0n;
    if (conditions) for (const {type, status} of conditions) bits |= this.#conditions.get(`${type}=${status}`) ?? 0n;
    this.length = this.#length + 1;
    const {view} = this;
    view.setInt32(at, exitCode, true);
    view.setUint16(at + 4, number, true);
    view.setUint16(at + 6, (oomKilled ? 1 : 0) | (restarts === undefined ? 0 : 2) | (more ? 4 : 0) | (counted ? 8 : 0), true);
    view.setUint32(at + 8, restarts ?? 0, true);
    view.setUint32(at + 12, tag, true);
    view.setUint32(at + 16, ranForMillis >>> 0, true); // in halves: a BigInt for each event is slow
    view.setInt32(at + 20, Math.floor(ranForMillis / 2 ** 32), true);
    view.setBigUint64(at + 24, bits, true);
  }

  /** Whether its numbers mean the same to a policy with these containers and conditions. */
  speaksOf(...names) {
    return names[0] === this.#names[0] || JSON.stringify(names) === JSON.stringify(this.#names);
  }

  #grow(n) {
    const block = new ArrayBuffer(headerBytes + Math.max(n, 2 * this.#length) * eventBytes);
    if (this.#block) new Uint8Array(block).set(new Uint8Array(this.#block));
    this.#block = block;
    /** Header and records. It is another one after the batch has grown. */
    this.view = new DataView(block);
  }
}

/**
 * The answer to a batch: one verdict for each event, in their order. Nothing is read before it is
 * asked for.
 */
export class Verdicts {
  #containers;
  #conditions;

  constructor(bytes, containers, conditions) {
    this.#containers = containers;
    this.#conditions = conditions;
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.length = this.view.getUint32(8, true);
    /** How many events made no sense. */
    this.errors = this.view.getUint32(12, true);
  }

  /** The action after event i; '' if there is none. */
  action(i) {
    return spelled('actions', this.view.getUint8(this.#at(i)));
  }

  /** Verdict i as an object. */
  at(i) {
    const {view} = this;
    const at = this.#at(i);
    const flags = view.getUint8(at + 7);
    const rule = view.getUint16(at + 2, true);
    return {
      action: spelled('actions', view.getUint8(at)), status: view.getUint8(at + 1), rule: rule === none ? null : rule,
      because: spelled('reasons', view.getUint8(at + 4)), level: spelled('levels', view.getUint8(at + 5)), ignored: spelled('ignored', view.getUint8(at + 6)),
      podFails: (flags & 1) !== 0, undecided: (flags & 2) !== 0, counted: (flags & 4) !== 0, more: (flags & 8) !== 0,
      delayMillis: view.getInt32(at + 12, true) * 2 ** 32 + view.getUint32(at + 8, true),
      container: this.#containers[view.getUint16(at + 16, true)] ?? null, condition: this.#conditions[view.getUint16(at + 18, true)] ?? null,
      tag: view.getUint32(at + 20, true),
    };
  }

  * [Symbol.iterator]() {
    for (let i = 0; i < this.length; i++) yield this.at(i);
  }

  #at(i) {
    if (!(i >= 0 && i < this.length)) throw new RangeError(`there is no verdict ${i} among ${this.length}`);
    return answerHeaderBytes + i * verdictBytes;
  }
}

/** How long the answer to count events is. */
export const answerBytes = (count) => answerHeaderBytes + count * verdictBytes;

/**
 * What the module is asked for the bytes of a batch: {room, parts}, room being the bytes of the
 * whole answer. Each part is one call, {head, records, at, count}: at says where in the answer its
 * verdicts belong. The events of one failed Pod stay together.
 */
export function calls(batch) {
  const view = new DataView(batch.buffer, batch.byteOffset, batch.byteLength);
  const [size, count] = batch.length < headerBytes ? [0, 1] : [view.getUint16(6, true), view.getUint32(8, true)];
  const part = (from, to, n = to - from) => {
    const head = batch.slice(0, headerBytes);
    if (head.length === headerBytes) new DataView(head.buffer).setUint32(8, n, true);
    return {head, records: batch.subarray(headerBytes + from * size, headerBytes + to * size), at: answerBytes(from), count: n};
  };
  // A header that lies about the length goes to the module without records, for the module's own
  // reason.
  if (batch.length !== headerBytes + count * size) return {room: answerBytes(0), parts: [part(0, 0, 1)]};
  const open = (i) => view.getUint32(12, true) === 1 && (view.getUint8(headerBytes + (i - 1) * size + 6) & 4) !== 0; // event i is of the Pod before
  const parts = [];
  for (let from = 0, to; parts.length === 0 || from < count; from = to) {
    to = Math.min(from + maxEvents, count);
    if (to < count) while (to > from && open(to)) to--;
    if (to === from && count > 0) throw refused(6);
    parts.push(part(from, to));
  }
  return {room: answerBytes(count), parts};
}

/** Writes the header of an answer to so many events. */
export function answerHead(answer, count, errors) {
  const view = new DataView(answer.buffer, answer.byteOffset);
  view.setUint32(0, 0x31524650, true); // PFR1
  view.setUint16(4, 1, true);
  view.setUint16(6, verdictBytes, true);
  view.setUint32(8, count, true);
  view.setUint32(12, errors, true);
}

/**
 * How many events of an answer to count events made no sense; -1 for what is not such an answer.
 */
export function answerErrors(answer, count) {
  const view = new DataView(answer.buffer, answer.byteOffset);
  const ours = view.getUint32(0, true) === 0x31524650 && view.getUint16(6, true) === verdictBytes && view.getUint32(8, true) === count;
  return ours ? view.getUint32(12, true) : -1;
}

const refusals = {
  4: ['EVENT_INVALID', 'the header is not that of a batch, or its numbers do not fit the length'],
  6: ['LIMIT_EXCEEDED', `at most ${maxEvents} events can be about one Pod`],
  8: ['UNSUPPORTED_VERSION', 'the batch has another version than 1'],
};

/** The exception for a batch that was refused as a whole. */
export function refused(num) {
  const [code, message] = refusals[num] ?? ['INTERNAL', `the module refused the batch with error ${num}`];
  return exception({code, num, message, limit: num === 6 ? 'batchRecords' : undefined});
}
