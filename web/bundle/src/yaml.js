// Reads a text of YAML or JSON documents as Kubernetes does: the result of a YAML document is what
// sigs.k8s.io/yaml makes of it, byte for byte, with the place of every value. The rules are those
// of package schema, which reads for the server; its limits hold here too. A test compares this
// file with the Go package.
//
// The package yaml finds the structure; what a plain scalar means is decided here, since Kubernetes
// reads YAML 1.1 in the dialect of one Go library.
import {Composer, Lexer, Parser, isAlias, isMap, isScalar, isSeq} from 'yaml';
import {findSlip, wordsTemplate} from './slip.js';

export const limits = {
  bodyBytes: 256 << 10, documentBytes: 128 << 10, documents: 64, nodes: 10000, depth: 64, keys: 1000, aliases: 100,
  expandedBytes: 1 << 20, scalarBytes: 64 << 10, numberExponent: 400,
};

/** What a key or value counts towards expandedBytes besides its text. */
const nodeBytes = 16;

/** A fault in the text: code, detail, path of the place, offset in the text. */
export class Unreadable extends Error {
  constructor(code, detail, at, path = '') {
    super(detail);
    Object.assign(this, {code, detail, at, path});
  }
}

const encoder = new TextEncoder();
const utf8Length = (s) => encoder.encode(s).length;

/**
 * Reads the documents of a text of at most so many bytes into trees; empty documents are left out.
 * Throws Unreadable.
 *
 * A node of a tree is {kind, at}: its kind (object, array, string, scalar) and the offset in the
 * text where it begins. An object has entries, each [name, offset of the name, node, the name as
 * JSON]; an array has items; the others json, their JSON text, and a string its text. Keys that are
 * set twice in a manifest are in repeats of its document, as Unreadable. Numbers of a JSON document
 * keep their spelling, and its objects their order (ordered) and repeated names, as the core has to
 * see them.
 */
export function read(text, most = limits.bodyBytes) {
  if (utf8Length(text) > most) {
    throw new Unreadable('limit.body_bytes', `the text is longer than ${most} bytes`, 0);
  }
  const start = text.startsWith('\ufeff') ? 1 : 0;
  const json = /^\s*\{/.test(text.slice(start)) && readJSON(text.slice(start), start);
  const docs = json ? [json] : readStream(text, start);
  if (docs.length === 0) throw new Unreadable('no_document', 'no document: nothing but white space, comments and separators', 0);
  return docs;
}

// --- JSON ---

function readJSON(text, base) {
  try {
    JSON.parse(text);
  } catch {
    return null; // {kind: Pod} is YAML
  }
  // A token of valid JSON; what is between tokens is skipped.
  const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/gy;
  const next = () => {
    while (/\s/.test(text[token.lastIndex])) token.lastIndex++;
    const at = token.lastIndex + base;
    return [token.exec(text)[0], at];
  };
  const value = (depth, [word, at]) => {
    if (depth > limits.depth) throw new Unreadable('limit.depth', tooDeep, at);
    if (word === '[' || word === '{') {
      const children = [];
      for (let child = next(); child[0] !== ']' && child[0] !== '}'; child = next()) {
        if (child[0] === ',') continue;
        if (word === '[') {
          children.push(value(depth + 1, child));
        } else {
          next(); // the colon
          children.push([JSON.parse(child[0]), child[1], value(depth + 1, next()), child[0]]);
        }
      }
      return word === '[' ? {kind: 'array', at, items: children} : {kind: 'object', at, entries: children, ordered: true};
    }
    return word[0] === '"' ? {kind: 'string', at, json: word, text: JSON.parse(word)} : {kind: 'scalar', at, json: word};
  };
  return value(0, next());
}

// --- YAML ---

const tooDeep = `too many lists and mappings in one another, at most ${limits.depth} allowed`;

const tooMany = `too many keys and values in the text, at most ${limits.nodes} allowed`;

// Not allowed in YAML, not even in quotes.
const control = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]/;

/**
 * The structure of each document that is not empty: {contents, base}, contents as the package yaml
 * has it, base its offset.
 */
export function structures(text) {
  const kept = [];
  readStream(text, text.startsWith('\ufeff') ? 1 : 0, kept);
  return kept;
}

