// What can go wrong, as classes for those who catch.

/**
 * What the module refused, or what is wrong with the module.
 *
 * code is that of the error payload (MANIFEST_INVALID, EVENT_INVALID, …), or one of this package's
 * own: DIGEST (other bytes than asked for), ABI (not a module of this ABI), TRAP (the call ended
 * the instance), MALFORMED (what came back is no answer). num is the payload's number, 0 for the
 * package's own codes.
 */
export class PodfateError extends Error {
  /** detail: the error of a payload, or the members of it that are known. */
  constructor(code, message, detail = {}, options) {
    super(message, options);
    this.name = 'PodfateError';
    this.code = code;
    this.num = detail.num ?? 0;
    this.path = detail.path;
    this.offset = detail.offset;
    this.limit = detail.limit;
    this.faults = detail.faults ?? [];
  }
}

/**
 * The manifest, or the cluster it is meant for, is not one that can be asked about; or the policy
 * was disposed of.
 */
export class PolicyError extends PodfateError {
  name = 'PolicyError'; // written out: bundlers shorten the names of classes
}

/** The exit, run or event makes no sense for this manifest. */
export class EventError extends PodfateError {
  name = 'EventError';
}

/** Something is larger than the module takes; limit names what. */
export class LimitError extends PodfateError {
  name = 'LimitError';
}

/** The request is not JSON, not UTF-8, not a batch, or for an operation that does not exist. */
export class RequestError extends PodfateError {
  name = 'RequestError';
}

/** The file is not the module that was asked for, or not one for this package. */
export class ModuleError extends PodfateError {
  name = 'ModuleError';
}

/**
 * The module failed. Its instance is gone; the next call gets another, and the request is not tried
 * again.
 */
export class TrapError extends PodfateError {
  name = 'TrapError';
}

// By number, from 1; see wasm/doc.go.
const classes = [
  null, null, PolicyError, EventError, PolicyError, LimitError, RequestError, PolicyError, TrapError, RequestError,
  LimitError, LimitError,
];

/**
 * The exception for the error of a payload. A number that is not known here comes from a newer
 * module. OfText is the class for a text that is not JSON or not UTF-8, where the request is
 * nothing but a policy or an event.
 */
export function exception({code, num, message, ...detail}, OfText = RequestError) {
  const Class = num <= 2 ? OfText : classes[num - 1] ?? PodfateError;
  return new Class(code, message, {num, ...detail});
}
