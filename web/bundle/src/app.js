// The page with JavaScript: answers as one types, in the browser. Without it the form is sent to the server, and the
// page looks the same. Everything that only works here is hidden in the HTML and shown at the end of this file.
import {commandLine, curl} from './commands.js';
import {compare} from './compare.js';
import {Engine} from './engine.js';
import {live, marks, reply} from './paint.js';
import {LinkError, decode, encode, holdsState} from './share.js';
import {say, use} from './text.js';

const $ = (id) => document.getElementById(id);
const [ask, manifest, pods, exits, version, validation, example, gutter] =
  ['ask', 'manifest', 'pods', 'exits', 'version', 'validation', 'example', 'gutter'].map($);
const gateControls = [...document.querySelectorAll('[data-gate]')];
const {worker: workerURL, module: moduleURL, sha256, page: pageURL} = document.body.dataset;

// The policy of the page forbids scripts by address except through this function.
const trusted = globalThis.trustedTypes?.createPolicy('podfate', {
  createScriptURL: (url) => {
    if (url !== workerURL) throw new TypeError('not a script of this page');
    return url;
  },
});
const engine = new Engine((url) => new Worker(trusted ? trusted.createScriptURL(url) : url, {type: 'module'}), workerURL);

let gates = []; // of the module, as describe lists them
let loaded = false; // the module answers here; until then, and if it fails, the server does
let last; // {operation, request, bytes} of the answer on the page, if it came from this browser
let announced; // the timer of what a screen reader is told next
let examples = []; // loaded beside the module, so that the menu works when the server is gone

// --- the form ---

function readForm() {
  const set = gateControls.filter((control) => control.value !== '').map((control) => [control.dataset.gate, control.value]);
  return {
    manifest: manifest.value, pods: pods.value, exits: exits.value, version: version.value, validation: validation.value,
    gates: Object.fromEntries(set),
  };
}

function fillForm(form) {
  manifest.value = form.manifest;
  exits.value = form.exits;
  pods.value = form.pods ?? '';
  if (pods.value) $('pods-of').open = true;
  if (form.version) version.value = form.version;
  validation.value = form.validation || 'Strict';
  for (const control of gateControls) control.value = form.gates[control.dataset.gate] ?? '';
  if (Object.keys(form.gates).length > 0) $('gates').open = true;
  showGates();
}

/** Writes what was chosen beside the exits into them, as views.ReadForm does. */
function addWords() {
  const [event, at, of, ...timings] = ['event', 'event-at', 'event-of', 'timing', 'first'].map((id) => $(id).value);
  if (event) exits.value += ` at ${at || '0s'} ${event}${of && ':' + of}`;
  for (const timing of timings) if (timing) exits.value += ' timing ' + timing;
  $('event').value = $('timing').value = $('first').value = '';
}

/** Says in each gate's first choice what the version has by default; views.gateDefault does the same. */
function showGates() {
  for (const control of gateControls) {
    const release = gates.find((g) => g.name === control.dataset.gate)?.versions.find((r) => r.version === version.value);
    if (gates.length > 0) {
      control.options[0].text = release
        ? `default: ${release.default ? 'on' : 'off'} (${release.stage}${release.locked ? ', locked' : ''})`
        : `not in ${version.value}`;
    }
  }
}

// --- the editor ---

const maxLines = 5000;

/** Numbers the lines and marks those that the answer speaks of. */
function showLines(marked) {
  const lines = Math.min(manifest.value.split('\n').length, maxLines);
  manifest.rows = Math.max(lines + 1, 12);
  while (gutter.children.length > lines) gutter.lastElementChild.remove();
  for (let n = gutter.children.length + 1; n <= lines; n++) {
    const number = document.createElement('span');
    number.id = 'L' + n;
    number.textContent = n;
    gutter.append(number);
  }
  if (!marked) return;
  for (let n = 1; n <= lines; n++) gutter.children[n - 1].className = marked.get(n) ?? '';
}

/** Moves the cursor to a line and column, and selects the rest of the line. */
function goTo(line, column) {
  const text = manifest.value;
  let start = 0;
  for (let n = 1; n < line; n++) start = text.indexOf('\n', start) + 1;
  const end = text.indexOf('\n', start);
  const from = start + [...text.slice(start)].slice(0, column - 1).join('').length;
  manifest.focus({preventScroll: true});
  manifest.setSelectionRange(from, end < 0 ? text.length : end);
  $('L' + line)?.scrollIntoView({block: 'nearest'});
}

function highlight(event) {
  for (const element of gutter.querySelectorAll('.near')) element.classList.remove('near');
  const link = /in$|over/.test(event.type) && event.target.closest?.('[data-line]');
  if (link) $('L' + link.dataset.line)?.classList.add('near');
}

// --- answers ---

/** Asks the module in this browser and shows what it says. */
async function run() {
  const form = readForm();
  const result = await engine.ask(form);
  if (!result) return; // another question came before
  const {document: painted} = result;
  last = result.bytes && result;
  $('reply').replaceChildren(...reply(painted));
  $('answer-title').textContent = say('heading.answer');
  showLines(marks(painted));
  brief(live(painted), painted.verdict.tone);
  $('where').textContent = say(result.millis === undefined ? 'where' : 'where.millis', {n: result.millis?.toFixed(1)});
  $('compare').disabled = !last;
  $('compared').textContent = '';
  showCommands(form, result);
  if ($('share').open) showLink();
}

