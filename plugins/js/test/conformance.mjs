// node conformance.mjs VECTORS [EVALUATIONS], and likewise with deno and bun: plays the vectors and
// prints one line, by which engines are compared; then evaluates so many exits and prints how large
// the memory is. Ends with status 1 if an answer differs from its vector, or if there is no vector.
import {createHash} from 'node:crypto';
import {createReadStream} from 'node:fs';
import process from 'node:process';
import {createInterface} from 'node:readline';
import {conform, evaluate} from './conformance.js';

async function* lines(file) { // opened when it is read: what comes before the first reader is lost
  yield* createInterface({input: createReadStream(file, 'utf8'), crlfDelay: Infinity});
}

const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

const [vectors, evaluations] = process.argv.slice(2);
if (vectors === undefined) {
  console.error('usage: conformance.mjs VECTORS [EVALUATIONS]');
  process.exit(2);
}
const [name, version] = globalThis.Bun ? ['bun', globalThis.Bun.version]
  : globalThis.Deno ? ['deno', globalThis.Deno.version.deno]
  : ['node', process.versions.node];
const {line, count, mismatches} = await conform(lines(vectors), sha256, createHash('sha256'), name, version, console.error);
console.log(line);
if (evaluations) console.log(`evaluations=${evaluations} memory=${await evaluate(Number(evaluations))}`);
process.exitCode = mismatches > 0 || count === 0 ? 1 : 0;
