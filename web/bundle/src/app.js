// The page with JavaScript: answers as one types, in the browser. Without it the form is sent to
// the server, and the page looks the same. Everything that only works here is hidden in the HTML
// and shown at the end of this file.
import {addressOf, readAddress} from './address.js';
import {choose, strip} from './answer.js';
import {commandLine, curl} from './commands.js';
import {compare} from './compare.js';
import {h, set} from './elements.js';
import {Engine} from './engine.js';
import {clear, keep, kept, latest} from './kept.js';
import {timed} from './operation.js';
import {live, marks} from './paint.js';
import {repaint} from './repaint.js';
import {LinkError, decode, encode, holdsState} from './share.js';
import {say, use} from './text.js';
import {timeline, together} from './timeline.js';

const $ = (id) => document.getElementById(id);
const [ask, manifest, pods, exits, version, validation, example, gutter] =
  ['ask', 'manifest', 'pods', 'exits', 'version', 'validation', 'example', 'gutter'].map($);
const proposalControls = [...document.querySelectorAll('[data-proposal]')];
const optionControls = [...document.querySelectorAll('[data-option]')];
const gateControls = [...document.querySelectorAll('[data-gate]')];
const {worker: workerURL, module: moduleURL, sha256, page: pageURL, offline: offlineURL, copy: isCopy} = document.body.dataset;

// The policy of the page forbids scripts by address except through this function.
const trusted = globalThis.trustedTypes?.createPolicy('podfate', {
  createScriptURL: (url) => {
    if (url !== workerURL && url !== offlineURL) throw new TypeError('not a script of this page');
    return url;
  },
});
const engine = new Engine((url) => new Worker(trusted ? trusted.createScriptURL(url) : url, {type: 'module'}), workerURL);

let gates = []; // of the module, as describe lists them
let loaded = false; // the module answers here; until then, and if it fails, the server does
let last; // {operation, request, bytes} of the answer on the page, if it came from this browser
let announced; // the timer of what a screen reader is told next
let examples = []; // loaded next to the module, so that the menu works when the server is gone
let chosen; // the example whose texts the form has, undefined for the reader's own
let begun = false; // the form is that of an example, a link or the reader, and it is known which
let fixes = []; // edits of the answer on the page
let worlds; // what becomes of the question in each version, on the page
let asking = false; // a question is under way
let unseen; // shows the commands of the answer on the page, until its frame is painted
let unpainted; // paints what is below the window, until that is done
let awaited = false; // what becomes of the question in each version has not come yet
let unkept; // the timer of the text that is kept next
let offer = ''; // the question that is asked instead of the form's, one that the answer before offered
let foreseen; // what a key is about to make of a field, and is asked already: {field, value, wrong}
let number = 0; // under which the reader's own text is kept, 0 for an example's or a link's

// --- the form ---

function readForm() {
  const set = gateControls.filter((control) => control.value !== '').map((control) => [control.dataset.gate, control.value]);
  return {
    manifest: manifest.value, pods: pods.value, exits: exits.value, version: version.value, validation: validation.value,
    proposals: proposalControls.filter((control) => control.checked).map((control) => withOptions(control.value)),
    old: $('old').value, other: $('other').value, static: $('static').checked, template: $('template').value,
    gates: Object.fromEntries(set), view: $('view').value, run: $('lab-run').value, outage: $('lab-outage').value, cap: $('lab-cap').value,
  };
}

/** A proposal as --proposal takes it: kep-3322:counts=container,stop=exceeded. */
function withOptions(name) {
  const set = optionControls.filter((control) => control.dataset.of === name && control.value).map((control) => `${control.dataset.option}=${control.value}`);
  return set.length > 0 ? `${name}:${set.sort()}` : name;
}

