// The sentences of the page, from the table that the server uses.
import texts from '../../views/text.json' with {type: 'json'};

/** The sentence key with each {name} replaced; a key that is not in the table is shown as its last part. */
export function say(key, values = {}) {
  if (!known(key)) return key.slice(key.lastIndexOf('.') + 1);
  return texts[key].replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

export const known = (key) => Object.hasOwn(texts, key);
