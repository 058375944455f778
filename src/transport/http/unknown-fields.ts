import { MAX_NAME_LENGTH, type UnknownNames } from '../../domain/validation/unknown-names.js';

/** Header of an answer that names what the call did not know. */
export const UNKNOWN_FIELDS = 'X-Unknown-Fields';
export const UNKNOWN_FIELDS_DESCRIPTION =
  'Names in the request that this call does not know, in the order in which they came: percent-encoded, separated by `, `, ' +
  `each cut to ${MAX_NAME_LENGTH} characters. \`...\` stands for the rest of a longer name, and of more than 20 names. Absent: all ` +
  'names are known.';

const MORE = '...';

export function unknownFieldsHeader(unknown: UnknownNames): string {
  const names = unknown.told.map(shown);
  return (unknown.full ? [...names, MORE] : names).join(', ');
}

function shown(name: string): string {
  let text = '';
  for (const character of name.toWellFormed()) {
    const encoded = encodeURIComponent(character);
    if (text.length + encoded.length > MAX_NAME_LENGTH) return text + MORE;
    text += encoded;
  }
  return text;
}
