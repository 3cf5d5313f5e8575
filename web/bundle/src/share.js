// Links that hold the question: #v1= and the state as JSON, compressed (deflate-raw) and written in
// base64url. The part of an address after # stays in the browser.
import {say} from './text.js';

/** Limits of a link, in bytes: compressed and after decompression. */
export const maxCompressed = 8 << 10;
export const maxState = 256 << 10;

const prefix = '#v1=';

/** Why a link cannot be read, or made. */
export class LinkError extends Error {}

/** The members of a state with the form's names, and whether a value is sound. */
const members = {
  m: ['manifest', (v) => typeof v === 'string'],
  p: ['pods', (v) => typeof v === 'string'],
  e: ['exits', (v) => typeof v === 'string'],
  k: ['version', (v) => typeof v === 'string' && /^1\.\d{1,3}$/.test(v)],
  f: ['validation', (v) => ['Strict', 'Warn', 'Ignore'].includes(v)],
  v: ['view', (v) => /^(?:codes|versions|backoff|trace|kubectl|compare|table)$/.test(v)],
  r: ['run', (v) => typeof v === 'string'],
  o: ['outage', (v) => typeof v === 'string'],
  c: ['cap', (v) => typeof v === 'string'],
  x: ['proposals', (v) => Array.isArray(v) && v.length <= 20 && v.every((name) => typeof name === 'string' && /^[\w-]{1,100}(?::[\w=,-]{1,400})?$/.test(name))],
  d: ['other', (v) => typeof v === 'string'],
  b: ['old', (v) => typeof v === 'string'],
  s: ['static', (v) => v === true],
  t: ['template', (v) => typeof v === 'string'],
  g: ['gates', (v) => isObject(v) && Object.entries(v).every(([name, on]) => /^\w{1,100}$/.test(name) && typeof on === 'boolean')],
};

const isObject = (v) => v !== null && typeof v === 'object' && !Array.isArray(v);

/**
 * Makes the fragment of a form {manifest, pods, exits, version, validation, gates}; throws
 * LinkError if it is too long.
 */
export async function encode(form) {
  const gates = Object.fromEntries(Object.entries(form.gates).map(([name, value]) => [name, value === 'true']));
  const state = {
    m: form.manifest,
    ...(form.pods && {p: form.pods}),
    ...(form.exits && {e: form.exits}),
    ...(form.version && {k: form.version}),
    ...(form.proposals?.length > 0 && {x: form.proposals}),
    ...(form.view && {v: form.view}), ...(form.run && {r: form.run}), ...(form.outage && {o: form.outage}), ...(form.cap && {c: form.cap}),
    ...(form.old && {b: form.old}), ...(form.view === 'compare' && form.other && {d: form.other}), ...(form.static && {s: true}), ...(form.template && {t: form.template}),
    ...(form.validation !== 'Strict' && {f: form.validation}),
    ...(Object.keys(gates).length > 0 && {g: gates}),
  };
  const stream = new Blob([JSON.stringify(state)]).stream().pipeThrough(new CompressionStream('deflate-raw'));
  const bytes = await collect(stream, maxCompressed, say('link.long', {n: maxCompressed}));
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return prefix + btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** Whether a fragment holds a state. */
export const holdsState = (fragment) => fragment.startsWith('#v');

/** Reads a fragment into a form; throws LinkError and says which part failed. */
export async function decode(fragment) {
  if (!fragment.startsWith(prefix)) throw new LinkError(say('link.version'));
  const text = fragment.slice(prefix.length);
  if (text.length > Math.ceil(maxCompressed * 4 / 3)) throw new LinkError(say('link.length', {n: maxCompressed}));
  let bytes;
  try {
    bytes = Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
  } catch {
    throw new LinkError(say('link.base64'));
  }
  let state;
  try {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
    const json = await collect(stream, maxState, say('link.bytes', {n: maxState}));
    state = JSON.parse(new TextDecoder('utf-8', {fatal: true}).decode(json));
  } catch (error) {
    if (error instanceof LinkError) throw error;
    throw new LinkError(say('link.content'));
  }
  return readState(state);
}

function readState(state) {
  if (!isObject(state)) throw new LinkError(say('link.empty'));
  const form = {manifest: '', pods: '', exits: '', version: '', validation: 'Strict', gates: {}};
  for (const [key, value] of Object.entries(state)) {
    const [name, sound] = Object.hasOwn(members, key) ? members[key] : [];
    if (!name) throw new LinkError(say('link.member', {name: key.slice(0, 40)}));
    if (!sound(value)) throw new LinkError(say('link.value', {name}));
    form[name] = value;
  }
  form.gates = Object.fromEntries(Object.entries(form.gates).map(([name, on]) => [name, String(on)]));
  return form;
}

/** Reads a stream and stops it as soon as there are more than most bytes. */
async function collect(stream, most, tooLong) {
  const reader = stream.getReader();
  const chunks = [];
  let length = 0;
  for (;;) {
    const {done, value} = await reader.read();
    if (done) break;
    length += value.length;
    if (length > most) {
      reader.cancel().catch(() => {});
      throw new LinkError(tooLong);
    }
    chunks.push(value);
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
