// Sentences and the drawing of a simulation: one function for each of views/timeline.go, under the same name.
import {endOfJob, jobSimulated, podVerdict, times, words} from './job.js';
import {by, code} from './sentences.js';
import {known, say} from './text.js';
import {short, visible} from './visible.js';

export const maxRows = 200;
export const maxLanes = 24;
export const width = 580;
const [left, plot, bar, letter] = [12, 490, 18, 8];

export const rows = (a) => a.timeline.slice(0, maxRows);
const phaseOf = (a) => a.pod?.status.phase ?? a.layers.job.outcome;
const ends = {Failed: 'stop', Succeeded: 'valid', Complete: 'valid'};
const over = (a) => ends[phaseOf(a)];

export function simulated(a) {
  if (a.undecided.length > 0) return say('verdict.open', {at: duration(a.undecided[0].atMillis)});
  if (a.job) return over(a) ? jobSimulated('over', duration(endOfJob(a)), a) : jobSimulated('still', duration(a.untilMillis), a);
  const {atMillis} = over(a) && a.timeline.findLast((r) => r.event === 'PhaseChanged') || {atMillis: a.untilMillis};
  const n = a.containers.reduce((sum, c) => sum + c.restarts, 0);
  return say(over(a) ? 'verdict.over' : 'verdict.still', {phase: visible(phaseOf(a)), at: duration(atMillis), restarts: count('restarts', n)});
}

export const count = (key, n) => say(n === 1 && known(key + '.1') ? key + '.1' : key, {n});

export function laneSentence(c) {
  const lane = say('timeline.lane', {container: visible(short(c.container)), starts: count('starts', c.starts), ran: duration(c.ranMillis)});
  if (c.nextStartMillis === undefined) return lane;
  return say('timeline.next', {lane, at: duration(c.nextStartMillis), delay: duration(c.delayMillis)});
}

export const waits = (a) => (a.from ? [say('from', a.from), ...a.from.waits.map((w) => {
  const next = w.nextStartMillis;
  const text = say(next === undefined ? 'wait.run' : 'wait.next', {container: visible(short(w.container)), delay: duration(w.delayMillis),
    next: duration(next ?? 0), time: w.nextStart, why: say('wait.' + w.delayFrom)});
  return w.latestMillis - w.earliestMillis > 1e3 ? text + say('wait.between', {from: duration(w.earliestMillis), to: duration(w.latestMillis)}) : text;
})] : []);

export const phaseTone = (a) => (a.undecided.length > 0 ? 'undecided' : over(a) ?? 'restart');

export const who = (a, r) => (a.job ? words(r.pod && times(r.pod, r.pods), r.container) || say('column.job') : words(r.container) || say('pod'));

export function detail(r) {
  const [until, delay, since, every] = [r.untilMillis, r.delayMillis, r.sinceMillis, r.everyMillis].map((ms) => duration(ms ?? 0));
  switch (r.event) {
    case 'Started':
      return r.restartCount ? say('detail.Started', {n: r.restartCount}) : say('detail.first');
    case 'Exited':
      return r.action && r.reason ? `${code(r)}: ${say('action.' + r.action)} ${by(r)}` : chipText(r);
    case 'BackOff':
    case 'Repeated':
      return say('detail.' + r.event, {delay, until, times: r.times, since, every});
    case 'PhaseChanged':
    case 'PhaseDecided':
      return say('detail.' + r.event, {from: visible(r.from), to: visible(r.to)}) + (r.counted === undefined ? '' : ': ' + podVerdict(r));
  }
  if (r.index !== undefined) return say('detail.index', {n: r.index});
  if (/^Pod(?:Crea|Dele)ted/.test(r.event)) return '';
  return r.message ? visible(`${r.reason ?? ''}: ${r.message}`) : phrase((r.reason ?? '') + (r.ignored ?? ''));
}

const chipText = (r) => (r.reason ? String(r.exitCode) : '?');
export const phrase = (code) => (known('word.' + code) ? say('word.' + code) : visible(code.replaceAll('_', ' ')));
export const assumed = (a) => say('timeline.assumed', {list: a.assumptions.map(phrase).join('; ')});

