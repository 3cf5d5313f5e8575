// node example.mjs [policy.wasm]: the kubelet's answer about two exits of a container, without a cluster.
import {argv} from 'node:process';
import {pathToFileURL} from 'node:url';
import {Podfate, PodfateError} from './podfate.js';

const file = argv[2] ? pathToFileURL(argv[2]) : new URL('../../wasm/policy.wasm', import.meta.url);
const engine = await Podfate.load(file);

const manifest = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {name: 'trainer'},
  spec: {
    restartPolicy: 'Never',
    containers: [{
      name: 'main',
      image: 'trainer:1',
      restartPolicy: 'Never',
      restartPolicyRules: [{action: 'Restart', exitCodes: {operator: 'In', values: [42]}}],
    }],
  },
};

const answer = engine.decide({manifest, exits: [{container: 'main', exitCode: 42}, {container: 'main', exitCode: 1}]});
for (const {container, exitCode, action, decidedBy} of answer.decisions) {
  console.log(`${container} exits ${exitCode}: ${action}, decided by ${decidedBy.path}`);
}

try {
  engine.decide({manifest, exits: [{container: 'sidecar', exitCode: 1}]});
} catch (error) {
  if (!(error instanceof PodfateError)) throw error;
  console.log(`${error.code} at ${error.path}: ${error.message}`);
}
