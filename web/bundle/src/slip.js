// Finds the usual mistakes in a text that is not YAML: where they begin, and in plain words. It is
// findSlip of package schema once more, in the same order; testdata/slips.json holds both to the
// same answers.

const maxDepth = 64;
const wordsDepth = `too many lists and mappings in one another, at most ${maxDepth} allowed`;
export const wordsTemplate = '{{ … }} and {% … %} are for a template engine: render the text first, as helm template does';
const wordsOpenQuote = 'the quotation mark that begins here is never closed';
const wordsKey = 'a key is expected here: check the indentation';
const wordsDash = '"- " is expected here: check the indentation';
const wordsNoColon = 'a key is not followed by ": ": check this line and the indentation';
const wordsMapping = '": " cannot stand here: check the indentation, or write the text in quotes';
const closing = {'[': '"]"', '{': '"}"'};

/**
 * The first mistake as {at, code, words}, undefined if there is none of those that are known here.
 */
export function findSlip(text) {
  const search = new Slips(text);
  while (search.at < text.length && !search.slip) search.line();
  const {slip} = search;
  if (slip && [wordsKey, wordsDash, wordsMapping, wordsNoColon].includes(slip.words)
    && text.slice(slip.at - search.column(slip.at), search.next(slip.at)).includes('{{')) slip.words += '; ' + wordsTemplate;
  return slip;
}

class Slips {
  at = 0; // what is before has been read
  parent = -1; // column of the last key, or of the last "- " without one: what is deeper belongs to it
  awaits = true; // its value has not begun
  plain = false; // its value is a plain scalar, which deeper lines continue
  lone = -1; // where a plain scalar begins that has a line to itself
  afterPlain = false; // plain, of the line before
  begun = false; // something other than comments was read
  open = []; // [column, whether it is a list] of the lists and mappings around
  mixed = false; // "? " was read: then columns are not looked at

  constructor(text) {
    this.text = text;
  }

  is(at, words, code = 'syntax') {
    this.slip ??= {at, code, words};
    this.at = this.text.length;
  }

  peek(i) {
    return this.text[i] ?? '\n';
  }

  blankAt(i) {
    return ' \t\n\r'.includes(this.peek(i));
  }

  endOfLine(i) {
    return '\n\r'.includes(this.peek(i));
  }

  has(i, word) {
    return this.text.startsWith(word, i);
  }

  /** The line ends at i, or its comment begins. */
  done(i) {
    return this.endOfLine(i) || this.peek(i) === '#' && this.blankAt(i - 1);
  }

  skip(i) {
    while (this.text[i] === ' ' || this.text[i] === '\t') i++;
    return i;
  }

  next(i) {
    return this.text.indexOf('\n', i) + 1 || this.text.length;
  }

  column(i) {
    return i - (i > 0 ? this.text.lastIndexOf('\n', i - 1) : -1) - 1;
  }

  line() {
    let i = this.at;
    while (this.peek(i) === ' ') i++;
    const indent = i - this.at;
    const content = this.skip(i);
    if (content > i && (indent === 0 || !this.endOfLine(content) && this.peek(content) !== '#' && !this.continues(indent, content))) {
      return this.is(i, 'a tab cannot indent in YAML; use spaces', 'tab_indent');
    }
    i = content;
    if (this.endOfLine(i) || this.peek(i) === '#') this.at = this.next(i);
    else if (indent === 0 && (this.has(i, '...') || !this.continues(indent, i)) && this.marker(i)) return;
    else if (this.continues(indent, i)) this.at = this.next(i);
    else if (this.plain && this.lone >= 0 && indent > this.parent && this.keyLine(i)) this.noColon(this.lone);
    else {
      if (indent <= this.parent) this.awaits &&= indent === this.parent && this.peek(i) === '-'; // a list may be right below its key
      this.afterPlain = this.plain;
      this.plain = false;
      this.begun = true;
      this.node(i, true);
    }
  }

  marker(i) {
    if (this.has(i, '...') && this.blankAt(i + 3)) {
      if (this.begun) this.at = this.text.length;
      else this.is(i, '"..." ends a document, and there is none before it');
      return true;
    }
    if (this.peek(i) === '%') this.is(i, 'a line that begins with "%" is a YAML directive, which Kubernetes does not support: leave it out');
    else if (/^(?:<{7} |={7}\n|>{7} )/.test(this.text.slice(i, i + 8))) this.is(i, 'a merge conflict begins here: resolve it first');
    return this.slip !== undefined;
  }

  continues(indent, i) {
    return this.plain && indent > this.parent && !this.keyLine(i);
  }

  keyLine(i) {
    for (; !this.endOfLine(i); i++) {
      if (this.peek(i) === ':' && this.blankAt(i + 1)) return true;
      if (this.peek(i) === '#' && this.blankAt(i - 1)) return false;
    }
    return false;
  }

  noColon(i) {
    for (let k = i; !this.blankAt(k); k++) {
      if (this.peek(k) === ':' && k > i && !this.has(k, '://')) return this.is(k, 'a space is missing after ":"');
    }
    this.is(i, wordsNoColon);
  }

