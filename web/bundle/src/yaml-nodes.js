// Stands in, when the page is bundled, for the classes of nodes and documents of the package yaml: the same fields,
// without the methods that build, change, convert and write them. Reading needs none of those, and they are half of the
// package. The bundler puts this file in their place; unbundled code gets the originals, and a test compares both.
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

const text = {tag: 'tag:yaml.org,2002:str', default: true, resolve: (value) => value};

/** A document with the schema failsafe: every scalar is a text. */
export class Document extends NodeBase {
  errors = [];
  warnings = [];
  contents = null;
  constructor(_, options) {
    super('document');
    this.options = {strict: true, ...options};
    this.directives = options._directives.atDocument();
    this.schema = {tags: [text], knownTags: {}, [Symbol.for('yaml.scalar')]: text};
  }
}
