// node yaml.mjs READER TEXTS: reads texts with the bundled reader and prints what came of them as a
// JSON array: {docs:
// [{json, places}]}, places being [line, column] of each path, or {fault, line, column, detail}.
import {readFileSync} from 'node:fs';
import process from 'node:process';
import {pathToFileURL} from 'node:url';

const {position, read, write} = await import(pathToFileURL(process.argv[2]));

function places(text, node, path, out) {
  for (const [name, at, child] of node.entries ?? []) {
    const of = /^[A-Za-z_]\w*$/.test(name) ? `${path && path + '.'}${name}` : `${path}[${JSON.stringify(name)}]`;
    out[of] = position(text, at);
    places(text, child, of, out);
  }
  node.items?.forEach((child, i) => {
    out[`${path}[${i}]`] = position(text, child.at);
    places(text, child, `${path}[${i}]`, out);
  });
  return out;
}

process.stdout.write(JSON.stringify(JSON.parse(readFileSync(process.argv[3], 'utf8')).map((text) => {
  try {
    const docs = read(text);
    for (const {repeats} of docs) if (repeats?.length > 0) throw repeats[0];
    return {docs: docs.map((root) => {
      const out = {text: '', marks: []};
      write(root, out);
      return {json: out.text, places: places(text, root, '', {})};
    })};
  } catch (error) {
    if (!error.code) return {fault: 'CRASH ' + error.stack};
    const [line, column] = position(text, Math.max(error.at, 0));
    return {fault: error.code, line, column, detail: error.detail};
  }
})));
