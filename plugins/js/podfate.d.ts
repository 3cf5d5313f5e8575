/// <reference lib="esnext.disposable" />
import type {
  CompareAnswer, CompareRequest, CompileRequest, CurveAnswer, CurveRequest, DecideAnswer,
  DecideRequest, DescribeAnswer, Dropped, EvalAnswer, EvalRequest, Exits, ExplainAnswer,
  ExplainRequest, Fault, FleetAnswer, FleetRequest, SimulateAnswer, SimulateRequest, SuggestAnswer,
  SuggestRequest, TableAnswer, TableRequest, TranslateAnswer, TranslateRequest, ValidateAnswer,
  ValidateRequest, Warnings,
} from './schema.js';

export type * from './schema.js';

/** A WebAssembly.Module. */
export type CompiledModule = object;

/** What a module is made of: its address, a response, its bytes, or the module itself. */
export type ModuleSource = string | {readonly href: string} | ArrayBuffer | ArrayBufferView | CompiledModule
  | {readonly ok?: boolean; arrayBuffer(): Promise<ArrayBuffer>};

export interface LoadOptions {
  /**
   * The SHA-256 that the bytes must have, 64 lower-case hexadecimal digits: that of the package's
   * own module, if it is not given. null runs any bytes. In a compiled module nothing is left to
   * compare: its digest is what this says, '' if it says nothing.
   */
  sha256?: string | null;
  /** Size of the file, of a compiled module. */
  bytes?: number;
  /**
   * How many instances wait for calls; 1, of which one works at a time. A second one takes over at
   * once after a trap.
   */
  instances?: number;
}

/**
 * Makes an engine of the package's module, or of another source. Runtimes that compile no code
 * while they run need the source: import module from 'podfate/policy.wasm'.
 *
 * @throws ModuleError DIGEST for other bytes than asked for, ABI for what is not a module of this ABI
 */
export function load(source?: ModuleSource | Promise<ModuleSource>, options?: LoadOptions): Promise<Engine>;

export type OperationName = 'describe' | 'validate' | 'decide' | 'simulate' | 'curve' | 'explain' | 'table' | 'compare' | 'suggest' | 'translate' | 'fleet';

/** Numbers of the operations. */
export const operations: Readonly<Record<OperationName, number>>;

/** The bytes that the module answered with. */
export interface RawAnswer {
  readonly bytes: Uint8Array;
  /** Whether the answer is an error payload. */
  readonly failed: boolean;
  /** The answer as an object, the same each time. */
  json(): any;
}

/**
 * A compiled module with the instances that run it. It belongs to one thread. All methods throw
 * TrapError and LimitError. A request may also be the bytes of a JSON text; NaN and Infinity in an
 * object are a RangeError.
 */