/** Shows the answer's first words where the answer is out of view, and tells them to a screen reader. */
function brief(text, tone = '') {
  $('brief').className = 'verdict ' + tone;
  announce($('brief').textContent = text);
}

/** Tells a screen reader, when typing has paused: half a word is no question. The same words twice are told once. */
function announce(text) {
  clearTimeout(announced);
  announced = setTimeout(() => {
    if ($('live').textContent !== text) $('live').textContent = text;
  }, 500);
}

function showCommands(form, answer) {
  $('cli').textContent = commandLine(form, answer.operation, answer.request);
  $('curl').textContent = curl(location.origin, answer.operation, answer.request);
}

let timer;

/** Asks soon: typing is one question at its end, not one for each key. */
function runSoon() {
  if (!loaded) brief($('answer-title').textContent = 'Answer to the question before. Press Run.');
  if (!loaded) return;
  clearTimeout(timer);
  timer = setTimeout(run, 120);
}

async function runCompare() {
  const asked = last;
  $('compared').textContent = say('compare.asking');
  try {
    const {same, text} = await compare(asked);
    if (asked === last) $('compared').textContent = `${same ? '✓' : '✗'} ${text}`;
  } catch {
    $('compared').textContent = say('compare.offline');
  }
}

// --- links ---

async function showLink() {
  const note = $('link-note');
  try {
    const fragment = await encode(readForm());
    $('link').value = location.origin + location.pathname + fragment;
    note.textContent = say('link.characters', {n: $('link').value.length});
  } catch (error) {
    if (!(error instanceof LinkError)) throw error;
    $('link').value = '';
    note.textContent = error.message;
  }
}

/** Takes the question from the address; what is typed already stays if the link cannot be read. */
async function openLink() {
  if (!holdsState(location.hash)) return;
  try {
    fillForm(await decode(location.hash));
    ownText();
    showLines(new Map());
    runSoon();
  } catch (error) {
    if (!(error instanceof LinkError)) throw error;
    showNotice(say('link.closed', {why: error.message}));
  }
}

function showNotice(text) {
  $('example-question').textContent = text;
  announce(text);
}

async function copy(button) {
  const from = $(button.dataset.copy);
  let done = 'Copied';
  try {
    await navigator.clipboard.writeText(from.value ?? from.textContent);
  } catch { // not offered to pages over plain HTTP: select it, so that the reader can copy
    if (from.select) from.select();
    else getSelection().selectAllChildren(from);
    done = 'Selected';
  }
  announce(button.textContent = done);
  setTimeout(() => (button.textContent = 'Copy'), 2000);
}

// --- examples ---

function openExample(event) {
  if (examples.length === 0) return; // not loaded: the server knows them
  event?.preventDefault();
  const chosen = examples.find((e) => e.id === example.value);
  if (!chosen) return;
  example.querySelector('option[value=""]')?.remove();
  fillForm({...chosen, validation: chosen.validation ?? 'Strict', gates: chosen.gates ?? {}});
  $('example-question').textContent = chosen.question;
  history.replaceState(null, '', '?example=' + encodeURIComponent(chosen.id));
  manifest.closest('.editor').scrollTo(0, 0);
  showLines(new Map());
  runSoon();
}

/** The text is no longer that of an example. */
function ownText() {
  if (example.value === '') return;
  if (!example.querySelector('option[value=""]')) example.prepend(new Option('your own', ''));
  example.value = '';
  $('example-question').textContent = '';
}

// --- wiring ---

function wire() {
  ask.addEventListener('submit', (event) => {
    if (!loaded) return; // the server answers
    event.preventDefault();
    clearTimeout(timer);
    addWords();
    run();
  });
  ask.addEventListener('input', (event) => {
    if (event.target === manifest) {
      showLines();
      ownText();
    }
    if (event.target === version) showGates();
    runSoon();
  });
  ask.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      ask.requestSubmit();
    }
  });
  $('answer').addEventListener('click', (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (link.dataset.line) {
      goTo(Number(link.dataset.line), Number(link.dataset.column));
      return;
    }
    const target = $(link.hash.slice(1));
    const folded = target.closest('details');
    if (folded) folded.open = true;
    (target.querySelector('summary') ?? target).focus();
  });
  for (const type of ['focusin', 'focusout', 'mouseover', 'mouseout']) $('answer').addEventListener(type, highlight);
  $('examples').addEventListener('submit', openExample);
  example.addEventListener('change', openExample);
  for (const button of document.querySelectorAll('[data-copy]')) button.addEventListener('click', () => copy(button));
  $('share').addEventListener('toggle', () => $('share').open && showLink());
  $('compare').addEventListener('click', runCompare);
  addEventListener('hashchange', openLink);
}

async function start() {
  wire();
  for (const button of document.querySelectorAll('[data-copy], #share')) button.hidden = false;
  showLines();
  const module = engine.start(moduleURL, sha256);
  module.catch(() => {}); // the page's texts come first: without the module they are needed too
  try {
    const data = await (await fetch(pageURL)).json();
    use(data.texts);
    ({examples} = data);
    if (!example.selectedOptions[0].defaultSelected) openExample(); // chosen in the meantime
    ({gates} = await module);
  } catch (error) {
    $('where').textContent = `No module with the SHA-256 below could be loaded (${error.message}). The server answers instead.`;
    openLink();
    return;
  }
  loaded = true;
  $('compare').hidden = false;
  $('run').title = 'Ctrl+Enter';
  showGates();
  if (holdsState(location.hash)) await openLink();
  else await run(); // also what a browser kept in the form from an earlier visit
}

start();
