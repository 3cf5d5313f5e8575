// Paints a document of explain: plans the same elements as views/document.templ and drawing.templ make,
// which a test compares.
import {control} from './answer.js';
import {drawAxis, drawLane, drawPlot, laneHeight, percent} from './draw.js';
import {made, plan} from './elements.js';
import {glyphs} from './glyphs.js';
import {say} from './text.js';
import {visible} from './visible.js';

const h = (name, attributes, ...children) => plan(false, name, attributes, children);
const s = (name, attributes, ...children) => plan(true, name, attributes, children);

/** A row of a table, which says what of says. */
const row = (of, make) => ({key: JSON.stringify(of), row: () => make(of)});

const results = {matched: 'matched', skipped: 'skipped', notmatched: 'not matched', notreached: 'not reached'};

const glyph = (mark) => h('span', {class: 'glyph', 'aria-hidden': 'true'}, glyphs[mark]);
const note = (...text) => h('p', {class: 'note'}, ...text);
const join = (first, second) => (!second || second === first ? first : `${first} ${second}`);

/** The parts of an answer, each [what it says, its painter]. */
export const parts = ({verdict, blocks, releases}) => [[verdict, paintVerdict], ...blocks.map((b) => [b, block]),
  ...(releases ? [[releases, () => note(say('cluster', {releases}))]] : [])];

/** The plans of a part. */
export const plans = ([of, paint]) => [paint(of)].flat(3).filter(Boolean);

/** The elements of the answer. */
export const reply = (document) => parts(document).flatMap(plans).map(made);

/** What a screen reader is told about an answer, once: of what is refused also why. */
export const live = ({verdict: {title, text, mark}}) => (mark === 'refused' ? `${title}: ${text}` : title);

function paintVerdict(v) {
  return h('div', {class: join('verdict', v.tone)},
    h('p', {class: 'sentence'}, glyph(v.mark), ' ' + v.title), h('p', {}, v.text),
    (v.because || v.line > 0) && h('p', {class: 'because'}, (v.because ?? '') + ' ', at(v), source(v.source)),
    v.share && h('p', {class: 'share'}, s('svg', {'aria-hidden': 'true', width: '100%', height: 8},
      s('rect', {class: 'wait', width: '100%', height: 8}), s('rect', {class: 'run', width: percent(v.share.ranMillis, v.share.ofMillis), height: 8}))));
}

const block = (b) => [b.title && h('h3', {}, b.title), painters[b.block]?.(b), b.more > 0 && note(say('more', {n: b.more}))];

const listItem = (i) => [glyph(i.mark), ' ', h('span', {}, i.text), ' ', exact(i),
  i.allowed && [' ', h('span', {class: 'note'}, say('fault.allowed', {allowed: i.allowed.join(', ')}))],
  i.because && [' ', h('span', {class: 'note'}, i.because)], source(i.source),
  i.ask && [' ', h('button', {form: 'ask', name: 'offer', value: JSON.stringify(i.ask)}, say('offer'))]];
const list = (items, more = () => false) => h('ul', {class: 'list'}, items.map((i, n) => h('li', {class: i.tone ?? ''}, listItem(i), more(n))));

/** A drawing over time. */
export const lanes = (b) => h('div', {class: 'lanes', role: 'img', 'aria-label': b.text},
  b.lanes.map((l) => h('div', {class: `lane ${l.kind}`}, h('p', {class: 'name'}, l.name),
    s('svg', {'aria-hidden': 'true', width: '100%', height: laneHeight(l)}, drawLane(l, b).map(drawn)))),
  h('div', {class: 'lane axis'}, h('p', {class: 'name'}), s('svg', {'aria-hidden': 'true', width: '100%', height: 20}, drawAxis(b).map(drawn))));

