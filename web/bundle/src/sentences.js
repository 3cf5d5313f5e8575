// Turns codes into sentences: one function for each of views/sentences.go, under the same name.
import {known, say} from './text.js';
import {count, phaseTone, phrase, simulated} from './timeline.js';
import {short, visible} from './visible.js';

const several = (a) => (a.decisions?.length ?? 0) > 1;
const single = (a) => (a.decisions?.length === 1 ? a.decisions[0] : undefined);

export function headline(a) {
  const version = a.cluster?.version ?? '';
  const kind = faults(a).some((f) => f.path === 'kind'); // of which Kubernetes may well accept the manifest
  const key = 'error.' + (kind ? 'kind' : a.error?.code);
  if (a.error || kind) return say(known(key) ? key : 'error.other', {version});
  if (a.timeline) return simulated(a);
  if (single(a)) return sentence(single(a));
  if (several(a)) return say('verdict.several', {n: a.decisions.length, outcomes: outcomes(a.decisions)});
  if (a.podDecisions) return judged(a.jobDecision);
  return say(a.valid ? 'verdict.valid' : 'verdict.invalid', {version});
}

function judged(j) {
  if (!j) return say('verdict.job.open');
  if (j.fails) return say('verdict.job.fails', {message: visible(j.fails.message)});
  if (j.succeeds) return say('verdict.job.succeeds', {message: visible(j.succeeds.message)});
  return say('verdict.job', {counted: count('failures.counted', j.counted), others: j.notJudged, ignored: j.ignored, limit: j.backoffLimit});
}

const jobTone = (j) => (!j ? 'undecided' : j.fails ? 'stop' : j.succeeds ? 'valid' : 'restart');

export function podOutcome(d) {
  if (d.notJudged) return say('pod.not_judged');
  return d.undecided ? say('action.') : visible(d.action);
}

export function podWhy(d) {
  if (d.notJudged || d.undecided) return phrase(d.notJudged ?? d.undecided.reason);
  if (d.rule === null) return say('pod.default');
  const {condition, container, exitCode} = d.decidedBy;
  return condition ? say('pod.condition', {rule: d.rule, condition: visible(short(condition))})
    : say('pod.exit', {rule: d.rule, container: visible(short(container)), code: exitCode});
}

export const podEnds = (d) => d.containers?.map((c) => visible(short(c.container)) + ' ' + c.exitCode).join(', ') ?? '';

function sentence(d) {
  const container = visible(d.container);
  if (d.undecided) return say('verdict.undecided', {container, code: code(d)});
  return say('verdict.decision', {container, code: code(d), action: say('action.' + d.action)});
}

export function code(d) {
  return d.reason ? say('code.reason', {code: d.exitCode, reason: visible(short(d.reason))}) : String(d.exitCode);
}

function outcomes(decisions) {
  return ['Restart', 'RestartAllContainers', 'Stop', ''].map((action) => {
    const n = decisions.filter((d) => (d.action ?? '') === action).length;
    return n > 0 && say('verdict.outcome', {n, action: say('action.' + action)});
  }).filter(Boolean).join(', ');
}

export function by(d) {
  return say(`by.${d.decidedBy.level}.${d.because}`, {rule: d.decidedBy.rule ?? 0});
}

export function means(d) {
  if (d.undecided) return say('means.' + d.undecided.reason);
  if (d.podFails) return say('means.podFails');
  return say('means.' + (d.because === 'init_completed' ? d.because : d.action));
}

export function tone(a) {
  if (a.error) return 'fault';
  if (a.timeline) return phaseTone(a);
  if (single(a)) return outcomeTone(single(a).action);
  if (several(a)) return 'several';
  if (a.podDecisions) return jobTone(a.jobDecision);
  return a.valid ? 'valid' : 'fault';
}

export function outcomeTone(action) {
  return {Restart: 'restart', RestartAllContainers: 'all', Stop: 'stop'}[action] ?? 'undecided';
}

export const glyph = (a) => say('glyph.' + (!a.timeline && single(a) ? single(a).action ?? '' : tone(a)));

