// What one can do with the drawing over time: go through its instants with keys and pointer, choose
// its axis, and see what belongs together. All that is shown comes from the document: the instants
// and what happens then are the rows of its table.
import {placeOf} from './draw.js';
import {h, made as elementOf, s, set} from './elements.js';
import {lanes} from './paint.js';
import {say} from './text.js';

const scales = ['linear', 'log', 'fit'];

let scale = scales[0]; // the reader's choice, for all answers
let chosen; // the instant that the reader chose, in milliseconds; without one the last decision is selected
let b; // the drawing of the answer
let rows = []; // of its table, one for each instant
let at = 0; // the row that is selected
let drawing, lines = []; // the elements of b and rows on the page
let shown = ''; // what the controls are of
let wired; // the element that listens
let redrawn; // the element whose shapes are made here
let made = []; // the controls on the page
let range, told, back, on; // parts of them

const drawn = () => ({...b, ...(scale === 'log' && {scale}), ...(scale === 'fit' && stopsOf(b))});

/** Draws with the reader's axis. The painter does not know of it, so from then on this drawing is made here. */
function redraw() {
  redrawn = drawing;
  drawing.replaceChildren(...elementOf(lanes(drawn())).childNodes);
}

/**
 * Puts the controls below the drawing of an answer, if it has one and a table that says what
 * happens when. With soon, the table on the page is still that of the answer before, and all is
 * looked at again.
 */
export function timeline(reply, {blocks}, soon = false) {
  b = blocks.find(({block}) => block === 'lanes');
  rows = blocks.flatMap(({block, rows: list}) => (block === 'table' ? list.filter((r) => r.atMillis !== undefined) : []));
  drawing = reply.querySelector('.lanes');
  lines = [...reply.querySelectorAll('tr[data-at]')];
  const now = JSON.stringify([b, rows]);
  const same = now === shown && drawing === wired;
  if (same && (!made[0] || made[0].isConnected)) return; // nothing was painted again
  shown = soon ? '' : now;
  if (!b || !drawing) {
    for (const e of made) e.remove();
    made = [];
    wired = drawing;
    reply.onclick = null;
    return;
  }
  at = rows.findIndex((r) => r.atMillis === chosen);
  if (at < 0) at = Math.max(rows.findLastIndex((r) => r.path), 0);
  if (made.length === 0) made = controls();
  if (wired !== drawing) wire(reply);
  for (const e of [back, range, on, told]) set(e, 'hidden', rows.length === 0);
  set(range, 'max', String(Math.max(rows.length - 1, 0)));
  if (made[0].previousSibling !== drawing) drawing.after(...made);
  if (scale !== scales[0] || redrawn === drawing) redraw();
  show();
}

/** Shows the row that is selected, in the drawing, in the table and in words. */
function show() {
  const row = rows[at];
  const now = new Set(row && [lines[at], ...drawing.querySelectorAll(`[data-at="${row.atMillis}"]`)]);
  for (const e of drawing.parentElement.querySelectorAll('.selected')) if (!now.delete(e)) e.classList.remove('selected');
  for (const e of now) e?.classList.add('selected');
  const x = row && `${placeOf(row.atMillis, drawn()) / 100}%`;
  for (const svg of drawing.querySelectorAll('svg')) {
    const cursor = svg.querySelector('.cursor');
    if (row && cursor === svg.lastChild && cursor?.getAttribute('x') === x) continue;
    cursor?.remove();
    if (row) svg.append(s('rect', {class: 'cursor', x, y: 0, width: '2px', height: '100%'}));
  }
  if (!row) return;
  const text = row.cells.filter(Boolean);
  told.replaceChildren(h('b', {}, text[0]), ' ' + text.slice(1).join(' '), row.line > 0 ? h('span', {class: 'at'}, ' (',
    h('a', {href: '#L' + row.line, 'data-line': row.line, 'data-column': row.column}, say('place', {line: row.line})), ')') : '');
  set(range, 'value', String(at));
  range.setAttribute('aria-valuetext', say('instant.value', {n: at + 1, of: rows.length, what: text.join(' ')}));
  for (const [button, end] of [[back, 0], [on, rows.length - 1]]) set(button, 'disabled', at === end);
}

