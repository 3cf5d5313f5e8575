// The places of a document in the manifest as typed, which only this side knows, and what a view
// shows of it.
import {glyphs} from './glyphs.js';
import {say} from './text.js';

/**
 * Gives everything in a document that has a path its place. locate gives [line, column] of a path
 * of the manifest, relocate those of a column of the request, which has one line; without it the
 * places of the core are those of the text. Go has the same in document.Locate.
 */
export function place(document, locate, relocate) {
  const one = (i) => {
    if (!i?.path) return;
    const id = control(i.path);
    if (id && id !== 'pods') i.line = i.column = 0; // lines of the generated request mean nothing to a reader
    else if (i.line && relocate) [i.line, i.column] = relocate(i.column);
    if (id === '' && !i.line) [i.line, i.column] = locate(i.path);
    if (relocate && i.text?.includes('line 1, column ')) { // the one sentence with places in it
      i.text = i.text.replace(/line 1, column (\d+)/g, (words, column) => {
        const [line, at] = relocate(Number(column));
        return line ? `line ${line}, column ${at}` : words;
      });
    }
  };
  one(document.verdict);
  for (const b of document.blocks) {
    for (const list of [b.items, b.rows, b.ranges]) list?.forEach(one);
    for (const c of b.cards ?? []) [c, ...c.items ?? []].forEach(one);
    for (const l of b.lanes ?? []) l.flags.forEach(one);
  }
  return document;
}

/**
 * The id of the form's control that a path of the request speaks of, '' for a path of the manifest.
 */
export function control(path = '') {
  if (/^(?:until$|exits(?:\[|$)|runs(?:[.[]|$)|events\[|timing|question$)/.test(path)) return 'exits';
  if (/^pods(?:\[|$)/.test(path)) return 'pods';
  if (/^old(?:\.|$)/.test(path)) return 'old';
  if (path === 'other') return path;
  if (path === 'templatePath') return 'template';
  if (path === 'cluster.version') return 'version';
  if (/^cluster\.(?:featureGates|proposals)/.test(path)) return 'gates';
  return path === 'fieldValidation' ? 'validation' : '';
}

/**
 * Adds the warnings of validate and its fixes to the document of another operation's answer. Fixes
 * of faults belong to an answer that has these faults. views.Outcome.AddLints does the same.
 */
export function addLints({verdict, blocks}, validated) {
  const known = new Set(blocks.flatMap((b) => (b.items ?? []).map((i) => i.text)));
  const fixes = verdict.mark !== 'refused' && validated.verdict.mark === 'refused' || blocks.some((b) => b.block === 'fixes');
  for (const b of validated.blocks) {
    if (b.block !== 'list' && (b.block !== 'fixes' || fixes)) continue;
    const items = b.items.filter((i) => !known.has(i.text) && (b.block === 'fixes' || i.mark === 'warning'));
    if (items.length > 0) blocks.push({...b, items});
  }
}

/** The kinds of blocks that a view of the answer shows; all for a view that is not here. */
const ofView = {trace: 'steps', kubectl: 'terminal', table: 'table'};

/** Leaves in a document what a view of the answer shows, as views.Outcome.Choose does. */
export function choose(document, view = '') {
  const kind = ofView[view];
  let terminals = 0;
  const blocks = document.blocks.filter((b) => (b.block === 'terminal' && terminals++ > 0 && !view ? false : !kind || b.block === kind));
  document.blocks = kind && blocks.length === 0 ? [{block: 'list', items: [{mark: 'note', text: say('view.none')}]}] : blocks;
}

/** What becomes of a question in each version, as views.Strip has it. */
export function strip(versions, names, answers) {
  const rows = [];
  let last;
  versions.forEach((v, i) => {
    const cells = answers[i].map((a) => `${glyphs[a.mark] ?? ''} ${a.title}`);
    const same = cells.join('\n').replaceAll(v, '');
    if (same === last) rows.at(-1).cells[0] = `${rows.at(-1).cells[0].split('\u2013')[0]}\u2013${v}`;
    else rows.push({tone: answers[i][0].tone, cells: [v, ...cells]});
    last = same;
  });
  return {block: 'table', title: say('strip'), columns: [{text: 'Kubernetes'}, ...names.map((text) => ({text}))], rows};
}