function fillForm(form) {
  showFixed('');
  manifest.value = form.manifest;
  exits.value = form.exits;
  pods.value = form.pods ?? '';
  if (pods.value) $('pods-of').open = true;
  if (form.version && ![...version.options].some((o) => o.value === form.version)) version.append(new Option(form.version)); // of another module
  if (form.version) version.value = form.version;
  validation.value = form.validation || 'Strict';
  for (const control of gateControls) control.value = form.gates[control.dataset.gate] ?? '';
  const chosenOnes = new Map(form.proposals?.map((entry) => entry.split(':')));
  for (const control of proposalControls) control.checked = chosenOnes.has(control.value);
  for (const control of optionControls) {
    const value = chosenOnes.get(control.dataset.of)?.split(',').find((set) => set.startsWith(control.dataset.option + '='))?.split('=')[1] ?? '';
    control.value = [...control.options].some((o) => o.value === value) ? value : '';
  }
  for (const name of ['old', 'template', 'other']) $(name).value = form[name] ?? '';
  $('static').checked = form.static ?? false;
  if (form.old || form.static || form.template) $('more-documents').open = true;
  for (const name of ['run', 'outage', 'cap']) $('lab-' + name).value = form[name] ?? '';
  showView(form.view);
  showGates();
}

/** Shows which view is chosen: '' or answer, codes, versions, backoff. */
function showView(name = '') {
  offer = '';
  worlds = undefined;
  awaited = false;
  busy();
  const tabs = [...$('tabs').children];
  const known = tabs.find((tab) => tab.value === name) ?? tabs[0];
  $('view').value = known === tabs[0] ? '' : known.value;
  for (const tab of tabs) {
    if (tab.role === 'tab') {
      tab.ariaSelected = String(tab === known);
      tab.tabIndex = tab === known ? 0 : -1;
    } else {
      tab.ariaPressed = String(tab === known);
    }
  }
  if (known.role === 'tab') $('panel').setAttribute('aria-labelledby', known.id);
  $('lab').hidden = known.value !== 'backoff';
  $('pair').hidden = known.value !== 'compare';
  if (known.value === 'compare' && !$('other').value.trim()) $('other').value = manifest.value;
}

/** Makes tabs of the buttons that choose a view: without scripts each of them sends the form. */
function makeTabs() {
  const bar = $('tabs');
  bar.role = 'tablist';
  for (const tab of bar.children) {
    tab.role = 'tab';
    tab.ariaPressed = null;
    tab.setAttribute('aria-controls', 'panel');
  }
  $('panel').role = 'tabpanel';
  bar.addEventListener('keydown', (event) => {
    const tabs = [...bar.children];
    const at = tabs.indexOf(event.target);
    const to = {ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: -1}[event.key];
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const next = tabs.at(to % tabs.length);
    next.focus();
    next.click();
  });
  showView($('view').value);
}

/** Moves in the map of exit codes, and asks what a code leads to. */
function onMap(event) {
  const cell = event.target.closest?.('.map td');
  if (!cell) return;
  if (event.type === 'click' || event.key === 'Enter' || event.key === ' ') {
    event.preventDefault();
    const {container} = cell.closest('.map').dataset;
    exits.value = (container ? container + '=' : '') + cell.dataset.code;
    showView();
    asked(exits);
    exits.focus({preventScroll: true});
    return;
  }
  const code = Number(cell.dataset.code);
  const next = {ArrowLeft: code - 1, ArrowRight: code + 1, ArrowUp: code - 16, ArrowDown: code + 16, Home: code - code % 16, End: code - code % 16 + 15, PageUp: code % 16, PageDown: 240 + code % 16}[event.key];
  const to = next >= 0 && cell.closest('.map').querySelector(`[data-code="${next}"]`);
  if (next === undefined) return;
  event.preventDefault();
  if (!to) return;
  cell.tabIndex = -1;
  to.tabIndex = 0;
  to.focus();
}

const documented = /\s*\btiming\s+documented\b/g;

/** Asks in the reading that was pressed of what sources disagree on, as views.withReading does. */
function read(reading) {
  exits.value = exits.value.replace(documented, '') + (reading === 'documented' ? ' timing documented' : '');
  asked(exits);
}

/** Shows which reading the answer has, if the question has several. */
function showReading(text) {
  set($('reading'), 'hidden', !timed(text));
  const chosenOne = text.search(documented) < 0 ? 'kubelet' : 'documented';
  for (const button of $('reading').querySelectorAll('button')) button.ariaPressed = String(button.value === chosenOne);
}

