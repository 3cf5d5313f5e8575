// Asks the server what the browser has answered, and compares byte by byte.
import {say} from './text.js';

/**
 * Sends the request to the server and compares its answer with bytes, the browser's. Gives a sentence for people and
 * whether the two are identical.
 */
export async function compare({operation, request}, bytes) {
  const response = await fetch(`/api/v1/${operation}`, {
    method: 'POST', headers: {'Content-Type': 'application/json'}, body: request, referrerPolicy: 'no-referrer',
  });
  const theirs = new Uint8Array(await response.arrayBuffer());
  if (response.ok) return sentence(bytes, theirs);
  // A refusal comes as a problem document, which holds the core's error object as it stands.
  const ours = new TextDecoder().decode(bytes);
  const error = ours.slice(ours.indexOf(':') + 1, -1);
  const problem = new TextDecoder().decode(theirs);
  if (ours.startsWith('{"error":') && problem.includes('"error":' + error)) {
    return {same: true, text: say('compare.refused', {n: new TextEncoder().encode(error).length})};
  }
  return {same: false, text: say('compare.status', {status: response.status})};
}

function sentence(ours, theirs) {
  const n = Math.max(ours.length, theirs.length);
  let at = 0;
  while (at < n && ours[at] === theirs[at]) at++;
  return at === n
    ? {same: true, text: say('compare.same', {n})}
    : {same: false, text: say('compare.differs', {at, ours: ours.length, theirs: theirs.length})};
}
