// Answers questions of the page in a thread of its own, so that nothing a manifest can do stops the page: the page ends
// this worker when a question takes longer than its patience, and starts another.
//
// In: {module, sha256, bytes} once, then {id, form}. Out: {describe}, then {id, answer, bytes, millis}: the answer as
// the page shows it, and the bytes that the module gave, undefined if it was not asked.
import {Instance, operations, parse, recycleBytes} from '../../../plugins/js/instance.js';
import {readAnswer} from './answer.js';
import {operationOf} from './operation.js';
import {buildRequest, relocate} from './request.js';
import {Unreadable, locate, position} from './yaml.js';

const maxFaults = 100;

let module; // compiled
let instance; // if it fails, so does this worker, and the page starts another

self.onmessage = ({data}) => {
  if (data.module) {
    const {sha256, bytes} = data;
    module = data.module;
    self.postMessage({describe: parse(call('describe', JSON.stringify({module: {sha256, bytes}})))});
    return;
  }
  const began = performance.now();
  self.postMessage({id: data.id, ...answer(data.form), millis: performance.now() - began});
};

/** The bytes that the module answers a JSON text with. */
function call(operation, text) {
  instance ??= new Instance(module);
  const bytes = instance.call(operations[operation], text).bytes.slice();
  if (instance.memory.length > recycleBytes) instance = undefined;
  return bytes;
}

/** Answers a form {manifest, pods, exits, version, validation, gates}. */
function answer(form) {
  let request;
  try {
    request = buildRequest(form);
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return {answer: unreadable(form, error)};
  }
  const {operation, text, manifest, repeats} = request;
  const bytes = call(operation, text);
  const places = (path) => (manifest ? position(form.manifest, locate(manifest, path)) : [0, 0]);
  const shown = readAnswer(operation, text, new TextDecoder().decode(bytes), places, (column) => relocate(request, form.manifest, column));
  const warnings = repeats.map(({path, code, detail, at}) => {
    const [line, column] = position(form.manifest, at);
    return {path, code, detail, line, column};
  });
  shown.warnings?.unshift(...warnings.slice(0, Math.max(0, maxFaults + 1 - shown.warnings.length)));
  return {bytes, answer: shown};
}

/** The answer for a text that is no request. */
function unreadable(form, {code, detail, at, path}) {
  const [line, column] = at < 0 ? [0, 0] : position(form.manifest, at);
  const group = /^(?:bad_format|conflict)$/.test(code) ? 'EVENT_INVALID' : path === 'pods' ? 'BAD_PODS' : code.startsWith('limit.') ? 'LIMIT_EXCEEDED'
    : 'BAD_YAML';
  const fault = {path, code, detail, line, column};
  return {operation: operationOf(form), request: '', error: {code: group, message: detail, faults: [fault]}};
}