  node(i, first) {
    let alone = first;
    for (let levels = 0; first && '-?:'.includes(this.peek(i)) && this.blankAt(i + 1);) {
      if (++levels > maxDepth) return this.is(i, wordsDepth, 'limit.depth');
      this.mixed ||= this.peek(i) !== '-';
      if (!this.level(i, true)) return;
      this.parent = this.column(i);
      this.awaits = true;
      alone = false;
      i = this.skip(i + 1);
      if (this.endOfLine(i) || this.peek(i) === '#') return void (this.at = this.next(i));
    }
    if (!first && this.has(i, '- ')) return this.is(i, '"- " cannot stand here: check the indentation; a list begins in a line of its own');
    if (!first && this.has(i, '? ')) return this.is(i, '"? " cannot stand here: check the indentation, or write the text in quotes');
    const begin = i;
    i = this.properties(i);
    if (this.slip) return;
    if (this.done(i)) return void (this.at = this.next(i));
    const after = i > begin;
    const [end, kind] = this.one(i);
    if (this.slip || !kind) return; // a block scalar has its lines
    i = this.skip(end);
    if (this.done(i)) {
      if (kind === 'p') {
        this.lone = -1;
        if (alone && !after) {
          this.lone = begin;
          if (!this.awaits) return this.noColon(begin);
        }
        this.plain = this.endOfLine(i); // a comment ends it
      }
      this.awaits = false;
      this.at = this.next(i);
    } else if (this.peek(i) === ':' && this.blankAt(i + 1) && first) {
      if (!this.level(begin, false)) return;
      this.parent = this.column(begin);
      this.awaits = true;
      i = this.skip(i + 1);
      if (this.endOfLine(i) || this.peek(i) === '#') this.at = this.next(i);
      else this.node(i, false);
    } else if (this.peek(i) === ':' && this.blankAt(i + 1)) {
      this.is(i, wordsMapping);
    } else if (kind === 'q') {
      this.is(i, 'the text in quotes has ended before this: inside, \' is written as \'\' and " as \\"');
    } else if (kind === 'f') {
      this.is(i, 'the last bracket has closed the first one: nothing may follow it in its line');
    } else if (kind === 'a') {
      this.is(i, 'nothing may follow an alias in its line');
    } else {
      this.at = this.next(i);
    }
  }

  /** Where what is after anchors and tags begins. */
  properties(i) {
    for (let anchored = false; '&!*'.includes(this.peek(i)); i = this.skip(i)) {
      const c = this.peek(i);
      if (c === '&' && anchored) this.is(i, 'a value has one anchor at most');
      else if (c === '*' && anchored) this.is(i, 'an alias cannot have an anchor');
      else if (c === '&' && !this.name(i + 1)) this.is(i, '"&" begins an anchor, and its name is missing: write the text in quotes');
      else if (c === '!' && /^!(?:!?$|<.*[^>]$|<$|[^!<]+!)/.test(this.text.slice(i, this.word(i))) && this.word(i) > i + 1) {
        this.is(i, '"!" begins a tag, and this is not one that is read here: write the text in quotes');
      }
      if (this.slip || c === '*') return i;
      anchored ||= c === '&';
      i = this.word(i);
    }
    return i;
  }

  word(i) {
    while (!this.blankAt(i)) i++;
    return i;
  }

  /** Finds the list, or else the mapping, that an entry at i belongs to, or begins one. */
  level(i, list) {
    const column = this.column(i);
    const {open} = this;
    let less = false;
    for (; open.length > 0 && open.at(-1)[0] > column; open.pop()) less = true;
    const [at, isList] = open.at(-1) ?? [-1, false];
    if (this.mixed || at === column && isList === list) return true;
    if (at === column && list && this.awaits && this.parent === column || at < column && this.awaits && !less) {
      open.push([column, list]);
      return true;
    }
    const [outer, outerList] = open.at(-2) ?? [-1];
    if (at === column && !list && outer === column && !outerList) {
      open.pop(); // the list stood right below its key
      return true;
    }
    if (at < column && !less && this.afterPlain && this.keyLine(i)) {
      while (!(this.peek(i) === ':' && this.blankAt(i + 1))) i++;
      this.is(i, wordsMapping);
    } else {
      this.is(i, isList ? wordsDash : wordsKey);
    }
    return false;
  }

  name(i) {
    return /[\w-]/.test(this.peek(i));
  }

