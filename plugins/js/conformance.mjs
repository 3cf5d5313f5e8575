// node conformance.mjs VECTORS [policy.wasm]
//
// VECTORS has one JSON object a line: {"id","op","request","answer","failed"}, request and answer being JSON texts as
// strings. Prints one line: engine, its version, the module's SHA-256, the number of vectors, of mismatches, and the
// SHA-256 over "ID\nANSWER\n" of all answers in order, by which runs on different engines are compared. Ends with
// status 1 if an answer differs from its vector, or if there is no vector.
import {createHash} from 'node:crypto';
import {createReadStream} from 'node:fs';
import process from 'node:process';
import {createInterface} from 'node:readline';
import {pathToFileURL} from 'node:url';
import {Podfate} from './podfate.js';

const [vectors, file] = process.argv.slice(2);
if (vectors === undefined) {
  console.error('usage: node conformance.mjs VECTORS [policy.wasm]');
  process.exit(2);
}
const engine = await Podfate.load(file ? pathToFileURL(file) : new URL('../../wasm/policy.wasm', import.meta.url));

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const fold = createHash('sha256');
let count = 0;
let mismatches = 0;
for await (const line of createInterface({input: createReadStream(vectors, 'utf8'), crlfDelay: Infinity})) {
  if (line.trim() === '') continue;
  const {id, op, request, answer, failed} = JSON.parse(line);
  let got;
  try {
    const result = engine.call(op, encoder.encode(request));
    got = {answer: decoder.decode(result.bytes), failed: result.failed};
  } catch (error) {
    got = {answer: `${error.code}: ${error.message}`, failed: true};
  }
  if (got.answer !== answer || got.failed !== failed) {
    mismatches++;
    console.error(`${id}: got (failed ${got.failed}) ${got.answer}\n${' '.repeat(id.length)}  want (failed ${failed}) ${answer}`);
  }
  fold.update(`${id}\n${got.answer}\n`);
  count++;
}

const [name, version] = globalThis.Bun ? ['bun', globalThis.Bun.version]
  : globalThis.Deno ? ['deno', globalThis.Deno.version.deno]
  : ['node', process.versions.node];
console.log(`engine=${name} version=${version} module=${engine.sha256} count=${count} mismatches=${mismatches} digest=${fold.digest('hex')}`);
process.exitCode = mismatches > 0 || count === 0 ? 1 : 0;
