// Stands in, when the page is bundled, for the classes of nodes and documents of the package yaml:
// the same fields, without the methods that build, change, convert and write them. Reading needs
// none of those, and they are half of the package. The bundler puts this file in their place;
// unbundled code gets the originals, and a test compares both.
const type = Symbol.for('yaml.node.type');

export class NodeBase {
  constructor(kind) {
    Object.defineProperty(this, type, {value: Symbol.for('yaml.' + kind)});
  }
}

export class Scalar extends NodeBase {
  static BLOCK_FOLDED = 'BLOCK_FOLDED';
  static BLOCK_LITERAL = 'BLOCK_LITERAL';
  static PLAIN = 'PLAIN';
  static QUOTE_DOUBLE = 'QUOTE_DOUBLE';
  static QUOTE_SINGLE = 'QUOTE_SINGLE';
  constructor(value) {
    super('scalar');
    this.value = value;
  }
}

export class Alias extends NodeBase {
  constructor(source) {
    super('alias');
    this.source = source;
  }
}

export class Pair extends NodeBase {
  constructor(key, value = null) {
    super('pair');
    this.key = key;
    this.value = value;
  }
}

export class YAMLMap extends NodeBase {
  static tagName = 'tag:yaml.org,2002:map';
  items = [];
  constructor() {
    super('map');
  }
}

export class YAMLSeq extends NodeBase {
  static tagName = 'tag:yaml.org,2002:seq';
  items = [];
  constructor() {
    super('seq');
  }
}

/** The directives %YAML and %TAG of the next document, as the package reads them. */
export class Directives {
  docStart = null;
  constructor({version = '1.2'}, tags) {
    this.version = version;
    this.tags = {'!!': 'tag:yaml.org,2002:', ...tags};
  }
  atDocument() {
    const now = new Directives(this, this.tags);
    this.old = this.version === '1.1'; // then they hold for later documents, until others come
    if (!this.old) this.tags = new Directives(this).tags;
    return now;
  }
  add(line, onError) {
    if (this.old) Object.assign(this, new Directives({version: '1.1'}), {old: false});
    const [name, value, prefix, ...rest] = line.trim().split(/[ \t]+/);
    if (name === '%TAG') {
      if (!prefix || rest.length > 0) onError(0, '%TAG directive should contain exactly two parts');
      if (prefix) this.tags[value] = prefix;
    } else if (name !== '%YAML') {
      onError(0, `Unknown directive ${name}`, true);
    } else if (!value || prefix) {
      onError(0, '%YAML directive should contain exactly one part');
    } else if (value === '1.1' || value === '1.2') {
      this.version = value;
    } else {
      onError(6, `Unsupported YAML version ${value}`, /^\d+\.\d+$/.test(value));
    }
  }
  tagName(source, onError) {
    if (source === '!') return source;
    if (source[1] === '<') {
      const verbatim = source.slice(2, -1);
      if (/^!!?$/.test(verbatim)) return onError('Verbatim tags aren\'t resolved'), null;
      if (!source.endsWith('>')) onError('Verbatim tags must end with a >');
      return verbatim;
    }
    const [, handle, suffix] = /^(.*!)([^!]*)$/s.exec(source);
    if (!suffix) onError(`The ${source} tag has no suffix`);
    try {
      if (this.tags[handle]) return this.tags[handle] + decodeURIComponent(suffix);
    } catch (error) {
      return onError(String(error)), null;
    }
    if (handle === '!') return source;
    onError(`Could not resolve tag: ${source}`);
    return null;
  }
}

const text = {tag: 'tag:yaml.org,2002:str', default: true, resolve: (value) => value};

/** A document with the schema failsafe: every scalar is a text. */
export class Document extends NodeBase {
  contents = null;
  constructor(_, options) {
    super('document');
    this.options = {strict: true, ...options};
    this.directives = options._directives.atDocument();
    this.schema = {tags: [text], knownTags: {}, [Symbol.for('yaml.scalar')]: text};
  }
}
