// Builds the request of the page's form, and remembers where in the manifest each of its bytes
// comes from.
import {asking, operationOf} from './operation.js';
import {Unreadable, get, position, read, write} from './yaml.js';

// Members of a Scenario that the operation table does not take.
const ofOthers = /^(?:exits|pods|runs|until|events|timing|show|now|question)$/;

// What a Job looks at in a Pod: schema.ReadPods keeps the same.
const [inPod, inMetadata, ofJobs] = [/^(?:kind|metadata|status)$/,
  /^(?!(?:managedFields|selfLink|resourceVersion|creationTimestamp|generateName|finalizers)$)/, /^(?:job-name$|batch\.kubernetes\.io\/)/];
const maxPodsBytes = 4 << 20;

/** Keeps the members of an object whose names match, each as then(name) has it. */
const only = (node, names, then = () => (v) => v) => (node.entries
  ? {...node, entries: node.entries.filter(([name]) => names.test(name)).map(([name, at, v, json]) => [name, at, then(name)(v), json])} : node);

/**
 * Reads a field besides the manifest with work, which gets its documents and where to write. Throws
 * Unreadable with the path.
 */
function beside(path, text, most, work) {
  const out = {text: '', marks: []};
  try {
    const docs = read(text, most);
    refuseRepeats(docs);
    work(docs, out);
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    throw new Unreadable(error.code, `${error.at < 0 ? '' : `line ${position(text, error.at)[0]}: `}${error.detail}`, -1, path);
  }
  return out.text;
}

/** Reads the field pods, JSON or YAML, and gives the member of the request as JSON. */
export const parsePods = (text) => beside('pods', text, maxPodsBytes, (docs, out) => {
  const pods = docs.flatMap((doc) => (doc.kind === 'array' ? doc.items : get(doc, 'items')?.items ?? [doc]));
  write({kind: 'array', items: pods.map((pod) => only(pod, inPod, (name) => (v) => (name !== 'metadata' ? v
    : only(v, inMetadata, (name) => (v) => (/^(?:labels|annotations)$/.test(name) ? only(v, ofJobs) : v)))))}, out);
});

/** Reads a field that holds one object, and gives it as JSON. */
export const parseOne = (path, text) => beside(path, text, undefined, (docs, out) => {
  if (docs.length > 1) refuse('several_manifests', 'several objects; this field takes one', path);
  write(docs[0], out);
});

const trees = new Map(); // the last texts and their documents: one question asks about a text more than once

function readOnce(text) {
  if (!trees.has(text)) {
    if (trees.size > 1) trees.clear();
    trees.set(text, read(text));
  }
  return trees.get(text);
}

/**
 * The request of a form {manifest, pods, exits, version, validation, gates}: {operation, text,
 * marks, manifest}. text is one line of JSON; marks are pairs of an offset in it and one in the
 * manifest as typed, −1 for what was not typed there; manifest is the manifest's tree, undefined if
 * there is none; repeats are its keys that are set twice, to be warned of. Throws Unreadable.
 *
 * With form.rows it asks for what kubectl prints. With lint it is the request of validate about the
 * manifest alone.
 *
 * The documents of the text may be one manifest, one KubeletConfiguration and one Scenario, which
 * holds members of the request; what the form says goes first. schema.NewRequest does the same for
 * the server.
 */
