// podfate/yaml: manifests in YAML, read as the page reads them, which is as Kubernetes does.
import {buildRequest} from './request.js';
import {Unreadable, position, read, write} from './yaml.js';

export {Unreadable};

const complete = (form) => ({manifest: '', pods: '', exits: '', version: '', validation: 'Strict', gates: {}, ...form});

/** The documents of a text as values. Throws Unreadable with code, detail, and line and column. */
export function parse(text) {
  return placed(text, () => read(text).map((node) => {
    const out = {text: '', marks: []};
    write(node, out);
    return JSON.parse(out.text);
  }));
}

/**
 * The request of a question {manifest, exits, version, gates, …}, whose texts are those of the
 * page: {operation, request}. The operation is decide, simulate or validate, after what the exits
 * say; the request is what an engine takes.
 */
export function request(form) {
  return placed(form.manifest ?? '', () => {
    const {operation, text} = buildRequest(complete(form));
    return {operation, request: JSON.parse(text)};
  });
}

function placed(text, work) {
  try {
    return work();
  } catch (error) {
    if (error instanceof Unreadable && error.at >= 0) [error.line, error.column] = position(text, error.at);
    throw error;
  }
}