/** Splits a text at its separators, as Kubernetes does: at each line that begins with "---". */
function readStream(text, start, kept) {
  const bad = text.search(control);
  if (bad >= 0) {
    const point = text.charCodeAt(bad).toString(16).toUpperCase().padStart(4, '0');
    throw new Unreadable('control_character', `byte ${utf8Length(text.slice(0, bad))}: U+${point} is not allowed in YAML, not even in quotes`, bad);
  }
  const reader = new Reader();
  reader.whole = text;
  const docs = [];
  const part = (from, to) => {
    const doc = reader.document(text.slice(from, to), from);
    if (!doc) return;
    docs.push(doc);
    kept?.push({contents: reader.contents, base: from});
  };
  const separator = /^---[^\n]*(?:\n|$)/gm;
  separator.lastIndex = start;
  for (let match; (match = separator.exec(text));) {
    part(start, match.index);
    const after = match[0].slice(3).trim();
    if (after !== '' && after[0] !== '#') {
      throw new Unreadable('separator', `only a comment may follow "---" in its line, found ${JSON.stringify(after.slice(0, 80))}`, match.index);
    }
    start = separator.lastIndex;
    if (match[0] === '---') break;
  }
  part(start, text.length);
  return docs;
}

/**
 * Turns documents into trees under the budget of their text, which is counted before anything is
 * expanded.
 */
class Reader {
  documents = 0;
  nodes = 0;
  aliases = 0;
  expanded = 0;

