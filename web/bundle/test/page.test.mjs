// The parts of the page's scripts that need no browser.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import test from 'node:test';
import {addressOf, readAddress} from '../src/address.js';
import {commandLine, curl} from '../src/commands.js';
import {compare} from '../src/compare.js';
import {Engine, patience} from '../src/engine.js';
import {operationOf} from '../src/operation.js';
import {buildRequest, parsePods, relocate} from '../src/request.js';
import {LinkError, decode, encode, maxCompressed} from '../src/share.js';
import {decodeLink, encodeLink} from '../../static/link.js';
import {NotMade, mend, splice} from '../src/splice.js';
import {use} from '../src/text.js';
import {Unreadable, parse, request} from '../../static/yaml.js';
import {visible} from '../src/visible.js';

const table = (name) => JSON.parse(readFileSync(new URL(`../../testdata/${name}.json`, import.meta.url), 'utf8'));
use(JSON.parse(readFileSync(new URL('../../views/text.json', import.meta.url), 'utf8')));
const form = {manifest: 'kind: Pod\n', pods: '', exits: 'main=42', version: '1.36', validation: 'Strict', gates: {}};

test('a question in short asks the operation that the server says', () => {
  for (const {text, operation} of table('questions')) assert.equal(operationOf({...form, exits: text}), operation, text);
});

test('of Pods the same is kept as by the server', () => {
  for (const {text, pods, fault} of table('pods')) {
    if (fault) assert.throws(() => parsePods(text), {path: 'pods', at: -1}, text);
    else assert.deepEqual(JSON.parse(parsePods(text)), JSON.parse(pods), text);
  }
  const many = JSON.stringify({items: Array(200).fill({metadata: {name: 'p'}, spec: 'x'.repeat(4000), status: {}})});
  assert.equal(JSON.parse(parsePods(many)).length, 200);
  assert.throws(() => parsePods(`"${'x'.repeat(5 << 20)}"`), {code: 'limit.body_bytes', path: 'pods'});
});

test('Pods become a member of a request', () => {
  const request = buildRequest({...form, exits: '', pods: '[{"metadata": {"name": "p"}}]'});
  assert.equal(request.operation, 'decide');
  assert.equal(request.text, '{"cluster":{"version":"1.36"},"manifest":{"kind":"Pod"},"pods":[{"metadata":{"name":"p"}}]}');
  assert.throws(() => buildRequest({...form, exits: 'main: 3@10s', pods: '[]'}), {code: 'conflict', path: 'pods'});
});

test('what is asked is the member question, and the core reads it', () => {
  const request = buildRequest({...form, exits: 'main: 3@10s x4, 1@5s until 2h'});
  assert.equal(request.operation, 'simulate');
  assert.equal(request.text, '{"cluster":{"version":"1.36"},"manifest":{"kind":"Pod"},"question":"main: 3@10s x4, 1@5s until 2h"}');
});

test('updates, static Pods and one of several templates', () => {
  const asked = (more) => buildRequest({...form, exits: '', ...more});
  assert.deepEqual(JSON.parse(asked({old: 'kind: Pod\nspec: {a: 1}\n', static: true, template: ' spec.template '}).text),
    {cluster: {version: '1.36'}, manifest: {kind: 'Pod'}, old: {kind: 'Pod', spec: {a: 1}}, static: true, templatePath: 'spec.template'});
  assert.equal(asked({static: true}).operation, 'validate');
  assert.throws(() => asked({static: true, exits: 'main=1'}), {code: 'conflict', path: 'old'});
  assert.throws(() => asked({old: 'a: 1\n---\nb: 1\n'}), {code: 'several_manifests', path: 'old'});
  assert.throws(() => asked({old: 'a: 1\nb: ['}), {path: 'old', message: /^line 2: /});
  assert.deepEqual(JSON.parse(asked({proposals: ['kep-3322:stop=exceeded,counts=container', 'callback']}).text).cluster.proposals,
    {callback: {}, 'kep-3322': {counts: 'container', stop: 'exceeded'}});
});

test('what hides is written out as on the server', () => {
  for (const {text, shown} of table('visible')) assert.equal(visible(text), shown);
  assert.equal(visible('\ud800'), '\\ud800');
});

test('a request is one line that knows where it comes from', () => {
  const typed = '# a comment\nkind: Pod\nspec:\n  "wörd": [1, two]\n';
  const request = buildRequest({...form, manifest: typed, gates: {B: 'true', A: 'false'}});
  assert.equal(request.operation, 'decide');
  assert.equal(request.text, '{"cluster":{"version":"1.36","featureGates":{"B":true,"A":false}},' +
    '"manifest":{"kind":"Pod","spec":{"wörd":[1,"two"]}},"question":"main=42"}');
  const column = (part) => [...request.text.slice(0, request.text.indexOf(part))].length + 1;
  assert.deepEqual(relocate(request, typed, column('"Pod"')), [2, 7]);
  assert.deepEqual(relocate(request, typed, column('"wörd"')), [4, 3]);
  assert.deepEqual(relocate(request, typed, column('"two"')), [4, 15]);
  assert.deepEqual(relocate(request, typed, column('"question"')), [0, 0]);
  assert.deepEqual(relocate(request, typed, column('"1.36"')), [0, 0]);
});

