import type { ListDefinition } from './definitions.js';
import { SCORE_PREFIX } from './query.js';

const TAG_PREFIX = 'tags.';

/** Most columns of a table of a list. */
export const MAX_COLUMNS = 50;

/** The key of the tag that a column shows; null: it shows something else. */
export function tagOf(column: string): string | null {
  return behind(TAG_PREFIX, column);
}

/** The name of the score that a parameter, sort or column is about; null: it is about none. */
export function scoreOf(text: string): string | null {
  return behind(SCORE_PREFIX, text);
}

/** Whether a list can show a column: one of its fields, the tag of a key or the newest score of a name. */
export function isColumn(list: ListDefinition, column: string): boolean {
  return tagOf(column) !== null || scoreOf(column) !== null || Object.hasOwn(list.fields, column);
}

function behind(prefix: string, text: string): string | null {
  return text.startsWith(prefix) && text.length > prefix.length ? text.slice(prefix.length) : null;
}