function go(to) {
  at = Math.min(Math.max(to, 0), rows.length - 1);
  chosen = rows[at].atMillis;
  show();
}

/**
 * The controls: two buttons and a slider for the instants, the axis, and what happens at the
 * instant.
 */
function controls() {
  range = h('input', {type: 'range', id: 'instant', min: 0, step: 1, 'aria-label': say('instant')});
  told = h('p', {class: 'instant'});
  [back, on] = [[-1, '‹', 'instant.back'], [1, '›', 'instant.on']].map(([by, text, key]) => {
    const button = h('button', {type: 'button', 'aria-label': say(key)}, text);
    button.addEventListener('click', () => go(at + by));
    return button;
  });
  range.addEventListener('input', () => go(Number(range.value)));
  range.addEventListener('keydown', (event) => {
    const by = {ArrowLeft: -10, ArrowDown: -10, ArrowRight: 10, ArrowUp: 10}[event.key];
    if (!event.shiftKey || !by) return;
    event.preventDefault();
    go(at + by);
  });
  const axis = h('fieldset', {class: 'axis-of'}, h('legend', {class: 'hidden'}, say('axis')), scales.map((name) => {
    const radio = h('input', {type: 'radio', name: 'axis', id: 'axis-' + name, value: name});
    radio.checked = name === scale;
    radio.addEventListener('change', () => {
      scale = name;
      redraw();
      show();
    });
    return [radio, h('label', {for: 'axis-' + name}, say('axis.' + name))];
  }));
  return [h('div', {class: 'scrub'}, back, range, on, axis), told];
}

/**
 * Makes the drawing listen: a press or a drag goes to the nearest instant, whatever the axis. So
 * does a press on a row.
 */
function wire(reply) {
  wired = drawing;
  const point = ({clientX}) => {
    if (rows.length === 0) return;
    const {left, width} = drawing.querySelector('.axis svg').getBoundingClientRect();
    const x = ((clientX - left) / width) * 10_000;
    const off = rows.map((r) => Math.abs(placeOf(r.atMillis, drawn()) - x));
    go(off.indexOf(Math.min(...off)));
  };
  drawing.addEventListener('pointerdown', (event) => {
    wired.setPointerCapture(event.pointerId);
    point(event);
  });
  drawing.addEventListener('pointermove', (event) => event.buttons && point(event));
  reply.onclick = ({target}) => { // what is around the rows may be painted again
    const line = lines.indexOf(target.closest('tr[data-at]'));
    if (line >= 0) go(line);
  };
}

/** All instants of a drawing at which something begins or ends: each gets the same room. */
function stopsOf({lanes: list, untilMillis: until}) {
  const all = list.flatMap((l) => [...l.flags.map((f) => f.atMillis), ...l.bars.flatMap((bar) => [bar.fromMillis, bar.toMillis])]);
  const stops = [...new Set([0, ...all.filter((ms) => ms < until), until])].sort((x, y) => x - y);
  return stops.length > 1 ? {scale: 'fit', stops} : {};
}

let near = new Set(); // what is marked

/**
 * Marks everything that speaks of the same line of the manifest, or of the same instant, as the
 * first of targets that has one: the editor's line, which lineOf gives, steps, cards, rows and
 * exits. Without one it marks what speaks of a line of the editor, 0 for none.
 */
export function together(reply, lineOf, targets, line = 0) {
  let at;
  for (const target of targets) {
    const part = target?.closest?.('[data-line]') ?? target?.closest?.('.trace li, .list li, tr')?.querySelector('[data-line]');
    line = part?.dataset.line ?? line;
    at = target?.closest?.('[data-at]')?.dataset.at;
    if (part || at) break;
  }
  const now = new Set([...reply.querySelectorAll(`[data-line="${line}"], [data-at="${at}"]`)].map((e) => e.closest('.trace li, .list li, tr, rect') ?? e));
  if (lineOf(line)) now.add(lineOf(line));
  for (const e of near) if (!now.has(e)) e.classList.remove('near');
  for (const e of now) if (!near.has(e) || !e.classList.contains('near')) e.classList.add('near');
  near = now;
}
