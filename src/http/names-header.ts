import { MAX_NAME_LENGTH, MAX_NAMES } from '../engine/validation/unknown-names.js';

/** Header of an answer that names what the call did not know. */
export const UNKNOWN_FIELDS = 'X-Unknown-Fields';
/** Header of a list that names the parameters that were taken as tags. */
export const TAG_FILTERS = 'X-Tag-Filters';

const MORE = '...';

const WRITTEN =
  `percent-encoded, separated by \`, \`, each cut to ${MAX_NAME_LENGTH} characters. \`${MORE}\` stands for the rest of a longer ` +
  `name, and of more than ${MAX_NAMES} names.`;

/** Descriptions of these headers. */
export const NAMES_HEADERS = {
  [UNKNOWN_FIELDS]: `Names in the request that this call does not know, in request order: ${WRITTEN} Absent: all names are known.`,
  [TAG_FILTERS]: `Parameters that were used as tag filters: ${WRITTEN} Absent: there were none.`,
} as const;

/** Names that a client chose, as the value of a header. */
export function namesHeader(names: readonly string[]): string {
  const told = names.slice(0, MAX_NAMES).map(shown);
  return (names.length > MAX_NAMES ? [...told, MORE] : told).join(', ');
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
