// ../worker.mjs for browsers.
import {load} from '/package/podfate.js';

self.onmessage = async ({data}) => {
  const policy = (await load(data.module)).compile({manifest: data.manifest});
  const actions = new Set();
  for (let i = 0; i < 10_000; i++) actions.add(policy.decide({exitCode: data.code}).action);
  self.postMessage([...actions]);
};
