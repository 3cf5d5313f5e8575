// Makes the edits of a fix in the text as typed: only the bytes change that the edits are about;
// comments, anchors, quotes and the order of members stay. schema.Splice does the same for the
// server, and schema/testdata/splices.json holds both together.
import {isAlias, isMap, isScalar, isSeq} from 'yaml';
import {get, read, structures, write} from './yaml.js';

/** Why an edit is not made: code is shared, byHand or path. */
export class NotMade extends Error {
  constructor(code) {
    super(code);
    this.code = code;
  }
}

const refuse = (code) => {
  throw new NotMade(code);
};

/** Makes edits in document number of a text, counted from 0 without those that are empty. */
export function splice(text, number, edits) {
  for (const edit of edits) {
    const root = structures(text)[number] ?? refuse('path');
    const next = new Splicer(text, root.base).edit(root.contents, edit);
    const [was, is] = [text, next].map((t) => {
      try {
        return valueOf(t, number);
      } catch {
        return refuse('byHand');
      }
    });
    const holder = [was];
    if (!patch(holder, edit) || canonical(holder[0]) !== canonical(is)) refuse('byHand');
    text = next;
  }
  return text;
}

/** Makes the edits of a fix in the manifest among the documents of a text. */
export function mend(text, edits) {
  let at = -1, prefix = '';
  read(text).forEach((doc, i) => {
    const kind = get(doc, 'kind')?.text;
    const inside = kind === 'Scenario' || !kind && !get(doc, 'apiVersion');
    if (at >= 0 || kind === 'KubeletConfiguration' || inside && !get(doc, 'manifest')) return;
    at = i;
    prefix = inside ? '/manifest' : kind === 'List' ? '/items/0' : '';
  });
  if (at < 0) refuse('path');
  return splice(text, at, edits.map((e) => ({...e, path: prefix + e.path, ...(e.from && {from: prefix + e.from})})));
}

const isBlank = (c) => c !== undefined && ' \t\n\r'.includes(c);
const unescape = (step) => step.replaceAll('~1', '/').replaceAll('~0', '~');
const anchored = (n) => !!n?.anchor || (n?.items ?? []).some((i) => (isMap(n) ? anchored(i.key) || anchored(i.value) : anchored(i)));
const isMerge = (key) => isScalar(key) && key.source === '<<' && key.type === 'PLAIN';

/** Whether a word needs no quotes in YAML, as the values of fixes do not. */
const isPlain = (word) => /^[a-z]+$/i.test(word) && !/^(?:true|false|yes|no|on|off|null|y|n)$/i.test(word);

class Splicer {
  constructor(text, base) {
    Object.assign(this, {text, base});
  }

  /** Where the content of a node begins, after anchor and tag. */
  value(n) {
    return this.base + (n.range?.[0] ?? 0);
  }