/** Writes what was chosen besides the exits into them, as views.ReadForm does. */
function addWords() {
  const [event, at, of, ...timings] = ['event', 'event-at', 'event-of', 'timing', 'first'].map((id) => $(id).value);
  if (event) exits.value += ` at ${at || '0s'} ${event}${of && ':' + of}`;
  for (const timing of timings) if (timing) exits.value += ' timing ' + timing;
  $('event').value = $('timing').value = $('first').value = '';
}

/**
 * Gives the fields one types in a form of their own: with every letter a browser that fills in
 * forms reads all controls of the field's form, and sixty of them take longer than the answer.
 * Without the module the form of the question is sent, and has all of them.
 */
function apart() {
  for (const field of [manifest, exits, pods, $('old'), $('other'), $('template')]) {
    const own = document.body.appendChild(h('form', {id: field.id + '-own', hidden: 'hidden'}));
    own.addEventListener('submit', (event) => {
      event.preventDefault();
      ask.requestSubmit();
    });
    field.setAttribute('form', own.id);
  }
}

/**
 * Says in each gate's first choice what the version has by default; views.gateDefault does the
 * same.
 */
function showGates() {
  for (const control of gateControls) {
    const release = gates.find((g) => g.name === control.dataset.gate)?.versions.find((r) => r.version === version.value);
    if (gates.length > 0) {
      control.options[0].text = release
        ? `default: ${release.default ? 'on' : 'off'} (${release.stage}${release.locked ? ', locked' : ''})`
        : `not in ${version.value}`;
    }
  }
  const set = gateControls.filter((control) => control.value !== '').length + proposalControls.filter((control) => control.checked).length;
  $('gates').querySelector('summary').textContent = 'Gates' + (set > 0 ? ` (${set})` : '');
}

// --- the editor ---

const maxLines = 5000;
const perGroup = 100; // numbers in an element: those out of view are not laid out. views.perGroup is the same

const lineOf = (n) => $('L' + n);

/** The number of a line's element in the gutter, 0 for others. */
const numberOf = (e) => (gutter.contains(e) && /^L\d+$/.test(e.id) ? Number(e.id.slice(1)) : 0);

/** Numbers the lines and marks those that the answer speaks of. */
function showLines(marked) {
  for (const [field, least] of [[pods, 10], [$('old'), 4], [$('other'), 12]]) set(field, 'rows', Math.min(Math.max(field.value.split('\n').length, least), maxLines));
  const lines = Math.min(manifest.value.split('\n').length, maxLines);
  set(manifest, 'rows', Math.max(lines + 1, 12));
  let n = numberOf(gutter.lastElementChild?.lastElementChild);
  for (; n > lines; n--) (n % perGroup === 1 ? lineOf(n).parentElement : lineOf(n)).remove();
  while (n < lines) {
    if (n++ % perGroup === 0) gutter.append(document.createElement('div'));
    const number = document.createElement('span');
    number.id = 'L' + n;
    number.textContent = n;
    gutter.lastElementChild.append(number);
  }
  if (!marked) return;
  const now = new Map([...marked].map(([at, as]) => [lineOf(at), as]));
  for (const e of gutter.querySelectorAll('.fault, .warning, .decided')) if (!e.classList.contains(now.get(e))) e.classList.remove('fault', 'warning', 'decided');
  for (const [e, as] of now) if (e && !e.classList.contains(as)) e.classList.add(as);
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
  lineOf(line)?.scrollIntoView({block: 'nearest'});
  highlight();
}

/**
 * Shows what belongs together: what the pointer is on, else what has the focus, else the line of
 * the cursor.
 */
function highlight({type, target} = {}) {
  if (/^(?:keyup|select)$/.test(type) && asking) return; // the answer that comes does it
  const under = type === 'mouseover' ? target : undefined;
  const focused = document.activeElement;
  const line = numberOf(under) || (focused === manifest ? manifest.value.slice(0, manifest.selectionStart).split('\n').length : 0);
  together($('reply'), lineOf, [under, focused], line);
}

// --- answers ---