export function duration(ms) {
  const hours = Math.floor(ms / 36e5);
  const minutes = Math.floor(ms / 6e4) % 60;
  const rest = ms % 6e4;
  const text = (hours ? hours + 'h' : '') + (minutes ? minutes + 'm' : '');
  return rest || !text ? `${text}${rest / 1000}s` : text;
}

const steps = [100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5, 72e5, 216e5, 432e5, 864e5];

/** Gives {shapes, height, end}; a shape is [class, d] of a path or [class, x, y, text]. */
export function draw(a) {
  let list = rows(a);
  const repeated = list.findIndex((r) => r.event === 'Repeated');
  const again = list[repeated];
  const last = Math.max(0, ...list.slice(0, repeated + 1 || undefined).map((r) => (r.event === 'BackOff' ? r.untilMillis : r.atMillis)));
  if (again) list = list.slice(0, repeated);
  const end = Math.max(1, Math.min(a.untilMillis, last && (over(a) && a.pod ? last : (Math.floor(last * 9 / 8000) + 1) * 1e3) || Infinity));
  const at = (ms) => left + Math.floor(ms * plot / end);
  const lanes = [];
  const path = (name, d) => lanes.push([name, d]);
  const text = (name, x, y, what) => lanes.push([name, x, y, what]);
  const box = (name, x, y, w, h) => path(name, `M${x} ${y}h${w}v${h}h${-w}z`);
  const wide = (what) => letter * [...what].length;
  const inBox = (x, y, w, what) => {
    if (w - wide(what) >= letter) text('in', x + (w - wide(what) >> 1), y + 13, what);
  };

  // the Pod, or the Job
  text('name', left, 13, say(a.job ? 'column.job' : 'pod'));
  path('base', `M${left} 29h${plot}`);
  const changes = a.pod ? list.filter((r) => r.event === 'PhaseChanged') : over(a) ? [{from: 'Running', to: phaseOf(a), atMillis: endOfJob(a)}] : [];
  let x = left;
  let phase = changes[0]?.from ?? phaseOf(a);
  for (const r of [...changes, {}]) {
    const next = r.to ? at(r.atMillis) : width + letter;
    path('phase', `M${x} 22v14`);
    if (next - x >= wide(phase) + letter) text('in', x + 4, 33, visible(phase));
    [x, phase] = [next, r.to];
  }

  let top = 46;
  const {shown, all} = lanesOf(a, list);
  for (const lane of shown) {
    const y = top + 20;
    text('name', left, top + 13, lane.name);
    path('base', `M${left} ${y + 9}h${plot}`);
    let open = {};
    const finish = (ms) => {
      const from = at(open.atMillis);
      if (open.event === 'Started') box('run', from, y, Math.max(at(ms) - from, 2), bar);
      if (open.event === 'BackOff') {
        const w = at(Math.min(ms, open.untilMillis)) - from;
        path('wait', hatch(from, y, w));
        inBox(from, y, w, duration(open.delayMillis));
      }
    };
    const chips = [[], []];
    for (const r of list) {
      if (!covers(r, lane) || !/^(?:Started|Exited|BackOff|Removed)$/.test(r.event)) continue;
      finish(r.atMillis);
      open = r;
      if (r.event === 'Exited') {
        place(chips, at(r.atMillis), chipText(r), wide);
        path('stem', `M${at(r.atMillis)} ${y + bar}v4`);
      }
    }
    if (again && (!again.container && (!again.pod || lane.number < 0) || covers(again, lane))) {
      finish(again.atMillis);
      const from = at(again.atMillis);
      box('again', from, y, left + plot - from, bar);
      inBox(from, y, left + plot - from, '\xd7' + again.times);
    } else {
      finish(end);
      if (open.event === 'Started') path('run', `M${left + plot} ${y}l9 9l-9 9z`);
    }
    chips.forEach((row, i) => row.forEach((chip) => {
      box('chip', chip.x, y + 22 + 20 * i, wide(label(chip)) + letter, bar);
      text('in', chip.x + 4, y + 35 + 20 * i, label(chip));
    }));
    top = y + 30 + 20 * chips.filter((row) => row.length).length;
  }

  if (a.job) {
    const list = a.counters.slice(0, maxRows);
    for (const name of ['active', 'succeeded', 'failed']) {
      const y = top + 20;
      text('name', left, top + 13, say('column.' + name));
      path('base', `M${left} ${y + bar}h${plot}`);
      const most = Math.max(1, ...list.map((c) => c[name]));
      for (let i = 0, next; i < list.length; i = next) {
        const n = list[i][name];
        next = list.findIndex((c, k) => k > i && c[name] !== n);
        if (next < 0) next = list.length;
        const from = at(list[i].atMillis);
        const w = at(list[next]?.atMillis ?? end) - from;
        const h = Math.floor(n * bar / most);
        if (h > 0) box('count', from, y + bar - h, w, h);
        inBox(from, y, w, String(n));
      }
      top += 46;
    }
  }

  // what stands behind the lanes
  const drawn = lanes.splice(0);
  let step = steps.find((length) => end <= 6 * length) ?? steps.at(-1);
  while (end > 6 * step) step *= 2;
  for (let ms = 0; ms <= end; ms += step) {
    path('grid', `M${at(ms)} 0V${top}`);
    text('tick', at(ms), top + 14, duration(ms));
  }
  for (const r of list) {
    if (r.event !== 'RestartingAllContainers') continue;
    path('all', `M${at(r.atMillis)} 0V${top}`);
    text('glyph', at(r.atMillis) + 3, 13, say('glyph.RestartAllContainers'));
  }
  return {shapes: [...lanes, ...drawn], height: top + 20, end, more: all - jobLanes};
}

