// podfate/link: links to the playground that hold a question.
import texts from '../../views/text.json';
import {decode, encode} from './share.js';
import {use} from './text.js';

use(texts);

const complete = (form) => ({manifest: '', pods: '', exits: '', version: '', validation: 'Strict', gates: {}, ...form});

/**
 * The fragment (#v1=…) of a question {manifest, exits, version, …}; what is left out has its
 * default.
 */
export const encodeLink = (form) => encode(complete(form));

/** The question of a fragment. */
export const decodeLink = (fragment) => decode(fragment);
