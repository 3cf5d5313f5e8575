// Sentences of the simulation of a Job: one function for each of views/job.go, under the same name.
import {by, code} from './sentences.js';
import {say} from './text.js';
import {count} from './timeline.js';
import {short, visible} from './visible.js';

export const maxKinds = 20;

export const words = (...list) => list.filter(Boolean).map((word) => visible(short(word))).join(' ');

export const podVerdict = ({action, rule}) => words(action, rule != null && say('by.rule.rule_matched', {rule}));

export const times = (text, n) => (n > 1 ? `${text} \xd7${n}` : text);

const ended = ({succeeded, failed}) => ({succeeded: count('pods.succeeded', succeeded), failed: count('pods.failed', failed)});

const standing = ({outcome, reason}) => (reason ? say('code.reason', {code: words(outcome), reason: words(reason)}) : words(outcome));

/** [name, lines]; a line is [text, place]. */
export const layers = ({layers: {containers, pods, job}}) => [
  ['containers', containers.slice(0, maxKinds).map((c) => [
    times(words(c.container, code(c)) + (c.action ? ` \u2192 ${say('action.' + c.action)} ${by(c)}` : ''), c.times), c.decidedBy])],
  ['pods', pods.slice(0, maxKinds).map((p) => [times(words(p.phase, p.reason, p.disruptionTarget)
    + (p.rule != null ? ' \u2192 ' + podVerdict(p) : p.action ? ` \u2192 ${words(p.action)}: ${say('pod.default')}` : ''), p.times), p])],
  ['job', [[standing(job)], job.message && [visible(job.message)],
    [say('layer.counts', {...ended(job), limit: job.backoffLimit})]].filter(Boolean)],
];

export const endOfJob = (a) => a.timeline.findLast((r) => !r.pod)?.atMillis ?? 0;

export const jobSimulated = (is, at, {layers: {job}}) => say('verdict.job.' + is, {phase: standing(job), at, ...ended(job)});