const painters = {
  list: ({items}) => list(items),
  fixes: ({items}) => list(items, (n) => [' ', h('button', {form: 'ask', name: 'fix', value: String(n)}, say('fix'))]),
  steps: ({items}) => h('ol', {class: 'trace'}, items.map((i) => h('li', {class: join(i.mark, i.tone)}, glyph(i.mark),
    h('p', {}, h('b', {}, i.text + times(i)), ' ', h('span', {class: 'quote'}, i.quote)), h('p', {}, because(i)),
    h('p', {class: 'path'}, inManifest(i), source(i.source))))),
  layers: ({cards}) => h('div', {class: 'layers'}, cards.map((c) => h('div', {class: join(c.layer, c.tone)}, h('h4', {}, c.title),
    h('p', {class: 'outcome'}, glyph(c.mark), ' ' + c.text), (c.because || c.line > 0) && h('p', {}, (c.because ?? '') + ' ', at(c)),
    c.items && h('ul', {}, c.items.map((i) => h('li', {class: i.tone ?? ''}, glyph(i.mark), ` ${line(i)} `, at(i)))), source(c.source)))),
  lanes: (b) => [lanes(b), note(b.text)],
  table: (b) => h('div', {class: 'wide', tabindex: '0', role: 'group', 'aria-label': b.title}, h('table', {},
    h('thead', {}, h('tr', {}, b.columns.map((c) => (c.text ? h('th', {scope: 'col', class: c.align ?? ''}, c.text) : h('td', {}))))),
    h('tbody', {}, b.rows.map((r) => row([b.columns, r], () => h('tr', {class: r.tone ?? '', 'data-at': r.atMillis ?? ''}, r.cells.map((cell, i) => (i === 0
      ? h('th', {scope: 'row', class: b.columns[i].align ?? ''}, cell)
      : h('td', {class: b.columns[i].align ?? ''}, cell, i === r.cells.length - 1 && r.line > 0 && [' ', at(r)]))))))))),
  terminal: ({lines}) => h('pre', {class: 'terminal', tabindex: '0'}, lines.join('\n')),
  plot: (b) => h('div', {class: 'plot', role: 'img', 'aria-label': b.title},
    s('svg', {'aria-hidden': 'true', width: '100%', height: 120}, drawPlot(b).map(drawn))),
  grid: ({title = '', container = '', ranges}) => [h('table', {class: 'map', role: 'grid', 'aria-label': title, 'data-container': container}, h('tbody', {}, mapRows(ranges).map((of) => row(of, (cells) => h('tr', {},
    cells.map((c) => h('td', {class: c.tone ?? '', tabindex: c.code === 0 ? '0' : '-1', 'data-code': c.code, 'aria-label': `${c.code}: ${c.text}`}, c.letter))))))), h('ul', {class: 'list'}, ranges.map((r) => h('li', {class: r.tone ?? ''}, glyph(r.mark), ' ',
    h('span', {}, h('b', {}, codes(r)), ' ' + r.text), ' ', at(r))))],
};

/** The rows of a map of the exit codes, 16 in each. */
function mapRows(ranges) {
  const rows = [];
  for (const r of ranges) {
    for (let code = Math.max(r.from, 0); code <= Math.min(r.to, 255); code++) {
      if (code % 16 === 0 || rows.length === 0) rows.push([]);
      rows.at(-1).push({code, text: r.text, tone: r.tone, letter: r.letter});
    }
  }
  return rows;
}

const drawn = ({name, x, y, width, height, text, ...of}) => (text ? s('text', {class: name, x, y}, text) : s('rect', {class: name, x, y, width, height, ...of}));
const times = ({times: n}) => (n > 1 ? ` ×${n}` : '');
const because = ({mark, because: why = ''}) => [results[mark], why].filter(Boolean).join(': ');
const line = (i) => i.text + times(i) + (i.because ? ` (${i.because})` : '');
const codes = ({from, to}) => (from === to ? String(from) : `${from}–${to}`);

// --- places ---

const link = (place, ...children) => h('a', {href: '#L' + place.line, 'data-line': place.line, 'data-column': place.column}, ...children);
const at = (i) => i.line > 0 && h('span', {class: 'at'}, '(', link(i, say('place', {line: i.line})), ')');
const source = (of) => of && [' ', h('a', {class: 'source', href: of.url, rel: 'noreferrer'}, of.name)];

function exact(i) {
  const id = control(i.path);
  if (id && !i.line) return h('a', {href: '#' + id}, say('place.' + id));
  return i.line > 0 && link(i, say('place.exact', {line: i.line, column: i.column}));
}

function inManifest(i) {
  const path = h('code', {}, visible(i.path ?? ''));
  return i.line > 0 ? link(i, path, ' ' + say('place', {line: i.line})) : path;
}

/** The lines of the editor that a document speaks of, each with fault, warning or decided. */
export function marks({verdict, blocks}) {
  const ranks = ['decided', 'warning', 'fault'];
  const found = new Map();
  const mark = ({line: n}, as) => {
    if (n > 0 && ranks.indexOf(as) > ranks.indexOf(found.get(n))) found.set(n, as);
  };
  mark(verdict, 'decided');
  for (const b of blocks) {
    for (const c of b.cards ?? []) [c, ...c.items ?? []].forEach((i) => mark(i, 'decided'));
    for (const r of b.rows ?? []) mark(r, 'decided');
    for (const i of b.items ?? []) {
      if (i.mark === 'fault') mark(i, 'fault');
      else if (/^(?:warning|dropped|undecided)$/.test(i.mark)) mark(i, 'warning');
      else if (!/^(?:notmatched|notreached|skipped)$/.test(i.mark)) mark(i, 'decided');
    }
  }
  return found;
}
