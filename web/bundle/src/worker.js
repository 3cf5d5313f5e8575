// Answers questions of the page in a thread of its own, so that nothing a manifest can do stops the
// page: the page ends this worker when a question takes longer than its patience, and starts
// another.
//
// In: {module, sha256, bytes} once, then {id, form}. Out: {describe}, then {id, operation, request,
// document, bytes, millis}: the answer in words with its places, and the bytes that the module
// gave, undefined if it was not asked. With more, the number of questions that are still to be
// asked, {id, strip} follows when the page says {follow: id}, unless the next question comes before.
import {Instance, operations, parse, recycleBytes} from '../../../plugins/js/instance.js';
import {addLints, place} from './answer.js';
import {operationOf} from './operation.js';
import {buildCurve, buildRequest, parseOne, relocate} from './request.js';
import {NotMade, mend} from './splice.js';
import {Unreadable, locate, position} from './yaml.js';

const maxFaults = 100;

let module; // compiled
let versions, defaultVersion; // of Kubernetes, which the module knows
let instance; // if it fails, so does this worker, and the page starts another

/**
 * What is to be said to a message. Where there are no workers, as in a frame without an origin of
 * its own, the page imports this file and calls this.
 */
export function reply(data) {
  if (data.module) {
    const {sha256, bytes} = data;
    ({module} = data);
    instance = undefined;
    const describe = parse(call('describe', JSON.stringify(sha256 ? {module: {sha256, bytes}} : {})));
    ({versions, defaultVersion} = describe);
    return {describe};
  }
  const began = performance.now();
  return {id: data.id, ...answer(data.form), millis: performance.now() - began};
}

/**
 * Does the steps of what follows an answer one by one, when the page has painted the answer and
 * says so: the next question comes between them, and ends them.
 */
function follow() {
  let work; // {id, more, begun}
  const steps = new MessageChannel();
  steps.port1.onmessage = () => {
    if (!work?.begun) return;
    const step = work.more.next();
    if (step.done) self.postMessage({id: work.id, strip: step.value});
    else steps.port2.postMessage(0);
  };
  self.onmessage = ({data}) => {
    if (data.follow) {
      if (data.follow !== work?.id || work.begun) return;
      work.begun = true;
      steps.port2.postMessage(0);
      return;
    }
    const {more, ...answered} = reply(data);
    work = more && {id: answered.id, more};
    self.postMessage({...answered, ...(more && {more: questions(data.form)})});
  };
}

if (globalThis.WorkerGlobalScope) follow();

/** The bytes that the module answers a JSON text with. */
function call(operation, text) {
  instance ??= new Instance(module);
  const bytes = instance.call(operations[operation], text).bytes.slice();
  if (instance.memory.length > recycleBytes) instance = undefined;
  return bytes;
}

/** Answers a form {manifest, pods, exits, version, validation, gates}. */
function answer(form) {
  if (form.fix) return fix(form);
  if (form.view === 'backoff') {
    const text = buildCurve(form);
    return {...explain('curve', 'request', text, () => [0, 0], () => [0, 0]), request: text};
  }
  let request, other;
  const worlds = /^(?:versions|compare)$/.test(form.view);
  try {
    request = buildRequest({...form, rows: true, ...(worlds && {view: ''})});
    if (form.view === 'compare' && form.other?.trim()) other = parseOne('other', form.other);
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return explain(operationOf(form), 'error', JSON.stringify(unreadable(error, form)), () => [0, 0]);
  }
  const {operation, text, manifest, repeats} = request;
  if (worlds) return compared(form, request, other);
  const places = (path) => (manifest ? position(form.manifest, locate(manifest, path)) : [0, 0]);
  const warnings = JSON.stringify(repeats.slice(0, maxFaults).map(({path, code, detail}) => ({path, code, detail})));
  const answered = explain(operation, 'request', text + (repeats.length > 0 ? ',"warnings":' + warnings : ''), places,
    (column) => relocate(request, form.manifest, column));
  if (!form.view && !form.offer && operation !== 'validate') {
    const bare = buildRequest(form, true);
    addLints(answered.document, explain('validate', 'request', bare.text, places, (column) => relocate(bare, form.manifest, column)).document);
  }
  return {...answered, request: text, bytes: repeats.length > 0 ? undefined : answered.bytes};
}

/** A question in several worlds: in the versions, or about two manifests, A and B. */
function compared(form, {operation, text, manifest}, other) {
  const two = form.view === 'compare';
  const first = form.version || defaultVersion; // the others are compared with it
  const variants = two ? `{"name":"A","patch":{}},{"name":"B",${other ? '"manifest":' + other : '"patch":{}'}}`
    : [first, ...versions.filter((v) => v !== first)].map((version) => JSON.stringify({name: version, patch: {cluster: {version}}})).join();
  const asked = `{"of":"${two && operation === 'validate' ? 'table' : operation}","request":${text},"variants":[${variants}]}`;
  // The request has one line, which nobody sees; the paths are those of the manifest below
  // request.manifest.
  const at = (path) => (manifest && path.startsWith('request.manifest.') ? position(form.manifest, locate(manifest, path.slice(17))) : [0, 0]);
  return {...explain('compare', 'request', asked, at, () => [0, 0]), request: asked, more: strip(sidesOf(form), two ? ['A', 'B'] : [''])};
}

/** The manifests that a form compares. */
const sidesOf = (form) => [form, ...(form.view === 'compare' ? [{...form, manifest: form.other?.trim() ? form.other : form.manifest}] : [])];

/** How many questions strip asks about a form. */
const questions = (form) => versions.length * sidesOf(form).length;

/**
 * What becomes of a question in each version: many questions, which are asked when the answer has
 * been given.
 */
function* strip(sides, names) {
  const answers = [];
  for (const version of versions) {
    const row = [];
    answers.push(row);
    for (const side of sides) {
      row.push(answer({...side, version, view: 'trace'}).document.verdict);
      yield;
    }
  }
  return [versions, names, answers];
}

/** The manifest of a form with a fix made: {manifest}, or why it is not made: {why}. */
function fix(form) {
  try {
    return {manifest: mend(form.manifest, form.fix)};
  } catch (error) {
    if (!(error instanceof NotMade || error instanceof Unreadable)) throw error;
    return {why: error instanceof NotMade ? error.code : 'path'};
  }
}

/** Has a request answered and put into words, or an error put into words. */
function explain(operation, member, text, ...places) {
  const bytes = call('explain', `{"of":"${operation}","${member}":${text}}`);
  const {document, error} = parse(bytes);
  if (error) throw new Error(error.message);
  return {operation, request: '', document: place(document, ...places), ...(member === 'request' && {bytes})};
}

/** The error for a text that is no request. */
function unreadable({code, detail, at, path}, form) {
  const [line, column] = at < 0 ? [0, 0] : position(form.manifest, at);
  const group = /^(?:bad_format|conflict)$/.test(code) ? 'EVENT_INVALID' : path === 'pods' ? 'BAD_PODS' : code.startsWith('limit.') ? 'LIMIT_EXCEEDED'
    : 'BAD_YAML';
  return {code: group, message: detail, faults: [{path, code, detail, ...(line > 0 && {line, column})}]};
}
