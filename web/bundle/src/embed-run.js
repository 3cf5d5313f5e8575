// What an embed loads when the reader asks: the engine, of which a page has one for all its embeds,
// and the painter of documents.
import sheetText from 'embed.css';
import texts from '../../views/text.json';
import {choose} from './answer.js';
import {Engine} from './engine.js';
import {reply} from './paint.js';
import {encode} from './share.js';
import {say, use} from './text.js';

use(texts);

const sheet = new CSSStyleSheet();
sheet.replaceSync(sheetText);

const engines = new Map(); // by the folder of the module

/**
 * The engine of a folder: {ask, versions}. Questions of several embeds are answered one after the
 * other.
 */
function engineOf(base) {
  if (!engines.has(base)) {
    const started = start(base);
    engines.set(base, started);
    started.catch(() => engines.delete(base)); // the next press tries again
  }
  return engines.get(base);
}

async function start(base) {
  const files = base
    ? {module: new URL('policy.wasm', base), worker: new URL('worker.js', base)}
    : {module: new URL('./policy.wasm', import.meta.url), worker: new URL('./worker.js', import.meta.url)}; // a bundler copies these
  const blocked = [];
  const note = (event) => blocked.push(`${event.effectiveDirective} ${event.blockedURI}`);
  document.addEventListener('securitypolicyviolation', note);
  try {
    const engine = new Engine((url) => worker(url), files.worker.href);
    const described = await engine.start(files.module.href, '');
    let last = Promise.resolve();
    return {
      ...described,
      ask: (form) => (last = last.then(() => engine.ask(form), () => engine.ask(form))),
    };
  } catch (error) {
    await new Promise((resolve) => setTimeout(resolve)); // reports of the policy come as events
    throw new Error(diagnosis(error, blocked.join()) ?? error.message, {cause: error});
  } finally {
    document.removeEventListener('securitypolicyviolation', note);
  }
}

/** Which line of the page's content security policy is missing, if that is what stopped it. */
function diagnosis(error, blocked) {
  const needs = (what, line) => say('embed.policy', {what, line});
  if (error instanceof WebAssembly.CompileError && /polic|unsafe-eval|CSP/i.test(error.message + blocked)) {
    return needs('WebAssembly', "script-src … 'wasm-unsafe-eval'");
  }
  if (/worker-src/.test(blocked)) return needs('workers', "worker-src 'self'");
  if (/connect-src/.test(blocked)) return needs('fetching the module', "connect-src 'self'");
  if (/trusted-types|script-src/.test(blocked)) return needs('its scripts', "script-src 'self'; trusted-types podfate");
  return undefined;
}

let policy;

/**
 * A worker, or where there is none (a sandboxed frame, files from another host) its stand-in on
 * this thread.
 */
function worker(url) {
  policy ??= globalThis.trustedTypes?.createPolicy('podfate', {createScriptURL: (of) => of}) ?? {createScriptURL: (of) => of};
  try {
    if (self.origin !== 'null') return new Worker(policy.createScriptURL(url), {type: 'module'});
  } catch { /* another host's */ }
  const here = {
    postMessage: async (data) => {
      try {
        here.onmessage?.({data: (await import(url)).reply(data)});
      } catch (error) {
        here.onerror?.({preventDefault() {}, error});
      }
    },
    terminate() { here.onmessage = undefined; },
  };
  return here;
}

const blocksOf = {verdict: [], layers: ['layers'], timeline: ['lanes'], trace: ['steps'], checks: ['list', 'fixes'], codes: ['grid', 'table']};

