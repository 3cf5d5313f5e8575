// The reader's own texts, kept in the tab (sessionStorage) so that an example, a reload or the Back
// button loses none. Each entry of the browser's history that shows one has its number in its
// state; the tab forgets them when it is closed.

const prefix = 'podfate.';
const most = 20; // texts; older ones give way

let storage;
try {
  storage = sessionStorage;
} catch { /* a frame without an origin has none: nothing is kept */ }

const numbers = () => Object.keys(storage ?? {}).filter((key) => key.startsWith(prefix)).map((key) => Number(key.slice(prefix.length)))
  .filter((n) => n > 0).sort((a, b) => a - b);

/** The number of the text that was kept last, 0 if there is none. */
export const latest = () => numbers().at(-1) ?? 0;

/** Keeps a form under a number; says whether there was room. */
export function keep(number, form) {
  try {
    storage.setItem(prefix + number, JSON.stringify(form));
    for (const old of numbers().slice(0, -most)) storage.removeItem(prefix + old);
    return true;
  } catch {
    return false;
  }
}

/** The form of a number, undefined if it is not there any more. */
export function kept(number) {
  try {
    return JSON.parse(storage.getItem(prefix + number)) ?? undefined;
  } catch {
    return undefined;
  }
}

export function clear() {
  for (const n of numbers()) storage.removeItem(prefix + n);
}
