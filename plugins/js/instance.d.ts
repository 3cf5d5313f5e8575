import type {CompiledModule, OperationName} from './podfate.js';

/** Numbers of the operations, for pf_call. */
export const operations: Readonly<Record<OperationName, number>>;

/** Bytes of linear memory from which on an instance is better replaced. */
export const recycleBytes: number;

/** One instance of the module, for wrappers and tests: nothing here looks after traps. */
export class Instance {
  constructor(module: CompiledModule);
  /** What the module exports. */
  readonly exports: {readonly [name: string]: any};
  /** The memory as it is now. */
  readonly memory: Uint8Array;
  /**
   * Runs an operation on a JSON text, or on the bytes of one. Copy or decode the answer's bytes
   * before the next call.
   */
  call(operation: number, request: string | Uint8Array): {failed: boolean; bytes: Uint8Array};
  /**
   * Writes a request into the memory and calls f with its address and length; f gives a result
   * word.
   */
  ask(f: (address: number, length: number) => bigint, request: string | Uint8Array): {failed: boolean; bytes: Uint8Array};
  /** Runs f and turns what the engine throws into a TrapError. */
  run<T>(f: () => T): T;
  /** Makes room for n bytes in buffer 0 or 1 and gives its address. */
  reserve(which: 0 | 1, n: number): number;
}

/** The object in an answer. failed, where it is given, has to agree with it. @throws TrapError */
export function parse(bytes: Uint8Array, failed?: boolean): object;