  /**
   * Where one value ends, and its kind: q in quotes, f in brackets, a an alias, p plain, '' one
   * whose lines were read.
   */
  one(i) {
    const c = this.peek(i);
    if (/^\{[{%#]/.test(this.text.slice(i, i + 2))) {
      this.is(i, wordsTemplate);
    } else if (c === '"' || c === '\'') {
      const end = this.quoted(i);
      if (!this.slip && this.text.slice(i, end).includes('\n')) {
        const k = this.skip(end);
        if (!this.endOfLine(k) && this.peek(k) !== '#') this.is(i, wordsOpenQuote); // closed by what was to open another one
      }
      return [end, 'q'];
    } else if (c === '[' || c === '{') {
      return [this.brackets(i), 'f'];
    } else if (']},@`%'.includes(c)) {
      this.is(i, `"${c}" cannot begin a value: write it in quotes`);
    } else if (c === '*') {
      if (this.name(i + 1)) {
        return [this.word(i), 'a'];
      }
      this.is(i, '"*" begins an alias, and its name is missing: write the text in quotes');
    } else if (c === '|' || c === '>') {
      this.block(i);
    } else {
      while (!this.done(i) && !(this.peek(i) === ':' && this.blankAt(i + 1))) i++;
      return [i, 'p'];
    }
    return [i, ''];
  }

  block(i) {
    let k = i + 1;
    while (/[-+1-9]/.test(this.peek(k))) k++;
    const rest = this.skip(k);
    if (!this.endOfLine(rest) && this.peek(rest) !== '#') {
      return this.is(i, `"${this.peek(i)}" begins a text of several lines, and nothing may follow it in its own: write the text in quotes`);
    }
    for (this.at = this.next(i); this.at < this.text.length; this.at = this.next(this.at)) {
      let content = this.at;
      while (this.peek(content) === ' ') content++;
      if (!this.endOfLine(this.skip(content)) && content - this.at <= this.parent) break;
    }
    this.awaits = false;
  }

  quoted(i) {
    const mark = this.text[i];
    for (let k = i + 1; k < this.text.length; k++) {
      const c = this.text[k];
      if (c === '\\' && mark === '"') {
        if (!this.escape(k)) return k;
        k++;
      } else if (c === mark) {
        if (mark === '"' || this.peek(k + 1) !== mark) return k + 1;
        k++;
      }
    }
    this.is(i, wordsOpenQuote);
    return this.text.length;
  }

  escape(i) {
    const c = this.peek(i + 1);
    const digits = {x: 2, u: 4, U: 8}[c];
    const word = this.text.slice(i + 2, i + 2 + digits);
    const point = parseInt(word, 16);
    if (!digits) {
      if (!'0abt\tnvfre "\'/\\N_LP\n\r'.includes(c)) {
        this.is(i, 'a backslash begins an escape in double quotes, and this is not one: use single quotes, or \\\\');
      }
    } else if (word.length < digits || /[^\da-f]/i.test(word)) {
      this.is(i, `\\${c} needs ${digits} hexadecimal digits: use single quotes, or \\\\`);
    } else if (point >= 0xd800 && point < 0xe000) {
      this.is(i, 'half of a surrogate pair is not a character: write the character itself');
    } else if (point > 0x10ffff) {
      this.is(i, 'there is no such character');
    }
    return !this.slip;
  }

  brackets(i) {
    const open = [];
    const never = (at) => this.is(at, `"${this.text[at]}" is never closed: ${closing[this.text[at]]} is missing`);
    const across = (from, to) => this.text.slice(from, to).includes('\n');
    while (i < this.text.length && !this.slip) {
      const c = this.text[i];
      if (c === '#' && this.blankAt(i - 1)) {
        i = this.next(i);
      } else if (this.has(i, '{{') || this.has(i, '{%')) {
        this.is(i, wordsTemplate);
      } else if (c === '[' || c === '{') {
        if (open.push(i) > maxDepth) this.is(i, wordsDepth, 'limit.depth');
        i++;
      } else if (c === ']' || c === '}') {
        const last = open.pop();
        if ((c === ']') !== (this.text[last] === '[')) {
          if (across(last, i)) never(last);
          else this.is(i, `${closing[this.text[last]]} is expected here, which closes what began in column ${[...this.text.slice(last - this.column(last), last)].length + 1}`);
          return i;
        }
        i++;
        if (open.length === 0) return i;
      } else if ((c === '"' || c === '\'') && !this.inWord(i)) {
        const begin = i;
        i = this.quoted(i);
        let k = i;
        while (k < this.text.length && this.blankAt(k)) k++;
        if (!this.slip && k < this.text.length && !',:]}#'.includes(this.text[k])) {
          const last = open.at(-1);
          if (across(begin, i)) this.is(begin, wordsOpenQuote);
          else if (across(last, k) && this.keyLine(k)) never(last);
          else this.is(k, `"," or ${closing[this.text[last]]} is expected here`);
        }
      } else {
        i++;
      }
    }
    if (!this.slip) never(open.at(-1));
    return i;
  }

  /** The quotation mark at i, which is in brackets, is part of a plain text. */
  inWord(i) {
    const opens = '[{,:\n\r"\'';
    let before = i - 1;
    while (this.text[before] === ' ' || this.text[before] === '\t') before--;
    if (opens.includes(this.text[before])) return false;
    if (before === i - 1) return true;
    let word = before; // an anchor or a tag may be before the text in quotes
    while (!this.blankAt(word - 1) && !opens.includes(this.text[word - 1])) word--;
    return !'&!?'.includes(this.text[word]);
  }
}
