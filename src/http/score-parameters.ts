import { splitValues } from '../engine/traces/model/list/comma-values.js';
import type { ListDefinition } from '../engine/traces/model/list/definitions.js';
import { SCORE_PREFIX, type ScoreFilter } from '../engine/traces/model/list/query.js';
import { MAX_SCORE_NAME } from '../engine/traces/model/score/score.js';
import { oneOf } from '../engine/schema/parts.js';
import { readAs, restByPrefix } from './parameter.js';

/* The parameters by which lists are sorted and filtered by scores. */

const SORT =
  'Field to sort by, or a score, as `scores.<name>`. Objects without a value come last either way; ties are broken by id.';

/** Schema of `scores.<name>`. */
export const SCORE = {
  type: 'string',
  pattern: '^scores\\.[^]+$',
  maxLength: SCORE_PREFIX.length + MAX_SCORE_NAME,
  description: 'The newest score of a name.',
} as const;

/** What a list is sorted by: one of its fields, or any score. */
export function sortOf({ sorts, defaultSort }: ListDefinition) {
  return readAs<string>(
    {
      anyOf: [oneOf(sorts, 'A field.'), SCORE],
      description: SORT,
      default: defaultSort,
    },
    `must be one of ${sorts.join(', ')}, or scores.<name>`,
    (text) => (sorts.includes(text) || scoreNamed(text) !== undefined ? text : undefined),
  );
}

/** The name of the score that `scores.<name>` means; undefined: it is something else. */
export function scoreNamed(text: string): string | undefined {
  const name = text.slice(SCORE_PREFIX.length);
  return text.startsWith(SCORE_PREFIX) && name !== '' && name.length <= MAX_SCORE_NAME ? name : undefined;
}

const MAX_VALUES = 1_000;
const RULE = 'must be values separated by commas, or a range of numbers such as 0.5..1, 0.5.. or ..1';
const BOUND = '[+-]?(?:\\d+(?:\\.\\d+)?|\\.\\d+)(?:e[+-]?\\d+)?';
/** `0.5..1`, `0.5..` and `..1`. */
const RANGE = new RegExp(`^(${BOUND})?\\.\\.(${BOUND})?$`, 'i');

/** Filters of a list by scores, by name. */
export const scoreFilters = restByPrefix(
  SCORE_PREFIX,
  'Filters by the newest score of a name, of the object itself or of anything in it: `scores.<name>=<value>`, values separated by ' +
    'commas, or a range of numbers, `scores.<name>=0.5..1`, `0.5..` or `..1`. All of them must match.',
  scoreFilter,
);

/** A filter by a score: a range of numbers, or some values. */
function scoreFilter(texts: readonly string[]): { readonly value: ScoreFilter } | { readonly rule: string } {
  const [text = ''] = texts;
  const range = texts.length === 1 ? RANGE.exec(text) : null;
  if (range !== null) {
    const [min = null, max = null] = range.slice(1).map((bound) => (bound === undefined ? null : Number(bound)));
    if (min === null && max === null) return { rule: RULE };
    return { value: { values: null, min, max } };
  }
  const values = (texts.length > 1 ? texts : splitValues(text)).filter((value) => value !== '');
  if (values.length === 0 || values.length > MAX_VALUES) return { rule: RULE };
  return { value: { values, min: null, max: null } };
}