/** Asks the module in this browser, about a text that is not in its field yet if there is one, and shows what it says. */
async function run(soon) {
  const form = {...readForm(), ...(soon && {[soon.field.id]: soon.value}), ...(offer && {offer, view: ''})};
  asking = true;
  const result = await engine.ask(form);
  if (!result) return; // another question came before
  asking = false;
  if (soon && (soon.wrong || soon === foreseen)) return; // the field has another text, or none came: what is shown is of the one it has
  const {document: painted} = result;
  last = result.bytes && result;
  choose(painted, form.view);
  awaited = Boolean(result.more);
  if (!awaited) worlds = undefined;
  const paint = (inView) => {
    unpainted = undefined;
    const left = repaint($('reply'), worlds ? {...painted, blocks: [strip(...worlds), ...painted.blocks]} : painted, inView);
    if (left) unpainted = paint;
    if (!left?.some(({block}) => block === 'lanes')) timeline($('reply'), painted, Boolean(left));
    busy();
  };
  if (awaited) {
    busy();
    const follows = result.more.then((now) => {
      if (now === undefined) return false; // another question came before
      worlds = now;
      awaited = false;
      return true;
    });
    if (!worlds || document.hidden) engine.follow(); // nothing is painted before
    if (worlds) follows.then((known) => known && paint()); // until then those of the answer before stay
    else if (!await follows) return;
  }
  fixes = painted.blocks.find((b) => b.block === 'fixes')?.items ?? [];
  paint(!document.hidden); // without frames nothing is painted a frame later
  showReading(form.exits);
  set($('answer-title'), 'textContent', say('heading.answer'));
  showLines(marks(painted));
  brief(live(painted), painted.verdict.tone);
  $('where').textContent = say(result.millis === undefined ? 'where' : 'where.millis', {n: result.millis?.toFixed(1)});
  set($('compare'), 'disabled', !last);
  set($('compared'), 'textContent', '');
  if (!unseen) requestAnimationFrame(() => inTheEnd(afterwards)); // the answer is seen first
  unseen = () => showCommands(form, result);
}

/** Does work when nothing else waits: a key that is pressed goes first. */
function inTheEnd(work) {
  if (!globalThis.scheduler?.postTask) return setTimeout(work);
  let begun = false;
  return scheduler.postTask(() => {
    begun = true;
    work();
  }, {priority: 'background'}).catch((error) => {
    if (begun) throw error; // else the page's scripts were ended before
  });
}

/** Says that what the page shows is not all of the answer yet. */
function busy() {
  const now = unpainted || awaited ? 'true' : null;
  set($('reply'), 'ariaBusy', now);
}

/**
 * What of an answer can wait: other versions, what is below the window, what belongs together, and
 * what is folded away: commands and the link.
 */
function afterwards() {
  engine.follow();
  const show = unseen;
  unseen = undefined;
  unpainted?.();
  show();
  highlight();
  if ($('share').open) showLink();
}

/**
 * Shows the answer's first words where the answer is out of view, and tells them to a screen
 * reader.
 */
function brief(text, tone = '') {
  set($('brief'), 'className', 'verdict ' + tone);
  set($('brief'), 'textContent', text);
  announce(text);
}

/**
 * Tells a screen reader, when typing has paused: half a word is no question. The same words twice
 * are told once.
 */
function announce(text) {
  clearTimeout(announced);
  announced = setTimeout(() => {
    set($('live'), 'textContent', text);
  }, 500);
}

function showCommands(form, answer) {
  $('cli').textContent = commandLine(form, answer.operation, answer.request);
  $('curl').textContent = curl(location.origin, answer.operation, answer.request);
}

/**
 * Asks what the form says now. Of the questions that come while one is under way the engine answers
 * the last.
 */
