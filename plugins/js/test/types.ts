// Compiled by tsc, never run: what a program in TypeScript writes, and what the compiler has to
// refuse.
import {
  EventError, PodfateError, Policy, load, operations, type CompileRequest, type CurveRequest, type DecideAnswer, type DecideRequest, type Engine,
  type EvalRequest, type Exit, type SimulateAnswer, type SimulateRequest, type ValidateRequest, type Verdict,
} from 'podfate';
import {load as loadInline} from 'podfate/inline';
import {Instance, parse} from 'podfate/instance';
import module from 'podfate/policy.wasm';

const manifest = {
  apiVersion: 'v1', kind: 'Pod', metadata: {name: 'trainer'},
  spec: {restartPolicy: 'Never', containers: [{name: 'main', image: 'i', restartPolicyRules: [{action: 'Restart', exitCodes: {operator: 'In', values: [42]}}]}]},
};

export async function program(): Promise<void> {
  using engine: Engine = await load();
  await load(module, {sha256: null, instances: 2});
  await load(fetchLike());
  await loadInline();

  const {decisions, warnings} = engine.decide({manifest, exits: [{container: 'main', exitCode: 42}], cluster: {version: '1.36'}});
  const action: 'Restart' | 'RestartAllContainers' | 'Stop' | 'Complete' | 'Terminate' | 'TerminatePod' | 'RestartPod' | undefined = decisions[0]?.action;
  const rule: number | undefined = decisions[0]?.decidedBy?.rule;
  const verdict: string | undefined = engine.decide({manifest, pods: []}).podDecisions[0]?.action;
  const simulated: SimulateAnswer = engine.simulate({manifest, runs: {main: [{for: '10s', exitCode: 42, times: 'forever'}]}, until: '30m'});
  engine.curve({run: {for: '10s'}});
  const text = new Uint8Array();
  console.log(engine.decide(text).decisions, engine.validate(text), engine.simulate(text), engine.curve(text), engine.compile(text).decide(text));
  const valid: boolean = engine.validate({manifest}).valid;
  const sums: string = engine.describe().product;

  using policy = engine.compile({manifest});
  const exit: Exit = {exitCode: 42, restarts: 3, ranForMillis: 1000};
  const delay: number | undefined = policy.decide(exit).delayMillis;
  const batch = policy.batch(100, 'pods');
  batch.add({container: 'main', exitCode: 42, conditions: [{type: 'DisruptionTarget', status: 'True'}]});
  for (const verdict of policy.decideBatch(batch)) {
    const {because, delayMillis}: Verdict = verdict;
    console.log(because.length + delayMillis);
  }

  try {
    engine.call('decide', new Uint8Array());
  } catch (error) {
    if (error instanceof EventError) console.log(error.path, error.faults[0]?.line);
    if (error instanceof PodfateError) console.log(error.code, error.num);
  }
  const instance = new Instance(module);
  parse(instance.call(operations.describe, new Uint8Array()).bytes);

  // @ts-expect-error no such operation
  engine.call('deside');
  // @ts-expect-error exits are missing
  engine.decide({manifest});
  // @ts-expect-error not a member of an exit
  policy.decide({exitCode: 1, signal: 9});
  // @ts-expect-error a code is a number
  batch.add({exitCode: '42'});
  // @ts-expect-error a batch is about exits or pods
  policy.batch(1, 'cats');
  // @ts-expect-error policies come from an engine
  new Policy();
  // @ts-expect-error an answer is not written to
  decisions.length = 0;

  console.log(action, rule, verdict, simulated.timeline.length, valid, sums, delay, warnings.length);
}

// R-J2: a variable of each exported type of request goes where requests of that type go, and so
// does what a client library declares.
export function variables(engine: Engine, decide: DecideRequest, validate: ValidateRequest, simulate: SimulateRequest, curve: CurveRequest, compile: CompileRequest, exit: EvalRequest): void {
  const answer: DecideAnswer = engine.decide(decide);
  const sent: DecideRequest = {manifest, exits: [{container: 'main', exitCode: 42}]};
  const first: string | undefined = engine.decide(sent).decisions?.[0]?.action;
  for (const request of [{manifest, pods: []}, sent] satisfies DecideRequest[]) engine.decide(request);
  console.log(answer, first, engine.validate(validate), engine.simulate(simulate), engine.curve(curve), engine.compile(compile).decide(exit));
  engine.decide({manifest: declared, exits: [{exitCode: 1}]});
  engine.compile({manifest: declared});
  // @ts-expect-error a request asks for exits or for pods
  const neither: DecideRequest = {manifest};
  console.log(neither);
}

interface ClientPod { // as @kubernetes/client-node declares it: an interface, and every member optional
  apiVersion?: string;
  kind?: string;
  metadata?: {name?: string; labels?: {[key: string]: string}};
  spec?: {containers: {name: string; image?: string}[]; restartPolicy?: string};
}
declare const declared: ClientPod;

declare function fetchLike(): Promise<{ok: boolean; arrayBuffer(): Promise<ArrayBuffer>}>;
declare const console: {log(...values: unknown[]): void};