test('a stream may hold manifest, kubelet configuration and scenario', () => {
  const manifest = [
    'kind: Pod', '---', 'apiVersion: kubelet.config.k8s.io/v1beta1', 'kind: KubeletConfiguration', '---',
    'apiVersion: podfate.dev/v1', 'kind: Scenario', 'cluster: {version: "1.33", featureGates: {A: true, C: false}}',
    'exits: [{container: main, exitCode: 7}]',
  ].join('\n');
  assert.deepEqual(JSON.parse(buildRequest({...form, manifest, exits: '', gates: {A: 'false'}}).text), {
    apiVersion: 'podfate.dev/v1', kind: 'Scenario',
    cluster: {
      version: '1.36', featureGates: {C: false, A: false},
      kubeletConfiguration: {apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration'},
    },
    manifest: {kind: 'Pod'}, exits: [{container: 'main', exitCode: 7}],
  });
  assert.throws(() => buildRequest({...form, manifest: 'kind: Pod\n---\nkind: Job\n'}), {code: 'several_manifests', at: 14});
  assert.equal(buildRequest({...form, exits: ''}).operation, 'validate');
});

test('JSON is passed on as it was spelled', () => {
  const {text} = buildRequest({...form, manifest: ' {"kind": "Pod", "a": 42.0, "a": 1e2, "\\u0062": "\\/"}'});
  assert.match(text, /"manifest":\{"kind":"Pod","a":42\.0,"a":1e2,"\\u0062":"\\\/"\}/);
});

test('a link gives the form back', async () => {
  for (const sample of [
    form,
    {manifest: 'größe: 🐳\n', pods: '[]', exits: '', version: '1.37', validation: 'Warn', gates: {A: 'true', B: 'false'}, old: 'a: 1', static: true, template: 't', proposals: ['x:a=b,c=d']},
  ]) {
    const fragment = await encode(sample);
    assert.match(fragment, /^#v1=[\w-]+$/);
    assert.deepEqual(await decode(fragment), sample);
  }
});

const link = async (state) => {
  const stream = new Blob([state]).stream().pipeThrough(new CompressionStream('deflate-raw'));
  return '#v1=' + Buffer.from(await new Response(stream).arrayBuffer()).toString('base64url');
};

test('links that cannot be read say which part failed', async () => {
  const bad = {
    '#v2=abc': /version/,
    '#v1=***': /base64url/,
    '#v1=AAAA': /content/,
    ['#v1=' + 'A'.repeat(20000)]: new RegExp(String(maxCompressed)),
    [await link('[]')]: /no question/,
    [await link('{"m":"x","url":"https://example.org"}')]: /"url"/,
    [await link('{"m":"x","__proto__":{"k":"1.36"}}')]: /"__proto__"/,
    [await link('{"m":42}')]: /manifest/,
    [await link('{"k":"latest"}')]: /version/,
    [await link('{"g":{"A":"true"}}')]: /gates/,
    [await link('{"f":"Sometimes"}')]: /validation/,
    [await link('{"m":"\xff')]: /content/,
  };
  for (const [fragment, message] of Object.entries(bad)) {
    await assert.rejects(decode(fragment), (error) => error instanceof LinkError && message.test(error.message), fragment.slice(0, 40));
  }
});

test('a bomb is stopped at the limit', async () => {
  const bomb = await link(' '.repeat(5 << 20));
  assert(bomb.length < maxCompressed, 'it would be refused for its length');
  await assert.rejects(decode(bomb), /more than 262144 bytes/);
});

test('a manifest that is too long for a link is refused', async () => {
  let noise = '';
  for (let i = 0, x = 1; i < 30000; i++) noise += String.fromCharCode(33 + ((x = (x * 48271) % 2147483647) % 90));
  await assert.rejects(encode({...form, manifest: noise}), LinkError);
});

test('commands are those of the server', () => {
  for (const {form: asked, command, curl: line, origin, operation, request} of table('commands')) {
    assert.equal(commandLine(asked, operation, request), command);
    assert.equal(curl(origin, operation, request), line);
  }
});

test('an answer is compared with the server\'s, byte by byte', async (t) => {
  const bytes = new TextEncoder().encode('{"answer":1}');
  const served = (body, status = 200, type = 'application/json') =>
    t.mock.method(globalThis, 'fetch', async () => new Response(body, {status, headers: {'Content-Type': type}}));
  const fetched = served('{"answer":1}');
  assert.deepEqual(await compare({operation: 'validate', request: '{}', bytes}), {same: true, text: 'Identical: the browser and the server gave the same 12 bytes.'});
  assert.equal(fetched.mock.calls[0].arguments[0], '/api/v1/explain');
  assert.equal(fetched.mock.calls[0].arguments[1].body, '{"of":"validate","request":{}}');
  served('{"answer":2}');
  assert.match((await compare({bytes})).text, /from byte 10 on/);
  served('{"answer":1} ');
  assert.equal((await compare({bytes})).same, false);
  served('{"answer":1}', 422); // a refused manifest is an answer, too
  assert.equal((await compare({bytes})).same, true);
  served('busy', 503, 'application/problem+json');
  assert.match((await compare({bytes})).text, /status 503/);
});

/** A worker that answers when it is told to. */
class FakeWorker {
  static all = [];
  posted = [];
  ended = false;
  constructor() {
    FakeWorker.all.push(this);
  }
  postMessage(message) {
    this.posted.push(message);
    if (message.module) queueMicrotask(() => this.onmessage({data: {describe: {gates: []}}}));
  }
  answer(value) {
    this.onmessage({data: {id: this.posted.at(-1).id, answer: value}});
  }
  terminate() {
    this.ended = true;
  }
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const emptyModule = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);

async function startEngine(t) {
  FakeWorker.all = [];
  const fetched = t.mock.method(globalThis, 'fetch', async () => new Response(emptyModule));
  const engine = new Engine(() => new FakeWorker(), '/worker.js');
  await engine.start('/policy.wasm', 'ab'.repeat(32));
  assert.equal(fetched.mock.calls[0].arguments[1].integrity, 'sha256-q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s=');
  return engine;
}

test('of the questions asked meanwhile only the last is put', async (t) => {
  const engine = await startEngine(t);
  const [worker] = FakeWorker.all;
  const first = engine.ask('first');
  await turn();
  const second = engine.ask('second');
  const third = engine.ask('third');
  assert.equal(await second, undefined);
  worker.answer('one');
  assert.equal((await first).answer, 'one');
  await turn();
  assert.equal(worker.posted.at(-1).form, 'third');
  worker.answer('three');
  assert.equal((await third).answer, 'three');
});

test('a worker that takes too long is ended and replaced', async (t) => {
  const engine = await startEngine(t);
  t.mock.timers.enable({apis: ['setTimeout']});
  const answer = engine.ask('endless');
  await turn();
  t.mock.timers.tick(patience - 1);
  assert.equal(FakeWorker.all[0].ended, false);
  t.mock.timers.tick(1);
  assert.match((await answer).document.verdict.text, /no answer within/);
  assert.equal(FakeWorker.all[0].ended, true);
  const next = engine.ask('next');
  await turn();
  FakeWorker.all[1].answer('fine');
  assert.equal((await next).answer, 'fine');
});

test('what follows an answer is waited for as long as its questions may take', async (t) => {
  const engine = await startEngine(t);
  const [worker] = FakeWorker.all;
  t.mock.timers.enable({apis: ['setTimeout']});
  for (const inTime of [true, false]) {
    const answer = engine.ask('versions');
    await turn();
    const {id} = worker.posted.at(-1);
    worker.onmessage({data: {id, more: 10}});
    const {more} = await answer;
    engine.follow();
    assert.deepEqual(worker.posted.at(-1), {follow: id});
    t.mock.timers.tick(10 * patience - 1);
    if (inTime) worker.onmessage({data: {id, strip: ['1.37']}});
    t.mock.timers.tick(1);
    assert.deepEqual(await more, inTime ? ['1.37'] : null);
  }
});

test('a worker that fails is replaced, and the question is not put again', async (t) => {
  const engine = await startEngine(t);
  const answer = engine.ask('poison');
  await turn();
  FakeWorker.all[0].onerror({preventDefault() {}});
  assert.match((await answer).document.verdict.text, /the module failed/);
  await turn();
  assert.equal(FakeWorker.all[1].posted.filter((message) => message.form).length, 0);
});

test('keys that are set twice are what the field validation makes of them, and the last one counts', () => {
  const manifest = 'kind: Pod\nspec:\n  a: 1\n  a: 2\n  b: 3\n  <<: [{b: 4}, {b: 5}]\n';
  const asked = (validation, text = manifest) => buildRequest({...form, manifest: text, exits: '', validation});
  assert.throws(() => asked('Strict'), {code: 'duplicate_key', path: 'spec.a', message: 'key "a" is already set in line 3, column 3'});
  assert.throws(() => asked(''), {code: 'duplicate_key', path: 'spec.a'});
  for (const validation of ['Warn', 'Ignore']) {
    const {text, repeats} = asked(validation);
    assert.deepEqual(JSON.parse(text).manifest.spec, {a: 2, b: 4});
    assert.deepEqual(repeats.map(({path}) => path), validation === 'Warn' ? ['spec.a', 'spec.b', 'spec.b'] : []);
  }
  assert.deepEqual(asked('Warn', 'manifest:\n  spec: {a: 1, a: 2}\n').repeats.map(({path}) => path), ['spec.a']);
  assert.deepEqual(asked('Warn', 'apiVersion: v1\nkind: List\nitems:\n- spec: {a: 1, a: 2}\n').repeats.map(({path}) => path), ['spec.a']);
  for (const text of ['kind: Scenario\nexits: []\nexits: []\n', 'kind: KubeletConfiguration\na: 1\na: 2\n', 'manifest: {}\nmanifest: {}\n']) {
    assert.throws(() => asked('Ignore', text), {code: 'duplicate_key'}, text);
  }
  assert.throws(() => parsePods('metadata: {name: a, name: b}'), {code: 'duplicate_key', path: 'pods'});
});

test('addresses are read as by the server, and written so that they are read', () => {
  const one = {id: 'one', manifest: 'm', exits: 'main=42', version: '1.37', gates: {A: 'true'}};
  for (const {query, exits, version, validation, gates} of table('addresses')) {
    const read = readAddress(one, new URLSearchParams(query));
    assert.deepEqual({exits: read.exits, version: read.version, validation: read.validation ?? '', gates: read.gates}, {exits, version, validation, gates}, query);
    const asked = {...read, pods: '', validation: read.validation || 'Strict'};
    const again = readAddress(one, new URLSearchParams(addressOf(asked, one)));
    assert.deepEqual({...again, validation: again.validation || 'Strict', pods: ''}, asked, query);
  }
  assert.equal(addressOf({...form, ...one, pods: '', gates: {}}, one), undefined);
  assert.equal(addressOf({...form, ...one, manifest: 'n'}, one), undefined);
  assert.equal(addressOf({...form, ...one}, undefined), undefined);
});

test('what the package reads and links is what the page does', async () => {
  assert.deepEqual(parse('a: 1\n---\nb: [yes, 0x10]'), [{a: 1}, {b: [true, 16]}]);
  assert.throws(() => parse('a: 1\nb: ['), (error) => error instanceof Unreadable && error.line === 2);
  assert.deepEqual(request({manifest: 'kind: Pod', exits: 'main=1', proposals: ['x']}),
    {operation: 'decide', request: {cluster: {proposals: {x: {}}}, manifest: {kind: 'Pod'}, question: 'main=1'}});
  assert.deepEqual(request({manifest: 'kind: Pod\n---\nkind: Scenario\nexits: [{exitCode: 1}]', view: 'codes', exits: 'main=1'}),
    {operation: 'table', request: {kind: 'Scenario', cluster: {}, manifest: {kind: 'Pod'}}});
  assert.deepEqual((await decodeLink(await encodeLink({manifest: 'm', exits: '1', proposals: ['x']}))).proposals, ['x']);
});

test('edits are made in the text as by the server', () => {
  const list = JSON.parse(readFileSync(new URL('../../../schema/testdata/splices.json', import.meta.url), 'utf8'));
  assert.ok(list.length > 60);
  for (const {text, document = 0, edits, want, error} of list) {
    let got, code;
    try {
      got = splice(text, document, edits);
    } catch (e) {
      if (!(e instanceof NotMade)) throw e;
      ({code} = e);
    }
    assert.deepEqual({got, code}, {got: want, code: error}, JSON.stringify(edits) + '\n' + text);
  }
});

test('of several documents the manifest is mended', () => {
  const edits = [{op: 'replace', path: '/spec/a', value: 'Never'}];
  for (const [text, want] of [
    ['kind: KubeletConfiguration\n---\nkind: Pod\nspec: {a: never}\n', 'kind: KubeletConfiguration\n---\nkind: Pod\nspec: {a: Never}\n'],
    ['exits: []\n---\nkind: Pod\nspec: {a: never}\n', 'exits: []\n---\nkind: Pod\nspec: {a: Never}\n'],
    ['manifest: {kind: Pod, spec: {a: never}}\n', 'manifest: {kind: Pod, spec: {a: Never}}\n'],
    ['kind: List\napiVersion: v1\nitems:\n- kind: Pod\n  spec: {a: never}\n', 'kind: List\napiVersion: v1\nitems:\n- kind: Pod\n  spec: {a: Never}\n'],
  ]) assert.equal(mend(text, edits), want);
});
