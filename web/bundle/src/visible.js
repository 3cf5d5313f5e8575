// Text that hides nothing; the same functions as in views/visible.go, held together by
// testdata/visible.json.

// Controls, bidirectional marks, zero-width characters, separators, variation selectors, tags,
// private characters, and halves of surrogate pairs, which Go does not know.
const hides = /[\0-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{10ffff}]/gu;

/** Writes every character out that hides, reorders or moves text: \u202e. */
export function visible(text) {
  return text.replace(hides, (c) => {
    const point = c.codePointAt(0).toString(16);
    return point.length > 4 ? `\\u{${point}}` : '\\u' + point.padStart(4, '0');
  });
}

/** Cuts text after 80 characters. */
export function short(text) {
  const characters = [...text];
  return characters.length > 80 ? characters.slice(0, 80).join('') + '…' : text;
}
