// Sentences of the simulation of a Job: one function for each of views/job.go, under the same name.
import {say} from './text.js';
import {short, visible} from './visible.js';

export const words = (...list) => list.filter(Boolean).map((word) => visible(short(word))).join(' ');

export const podVerdict = ({action, rule}) => words(action, rule != null && say('by.rule.rule_matched', {rule}));

export const times = (text, n) => (n > 1 ? `${text} ×${n}` : text);
