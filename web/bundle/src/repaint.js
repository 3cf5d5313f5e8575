// Paints an answer over another one and touches only what differs: most keystrokes change little,
// and what is not touched is neither laid out nor painted again.
import {elements, lazily, parts} from './paint.js';

let painted = []; // parts of the answer on the page: {text, kind, nodes}
let rows = new Map(); // that are not made yet
const keys = new WeakMap(); // what the rows on the page say

const words = (node) => node.className + node.textContent.replace(/\s+/g, '');
const describe = ([of]) => ({text: JSON.stringify(of), kind: of.block ? of.block + of.title : typeof of}); // the verdict's title is what it says

/** Takes over what the server painted, if it says what would be painted here. */
function adopt(root, document) {
  const ours = parts(document).map((part) => ({...describe(part), nodes: elements(part)}));
  const there = [...root.children];
  const all = ours.flatMap(({nodes}) => nodes);
  if (all.length !== there.length || !all.every((node, i) => words(node) === words(there[i]))) return root.replaceChildren();
  painted = ours.map((part) => ({...part, nodes: part.nodes.map(() => there.shift())}));
}

const below = ({nodes: [first]}) => first?.getBoundingClientRect().top >= innerHeight;

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
    const [nodes, empty] = lazily(() => elements(now.part));
    rows = empty;
    now.part = undefined;
    now.nodes = take(({kind}) => kind === now.kind)?.nodes ?? [];
    for (const node of now.nodes.slice(nodes.length)) node.remove();
    now.nodes = nodes.map((node, i) => patched(now.nodes[i], node));
  }
  for (const {nodes} of old) for (const node of nodes) node.remove();
  const ours = next.flatMap(({nodes}) => nodes);
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

/** A node with all that is in it. */
function made(node) {
  for (const [empty, {key, make}] of rows) {
    if (!node.contains(empty)) continue;
    rows.delete(empty);
    const row = make();
    keys.set(row, key);
    if (node === empty) return row;
    empty.replaceWith(row);
  }
  return node;
}

const same = (old, now) => (rows.has(now) ? keys.get(old) === rows.get(now).key : old.isEqualNode(now));

/** The node that says what now says: an old one that was made the same, if it has the same name. */
function patched(old, now) {
  if (old?.nodeName !== now.nodeName) {
    const node = made(now);
    old?.replaceWith(node);
    return node;
  }
  if (rows.has(now)) {
    keys.set(old, rows.get(now).key);
    now = made(now);
  }
  if (old.nodeType === Node.TEXT_NODE) {
    if (old.data !== now.data) old.data = now.data;
    return old;
  }
  if (old.classList.contains('near')) now.classList.add('near'); // what belongs together is marked again after the answer's frame
  for (const name of old.getAttributeNames()) if (!now.hasAttribute(name)) old.removeAttribute(name);
  for (const {name, value} of now.attributes) {
    const moved = name === 'tabindex' && now.hasAttribute('data-code'); // the reader's place in a map is kept
    if (!moved && old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  const [was, is] = [[...old.childNodes], [...now.childNodes]];
  const both = Math.min(was.length, is.length);
  let from = 0, tail = 0;
  while (from < both && same(was[from], is[from])) from++;
  while (tail < both - from && same(was[was.length - 1 - tail], is[is.length - 1 - tail])) tail++;
  const after = was[was.length - tail] ?? null;
  const rest = was.slice(from, was.length - tail);
  for (const child of is.slice(from, is.length - tail)) {
    const before = rest.shift();
    if (!before) old.insertBefore(made(child), after);
    else if (!same(before, child)) patched(before, child);
  }
  for (const child of rest) child.remove();
  return old;
}
