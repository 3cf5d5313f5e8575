// Asks the server what the browser has answered, and compares byte by byte.
import {say} from './text.js';

/**
 * Sends the question to the server and compares its answer, words included, with bytes, the
 * browser's. Gives a sentence for people and whether the two are identical.
 */
export async function compare({operation, request, bytes}) {
  const response = await fetch('/api/v1/explain', {
    method: 'POST', headers: {'Content-Type': 'application/json'}, body: `{"of":"${operation}","request":${request}}`, referrerPolicy: 'no-referrer',
  });
  // A refused manifest is an answer in words, too, with the status of the refusal.
  if (response.headers.get('Content-Type') !== 'application/json') return {same: false, text: say('compare.status', {status: response.status})};
  const theirs = new Uint8Array(await response.arrayBuffer());
  const n = Math.max(bytes.length, theirs.length);
  let at = 0;
  while (at < n && bytes[at] === theirs[at]) at++;
  return at === n
    ? {same: true, text: say('compare.same', {n})}
    : {same: false, text: say('compare.differs', {at, ours: bytes.length, theirs: theirs.length})};
}
