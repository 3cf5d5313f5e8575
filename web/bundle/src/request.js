// Builds the request of the page's form, and remembers where in the manifest each of its bytes
// comes from.
import {operationOf} from './operation.js';
import {Unreadable, get, position, read, write} from './yaml.js';
import {short} from './visible.js';

export const maxExits = 64;

/**
 * Reads the shorthand of exits: NAME=CODE or NAME=CODE:REASON, separated by commas or white space. Throws Unreadable
 * with the path exits[i]. views.Form.ParseExits reads the same.
 */
export function parseExits(text) {
  return split(text).map((entry, i) => {
    const refuse = refuser(i);
    if (i === maxExits) refuse(`at most ${maxExits} exits fit on this page`);
    const [, name, code, reason] = /^(?:([^=]*)=)?(-?\d+)(?::(.*))?$/s.exec(entry) ?? [];
    const exitCode = Number(code);
    if (code === undefined || exitCode !== (exitCode | 0)) {
      refuse(`"${short(entry)}" is not NAME=CODE or NAME=CODE:REASON, with an exit code such as 137`);
    }
    return {...(name && {container: name}), exitCode: exitCode | 0, ...(reason && {reason})};
  });
}

const split = (text) => text.split(/[, \t\r\n]+/).filter(Boolean);
const refuser = (i) => (detail) => {
  throw new Unreadable('bad_format', detail, -1, `exits[${i}]`);
};

/**
 * Reads the shorthand of runs: main: 3@10s x4, 1@5s until 2h at 5m Evicted, and gives the members [name, JSON] of a request.
 * views.Form.ParseRuns reads the same.
 */
export function parseRuns(text) {
  const tapes = new Map();
  const words = split(text);
  const more = {}, events = [];
  let name = '', count = 0, last;
  for (let i = 0; i < words.length; i++) {
    const word = words[i];
    const typed = `"${short(word)}"`;
    const refuse = refuser(i);
    const [, alone] = /^([^@:=]+)[:=]$/.exec(word) ?? [];
    const [, times] = /^[x\xd7](\d{1,10})$/.exec(word) ?? [];
    if (alone) {
      name = alone;
      last = tapes.get(name)?.at(-1);
    } else if (word === 'until' && i + 1 < words.length) {
      more.until = words[++i];
    } else if (word === 'at' && i + 2 < words.length) {
      const at = words[++i];
      const [, type, container, pod] = /^([^:]*?)(?::(.*?))?(?:@(\d{1,9}))?$/.exec(words[++i]);
      more.events = events;
      events.push({at, type, ...(container && {container}), ...(pod && {pod: Number(pod)})});
    } else if (word === 'timing' && i + 1 < words.length) {
      const how = words[++i];
      more.timing = /^(?:kubelet|documented)$/.test(how) ? {...more.timing, firstRestart: how}
        : {detection: '1s', sync: 'kubelet', jitter: how, ...(more.timing?.firstRestart && {firstRestart: more.timing.firstRestart})};
    } else if (last && (times || word === 'forever')) {
      last.times = times ? Number(times) : word;
    } else {
      const [, before, code, reason, time] = /^(?:([^@:=]+)[:=])?(-?\d+)(?::([^@]*))?@(.+)$/s.exec(word) ?? [];
      const exitCode = code | 0;
      if (exitCode !== Number(code)) refuse(`${typed} is not CODE@TIME, x4 or forever behind one, or NAME: before it, as in main: 3@10s x4, 1@5s`);
      name = before ?? name;
      if (!name) refuse(`${typed} needs the container's name before it, as in main: 3@10s`);
      if (count++ === maxExits || events.length > maxExits) refuse(`at most ${maxExits} runs fit on this page`);
      last = {for: time, exitCode, ...(reason && {reason})};
      if (!tapes.has(name)) tapes.set(name, []);
      tapes.get(name).push(last);
    }
  }
  const runs = [...tapes].map((tape) => tape.map((part) => JSON.stringify(part)).join(':'));
  return [['runs', `{${runs}}`], ...Object.entries(more).map(([key, value]) => [key, JSON.stringify(value)])];
}

// Members of a Scenario that the operation table does not take.
const ofOthers = /^(?:pods|runs|until|events|timing|show|now)$/;

// What a Job looks at in a Pod: schema.ReadPods keeps the same.
const [inPod, inMetadata, ofJobs] = [/^(?:kind|metadata|status)$/,
  /^(?!(?:managedFields|selfLink|resourceVersion|creationTimestamp|generateName|finalizers)$)/, /^(?:job-name$|batch\.kubernetes\.io\/)/];
const maxPodsBytes = 4 << 20;

/** Keeps the members of an object whose names match, each as then(name) has it. */
const only = (node, names, then = () => (v) => v) => (node.entries
  ? {...node, entries: node.entries.filter(([name]) => names.test(name)).map(([name, at, v, json]) => [name, at, then(name)(v), json])} : node);

