// Paints an answer over another one and touches only what differs: most keystrokes change little, and what is not touched is neither
// laid out nor painted again.
import {made, unfold} from './elements.js';
import {parts, plans} from './paint.js';

let painted = []; // parts of the answer on the page: {text, kind, plans}

const describe = ([of]) => ({text: JSON.stringify(of), kind: of.block ? of.block + of.title : typeof of}); // the verdict's title is what it says

/** Takes over what the server painted, if it is what would be painted here. */
function adopt(root, document) {
  const ours = parts(document).map((part) => ({...describe(part), plans: plans(part)}));
  const there = [...root.children];
  const all = ours.flatMap((part) => part.plans);
  if (all.length === there.length && all.every((of, i) => found(of, there[i]))) painted = ours;
  else root.replaceChildren();
}

const squeezed = (text) => text.replace(/\s+/g, '');

/** Whether an element is what a plan says, but for spaces, which are made the plan's; the plan remembers it then. */
function found(of, node) {
  if (of.row) unfold(of);
  const there = [...node?.attributes ?? []].filter(({value}) => value);
  if (node?.localName !== of.name || there.length !== Object.keys(of.attributes).length || there.some(({name, value}) => value !== String(of.attributes[name]))) return false;
  of.node = node;
  let at = node.firstChild;
  for (const child of of.children) {
    if (child.text === undefined) {
      if (at?.data !== undefined && !squeezed(at.data)) at = at.nextSibling;
      if (!found(child, at)) return false;
      at = at.nextSibling;
      continue;
    }
    if (at?.data === undefined) {
      if (squeezed(child.text)) return false;
      node.insertBefore(made(child), at);
      continue;
    }
    if (squeezed(at.data) !== squeezed(child.text)) return false;
    if (at.data !== child.text) at.data = child.text;
    child.node = at;
    at = at.nextSibling;
  }
  return !at || at.data !== undefined && !squeezed(at.data);
}

const below = ({plans: [first]}) => first?.node.getBoundingClientRect().top >= innerHeight;

/**
 * Paints an answer into the page. Elements that somebody else put among the parts stay behind the
 * one they follow. With inView, what is below the window stays as it is, and what is left to paint
 * is returned, if anything is: with it the frame would take longer and show no more.
 */
export function repaint(root, document, inView = false) {
  if (painted.length === 0) adopt(root, document);
  let old = painted;
  const fold = inView ? old.findIndex(below) : -1;
  const hidden = fold < 0 ? [] : old.slice(fold);
  painted = []; // until the nodes are there: if one of them fails, the next answer is painted again
  const take = (like) => {
    const i = old.findIndex(like);
    return i < 0 ? undefined : old.splice(i, 1)[0];
  };
  // What says the same is found first, then what may be made the same.
  let next = parts(document).map((part) => {
    const now = describe(part);
    return take(({text}) => text === now.text) ?? {...now, part};
  });
  const from = next.findIndex((now) => hidden.includes(now.part ? old.find(({kind}) => kind === now.kind) : now));
  let left;
  if (from >= 0 && (next.length - from !== hidden.length || hidden.some((part, i) => part !== next[from + i]))) {
    const rest = next.slice(from);
    left = rest.filter(({part}) => part).map(({part: [of]}) => of);
    next = [...next.slice(0, from), ...hidden];
    old = [...old, ...rest.filter(({part}) => !part)].filter((part) => !hidden.includes(part)); // those that are no longer in view go
  }
  for (const now of next) {
    if (!now.part) continue;
    const fresh = plans(now.part);
    now.part = undefined;
    const before = take(({kind}) => kind === now.kind)?.plans ?? [];
    for (const {node} of before.slice(fresh.length)) node.remove();
    now.plans = fresh.map((of, i) => (before[i] ? patched(before[i], of) : planned(of)));
  }
  for (const part of old) for (const {node} of part.plans) node.remove();
  const ours = next.flatMap((part) => part.plans.map(({node}) => node));
  const known = new Set(ours);
  let at = root.firstChild;
  for (const node of ours) {
    while (at && !known.has(at)) at = at.nextSibling;
    if (node === at) at = at.nextSibling;
    else root.insertBefore(node, at);
  }
  painted = next;
  return left;
}

/** A plan that is made. */
const planned = (of) => {
  made(of);
  return of;
};

/** Whether two plans say the same. */
function same(a, b) {
  if (a.key !== undefined || b.key !== undefined) return a.key === b.key;
  if (a.name !== b.name || a.text !== b.text) return false;
  if (a.text !== undefined) return true;
  const names = Object.keys(a.attributes);
  return names.length === Object.keys(b.attributes).length && names.every((name) => a.attributes[name] === b.attributes[name]) &&
    a.children.length === b.children.length && a.children.every((child, i) => same(child, b.children[i]));
}

/** Makes the node of an old plan what now says, and gives the plan that it is then; another node if it cannot be made that. */
function patched(old, now) {
  if (old.key !== undefined && old.key === now.key) return old;
  if (now.row) unfold(now);
  const {node} = old;
  if (old.name !== now.name) {
    node.replaceWith(made(now));
    return now;
  }
  now.node = node;
  if (now.text !== undefined) {
    if (old.text !== now.text) node.data = now.text;
    return now;
  }
  for (const name in old.attributes) if (!(name in now.attributes)) node.removeAttribute(name);
  for (const name in now.attributes) {
    const value = now.attributes[name];
    if (value === old.attributes[name]) continue;
    const near = name === 'class' && node.classList.contains('near'); // what belongs together is marked anew after the answer's frame
    node.setAttribute(name, near ? value + ' near' : value);
  }
  const [was, is] = [old.children, now.children];
  const both = Math.min(was.length, is.length);
  let from = 0, tail = 0;
  if (was.length !== is.length) {
    while (from < both && same(was[from], is[from])) from++;
    while (tail < both - from && same(was[was.length - 1 - tail], is[is.length - 1 - tail])) tail++;
  }
  const [after, rest] = [was[was.length - tail]?.node ?? null, was.slice(from, was.length - tail)];
  now.children = [...was.slice(0, from), ...is.slice(from, is.length - tail).map((child) => {
    const before = rest.shift();
    if (before) return patched(before, child);
    node.insertBefore(made(child), after);
    return child;
  }), ...was.slice(was.length - tail)];
  for (const child of rest) child.node.remove();
  return now;
}