export class Engine {
  constructor(module: CompiledModule, options?: {sha256?: string; bytes?: number; instances?: number});
  /** SHA-256 of the file; '' if nobody said. */
  readonly sha256: string;
  /** Size of the file; 0 if not known. */
  readonly bytes: number;
  /** The compiled module, to send to a worker. null after dispose. */
  readonly module: CompiledModule | null;
  /** Bytes of linear memory of the instances that wait for a call. */
  readonly memoryBytes: number;
  /**
   * Runs one operation on an object, or on the bytes of a JSON text. An error payload is an answer
   * here.
   */
  call(operation: OperationName | number, request?: object): RawAnswer;
  /** What the module knows: versions, gates, operations, limits, and the file that was loaded. */
  describe(): DescribeAnswer;
  /** Would the API server accept the manifest? Faults are the answer, not an exception. */
  validate(request: ValidateRequest | Uint8Array): ValidateAnswer;
  /** What happens after each of the exits? @throws PolicyError @throws EventError */
  decide(request: DecideRequest & {readonly exits: Exits}): DecideAnswer & {readonly decisions: NonNullable<DecideAnswer['decisions']>};
  /** How does the Job treat each of the failed Pods? @throws PolicyError @throws EventError */
  decide(request: DecideRequest & {readonly pods: NonNullable<DecideRequest['pods']>}): DecideAnswer & {readonly podDecisions: NonNullable<DecideAnswer['podDecisions']>};
  /**
   * The same for a request of which only the program knows what it asks, or for the bytes of a JSON
   * text.
   * @throws RequestError
   */
  decide(request: DecideRequest | Uint8Array): DecideAnswer;
  /** What becomes of the Pod over time? @throws PolicyError @throws EventError */
  simulate(request: SimulateRequest | Uint8Array): SimulateAnswer;
  /** When do restarts come? @throws EventError */
  curve(request: CurveRequest | Uint8Array): CurveAnswer;
  /**
   * Any of these in words and drawings: its answer, and a document to paint. A refused request is
   * an answer here.
   * @throws EventError
   */
  explain(request: ExplainRequest | Uint8Array): ExplainAnswer;
  /** What does every exit code lead to, for the container and for its Job? @throws PolicyError */
  table(request: TableRequest | Uint8Array): TableAnswer;
  /** Two to eight variants of a request: where do their answers differ? @throws EventError */
  compare(request: CompareRequest | Uint8Array): CompareAnswer;
  /**
   * The smallest edits that change the outcome of an exit, or the shortest policy that does what is
   * wished.
   * @throws PolicyError
   */
  suggest(request: SuggestRequest | Uint8Array): SuggestAnswer;
  /**
   * The same policy written for a draft, a proposal or a release, and what is lost on the
   * way.
   * @throws PolicyError
   */
  translate(request: TranslateRequest | Uint8Array): TranslateAnswer;
  /** What many Pods on many nodes cost, calculated. @throws EventError */
  fleet(request: FleetRequest | Uint8Array): FleetAnswer;
  /** Reads a manifest once, for many decisions. @throws PolicyError */
  compile(request: PolicyRequest | Uint8Array): Policy;
  /** Lets go of the instances. Calls fail from now on. */
  dispose(): void;
  [Symbol.dispose](): void;
}

/** What a policy is made of. */
export type PolicyRequest = CompileRequest;

/** One exit of a container, now. */
export type Exit = EvalRequest;

/** What a policy says about one exit: a decision without its trace. */
export type PolicyDecision = EvalAnswer;

/** A condition of a Pod, as a podFailurePolicy matches it. */
export interface PodConditionPattern {
  readonly type: string;
  readonly status: string;
}

/** A manifest that was read once. It outlives the instance that compiled it. */
export class Policy {
  private constructor();
  /** Names of the containers; their places are the numbers in a batch. */
  readonly containers: readonly string[];
  /** What the podFailurePolicy asks of conditions. */
  readonly conditions: readonly PodConditionPattern[];
  readonly dropped: Dropped;
  readonly warnings: Warnings;
  readonly cluster: DecideAnswer['cluster'];
  /** What happens after one exit, an object or the bytes of a JSON text? @throws EventError */
  decide(exit: Exit | Uint8Array): PolicyDecision;
  /** An empty batch of events about this manifest. It grows as it fills. */
  batch(capacity?: number, about?: 'exits' | 'pods'): Batch;
  /**
   * Answers a batch, or the bytes of one. The answer's bytes are written into the given array, or
   * into a new one. A batch of a policy with other containers is a TypeError: its numbers would
   * mean others here.
   *
   * Any number of events: what one call of the module does not take is answered in several.
   *
   * @throws EventError for a malformed header
   * @throws LimitError for a Pod of more than 65536 events
   */
  decideBatch(batch: Batch | Uint8Array, into?: Uint8Array): Verdicts;
  /** Forgets the policy; asking it throws from now on. */
  dispose(): void;
  [Symbol.dispose](): void;
}