  document(text, base) {
    if (/^(?:[ \t\r]*(?:#[^\n]*)?(?:\n|$))*$/.test(text)) return null;
    const first = base + text.search(/\S/);
    if (utf8Length(text) > limits.documentBytes) {
      throw new Unreadable('limit.document_bytes', `a document has at most ${limits.documentBytes} bytes`, first);
    }
    if (++this.documents > limits.documents) {
      throw new Unreadable('limit.documents', `too many documents, at most ${limits.documents} allowed`, first);
    }
    Object.assign(this, {text, base, anchors: new Map(), path: []});
    this.repeats = [];
    this.contents = this.parse(text);
    const root = this.value(this.contents, 0).node;
    const kind = get(root, 'kind')?.text;
    const [under, steps] = kind === 'List' ? ['items', 2] : !kind || kind === 'Scenario' ? ['manifest', 1] : [];
    for (const repeat of this.repeats) { // fieldValidation says what comes of one inside a manifest: see buildRequest
      if (kind === 'KubeletConfiguration' || under && (repeat.path[0] !== under || repeat.path.length <= steps)) throw unreadable(repeat);
      repeat.path.splice(0, steps ?? 0);
    }
    root.repeats = this.repeats.map(unreadable);
    return root.json === 'null' ? null : root;
  }

  parse(text) {
    const options = {
      version: '1.1', schema: 'failsafe', merge: false, uniqueKeys: false, prettyErrors: false, logLevel: 'silent',
    };
    const [doc, more] = new Composer(options).compose(this.tokens(text), true, text.length);
    if (/^\t/m.test(text)) { // which the package reads where Kubernetes does not
      const slip = findSlip(text);
      if (slip?.code === 'tab_indent') this.refuse(slip.code, slip.words, slip.at);
    }
    const [error] = [...doc.errors, ...(more?.errors ?? [])];
    if (error) {
      const slip = findSlip(text);
      if (slip) this.refuse(slip.code, slip.words, slip.at);
      const tab = error.code === 'TAB_AS_INDENT';
      this.refuse(tab ? 'tab_indent' : 'syntax', tab ? 'a tab cannot indent in YAML; use spaces' : error.message, error.pos[0]);
    }
    if (more) this.refuse('after_end', 'the document has ended here: another one begins with a line "---"', more.range[0]);
    return doc.contents;
  }

  /**
   * What the parser makes of the text. It recurses later, and takes more time than it should for
   * long lists, so that nesting and the number of nodes are bounded here already: no node has more
   * than one token of the same kind.
   */
  *tokens(text) {
    const parser = new Parser();
    let at = 0;
    let inFlow = 0;
    let inLine = 0; // entries that were opened in this line: - - - x
    let scalar = false;
    const seen = {};
    for (const token of new Lexer().lex(text)) {
      if (scalar) {
        scalar = false;
      } else if (token === '[' || token === '{') {
        inFlow++;
      } else if (token === ']' || token === '}') {
        inFlow--;
      } else if (token[0] === '\n' || token[0] === '\r') {
        inLine = 0;
      } else if (inFlow === 0 && (token === '-' || token === '?' || token === ':')) {
        inLine++;
      } else if (token === '\x1f') { // the next token is a scalar
        scalar = true;
      }
      const kind = scalar ? 'scalar' : token[0];
      seen[kind] = (seen[kind] ?? 0) + 1;
      if ((scalar || ',:-?[{&'.includes(kind)) && seen[kind] > limits.nodes) this.refuse('limit.nodes', tooMany, at);
      if (inFlow > limits.depth || inLine > limits.depth) this.refuse('limit.depth', tooDeep, at);
      yield* parser.next(token);
      if (token.charCodeAt(0) > 0x1f && token !== '\ufeff' || /\s/.test(token[0])) at += token.length;
    }
    yield* parser.end();
  }

  refuse(code, detail, at) {
    throw new Unreadable(code, detail, this.base + at, pathText(this.path));
  }

  /** Returns the tree of n with its weight: bytes with aliases replaced, and height. */
  value(n, level) {
    if (++this.nodes > limits.nodes) this.refuse('limit.nodes', tooMany, n?.range?.[0] ?? 0);
    if (isAlias(n)) return this.alias(n, level);
    const at = n?.range?.[0] ?? 0;
    const anchor = n?.anchor;
    if (anchor) this.anchors.set(anchor, null); // its value is being read
    this.expand(nodeBytes + (isScalar(n) ? utf8Length(n.source ?? '') : 0), at);
    let weight = {bytes: nodeBytes + (isScalar(n) ? utf8Length(n.source ?? '') : 0), height: 0};
    let node;
    if (isMap(n) || isSeq(n)) {
      if (level === limits.depth) this.refuse('limit.depth', tooDeep, at);
      if (n.tag && n.tag !== `tag:yaml.org,2002:${isMap(n) ? 'map' : 'seq'}`) this.refuse('unsupported_tag', 'this tag is not read here', at);
      [node, weight] = isMap(n) ? this.mapping(n, level + 1, weight) : this.sequence(n, level + 1, weight);
      weight.height++;
      node.at = this.base + at;
    } else {
      node = {...this.scalar(n, at), at: this.base + at};
    }
    if (anchor) this.anchors.set(anchor, {node, weight});
    return {node, weight};
  }

  expand(bytes, at) {
    this.expanded += bytes;
    if (this.expanded > limits.expandedBytes) {
      this.refuse('limit.expanded_bytes', `too many bytes in the text once its aliases are replaced, at most ${limits.expandedBytes} allowed`, at);
    }
  }

  alias(n, level) {
    const at = n.range[0];
    if (++this.aliases > limits.aliases) this.refuse('limit.aliases', `too many aliases in the text, at most ${limits.aliases} allowed`, at);
    const target = this.anchors.get(n.source);
    if (target === null) this.refuse('self_reference', `the alias "*${n.source}" contains itself`, at);
    if (target === undefined) this.refuse('syntax', `no anchor &${n.source} comes before this alias`, at);
    if (level + target.weight.height > limits.depth) this.refuse('limit.depth', tooDeep, at);
    this.expand(target.weight.bytes, at);
    return target;
  }

  sequence(n, level, weight) {
    const items = n.items.map((item, i) => {
      this.path.push(i);
      const child = this.value(item, level);
      weight = plus(weight, child.weight);
      this.path.pop();
      return child.node;
    });
    return [{kind: 'array', items}, weight];
  }

  mapping(n, level, weight) {
    const entries = [];
    const places = new Map();
    const add = (entry, at) => {
      const [name] = entry;
      if (places.has(name)) { // the last one counts
        const [line, column] = position(this.whole, places.get(name));
        const detail = `key ${JSON.stringify(name)} is already set in line ${line}, column ${column}`;
        this.repeats.push({detail, at: this.base + at, path: [...this.path, name]});
        entries[entries.findIndex(([other]) => other === name)] = entry;
        return;
      }
      places.set(name, entry[1]);
      if (entries.push(entry) > limits.keys) this.refuse('limit.keys', `too many keys in one mapping, at most ${limits.keys} allowed`, at);
    };
    for (const {key, value} of n.items) {
      const at = (key ?? value)?.range?.[0] ?? n.range[0];
      if (isScalar(key) && key.source === '<<' && key.type === 'PLAIN') {
        weight = plus(plus(weight, this.value(key, level).weight), this.merge(value, level, at, (entry) => add(entry, at)));
        continue;
      }
      if (key?.tag && !key.tag.endsWith(':str')) this.refuse('unsupported_tag', 'a key has no tag here but !!str', this.tagAt(at));
      const name = this.value(key, level);
      weight = plus(weight, name.weight);
      const text = keyName(name.node);
      if (text === undefined) {
        const template = n.flow && isMap(key) && key.flow && at === n.range[0] + 1 ? 1 : 0;
        this.refuse('unsupported_key', template ? wordsTemplate : 'a key is a text: null, a list, a mapping or a number of this size cannot be one', at - template);
      }
      this.path.push(text);
      const child = this.value(value, level);
      weight = plus(weight, child.weight);
      this.path.pop();
      add([text, this.base + at, child.node, quote(text)], at);
    }
    return [{kind: 'object', entries}, weight];
  }

  merge(value, level, at, add) {
    const {node, weight} = this.value(value, level);
    const parts = node.kind === 'array' && !isAlias(value) ? node.items : [node];
    for (const part of [...parts].reverse()) { // of a list the first counts
      if (part.kind !== 'object') this.refuse('bad_merge', '"<<" merges a mapping, an alias of one, or a list of these', at);
      part.entries.forEach(add);
    }
    return weight;
  }

  /** Where the tag of the scalar at begins: the package tells where its text does. */
  tagAt(at) {
    return at - /(?:[!&][^\s[{,]*\s+)*$/.exec(this.text.slice(0, at))[0].length;
  }

  scalar(n, at) {
    const text = n?.source ?? '';
    if (utf8Length(text) > limits.scalarBytes) this.refuse('limit.scalar_bytes', `a scalar has at most ${limits.scalarBytes} bytes`, at);
    if (/\p{Surrogate}/u.test(text)) {
      this.refuse('syntax', 'half of a surrogate pair is not a character: write the character itself', findSlip(this.text)?.at ?? at);
    }
    const tag = n?.tag?.replace('tag:yaml.org,2002:', '');
    const plain = !n || n.type === 'PLAIN' || n.type === undefined;
    if (tag === 'str') return textScalar(text);
    if (tag !== undefined && !['int', 'bool', 'null', 'float'].includes(tag)) this.refuse('unsupported_tag', 'this tag is not read here', this.tagAt(at));
    if (!plain && tag === undefined) return textScalar(text);
    const huge = tag === undefined && /^[-+]?[\d_]*\.?[\d_]*e[-+]?([\d_]+)$/i.exec(text);
    if (huge && /^[-+.\d]/.test(text) && Number(huge[1].replaceAll('_', '')) > limits.numberExponent) {
      this.refuse('limit.number_exponent', `${JSON.stringify(text.slice(0, 80))} has an exponent beyond ${limits.numberExponent}; write it in quotes if it is a text`, at);
    }
    const value = resolvePlain(text);
    const fits = {int: typeof value === 'bigint', bool: typeof value === 'boolean', null: value === null,
      float: typeof value === 'number' || typeof value === 'bigint'}[tag] ?? true;
    if (!fits) this.refuse('unsupported_tag', `${JSON.stringify(text)} is not a value of tag "!!${tag}"`, this.tagAt(at));
    if (typeof value === 'number' && !Number.isFinite(value)) {
      this.refuse('not_finite', `"${text}" is a number that JSON cannot say; write it in quotes to keep the text`, at);
    }
    switch (typeof value) {
      case 'string': return textScalar(value);
      case 'bigint': return tag === 'float' ? {kind: 'scalar', json: floatText(Number(value))} : {kind: 'scalar', json: String(value), integer: true};
      case 'number': return {kind: 'scalar', json: floatText(value)};
    }
    return {kind: 'scalar', json: String(value)};
  }
}

const unreadable = ({detail, at, path}) => new Unreadable('duplicate_key', detail, at, pathText(path));
const plus = (a, b) => ({bytes: a.bytes + b.bytes, height: Math.max(a.height, b.height)});
const textScalar = (text) => ({kind: 'string', json: quote(text), text});
const floatText = (f) => (Object.is(f, -0) ? '-0' : String(f));

function keyName(node) {
  if (node.kind === 'string') return node.text;
  if (node.kind === 'scalar' && (node.integer || node.json === 'true' || node.json === 'false')) return node.json;
  return undefined;
}

/** A JSON string as Go writes it: with < > & escaped as well, so that the bytes are the same. */
function quote(text) {
  return JSON.stringify(text).replace(/[<>&\u2028\u2029]/g, (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
}

/**
 * What a plain scalar means: null, a boolean, a bigint for an integer, a number, or the text
 * itself.
 *
 * Source: resolve in go.yaml.in/yaml/v2 v2.4, which sigs.k8s.io/yaml v1.6 reads with.
 */
export function resolvePlain(text) {
  if (/^(?:|~|null|Null|NULL)$/.test(text)) return null;
  if (/^(?:y|Y|yes|Yes|YES|true|True|TRUE|on|On|ON)$/.test(text)) return true;
  if (/^(?:n|N|no|No|NO|false|False|FALSE|off|Off|OFF)$/.test(text)) return false;
  if (/^\.(?:nan|NaN|NAN)$/.test(text)) return NaN;
  if (/^[-+]?\.(?:inf|Inf|INF)$/.test(text)) return text[0] === '-' ? -Infinity : Infinity;
  if (!/^[-+.\d]/.test(text)) return text;
  if (text[0] === '.') return number(text) ?? text;
  const digits = text.replaceAll('_', '');
  return integer(digits) ?? number(digits) ?? text;
}

function integer(digits) {
  const match = /^([-+]?)(?:(0[xX][\da-fA-F]+)|(0[bB][01]+)|0[oO]?([0-7]+)|(0|[1-9]\d*))$/.exec(digits);
  if (!match) return undefined;
  const [, sign, hex, binary, octal, decimal] = match;
  const size = BigInt(hex?.toLowerCase() ?? binary?.toLowerCase() ?? (octal !== undefined ? '0o' + octal : decimal));
  const value = sign === '-' ? -size : size;
  const most = sign === '' ? 1n << 64n : 1n << 63n; // without a sign it may be an unsigned number
  return value >= -(1n << 63n) && value < most ? value : undefined;
}

function number(text) {
  if (!/^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined; // too large: a text
}

// --- trees ---

// Go sorts names by their bytes in UTF-8, JavaScript by UTF-16 units: surrogates have to come last.
const byBytes = (s) => s.replace(/[\ud800-\uffff]/g, (c) => String.fromCharCode(c.charCodeAt(0) + (c < '\ue000' ? 0x2000 : -0x800)));

/**
 * Appends the JSON of a tree to out.text and the places of its names and values to out.marks, as
 * pairs of an offset in out.text and one in the text that was read.
 */
export function write(node, out) {
  out.marks.push([out.text.length, node.at]);
  if (node.kind === 'array') {
    out.text += '[';
    node.items.forEach((item, i) => {
      if (i > 0) out.text += ',';
      write(item, out);
    });
    out.text += ']';
  } else if (node.kind === 'object') {
    const entries = node.ordered ? node.entries : [...node.entries].sort(([a], [b]) => (byBytes(a) < byBytes(b) ? -1 : 1));
    out.text += '{';
    entries.forEach(([, at, child, json], i) => {
      if (i > 0) out.text += ',';
      out.marks.push([out.text.length, at]);
      out.text += json + ':';
      write(child, out);
    });
    out.text += '}';
  } else {
    out.text += node.json;
  }
}

/** The member of an object, undefined if there is none. */
export function get(node, name) {
  return node?.entries?.find((entry) => entry[0] === name)?.[2];
}

/**
 * The offset of what is at a path, of its name if it has one; of its deepest ancestor if it is not
 * there.
 */
export function locate(root, path) {
  let at = root.at;
  let node = root;
  for (const [, name, index, quoted] of path.matchAll(/([A-Za-z_]\w*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/g)) {
    if (index !== undefined) {
      node = node.items?.[Number(index)];
      if (!node) break;
      at = node.at;
      continue;
    }
    const entry = node.entries?.find(([key]) => key === (name ?? JSON.parse(quoted)));
    if (!entry) break;
    [, at, node] = entry;
  }
  return at;
}

/**
 * The path of steps in the spelling of Kubernetes: spec.containers[0], names that are not plain as
 * ["a.b/c"].
 */
function pathText(steps) {
  return steps.map((step, i) => {
    if (typeof step === 'number') return `[${step}]`;
    if (!/^[A-Za-z_]\w*$/.test(step)) return `[${JSON.stringify(step)}]`;
    return i > 0 ? '.' + step : step;
  }).join('');
}

/** Line and column, both from 1, the column in code points; a byte order mark does not count. */
export function position(text, offset) {
  if (text[0] === '\ufeff') return position(text.slice(1), Math.max(offset - 1, 0));
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  let line = 1;
  for (let i = text.indexOf('\n'); i >= 0 && i < offset; i = text.indexOf('\n', i + 1)) line++;
  return [line, [...text.slice(start, offset)].length + 1];
}
