// Builds the right side of the page: the same elements as views/reply.templ, which a test compares. Text only ever
// becomes text nodes.
import {control} from './answer.js';
import {
  allowed, by, code, faults, glyph, headline, kubernetes, looked, means,
  message, outcomeTone, podEnds, podOutcome, podWhy, quote, quoteFailureRule, title, tone, why,
} from './sentences.js';
import {layers, maxKinds} from './job.js';
import {say} from './text.js';
import {assumed, detail, draw, duration, laneSentence, maxLanes, maxRows, phrase, rows, waits, who, width} from './timeline.js';
import {short, visible} from './visible.js';

/** An element with attributes and children; a child is an element, a text, a list of these, or nothing. */
const h = (name, ...rest) => fill(document.createElement(name), ...rest);
const s = (name, ...rest) => fill(document.createElementNS('http://www.w3.org/2000/svg', name), ...rest);

function fill(element, attributes, ...children) {
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children.flat(3).filter((child) => child !== '' && child !== false && child !== undefined));
  return element;
}

const sign = (text) => h('span', {class: 'glyph', 'aria-hidden': 'true'}, text);
const note = (text) => h('p', {class: 'note'}, text);
const heading = (key) => h('h3', {}, say(key));

/** The elements that show an answer. */
export function reply(a) {
  const {decisions = [], dropped = [], warnings = []} = a;
  const wrong = faults(a);
  return [
    h('div', {class: 'verdict ' + tone(a)},
      h('p', {class: 'sentence'}, sign(glyph(a)), ' ' + headline(a)),
      decisions.length === 1 && [h('p', {}, decider(decisions[0])), note(means(decisions[0]))],
      waits(a).map(note), a.pod && a.containers.slice(0, maxLanes).map((c) => note(laneSentence(c)))),
    wrong.length > 0 && [heading('heading.faults'), faultList('faults', 'glyph.fault', wrong)],
    decisions.length > 1 && [heading('heading.decisions'), table(decisions)],
    decisions.map((d, i) => (decisions.length === 1 ? [heading('heading.trace'), trace(d)]
      : h('details', i === 0 ? {open: ''} : {},
        h('summary', {}, say('heading.trace.of', {container: visible(d.container), code: code(d)})), trace(d)))),
    a.podDecisions?.length > 0 && [heading('heading.pods'), podTable(a.podDecisions)],
    a.podDecisions?.filter((d) => d.trace?.length > 0 && !d.notJudged).slice(0, maxKinds).map((d, i) => h('details', opened(a, d, i) ? {open: ''} : {},
      h('summary', {}, say('heading.trace.pod', {pod: visible(short(d.pod)), outcome: podOutcome(d)})), steps(d.trace, quoteFailureRule, (s) => phrase(s.code)))),
    a.timeline && timeline(a),
    dropped.length > 0 && [heading('heading.dropped'), h('ul', {class: 'faults warnings'}, dropped.map((d) =>
      h('li', {}, sign(say('glyph.skipped')), ' ', h('span', {}, say('dropped', {path: visible(d.path), gate: visible(d.gate)})), ' ', at(d))))],
    warnings.length > 0 && [heading('heading.warnings'), faultList('faults warnings', 'glyph.warning', warnings)],
    a.notChecked?.length > 0 && note(looked(a)),
    a.cluster?.version && note(say('cluster', {version: a.cluster.version})),
  ].flat(3).filter(Boolean);
}

function decider(d) {
  return d.undecided ? inManifest(d.undecided) : [by(d), ' ', at(d.decidedBy)];
}

/** A table: the names of its columns, and rows of cells, the first of which names its row. */
const grid = (columns, list, attributes = {class: 'wide'}) => h('div', attributes, h('table', {},
  h('thead', {}, h('tr', {}, columns.map((key) => h('th', {scope: 'col'}, say('column.' + key))))),
  h('tbody', {}, list.map(([first, ...cells]) => h('tr', {}, h('th', {scope: 'row'}, first), cells.map((cell) => h('td', {}, cell)))))));

const table = (decisions) => grid(['container', 'exit', 'action'], decisions.map((d) => [visible(d.container), code(d), [
  h('span', {class: outcomeTone(d.action)}, sign(say('glyph.' + (d.action ?? ''))), ' ' + say('action.' + (d.action ?? ''))),
  ' ', decider(d), ' ', h('span', {class: 'note'}, means(d))]]));