export function buildRequest(form, lint = false) {
  const codes = form.view === 'codes'; // asks about every exit code, and so about none
  const offer = form.offer && JSON.parse(form.offer); // a question that an answer offers: {of, request}
  const bare = codes || lint || offer;
  if (bare) form = {...form, exits: '', pods: '', view: ''};
  const pods = form.pods?.trim();
  const asked = asking.test(form.exits);
  const more = []; // members besides those of the documents, by name
  const [old, file] = bare ? [] : [form.old?.trim(), form.static];
  for (const [name, value] of Object.entries(offer?.request ?? {})) more.push([name, JSON.stringify(value)]);
  if (form.template?.trim() && !offer?.request.templatePath) more.push(['templatePath', JSON.stringify(form.template.trim())]);
  if (old || file) {
    if (asked || pods) refuse('conflict', 'an update and a static Pod are only checked: leave the exits and the Pods empty', 'old');
    if (file) more.push(['static', 'true']);
    if (old) more.push(['old', parseOne('old', form.old)]);
  }
  if (asked) more.push(['question', JSON.stringify(form.exits)]);
  if (pods && operationOf(form) === 'simulate') {
    refuse('conflict', 'the Pods have ended, but the exits simulate the Job from its beginning: leave one of the two empty', 'pods');
  }
  if (pods) more.push(['pods', parsePods(form.pods)]);
  more.sort(([a], [b]) => (a < b ? -1 : 1));
  const docs = readOnce(form.manifest);
  const lax = /^(?:Warn|Ignore)$/.test(form.validation);
  if (!lax) refuseRepeats(docs);
  const {manifest, kubelet, scenario} = sortOut(docs);
  const out = {text: '{', marks: [[0, -1]]};
  const member = (name, value) => {
    if (value === undefined) return;
    out.marks.push([out.text.length, -1]);
    out.text += `${out.text.endsWith('{') ? '' : ','}${JSON.stringify(name)}:`;
    value();
  };
  const plain = (value) => () => {
    out.text += JSON.stringify(value);
  };
  const copied = (node) => node && (() => write(node, out));
  const object = (members) => () => {
    out.text += '{';
    for (const [name, value] of members) member(name, value);
    out.marks.push([out.text.length, -1]);
    out.text += '}';
  };
  const others = (node, ...names) => (node?.entries ?? []).filter(([name]) => !names.includes(name)).map(([name, , value]) => [name, copied(value)]);

  const cluster = get(scenario, 'cluster');
  const gates = get(cluster, 'featureGates');
  const ours = Object.entries(form.gates).map(([name, value]) => [name, plain(value === 'true')]);
  const first = offer ? offer.of : codes ? 'table' : lint ? 'validate' : operationOf(form);
  const operation = !lint && first === 'validate' && (get(scenario, 'exits') || get(scenario, 'pods')) ? 'decide' : first;
  if (form.rows && /^(?:decide|simulate)$/.test(first)) {
    const theirs = get(scenario, 'show')?.items?.map((i) => i.text) ?? [];
    more.push(['show', JSON.stringify([...new Set([...theirs, 'rows'])])]);
    more.sort(([a], [b]) => (a < b ? -1 : 1));
  }
  const allGates = [...others(gates, ...Object.keys(form.gates)), ...ours];
  const members = [
    ...others(scenario, 'cluster', 'fieldValidation', 'manifest', ...more.map(([name]) => name)).filter(([name]) => !bare || !ofOthers.test(name)),
    ['cluster', object([
      ['version', form.version ? plain(form.version) : undefined],
      ['featureGates', allGates.length > 0 ? object(allGates) : undefined],
      ...others(cluster, 'version', 'featureGates', 'kubeletConfiguration', ...(form.proposals?.length > 0 ? ['proposals'] : [])),
      ['proposals', form.proposals?.length > 0 ? plain(proposalsOf(form.proposals)) : undefined],
      ['kubeletConfiguration', copied(kubelet ?? get(cluster, 'kubeletConfiguration'))],
    ])],
    ['fieldValidation', form.validation && form.validation !== 'Strict' ? plain(form.validation) : undefined],
    ['manifest', copied(manifest)],
    ...more.map(([name, json]) => [name, () => (out.text += json)]),
  ];
  for (const [name, value] of members) member(name, value);
  out.marks.push([out.text.length, -1]);
  out.text += '}';
  const repeats = form.validation === 'Warn' ? docs.flatMap((doc) => doc.repeats ?? []) : [];
  return {operation, text: out.text, marks: out.marks, manifest, repeats};
}

function refuseRepeats(docs) {
  for (const {repeats} of docs) if (repeats?.length > 0) throw repeats[0];
}

/** Proposals as a request has them: those of a form are written NAME:option=value,option=value. */
function proposalsOf(list) {
  const options = (text = '') => Object.fromEntries(text.split(',').filter((o) => o.includes('=')).sort().map((o) => o.split('=')));
  return Object.fromEntries(list.map((entry) => entry.split(':')).sort().map(([name, set]) => [name, options(set)]));
}

/** The request of the view backoff; views.Form.Curve writes the same. */
export function buildCurve({version, gates, proposals = [], run = '', outage = '', cap = ''}) {
  const featureGates = Object.fromEntries(Object.entries(gates).sort().map(([name, value]) => [name, value === 'true']));
  return JSON.stringify({
    cluster: {
      ...(version && {version}), ...(Object.keys(gates).length > 0 && {featureGates}),
      ...(proposals.length > 0 && {proposals: proposalsOf(proposals)}),
    },
    run: {for: run.trim() || '10s'}, ...(outage.trim() && {outage: {until: outage.trim()}}), ...(cap.trim() && {backoff: {max: cap.trim()}}),
  });
}

const refuse = (code, detail, path) => {
  throw new Unreadable(code, detail, -1, path);
};

/** Finds out what each document is. */
function sortOut(docs) {
  const found = {};
  const take = (name, node, code, what) => {
    if (found[name]) throw new Unreadable(code, `a second ${what}; one request takes one`, node.at);
    found[name] = node;
  };
  for (const root of docs) {
    if (root.kind !== 'object') throw new Unreadable('not_an_object', 'a document is an object with members such as kind', root.at);
    const kind = get(root, 'kind')?.text;
    if (kind === 'Scenario' || !get(root, 'kind') && !get(root, 'apiVersion')) {
      take('scenario', root, 'several_requests', 'request');
      const manifest = get(root, 'manifest');
      if (manifest) take('manifest', manifest, 'several_manifests', 'manifest');
    } else if (kind === 'KubeletConfiguration') {
      take('kubelet', root, 'several_kubelets', 'KubeletConfiguration');
    } else if (kind === 'List' && get(root, 'apiVersion')?.text === 'v1') {
      const items = get(root, 'items')?.items ?? [];
      if (items.length === 0) throw new Unreadable('empty_list', 'the List has no item', root.at, 'items');
      for (const item of items) take('manifest', item, 'several_manifests', 'manifest');
    } else {
      take('manifest', root, 'several_manifests', 'manifest');
    }
  }
  return found;
}

/**
 * Where a column of the request is in the manifest as typed: [line, column], [0, 0] if it is not
 * from there.
 */
export function relocate(request, typed, column) {
  const offset = [...request.text.slice(0, 2 * column)].slice(0, column - 1).join('').length;
  const mark = request.marks.findLast(([at]) => at <= offset);
  return mark && mark[1] >= 0 ? position(typed, mark[1]) : [0, 0];
}
