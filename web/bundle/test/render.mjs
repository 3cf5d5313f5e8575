// node render.mjs CASES: paints answers as the page does and prints their HTML as a JSON array.
// CASES is a file with an array of {operation, request, answer}, each answer that of explain. The
// DOM is as much of one as the renderer uses.
import {readFileSync} from 'node:fs';
import process from 'node:process';
import {place} from '../src/answer.js';
import {live, reply} from '../src/paint.js';
import {use} from '../src/text.js';

use(JSON.parse(readFileSync(new URL('../../views/text.json', import.meta.url), 'utf8')));

const escape = (text) => String(text).replace(/[&<>"']/g, (c) => ({'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&#34;', "'": '&#39;'})[c]);

class Element {
  attributes = [];
  children = [];
  constructor(name) {
    this.name = name;
  }
  setAttribute(name, value) {
    this.attributes.push(value === '' ? name : `${name}="${escape(value)}"`);
  }
  append(...children) {
    this.children.push(...children);
  }
  toString() {
    return `<${[this.name, ...this.attributes].join(' ')}>${html(this.children)}</${this.name}>`;
  }
}

const html = (nodes) => nodes.map((node) => (node instanceof Element ? String(node) : escape(node))).join('');
globalThis.document = {createElement: (name) => new Element(name), createElementNS: (_, name) => new Element(name), createTextNode: (text) => text};

const cases = JSON.parse(readFileSync(process.argv[2], 'utf8'));
// The places are made up from the path, in the same way as by the test that compares.
process.stdout.write(JSON.stringify(cases.map(({answer}) => {
  const {document} = JSON.parse(answer);
  place(document, (path) => [path.length, 3]);
  return {html: html(reply(document)), live: live(document)};
})));