const podTable = (decisions) => [
  grid(['pod', 'exit', 'action'], decisions.slice(0, maxRows).map((d) => [visible(short(d.pod)), podEnds(d),
    [podOutcome(d) + ': ' + podWhy(d), ' ', d.decidedBy && at(d.decidedBy)]])),
  decisions.length > maxRows && note(say('timeline.cut', {n: maxRows, all: decisions.length})),
];

/** A simulation as a drawing, or what a Job decided, and the table that says the same. */
function timeline(a) {
  const {shapes, height, end, more} = draw(a);
  return [
    a.undecided.length > 0 && [heading('heading.undecided'), h('ul', {}, a.undecided.map((u) =>
      h('li', {}, say('detail.undecided', {at: duration(u.atMillis), reason: phrase(u.reason) + (u.limit ? `, ${u.limit}` : '')}), ' ', inManifest(u))))],
    a.job && [heading('heading.layers'), h('div', {class: 'layers'}, layers(a).map(([name, lines]) => h('div', {},
      h('h4', {}, say('layer.' + name)), h('ul', {}, lines.map(([text, place]) => h('li', {}, text, ' ', place && at(place)))))))],
    heading('heading.timeline'),
    h('div', {class: 'wide', tabindex: '0', role: 'img', 'aria-label': say('heading.timeline')},
      s('svg', {class: 'timeline', viewBox: `0 0 ${width} ${height}`, 'aria-hidden': 'true'},
        s('title', {}, say('heading.timeline')),
        shapes.map(([name, x, y, text]) => (y === undefined ? s('path', {class: name, d: x}) : s('text', {class: name, x, y}, text))))),
    note(say('timeline.legend', {end: duration(end)})),
    more > 0 && note(say('timeline.lanes', {n: more})),
    a.job && a.counters.length > 0 && [heading('heading.counters'),
      grid(Object.keys(a.counters[0]), a.counters.slice(0, maxRows).map(({atMillis, ...c}) => [duration(atMillis), ...Object.values(c).map(String)]), {class: 'wide times', tabindex: '0', role: 'group', 'aria-label': say('heading.counters')}),
      heading('heading.events')],
    grid(['time', a.job ? 'who' : 'container', 'event', 'details'], rows(a).map((r) =>
      [duration(r.atMillis), who(a, r), visible(r.event), [detail(r), ' ', r.decidedBy && at(r.decidedBy)]]), {class: 'wide events'}),
    a.timeline.length > maxRows && note(say('timeline.cut', {n: maxRows, all: a.timeline.length})),
    a.assumptions.length > 0 && note(assumed(a)),
  ];
}

const opened = ({jobDecision: job}, d, i) => (job?.fails ? d.pod === job.fails.pod : i === 0);

const trace = (d) => steps(d.trace, quote, (s) => why(d, s));

const steps = (list, quoted, reason) => h('ol', {class: 'trace'}, list.map((s) => h('li', {class: s.result},
  sign(say('glyph.' + s.result)),
  h('p', {}, h('b', {}, title(s.path)), ' ', h('span', {class: 'quote'}, quoted(s))),
  h('p', {}, `${say('result.' + s.result)}: ${reason(s)}`),
  h('p', {class: 'path'}, inManifest(s)))));

function faultList(className, glyphKey, list) {
  return h('ul', {class: className}, list.map((f) => {
    const id = control(f.path);
    const notes = [allowed(f), kubernetes(f)].filter(Boolean);
    return h('li', {}, sign(say(glyphKey)), ' ', h('span', {}, message(f)), ' ',
      id && !(f.line > 0) ? h('a', {href: '#' + id}, say('place.' + id))
        : f.line > 0 && link(f, say('place.exact', {line: f.line, column: f.column})),
      notes.map((text) => [' ', h('span', {class: 'note'}, text)]));
  }));
}

function link(place, ...children) {
  return h('a', {href: '#L' + place.line, 'data-line': place.line, 'data-column': place.column}, ...children);
}

const at = (place) => place.line > 0 && h('span', {class: 'at'}, '(', link(place, say('place', {line: place.line})), ')');

function inManifest(step) {
  const path = h('code', {}, visible(step.path ?? ''));
  return step.line > 0 ? link(step, path, ' ' + say('place', {line: step.line})) : path;
}
