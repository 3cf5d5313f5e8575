// Sentences of the simulation of a Job: one function for each of views/job.go, under the same name.
import {code} from './sentences.js';
import {say} from './text.js';
import {duration, maxRows} from './timeline.js';
import {short, visible} from './visible.js';

const words = (...list) => list.filter(Boolean).map((word) => visible(short(word))).join(' ');

export const podVerdict = ({action, rule}) => words(action, rule >= 0 && rule !== null && say('by.rule.rule_matched', {rule}));

export const outcome = ({job}) => words(job.outcome, job.reason);

export const times = (text, n) => (n > 1 ? `${text} ×${n}` : text);

export function layerRows({layers}) {
  const list = layers.containers.map((c) => times(words(c.container, code(c), c.action), c.times));
  const pods = layers.pods.map((p) => times(words(p.phase, p.reason, p.disruptionTarget, podVerdict(p)), p.times));
  return Array.from({length: Math.max(1, list.length, pods.length)}, (_, i) => [list[i] ?? '', pods[i] ?? '', i ? '' : outcome(layers)]);
}

export const counterRows = (a) => a.counters.slice(0, maxRows).map(({atMillis, ...c}) => [duration(atMillis), ...Object.values(c).map(String)]);
