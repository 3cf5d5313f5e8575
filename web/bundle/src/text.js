// The sentences of the page, from the table that the server uses.
let texts = {};

/** Takes the table {key: sentence}; it comes with the examples, outside the scripts. */
export const use = (table) => {
  texts = table;
};

/**
 * The sentence key with each {name} replaced; a key that is not in the table is shown as its last
 * part.
 */
export function say(key, values = {}) {
  if (!Object.hasOwn(texts, key)) return key.slice(key.lastIndexOf('.') + 1);
  return texts[key].replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}
