// Stands in, when the page is bundled, for the Composer of the package yaml: the same documents and
// errors, without comments and warnings, which nobody here reads. With both in turn, 300,000
// damaged manifests were read, and refused, alike.
import {composeDoc} from '../node_modules/yaml/browser/dist/compose/compose-doc.js';
import {resolveEnd} from '../node_modules/yaml/browser/dist/compose/resolve-end.js';
import {Directives} from './yaml-nodes.js';

export class Composer {
  constructor(options) {
    this.options = options;
  }

  /** Gives at least one document; that of a text without any has only errors. */
  * compose(tokens, _, end) {
    const {options} = this;
    const directives = new Directives(options);
    let doc;
    let pending = false; // directives without their document
    let errors = []; // of the document to come, or after the last
    const onError = (source, code, message, warning) => {
      if (!warning) errors.push({code, message, pos: [source.offset ?? source[0] ?? source]});
    };
    for (const token of tokens) {
      const {type, source} = token;
      if (type === 'directive') {
        directives.add(source, (offset, message, warning) => onError(token.offset + offset, 'BAD_DIRECTIVE', message, warning));
        pending = true;
      } else if (type === 'document') {
        const next = composeDoc(options, directives, token, onError);
        if (pending && !next.directives.docStart) onError(token, 'MISSING_CHAR', 'Missing directives-end/doc-start indicator line');
        pending = false;
        if (doc) yield doc;
        doc = Object.assign(next, {errors});
        errors = [];
      } else if (type === 'doc-end' && doc) {
        resolveEnd(token.end, token.offset + source.length, true, onError);
        doc.errors.push(...errors);
        errors = [];
      } else if (type === 'doc-end' || type === 'error') {
        const to = pending || !doc ? errors : doc.errors;
        const message = type === 'error' ? token.message : 'Unexpected doc-end without preceding document';
        to.push({code: 'UNEXPECTED_TOKEN', message: type === 'error' && source ? `${message}: ${JSON.stringify(source)}` : message, pos: [token.offset]});
      }
    }
    if (pending && !doc) onError(end, 'MISSING_CHAR', 'Missing directives-end indicator line');
    doc ??= {contents: null, range: [0, end, end], errors: []};
    doc.errors.push(...errors);
    yield doc;
  }
}
