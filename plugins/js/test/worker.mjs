// A worker with an engine of its own, for robust.test.mjs.
import {parentPort, workerData} from 'node:worker_threads';
import {load} from 'podfate';

const policy = (await load(workerData.module)).compile({manifest: workerData.manifest});
const actions = new Set();
for (let i = 0; i < 10_000; i++) actions.add(policy.decide({exitCode: workerData.code}).action);
parentPort.postMessage([...actions]);
