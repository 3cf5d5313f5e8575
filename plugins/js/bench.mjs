// node bench.mjs [--json], and likewise with deno and bun: what a decision costs, the best of
// several rounds. With --json one line:
// {"engine","version","module","figures":[{"name","value","unit"}]}.
import {readFile} from 'node:fs/promises';
import process from 'node:process';
import {Engine, load} from 'podfate';

const rule = {action: 'Restart', exitCodes: {operator: 'In', values: [42]}};
const manifest = {
  apiVersion: 'v1', kind: 'Pod', metadata: {name: 'trainer'},
  spec: {containers: [{name: 'main', image: 'trainer:1', restartPolicy: 'Never', restartPolicyRules: [rule]}]},
};
const figures = [];

/** The shortest time of one of count calls of f, in units of which a millisecond has perMilli. */
async function measure(name, unit, perMilli, count, f, rounds = 30) {
  let best = Infinity;
  for (let round = 0; round < rounds; round++) {
    const began = performance.now();
    await f();
    best = Math.min(best, performance.now() - began);
  }
  figures.push({name, value: Number((best * perMilli / count).toPrecision(3)), unit});
}

const file = await readFile(new URL(import.meta.resolve('podfate/policy.wasm')));
const engine = await load(file);
const policy = engine.compile({manifest});

const records = 65536;
const batch = policy.batch(records);
for (let i = 0; i < records; i++) batch.add({exitCode: i % 256});
const into = new Uint8Array(16 + 24 * records);
await measure('batch, per record', 'ns', 1e6, records, () => policy.decideBatch(batch, into));
await measure('batch with adding and reading, per record', 'ns', 1e6, records, () => {
  const all = policy.batch(records);
  for (let i = 0; i < records; i++) all.add({exitCode: i % 256});
  for (const verdict of policy.decideBatch(all, into)) if (verdict.status !== 0) throw new Error('status');
}, 5);

const exit = {container: 'main', exitCode: 42};
await measure('pf_eval with JSON, object in, object out', 'us', 1e3, 5000, () => {
  for (let i = 0; i < 5000; i++) policy.decide(exit);
}, 60);
const request = {manifest, exits: [exit]};
await measure('pf_call decide', 'us', 1e3, 500, () => {
  for (let i = 0; i < 500; i++) engine.decide(request);
}, 60);

// Engines compile in the background after they say that a module is compiled, so each round waits
// for its own first decision.
await measure('compile', 'ms', 1, 1, () => WebAssembly.compile(file), 5);
const {module} = engine;
await measure('instantiate and initialise', 'ms', 1, 1, () => new Engine(module).dispose());
await measure('load to the first decision', 'ms', 1, 1, async () => (await load(file)).compile({manifest}).decide(exit), 5);

const [name, version] = globalThis.Bun ? ['bun', globalThis.Bun.version]
  : globalThis.Deno ? ['deno', globalThis.Deno.version.deno]
  : ['node', process.versions.node];
if (process.argv.includes('--json')) {
  console.log(JSON.stringify({engine: name, version, module: engine.sha256, figures}));
} else {
  console.log(`${name} ${version}`);
  for (const {name, value, unit} of figures) console.log(`${String(value).padStart(9)} ${unit.padEnd(3)} ${name}`);
}
