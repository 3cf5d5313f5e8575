// Runs the package's tests and the conformance vectors in a browser, and posts what came of it to
// the server of the page.
import {conform, evaluate} from '../conformance.js';
import {run} from './test.js';

const messages = [];
const sha256 = async (bytes) => Array.from(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)), (b) => b.toString(16).padStart(2, '0')).join('');
const fold = {
  parts: [],
  rest: [],
  update(bytes) {
    if (this.rest.push(bytes) < 30_000) return;
    this.parts.push(new Blob(this.rest)); // the browser may keep these on disk
    this.rest = [];
  },
  async digest() {
    return sha256(await new Blob([...this.parts, ...this.rest]).arrayBuffer());
  },
};

async function* vectors() {
  const {body} = await fetch('/vectors.jsonl');
  let rest = '';
  for (const reader = body.pipeThrough(new TextDecoderStream()).getReader(); ;) {
    const {done, value} = await reader.read();
    if (done) break;
    const lines = (rest + value).split('\n');
    rest = lines.pop();
    yield* lines;
  }
  yield rest;
}

const [, name, version] = /(Firefox|Chrome)\/([\d.]+)/.exec(navigator.userAgent) ?? [null, 'unknown', '0'];
// Chromium says only its major version there.
const full = (await navigator.userAgentData?.getHighEntropyValues(['uaFullVersion']))?.uaFullVersion;
const result = {evaluations: Number(new URLSearchParams(location.search).get('evaluations')), memory: 0, line: '', tests: [], messages};
try {
  for (const file of ['podfate', 'module', 'robust', 'browser/fetch']) await import(`/test/${file}.test.mjs`);
  result.tests = await run();
  const engine = {Firefox: 'firefox', Chrome: 'chromium'}[name];
  result.line = (await conform(vectors(), sha256, fold, engine, full ?? version, (text) => messages.length < 20 && messages.push(text))).line;
  result.memory = await evaluate(result.evaluations);
} catch (error) {
  messages.push(`${error}\n${error.stack}`);
}
await fetch('/result', {method: 'POST', body: JSON.stringify(result)});
document.body.append(JSON.stringify(result));
