import { Type, type Static, type TObject, type TSchema } from '@sinclair/typebox';
import { oneOf, uuid } from '../../../engine/schema/parts.js';
import { SCORE_SOURCES, SCORED } from '../../../engine/traces/model/score/score.js';
import type { ScoreQuery } from '../../../engine/traces/model/score/scores.js';
import { page } from '../../../http/page.js';
import { csv, endTime, time as timeParameter } from '../../../http/parameter.js';
import { exportFormat } from '../../../http/parameters.js';
import { queryOf } from '../../../http/query.js';

const MAX_ASKED = 500;
const some = <S extends TSchema>(items: S, description: string) =>
  Type.Optional(csv(items, { description, maxItems: MAX_ASKED }));

const selection = {
  entity_type: Type.Optional(oneOf(SCORED, 'Only scores of spans, of traces or of sessions.')),
  entity_id: some(uuid('Id of a span, trace or session.'), 'Only scores of these, by id, separated by commas.'),
  trace_id: Type.Optional(uuid('Only scores of this trace and of its spans.')),
  session_id: Type.Optional(uuid('Only scores of this session, of its traces and of their spans.')),
  name: some(Type.String(), 'Only scores with one of these names, separated by commas.'),
  source: some(oneOf(SCORE_SOURCES, 'A source.'), 'Only scores from one of these sources, separated by commas.'),
  author: some(Type.String(), 'Only scores of one of these authors, separated by commas.'),
  value: some(Type.String(), 'Only scores with one of these categories or texts, separated by commas.'),
  value_min: Type.Optional(Type.Number({ description: 'Lowest value of numbers, inclusive. Of booleans, true is 1.' })),
  value_max: Type.Optional(Type.Number({ description: 'Highest value of numbers, inclusive.' })),
  created_after: Type.Optional(timeParameter('Only scores received then or later.')),
  created_before: Type.Optional(endTime('Only scores received then or earlier.')),
};

const ListQuery = Type.Object({
  ...selection,
  sort_by: oneOf(['created_at', 'value'], 'Field to sort by. Numbers come before texts.', 'created_at'),
  sort_order: oneOf(['asc', 'desc'], 'Ascending or descending.', 'desc'),
  ...page({ maxLimit: 1_000, defaultLimit: 100, maxOffset: 10_000_000 }),
  count: Type.Boolean({
    default: false,
    description: 'Whether to count all matches too, in the header X-Total-Count.',
  }),
});

/** What a list of scores is asked for. */
export const listQuery = queryOf(ListQuery, {
  to: ({ limit, offset, count, sort_by, sort_order, ...asked }): ScoreQuery => ({
    ...selectionOf(asked),
    sort: sort_by,
    descending: sort_order === 'desc',
    ...{ limit, offset, count },
  }),
});

/** Which scores a query finds. */
export type ScoreSelection = Omit<ScoreQuery, 'sort' | 'descending' | 'limit' | 'offset' | 'count' | 'behind'>;

/** Which scores are meant. */
export const selectedScores = queryOf(Type.Object(selection), { to: selectionOf });

/** What an export of scores is asked for. */
export const exportQuery = queryOf(Type.Object({ ...selection, format: exportFormat }), {
  to: ({ format, ...asked }) => ({ query: selectionOf(asked), format }),
});

function selectionOf(query: Static<TObject<typeof selection>>): ScoreSelection {
  return {
    entityType: query.entity_type ?? null,
    entityIds: query.entity_id ?? null,
    traceId: query.trace_id ?? null,
    sessionId: query.session_id ?? null,
    names: query.name ?? null,
    sources: query.source ?? null,
    authors: query.author ?? null,
    texts: query.value ?? null,
    min: query.value_min ?? null,
    max: query.value_max ?? null,
    createdAfter: query.created_after ?? null,
    createdBefore: query.created_before ?? null,
  };
}