/** An event of a batch. */
export interface BatchEvent {
  /**
   * A name, or its place in the policy's containers. It may be left out for the only container of a
   * Pod.
   */
  container?: string | number;
  /** 0, unless given. */
  exitCode?: number;
  /** The runtime's reason for the end was OOMKilled. */
  oomKilled?: boolean;
  /**
   * Restarts since the back-off began anew; for Pods the failures in a row before this one. Then
   * the verdict has a delay.
   */
  restarts?: number;
  /** How long the container ran. */
  ranForMillis?: number;
  /** The restartCount in the container's status, from 0, for rules of proposals that ask for it. */
  restartCount?: number;
  /** The sum of those of all containers; restartCount if left out. */
  restartSum?: number;
  /** The conditions of a failed Pod. Those that the policy does not ask for change nothing. */
  conditions?: readonly PodConditionPattern[];
  /** The next event is about the same Pod. */
  more?: boolean;
  /** A number that the verdict repeats. */
  tag?: number;
}

/** Events about one manifest in one block of memory, in the layout of the module's ABI. */
export class Batch {
  private constructor();
  /** How many events there are. Setting it makes room, and clears nothing. */
  length: number;
  /** The whole batch as the module takes it. */
  readonly bytes: Uint8Array;
  /** Header (24 bytes) and records (32 bytes each). It is another one after the batch has grown. */
  readonly view: DataView;
  /** Adds an event. @throws RangeError for a number that does not fit its place */
  add(event: BatchEvent): void;
}

/** The answer to an event of a batch. */
export interface Verdict {
  action: '' | 'Restart' | 'RestartAllContainers' | 'Stop' | 'FailJob' | 'FailIndex' | 'Ignore' | 'Count';
  /** 0, or the number of the error that this event is. */
  status: number;
  /** The rule that decided, or that matched and was ignored. */
  rule: number | null;
  because: string;
  level: '' | 'rule' | 'container' | 'pod' | 'default';
  /** Why the rule that matched did not decide; '' if it did. */
  ignored: string;
  /** An init container failed for good. */
  podFails: boolean;
  /** No action: the rule has an action or operator that no modelled release knows. */
  undecided: boolean;
  /** The failure of the Pod counts towards the limits of its Job. */
  counted: boolean;
  /** No action: the verdict is with the last event of the Pod. */
  more: boolean;
  /** How long the back-off waits; -1 if nothing is started, or the history is not known. */
  delayMillis: number;
  container: string | null;
  condition: PodConditionPattern | null;
  tag: number;
}

/**
 * The answer to a batch: a verdict for each event, in their order. Nothing is read before it is
 * asked for.
 */
export class Verdicts implements Iterable<Verdict> {
  private constructor();
  readonly length: number;
  /** How many events made no sense. */
  readonly errors: number;
  /** Header (16 bytes) and verdicts (24 bytes each). */
  readonly bytes: Uint8Array;
  readonly view: DataView;
  /** The action after event i; '' if there is none. */
  action(i: number): Verdict['action'];
  /** Verdict i. @throws RangeError */
  at(i: number): Verdict;
  [Symbol.iterator](): IterableIterator<Verdict>;
}

/** What the module refused, or what is wrong with the module. */
export class PodfateError extends Error {
  constructor(code: string, message: string, detail?: object, options?: {cause?: unknown});
  /** MANIFEST_INVALID, EVENT_INVALID, …; or this package's own: DIGEST, ABI, TRAP, MALFORMED. */
  readonly code: string;
  /** The number of the code; 0 for the package's own. */
  readonly num: number;
  /** Where, from the root of the manifest or of the request. */
  readonly path?: string;
  /** The byte of the request. */
  readonly offset?: number;
  /** Which limit. */
  readonly limit?: string;
  /** All that is wrong, in the order of the document. */
  readonly faults: readonly Fault[];
}

/**
 * The manifest, or the cluster it is meant for, is not one that can be asked about; or the policy
 * was disposed of.
 */
export class PolicyError extends PodfateError {}

/** The exit, run, event or batch makes no sense for this manifest. */
export class EventError extends PodfateError {}

/** Something is larger than the module takes. */
export class LimitError extends PodfateError {}

/** The request is not JSON, not UTF-8, or for an operation that does not exist. */
export class RequestError extends PodfateError {}

/** The file is not the module that was asked for, or not one for this package. */
export class ModuleError extends PodfateError {}

/**
 * The module failed. Its instance is gone; the next call gets another, and the request is not tried
 * again.
 */
export class TrapError extends PodfateError {}