export function title(path) {
  const rule = /\.(?:restartPolicyR|r)ules\[([^[]*)\]$/.exec(path);
  if (rule) return say('title.rule', {rule: rule[1]});
  if (path.endsWith('].restartPolicy')) return say('title.container');
  return say(path.endsWith('restartPolicy') ? 'title.pod' : 'title.default');
}

export function why(d, s) {
  const key = `why.${d.decidedBy?.level}.${s.code}`;
  const text = say(known(key) ? key : 'why.' + s.code, {code: d.exitCode, values: values(s.looked)});
  return s.ignored ? `${text}, ${say('ignored.' + s.ignored)}` : text;
}

const text = (v, otherwise = '') => (typeof v === 'string' ? visible(short(v)) : otherwise);

/** In short what stands in the manifest: a policy's value, or a rule as In [42] → Restart. */
export function quote({looked}) {
  if (typeof looked === 'string') return visible(short(looked));
  if (looked === null || typeof looked !== 'object' || 'name' in looked) return '';
  return say('rule', {operator: text(looked.exitCodes?.operator), values: values(looked), action: text(looked.action)});
}

/** In short a rule of a podFailurePolicy: main In [42] → FailJob, DisruptionTarget=True → Ignore. */
export function quoteFailureRule({looked}) {
  const {onExitCodes: on, onPodConditions: conditions, action} = looked ?? {};
  const parts = on ? [`${text(on.containerName)} ${text(on.operator)} ${values({exitCodes: on})}`.trim()] : [];
  if (Array.isArray(conditions)) {
    parts.push(...conditions.slice(0, maxValuesShown).map((c) => `${text(c?.type)}=${text(c?.status, 'True')}`));
  }
  return `${parts.join(' or ')} → ${text(action)}`;
}

const maxValuesShown = 8;

function values(rule) {
  const all = rule?.exitCodes?.values;
  const list = Array.isArray(all) ? all : [];
  const shown = list.slice(0, maxValuesShown).map((v) => visible(short(JSON.stringify(v)))).join(', ');
  return list.length > maxValuesShown ? say('values.cut', {values: shown, n: list.length}) : say('values', {values: shown});
}

// Fault.decoded, words and possible of package views.
const decoded = (f) => !f.type && f.message && f.detail;

export function message(f) {
  const text = !f.message || decoded(f) ? f.detail ?? '' : f.message;
  return visible(!f.path || text.startsWith(f.path) ? text : `${f.path}: ${text}`);
}

export function allowed(f) {
  return f.message && !decoded(f) || !f.allowed?.length ? '' : say('fault.allowed', {allowed: visible(f.allowed.join(', '))});
}

export const kubernetes = (f) => (decoded(f) ? say('fault.kubernetes', {message: visible(f.message)}) : '');

export function faults(a) {
  if (!a.error) return a.faults ?? [];
  if (a.error.faults?.length) return a.error.faults;
  return [{...a.error, message: '', detail: a.error.message}];
}

export function live(a) {
  const [first] = faults(a);
  return first ? say('live.fault', {verdict: headline(a), message: message(first)}) : headline(a);
}

/** The lines of the editor that the answer speaks of: fault, warning or decided, in this precedence. */
export function marks(a) {
  const m = new Map();
  const mark = (kind, places) => places?.forEach((p) => p?.line && m.set(p.line, kind));
  mark('decided', a.decisions?.map((d) => d.decidedBy));
  mark('decided', a.podDecisions?.map((r) => r.decidedBy));
  mark('decided', a.layers?.pods);
  mark('decided', a.timeline?.map((r) => r.decidedBy));
  mark('warning', a.warnings);
  mark('warning', a.dropped);
  mark('fault', faults(a));
  return m;
}

// namedPaths is how many fields that are not checked the page names.
const namedPaths = 6;

export function looked(a) {
  const named = a.notChecked.slice(0, namedPaths);
  const n = a.notChecked.length + (a.notCheckedMore ?? 0) - named.length;
  return say(n > 0 ? 'looked.more' : 'looked', {paths: visible(named.join(', ')), n});
}