/** Reads the field pods, JSON or YAML, and gives the member of the request as JSON. Throws Unreadable with the path pods. */
export function parsePods(text) {
  const out = {text: '', marks: []};
  try {
    const docs = read(text, maxPodsBytes);
    refuseRepeats(docs);
    const pods = docs.flatMap((doc) => (doc.kind === 'array' ? doc.items : get(doc, 'items')?.items ?? [doc]));
    write({kind: 'array', items: pods.map((pod) => only(pod, inPod, (name) => (v) => (name !== 'metadata' ? v
      : only(v, inMetadata, (name) => (v) => (/^(?:labels|annotations)$/.test(name) ? only(v, ofJobs) : v)))))}, out);
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    throw new Unreadable(error.code, `${error.at < 0 ? '' : `line ${position(text, error.at)[0]}: `}${error.detail}`, -1, 'pods');
  }
  return out.text;
}

/**
 * The request of a form {manifest, pods, exits, version, validation, gates}: {operation, text, marks, manifest}. text is one
 * line of JSON; marks are pairs of an offset in it and one in the manifest as typed, −1 for what was not typed there;
 * manifest is the manifest's tree, undefined if there is none; repeats are its keys that are set twice, to be warned of.
 * Throws Unreadable.
 *
 * The documents of the text may be one manifest, one KubeletConfiguration and one Scenario, which holds members of the
 * request; what the form says goes first. schema.NewRequest does the same for the server.
 */
export function buildRequest(form) {
  const codes = form.view === 'codes'; // asks about every exit code, and so about none
  if (codes) form = {...form, exits: '', pods: '', view: ''};
  const over = operationOf(form) === 'simulate';
  const exits = over ? [] : parseExits(form.exits);
  const runs = over ? parseRuns(form.exits) : [];
  const pods = form.pods?.trim();
  if (pods && over) {
    throw new Unreadable('conflict', 'the Pods have ended, the exits play the Job from its beginning: leave one of the two empty', -1, 'pods');
  }
  if (pods) runs.push(['pods', parsePods(form.pods)]);
  const docs = read(form.manifest);
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
  const theirExits = get(scenario, 'exits');
  const operation = codes ? 'table' : over ? 'simulate' : exits.length > 0 || theirExits || pods || get(scenario, 'pods') ? 'decide' : 'validate';
  const allGates = [...others(gates, ...Object.keys(form.gates)), ...ours];
  const members = [
    ...others(scenario, 'cluster', 'fieldValidation', 'manifest', 'exits', ...runs.map(([name]) => name)).filter(([name]) => !codes || !ofOthers.test(name)),
    ['cluster', object([
      ['version', form.version ? plain(form.version) : undefined],
      ['featureGates', allGates.length > 0 ? object(allGates) : undefined],
      ...others(cluster, 'version', 'featureGates', 'kubeletConfiguration', ...(form.proposals?.length > 0 ? ['proposals'] : [])),
      ['proposals', form.proposals?.length > 0 ? plain(Object.fromEntries(form.proposals.map((name) => [name, {}]))) : undefined],
      ['kubeletConfiguration', copied(kubelet ?? get(cluster, 'kubeletConfiguration'))],
    ])],
    ['fieldValidation', form.validation && form.validation !== 'Strict' ? plain(form.validation) : undefined],
    ['manifest', copied(manifest)],
    ['exits', codes || exits.length === 0 && !theirExits ? undefined : () => {
      out.text += '[';
      for (const item of theirExits?.items ?? []) {
        write(item, out);
        out.text += ',';
      }
      out.marks.push([out.text.length, -1]);
      out.text += exits.map((exit) => JSON.stringify(exit)).join() || '';
      out.text = out.text.replace(/,$/, '') + ']';
    }],
    ...runs.map(([name, json]) => [name, () => (out.text += json)]),
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

/** The request of the view backoff; views.Form.Curve writes the same. */
export function buildCurve({version, gates, proposals = [], run = '', outage = '', cap = ''}) {
  const featureGates = Object.fromEntries(Object.entries(gates).sort().map(([name, value]) => [name, value === 'true']));
  return JSON.stringify({
    cluster: {
      ...(version && {version}), ...(Object.keys(gates).length > 0 && {featureGates}),
      ...(proposals.length > 0 && {proposals: Object.fromEntries([...proposals].sort().map((name) => [name, {}]))}),
    },
    run: {for: run.trim() || '10s'}, ...(outage.trim() && {outage: {until: outage.trim()}}), ...(cap.trim() && {backoff: {max: cap.trim()}}),
  });
}

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

/** Where a column of the request stands in the manifest as typed: [line, column], [0, 0] if it is not from there. */
export function relocate(request, typed, column) {
  const offset = [...request.text.slice(0, 2 * column)].slice(0, column - 1).join('').length;
  const mark = request.marks.findLast(([at]) => at <= offset);
  return mark && mark[1] >= 0 ? position(typed, mark[1]) : [0, 0];
}