/** An element with attributes and children. */
function h(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** Turns an embed into its working form and asks for the first time. */
export async function open(host, bar) {
  const given = host.getAttribute('base');
  const base = given && new URL(given.replace(/\/?$/, '/'), document.baseURI).href;
  const [engine, manifest] = await Promise.all([engineOf(base), textOf(host)]);
  const root = host.shadowRoot;
  root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
  const fixed = host.hasAttribute('readonly');
  const first = {
    manifest, pods: '', exits: host.getAttribute('exits') ?? '', version: host.getAttribute('k8s') ?? engine.defaultVersion, validation: 'Strict', gates: {},
    proposals: (host.getAttribute('proposal') ?? '').split(/[\s,]+/).filter(Boolean),
  };
  const view = host.getAttribute('view') ?? '';
  const versions = engine.versions.includes(first.version) ? engine.versions : [...engine.versions, first.version];

  const editor = h('textarea', {'aria-label': say('embed.manifest'), wrap: 'off', spellcheck: 'false', autocapitalize: 'off'});
  const exits = h('input', {'aria-label': say('embed.exits'), spellcheck: 'false', autocapitalize: 'off', placeholder: 'main=42'});
  const version = h('select', {'aria-label': 'Kubernetes'}, ...versions.map((v) => h('option', {value: v}, 'Kubernetes ' + v)));
  const reset = h('button', {type: 'button'}, say('embed.reset'));
  const link = h('a', {target: '_blank', rel: 'noopener', class: 'open'}, say('embed.open'));
  const answer = h('div', {class: 'answer', role: 'status'});
  const form = () => ({...first, manifest: fixed ? first.manifest : editor.value, exits: exits.value, version: version.value});
  const edited = () => ['manifest', 'exits', 'version'].some((name) => form()[name] !== first[name]);

  async function ask() {
    editor.rows = Math.max(3, editor.value.split('\n').length);
    reset.hidden = !edited();
    const asked = form();
    const {document: found} = await engine.ask({...asked, view});
    if (JSON.stringify(asked) !== JSON.stringify(form())) return; // typed on in the meantime
    const blocks = blocksOf[view] ? found.blocks.filter((b) => blocksOf[view].includes(b.block)) : found.blocks;
    if (!view) choose(found);
    const expected = host.getAttribute('expect');
    const differs = expected && !edited() && !found.verdict.title.includes(expected);
    answer.replaceChildren(...reply({...found, blocks}), ...(differs ? [h('p', {class: 'note'}, say('embed.expected', {expected}))] : []));
    try {
      link.href = new URL(await encode(asked), playground(host, base));
    } catch (error) { // too long for a link
      link.removeAttribute('href');
      link.title = error.message;
    }
    host.dispatchEvent(new CustomEvent('podfate', {bubbles: true, detail: {verdict: found.verdict, edited: edited(), expected: !differs}}));
  }

  function fill() {
    editor.value = first.manifest;
    exits.value = first.exits;
    version.value = first.version;
    return ask();
  }

  for (const control of [editor, exits, version]) control.addEventListener('input', ask);
  reset.addEventListener('click', () => fill().then(() => version.focus()));
  answer.addEventListener('click', (event) => {
    const place = event.target.closest('a[href^="#"]');
    if (!place) return;
    event.preventDefault();
    if (place.dataset.line && !fixed) goTo(editor, Number(place.dataset.line));
  });
  bar.querySelector('button').remove();
  bar.querySelector('[role=alert]')?.remove();
  bar.append(version, reset, link);
  const slot = root.querySelector('slot');
  if (fixed) {
    host.classList.add('podfate-answered');
  } else {
    slot.hidden = true;
    slot.after(editor);
  }
  root.append(h('div', {class: 'bar'}, h('span', {}, say('embed.exits')), exits), answer);
  await fill();
  (fixed ? exits : editor).focus({preventScroll: true});
}

/** The manifest of an embed: what its <pre> holds, or the file that src names. */
async function textOf(host) {
  const pre = host.querySelector('pre');
  if (pre) {
    const copy = pre.cloneNode(true); // generators that colour code end its lines with <br>
    for (const end of copy.querySelectorAll('br')) end.replaceWith('\n');
    return copy.textContent.replace(/^\n/, '');
  }
  const src = host.getAttribute('src');
  if (!src) throw new Error(say('embed.empty'));
  const response = await fetch(new URL(src, document.baseURI));
  if (!response.ok) throw new Error(`${src}: HTTP ${response.status}`);
  return response.text();
}

/**
 * The page that opens links: the attribute playground, else the folder above this file's, where the
 * page's own copy has it.
 */
const playground = (host, base) => new URL(host.getAttribute('playground') ?? '../', host.hasAttribute('playground') ? document.baseURI : base ?? import.meta.url);

function goTo(editor, line) {
  const before = editor.value.split('\n').slice(0, line - 1).join('\n');
  const start = before.length + (line > 1 ? 1 : 0);
  const end = editor.value.indexOf('\n', start);
  editor.focus();
  editor.setSelectionRange(start, end < 0 ? editor.value.length : end);
}