function runSoon() {
  if (loaded) return run();
  brief($('answer-title').textContent = 'Answer to the question before. Press Ask.');
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

// --- fixes ---

/** Writes a text into the editor as typing does, so that the editor's own undo knows it. */
function write(text) {
  const old = manifest.value;
  let from = 0, tail = 0;
  while (from < Math.min(old.length, text.length) && old[from] === text[from]) from++;
  while (tail < Math.min(old.length, text.length) - from && old.at(-1 - tail) === text.at(-1 - tail)) tail++;
  manifest.focus({preventScroll: true});
  manifest.setSelectionRange(from, old.length - tail);
  const typed = text.slice(from, text.length - tail);
  if (Math.max(old.length, text.length) < long && document.execCommand(typed ? 'insertText' : 'delete', false, typed) && manifest.value === text) return;
  manifest.value = text;
  asked(manifest);
}

const mostBytes = 256 << 10; // of a manifest: limits of yaml.js

const long = 64 << 10; // characters: a browser takes longer to insert so many, and to make that undoable, than the answer takes

/**
 * Refuses what is pasted beyond what is read: an editor with a text of any length would stand still
 * for as long. A long text that is read is put into the manifest here, and is taken back with a
 * button.
 */
function paste(event) {
  const {target, data} = event;
  if (target.localName !== 'textarea' || target === pods || !data) return;
  const {value: before, selectionStart: from, selectionEnd: to} = target;
  const n = 3 * (before.length + data.length) > mostBytes ? new TextEncoder().encode(before.slice(0, from) + data + before.slice(to)).length : 0;
  if (n > mostBytes) {
    event.preventDefault();
    showFixed('paste.long', undefined, {n, most: mostBytes});
  } else if (target === manifest && data.length >= long && loaded) {
    event.preventDefault();
    offer = '';
    const made = before.slice(0, from) + data.replace(/\r\n?/g, '\n') + before.slice(to);
    const answer = run({field: manifest, value: made}); // the worker answers while the browser lays the text out
    manifest.setRangeText(data, from, to, 'end');
    showLines();
    remember();
    answer.then(() => target.value === made && showFixed('paste.made', before));
  }
}

/**
 * Asks about the text that a key is about to make: the worker answers while the browser puts the letter into the field and lays it out.
 * What the key will do is not guessed where it may be something else, as with letters of several parts.
 */
function foresee({target: field, inputType: type, data, isComposing}) {
  foreseen = undefined;
  if (field !== manifest && field !== exits || !loaded || isComposing) return;
  const {value} = field;
  let [from, to] = [field.selectionStart, field.selectionEnd];
  const typed = {insertText: data, insertLineBreak: field === manifest ? '\n' : null, deleteContentBackward: '', deleteContentForward: ''}[type];
  if (typeof typed !== 'string') return;
  if (!typed && from === to) {
    if (type === 'deleteContentBackward') from--;
    else to++;
    if (!/^[ -~\n](?:[ -~\n]|$)/.test(value.slice(from, from + 2))) return;
  }
  offer = '';
  foreseen = {field, value: value.slice(0, from) + typed + value.slice(to)};
  run(foreseen);
}

/** Says what became of a fix, and offers to take it back. */
function showFixed(key, before, values = {}) {
  $('fixed').hidden = !key;
  $('fixed-text').textContent = key && say(key, values);
  $('before').value = before ?? '';
  $('undo').hidden = before === undefined;
}

async function fix(n) {
  const before = manifest.value;
  const result = await engine.ask({...readForm(), fix: fixes[n].edits});
  if (!result || manifest.value !== before) return; // another question, or another text
  if (!result.why) write(result.manifest);
  showFixed('fix.' + (result.why ?? 'made'), result.why ? undefined : before);
  $(result.why ? 'fixed' : 'undo').focus();
}

function undo() {
  write($('before').value);
  showFixed('');
}

// --- links ---

async function showLink() {
  const note = $('link-note');
  const form = readForm();
  try {
    $('link').value = location.origin + location.pathname + (addressOf(form, chosen) ?? await encode(form));
    note.textContent = say('link.characters', {n: $('link').value.length});
  } catch (error) {
    if (!(error instanceof LinkError)) throw error;
    $('link').value = '';
    note.textContent = error.message;
  }
}

/**
 * Fills the form with what the address asks: a text that is kept in this tab, what is after #, or
 * an example. What cannot be read is said, and the form stays as it is.
 */
async function openAddress() {
  keepNow();
  begun = true;
  const mine = history.state?.kept;
  const query = new URLSearchParams(location.search);
  notice();
  try {
    if (mine && kept(mine)) {
      fillForm(kept(mine));
      show(undefined, mine);
    } else if (holdsState(location.hash)) {
      fillForm(await decode(location.hash));
      show(undefined, 0);
    } else if (examples.length > 0) {
      const name = query.get('example');
      const found = examples.find((e) => e.id === name) ?? examples[0];
      fillExample(readAddress(found, query));
      show(found, 0);
      if (name && name !== found.id) notice(say('example.unknown', {name: `\u201c${name.slice(0, 64)}\u201d`}));
    }
  } catch (error) {
    if (!(error instanceof LinkError)) throw error;
    if (!chosen && !number) begin();
    notice(say('link.closed', {why: error.message}));
  }
  showLines(new Map());
}

const fillExample = (e) => fillForm({...e, validation: e.validation ?? 'Strict', gates: e.gates ?? {}});

/** Says whose texts the form has now: an example's, or the reader's own, kept under a number. */
function show(of, keptAs) {
  chosen = of;
  number = keptAs;
  if (!of || latest()) {
    if (!example.querySelector('option[value=""]')) example.prepend(new Option('your own', ''));
  }
  example.value = of?.id ?? '';
  $('example-question').replaceChildren(of?.question ?? '', ...(keptAs ? [say('kept'), buttonOf('kept.clear')] : []));
  $('disagree').hidden = $('readings').hidden = !of?.disagree;
  $('disagree').textContent = of?.disagree ? say('disagree', {what: of.disagree}) : '';
  $('readings').replaceChildren(...(of?.readings ?? []).map(({says: what, source: {url, name}, ask: address}) => h('li', {}, what, ' ',
    h('a', {class: 'source', href: url, rel: 'noreferrer'}, name), address && [' ', h('a', {href: '?example=' + address}, say('disagree.ask'))])));
  if (latest() && !keptAs && !$('notice').textContent) notice(say('kept'), 'kept.open', 'kept.clear');
}

const buttonOf = (key) => h('button', {type: 'button', 'data-notice': key}, say(key));

/**
 * Says something about the whole page, with buttons for what can be done; without a text it takes
 * away what was said.
 */
function notice(text = '', ...buttons) {
  $('notice').replaceChildren(text, ...buttons.map(buttonOf));
  $('notice').hidden = !text;
  if (text && buttons.length === 0) announce(text);
}

function pressNotice({target: {dataset}}) {
  if (dataset.notice === 'kept.open') openOwn();
  if (dataset.notice !== 'kept.clear') return;
  clearTimeout(unkept);
  unkept = undefined;
  clear();
  if (number) {
    history.replaceState(null, '', location.pathname);
    openAddress().then(runSoon);
  }
  example.querySelector('option[value=""]')?.remove();
  notice();
}

function openOwn() {
  history.pushState({kept: latest()}, '', location.pathname);
  openAddress().then(runSoon);
}

/** Writes what the form says into the address, or keeps it if it has a text of the reader's own. */
function remember() {
  if (!begun) return;
  if (number) { // the text has its number: writing it for each letter would make typing slow
    clearTimeout(unkept);
    unkept = setTimeout(keepNow, 200);
    return;
  }
  const form = readForm();
  const address = addressOf(form, chosen);
  if (address) {
    history.replaceState(null, '', address);
    return;
  }
  number = latest() + 1;
  const room = keep(number, form);
  // A link is somebody's question: Back returns to it.
  history[holdsState(location.hash) ? 'pushState' : 'replaceState']({kept: number}, '', location.pathname);
  notice();
  show(undefined, number);
  if (!room) notice(say('kept.full'));
}

/** Keeps what was typed, if it is not kept yet. */
function keepNow() {
  if (!unkept) return;
  clearTimeout(unkept);
  unkept = undefined;
  if (number && !keep(number, readForm())) notice(say('kept.full'));
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
  if (example.value === '') {
    if (!number && latest()) openOwn();
    return;
  }
  history.pushState(null, '', '?example=' + encodeURIComponent(example.value));
  openAddress().then(runSoon);
}

// --- wiring ---

function asked(control) {
  if (control.id.startsWith('event') || control.id === 'timing' || control.id === 'first') return; // written when Add is pressed
  const known = foreseen?.field === control && foreseen.value === control.value;
  if (foreseen && !known) foreseen.wrong = true;
  foreseen = undefined;
  offer = '';
  const answer = known || runSoon(); // the rest is done while the worker answers
  showLines();
  if (control !== manifest && control !== exits) showGates();
  remember();
  return answer;
}

function wire() {
  ask.addEventListener('submit', (event) => {
    if (!loaded) return; // the server answers
    event.preventDefault();
    if (event.submitter?.name === 'fix') return fix(Number(event.submitter.value));
    if (event.submitter?.name === 'undo') return undo();
    if (event.submitter?.name === 'reading') return read(event.submitter.value);
    if (event.submitter?.name === 'offer') {
      showView();
      offer = event.submitter.value;
      return run().then(() => $('answer').focus());
    }
    if (event.submitter?.name === 'show') showView(event.submitter.value);
    addWords();
    remember();
    run();
  });
  ask.addEventListener('input', (event) => {
    if (event.target === manifest && manifest.value.length >= long) showFixed(''); // to take back more than the paste is no undo
    asked(event.target);
  });
  document.addEventListener('beforeinput', paste);
  document.addEventListener('beforeinput', foresee);
  ask.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      ask.requestSubmit();
    }
  });
  for (const type of ['click', 'keydown']) $('reply').addEventListener(type, onMap);
  for (const control of [version, validation, ...gateControls, ...proposalControls, ...optionControls, $('other'), ...$('lab').querySelectorAll('input')]) control.addEventListener('input', () => asked(control)); // outside the form's element
  document.addEventListener('click', (event) => {
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
  for (const type of ['keyup', 'click', 'select']) manifest.addEventListener(type, highlight);
  for (const type of ['mouseover', 'mouseout']) gutter.addEventListener(type, highlight);
  $('examples').addEventListener('submit', openExample);
  example.addEventListener('change', openExample);
  for (const button of document.querySelectorAll('[data-copy]')) button.addEventListener('click', () => copy(button));
  $('share').addEventListener('toggle', () => $('share').open && showLink());
  $('compare').addEventListener('click', runCompare);
  for (const id of ['notice', 'example-question']) $(id).addEventListener('click', pressNotice);
  addEventListener('pagehide', keepNow);
  addEventListener('beforeprint', () => unpainted?.());
  addEventListener('popstate', () => {
    if (location.hash && !holdsState(location.hash)) return;
    openAddress().then(runSoon);
  });
}

/**
 * When the page has been shown, which has its first answer, or is touched: the module is large, and
 * would only delay that.
 */
const calm = () => new Promise((resolve) => {
  for (const type of ['pointerdown', 'keydown', 'input']) addEventListener(type, resolve, {once: true});
  const idle = () => (globalThis.requestIdleCallback ?? setTimeout)(resolve);
  if (document.readyState === 'complete') idle();
  else addEventListener('load', idle, {once: true});
});

async function start() {
  wire();
  for (const button of document.querySelectorAll('[data-copy], #share')) button.hidden = false;
  showLines();
  const opening = document.documentElement.className === 'opening'; // the answer in the HTML is another question's
  const module = (opening ? Promise.resolve() : calm()).then(() => engine.start(moduleURL, sha256));
  module.catch(() => {}); // the page's texts come first: without the module they are needed too
  try {
    const data = await (await fetch(pageURL)).json();
    use(data.texts);
    ({examples} = data);
    if (opening) await openAddress();
    else begin();
    ({gates} = await module);
    loaded = true;
    makeTabs();
    apart();
    $('compare').hidden = isCopy !== undefined;
    $('run').hidden = true;
    showGates();
    await run(); // also what a browser kept in the form from an earlier visit
  } catch (error) {
    const where = say(isCopy === undefined ? 'server.instead' : 'copy.failed', {why: error.message});
    $('where').textContent = where === 'instead' ? 'The server answers instead.' : where; // without the page's texts
    begun = true;
    if (opening) {
      if (examples.length === 0) await openAddress();
      $('reply').replaceChildren();
      brief($('answer-title').textContent = examples.length > 0 ? say('link.asked') : 'This is the question of the link. Press Ask.');
    }
  }
  document.documentElement.className = '';
  // A reload without a network finds the page again. It is no fault if that cannot be.
  navigator.serviceWorker?.register(trusted ? trusted.createScriptURL(offlineURL) : offlineURL, {updateViaCache: 'none'}).catch(() => {});
}

/** Takes over the form as the server sent it, with what the reader did in the meantime. */
function begin() {
  begun = true;
  const [pick, sent] = [example.value, example.querySelector('option[selected]')?.value];
  show(examples.find((e) => e.id === sent), 0);
  if ([manifest, pods, exits].some((field) => field.value !== field.defaultValue)) remember();
  if (pick === sent || !pick) return;
  example.value = pick;
  openExample();
}

start();
