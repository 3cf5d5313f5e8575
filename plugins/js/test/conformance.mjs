// node conformance.mjs VECTORS, and likewise with deno and bun: prints one line, by which engines are compared. Ends with status 1
// if an answer differs from its vector, or if there is no vector.
import {createHash} from 'node:crypto';
import {createReadStream} from 'node:fs';
import process from 'node:process';
import {createInterface} from 'node:readline';
import {conform} from './conformance.js';

async function* lines(file) { // opened when it is read: what comes before the first reader is lost
  yield* createInterface({input: createReadStream(file, 'utf8'), crlfDelay: Infinity});
}

const [vectors] = process.argv.slice(2);
if (vectors === undefined) {
  console.error('usage: conformance.mjs VECTORS');
  process.exit(2);
}
const [name, version] = globalThis.Bun ? ['bun', globalThis.Bun.version]
  : globalThis.Deno ? ['deno', globalThis.Deno.version.deno]
  : ['node', process.versions.node];
const {line, count, mismatches} = await conform(lines(vectors), createHash('sha256'), name, version, console.error);
console.log(line);
process.exitCode = mismatches > 0 || count === 0 ? 1 : 0;