/** Whether an entry is about what a lane shows. */
const covers = (r, {container, number}) => r.container === container
  && (number < 0 ? !r.pod : r.pod && r.number <= number && number < r.number + (r.pods ?? 1));

const jobLanes = 12;

/** What is drawn, {container, name, number}, and how many there would be without the bound. */
function lanesOf(a, list) {
  if (a.pod) return {shown: a.containers.slice(0, maxLanes).map(({container}) => ({container, name: visible(short(container)), number: -1})), all: 0};
  const shown = list.some((r) => r.event === 'BackOff' && !r.pod) ? [{name: say('backoff'), number: -1}] : [];
  const ofPods = list.filter((r) => r.container);
  const edges = [...new Set(ofPods.flatMap((r) => [r.number, r.number + (r.pods ?? 1)]))].sort((x, y) => x - y);
  const containers = [...new Set(ofPods.map((r) => r.container))];
  let all = 0;
  edges.slice(0, -1).forEach((number, i) => containers.forEach((container) => {
    const lane = {container, number, name: ''};
    if (!list.some((r) => covers(r, lane)) || ++all > jobLanes) return;
    const pod = a.pods.find((p) => p.number === number);
    if (pod) lane.name = `${times(words(pod.name), edges[i + 1] - number)} ${words(container)}`;
    shown.push(lane);
  }));
  return {shown, all};
}

const label = (chip) => (chip.n === 1 ? chip.text : `${chip.text}\xd7${chip.n}`);

function place(chips, x, text, wide) {
  for (const row of chips) {
    const last = row.at(-1);
    if (!last || x >= last.x + wide(label(last)) + letter + 2) return row.push({x, n: 1, text});
    if (last.text === text) return last.n++;
  }
}

function hatch(x, y, w) {
  let d = `M${x} ${y}h${w}v${bar}h${-w}z`;
  for (let i = 6 - bar; i < w; i += 6) {
    const [from, to] = [Math.max(i, 0), Math.min(i + bar, w)];
    d += `M${x + from} ${y + bar - from + i}l${to - from} ${from - to}`;
  }
  return d;
}
