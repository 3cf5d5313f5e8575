// node peers.mjs POLICY.WASM POLICIES.CEDAR: what one decision of the nearest equal policy costs in
// OPA's and Cedar's WebAssembly. Prints a JSON list of {subject, what, nanos}.
import {readFileSync} from 'node:fs';
import process from 'node:process';
import {loadPolicy} from '@open-policy-agent/opa-wasm';
import * as cedar from '@cedar-policy/cedar-wasm/nodejs';

const [opaFile, cedarFile] = process.argv.slice(2);
const figures = [];

const want = (code) => (code === 42 || code === 43 ? 'Restart' : code === 137 ? 'RestartAllContainers' : 'Stop');

/** Checks a way to decide, then takes the shortest time of many short rounds. */
function measure(subject, what, decide, f) {
  for (let code = 0; code < 256; code++) {
    if (decide(code) !== want(code)) throw new Error(`${subject}: code ${code} gives ${decide(code)}`);
  }
  const calls = 50;
  let best = Infinity;
  const began = performance.now();
  while (performance.now() - began < 3000) {
    const from = performance.now();
    for (let i = 0; i < calls; i++) f();
    best = Math.min(best, performance.now() - from);
  }
  figures.push({subject, what, nanos: best * 1e6 / calls});
}

const opa = await loadPolicy(readFileSync(opaFile));
const input = {exitCode: 42};
measure('Rego (OPA\'s wasm on Node.js)', 'evaluate, object in and out',
  (code) => opa.evaluate({exitCode: code}, 'podfate/action')[0].result, () => opa.evaluate(input, 'podfate/action'));

const parsed = cedar.preparsePolicySet('podfate', {staticPolicies: readFileSync(cedarFile, 'utf8')});
if (parsed.type !== 'success') throw new Error(JSON.stringify(parsed));
const ask = (action, exitCode) => cedar.statefulIsAuthorized({
  principal: {type: 'Container', id: 'main'}, action: {type: 'Action', id: action}, resource: {type: 'Pod', id: 'p'},
  context: {exitCode}, preparsedPolicySetId: 'podfate', entities: [],
}).response.decision === 'allow';
measure('Cedar (its wasm on Node.js)', 'statefulIsAuthorized of one action',
  (code) => ['Restart', 'RestartAllContainers'].find((action) => ask(action, code)) ?? 'Stop', () => ask('Restart', 42));

console.log(JSON.stringify(figures));