  /** Where a node begins, its anchor and tag included. */
  start(n) {
    const at = this.value(n);
    return at - /(?:[!&][^\s[{,]*\s+)*$/.exec(this.text.slice(0, at))[0].length;
  }

  /** The offset after a node, below 0 if it is not known. */
  end(n) {
    const at = this.value(n);
    if (isAlias(n)) return at + 1 + n.source.length;
    if (this.flow(n)) return this.flowEnd(at);
    if (isMap(n) || isSeq(n)) {
      const last = n.items.at(-1);
      return last ? this.end(isMap(n) ? last.value : last) : -1;
    }
    if (/^QUOTE/.test(n.type)) return this.quotedEnd(at);
    const source = n.source ?? '';
    return !/^BLOCK/.test(n.type) && this.text.startsWith(source, at) ? at + source.length : -1;
  }

  quotedEnd(at) {
    const quote = this.text[at];
    for (let i = at + 1; i < this.text.length; i++) {
      const c = this.text[i];
      if (c === '\\' && quote === '"' || c === quote && quote === '\'' && this.text[i + 1] === quote) i++;
      else if (c === quote) return i + 1;
    }
    return -1;
  }

  /**
   * The offset after the bracket that closes the one at an offset. A comment in between is left
   * alone.
   */
  flowEnd(at) {
    let depth = 0;
    for (let i = at; i < this.text.length; i++) {
      const c = this.text[i];
      if (c === '[' || c === '{') depth++;
      else if ((c === ']' || c === '}') && --depth === 0) return i + 1;
      else if ((c === '"' || c === '\'') && (i = this.quotedEnd(i) - 1) < 0) return -1;
      else if (c === '#' && isBlank(this.text[i - 1])) return -1;
    }
    return -1;
  }

  flow(n) {
    return (isMap(n) || isSeq(n)) && '[{'.includes(this.text[this.value(n)]);
  }

  replace(from, to, text) {
    if (from < 0 || to < from || to > this.text.length) refuse('byHand');
    return this.text.slice(0, from) + text + this.text.slice(to);
  }

  /** The index of a member or element, and its value. */
  member(n, step) {
    if (isAlias(n)) refuse('shared');
    if (isMap(n)) {
      const i = n.items.findLastIndex(({key}) => !isMerge(key) && key?.source === step);
      if (i >= 0) return [i, n.items[i].value];
      if (n.items.some(({key}) => isMerge(key))) refuse('shared');
    }
    return isSeq(n) && /^\d+$/.test(step) && n.items[step] ? [Number(step), n.items[step]] : refuse('path');
  }

  edit(root, {op, path, from, value}) {
    const steps = (op === 'move' ? from : path).split('/').slice(1).map(unescape);
    const last = steps.pop() ?? refuse('path');
    const parent = steps.reduce((n, step) => this.member(n, step)[1], root);
    if (isAlias(parent)) refuse('shared');
    if (op === 'add') return this.add(parent, last, value);
    const [i, child] = this.member(parent, last);
    if (op === 'move') {
      const {key} = parent.items[i];
      const name = unescape(path.slice(path.lastIndexOf('/') + 1));
      return this.replace(this.value(key), this.end(key), this.text[this.value(key)] === '"' ? JSON.stringify(name) : name);
    }
    if (anchored(child) || op === 'replace' && isAlias(child)) refuse('shared');
    return op === 'remove' ? this.remove(parent, i) : this.replace(this.value(child), this.end(child), this.written(child, value));
  }

  /** A value in the quotes that what it replaces has. */
  written(n, value) {
    const quote = this.text[this.value(n)];
    if (!isScalar(n) || !isPlain(value) || quote === '"') return JSON.stringify(value);
    return quote === '\'' ? `'${value}'` : value;
  }

  /** Writes a new member before the first one of an object. */
  add(n, name, value) {
    if (!isMap(n)) refuse('byHand');
    const first = n.items[0]?.key;
    const quoted = first && this.text[this.value(first)] === '"';
    const text = !quoted && isPlain(value) ? value : JSON.stringify(value);
    const member = `${quoted ? JSON.stringify(name) : name}: ${text}`;
    if (this.flow(n)) {
      const at = this.value(n) + 1;
      return this.replace(at, at, member + (first ? ', ' : ''));
    }
    if (!first) refuse('byHand');
    const at = this.start(first);
    const indent = [...this.text.slice(this.text.lastIndexOf('\n', at - 1) + 1, at)].length;
    return this.replace(at, at, member + '\n' + ' '.repeat(indent));
  }

  /** Takes out member or element i. */
  remove(n, i) {
    const {text} = this;
    const begin = (item) => this.start(isMap(n) ? item.key : item);
    const after = (item) => this.end(isMap(n) ? item.value : item);
    let from = begin(n.items[i]), to = after(n.items[i]);
    if (to < 0) refuse('byHand');
    const next = n.items[i + 1];
    if (this.flow(n)) {
      const whole = this.end(n);
      if (whole < 0 || text.slice(this.value(n), whole).includes('#')) refuse('byHand');
      if (next) to = begin(next);
      else if (i > 0) from = after(n.items[i - 1]);
      return this.replace(from, to, '');
    }
    if (n.items.length === 1) refuse('byHand'); // an object or a list without anything is written otherwise
    const line = text.lastIndexOf('\n', from - 1) + 1;
    if (isSeq(n)) {
      const dash = text.slice(line, from).lastIndexOf('-');
      if (dash < 0) refuse('byHand');
      from = line + dash;
    }
    const end = text.indexOf('\n', to);
    to = end < 0 ? text.length : end + 1;
    const spaces = (a, b) => /^ *$/.test(text.slice(a, b));
    if (spaces(line, from)) return this.replace(line, to, '');
    // The first member of an element, after its dash: the next one takes its place.
    const indent = from - line;
    if (!next || text.length < to + indent || !spaces(to, to + indent) || begin(next) !== to + indent) refuse('byHand');
    return this.replace(from, to + indent, '');
  }
}

// --- what comes out is read again, and is the document with the edit made ---

function valueOf(text, number) {
  const out = {text: '', marks: []};
  write(read(text)[number], out);
  return JSON.parse(out.text);
}

const canonical = (value) => JSON.stringify(value, (_, v) => (v && typeof v === 'object' && !Array.isArray(v)
  ? Object.fromEntries(Object.keys(v).sort().map((key) => [key, v[key]])) : v));

/** Makes an edit of the value holder[0]; says whether it could be made. */
function patch(holder, {op, path, from, value}) {
  if (op === 'move') {
    const moved = at(holder, from);
    return !!moved && moved.has && patch(holder, {op: 'add', path, value: moved.remove()});
  }
  const place = at(holder, path);
  if (!place || !place.has && op !== 'add' || place.list && op === 'add') return false;
  if (op === 'remove') place.remove();
  else place.parent[place.step] = value;
  return true;
}

function at(holder, pointer) {
  const steps = pointer.split('/').slice(1).map(unescape);
  const step = steps.pop();
  const parent = steps.reduce((v, s) => (v !== null && typeof v === 'object' && Object.hasOwn(v, s) ? v[s] : undefined), holder[0]);
  if (parent === null || typeof parent !== 'object') return undefined;
  const list = Array.isArray(parent);
  return {parent, step, list, has: Object.hasOwn(parent, step), remove: () => {
    const old = parent[step];
    if (list) parent.splice(Number(step), 1);
    else delete parent[step];
    return old;
  }};
}
