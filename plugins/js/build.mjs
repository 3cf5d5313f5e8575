// node build.mjs [policy.wasm]: what the package holds besides its sources. npm runs it before it
// packs.
//
//   policy.wasm, LICENSE   copies
//   embed*.js, worker.js, link.js, yaml.js, licences.txt
//                          copies of the page's bundles
//   digest.js              the SHA-256 of that policy.wasm, which load compares
//   schema.d.ts            types of requests and answers, from the JSON Schemas
//   inline.js              the sources and the module in one file
import {createHash} from 'node:crypto';
import {copyFileSync, readFileSync, readdirSync, writeFileSync} from 'node:fs';
import {argv} from 'node:process';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {gzipSync} from 'node:zlib';
import {declarations} from './types.mjs';

const beside = (name) => fileURLToPath(new URL(name, import.meta.url));
const module = argv[2] ? fileURLToPath(pathToFileURL(argv[2])) : beside('../../wasm/policy.wasm');

copyFileSync(module, beside('policy.wasm'));
copyFileSync(beside('../../LICENSE'), beside('LICENSE'));
for (const name of ['embed.js', 'embed-run.js', 'worker.js', 'link.js', 'yaml.js', 'licences.txt']) copyFileSync(beside('../../web/static/' + name), beside(name));
const bytes = readFileSync(module);
const digest = `export const sha256 = '${createHash('sha256').update(bytes).digest('hex')}';\n`;
writeFileSync(beside('digest.js'), `// Written by build.mjs.\n${digest}`);

const folder = beside('../../schema/v1/');
const suffix = '.schema.json';
const files = readdirSync(folder).filter((name) => name.endsWith(suffix)).sort();
writeFileSync(beside('schema.d.ts'), declarations(Object.fromEntries(
  files.map((name) => [name.slice(0, -suffix.length), JSON.parse(readFileSync(folder + name, 'utf8'))]))));

// The sources refer to each other with imports of one line and have no two names alike, so that
// joining them is enough.
const sources = ['errors.js', 'instance.js', 'batch.js', 'engine.js', 'source.js'].map((name) => readFileSync(beside(name), 'utf8'));
const joined = sources.join('\n').replace(/^import .*\n/gm, '').replace(/^export (?=class|const|function|async)/gm, '');
const {1: names} = /^export \{(.*)\};$/ms.exec(readFileSync(beside('api.js'), 'utf8').replace(/\} from '.*';\nexport \{/g, ', ').replace(/ from '.*'/, ''));
const taken = joined.match(/^(?:const|class|function|async function) (\w+)/gm).map((line) => line.split(' ').pop());
for (const name of taken) {
  if (taken.indexOf(name) !== taken.lastIndexOf(name)) throw new Error(`two sources have a ${name}: inline.js cannot join them`);
}
writeFileSync(beside('inline.js'), `// Podfate, Apache-2.0: the package and its module in one file. Written by build.mjs.
${digest.replace('export ', '')}
const packed = '${gzipSync(bytes, {level: 9}).toString('base64')}';

${joined}
/** Makes an engine of the module in this file, or of another one. */
async function load(source, options = {}) {
  return open(source ?? await unpack(), sha256, options);
}

async function unpack() {
  const file = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
  return new Response(new Response(file).body.pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
}

export {load, ${names}};
`);
