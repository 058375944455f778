import { Type, type Static, type TObject } from '@sinclair/typebox';
import { DomainError } from '../../engine/errors.js';
import { invalid } from '../../engine/validation/validation.js';
import { spanList } from '../../engine/traces/model/list/definitions.js';
import { queryOf } from '../../http/query.js';
import { defineRoute } from '../../http/route.js';
import { renderError } from '../errors.js';
import { MAX_ID, ownId } from '../ids.js';
import { anyText, metaOf, pageParameters } from '../page.js';
import { TAG } from '../tag.js';
import { cursorOf, offsetAt } from './cursor.js';
import { filterBy, queryFor, rowsOf, timeOf } from '../../facade/list-rows.js';
import { KINDS, toObservation } from './presented.js';
import { ObservationPage, ObservationRead, ObservationsBehind } from './schema.js';
import { before, environments, type LangfuseReads } from './trace-routes.js';

type Reads = Pick<LangfuseReads, 'lists'>;

const selection = {
  name: anyText('Only observations with this name.'),
  userId: anyText('Only observations of this user.'),
  type: anyText('Only observations of this type: `GENERATION`, `SPAN`, `TOOL` …'),
  traceId: anyText('Only observations of this trace.'),
  level: anyText('`ERROR`: only observations with an error.'),
  parentObservationId: anyText('Only children of this observation.'),
  fromStartTime: anyText('Only observations that started then or later, in ISO 8601.'),
  toStartTime: anyText('Only observations that started before, in ISO 8601.'),
  version: anyText('Only observations of this version.'),
  environment: environments,
};
type Selection = Static<TObject<typeof selection>>;

/** Observations, as clients of Langfuse read them. */
export function langfuseObservationRoutes(reads: Reads) {
  return [listRoute(reads), listBehindRoute(reads), getRoute(reads)];
}

function observationQuery(
  projectId: string,
  asked: Selection,
  window: { readonly limit: number; readonly offset: number; readonly count: boolean },
) {
  const { name, userId, type, traceId, level, parentObservationId, fromStartTime, toStartTime, version, environment } =
    asked;
  if (level !== undefined && level !== 'ERROR')
    throw invalid([{ pointer: '?level', detail: 'must be `ERROR`, or absent' }]);
  const own = (id: string | undefined) => (id === undefined ? undefined : ownId(projectId, id));
  return queryFor(spanList, {
    filters: [
      filterBy(spanList, 'names', name),
      filterBy(spanList, 'span_kind', type === undefined ? undefined : kindOf(type)),
      filterBy(spanList, 'trace_id', own(traceId)),
      filterBy(spanList, 'has_error', level === undefined ? undefined : true),
      filterBy(spanList, 'parent_span_id', own(parentObservationId)),
      filterBy(spanList, 'started_after', timeOf('fromStartTime', fromStartTime)),
      filterBy(spanList, 'started_before', before(timeOf('toStartTime', toStartTime))),
    ],
    tags: { user: userId, version, environment },
    ...window,
  });
}

function kindOf(type: string): string {
  const upper = type.toUpperCase();
  const kind = upper === 'SPAN' || upper === 'EVENT' ? 'generic' : KINDS[upper];
  if (kind === undefined)
    throw invalid([{ pointer: '?type', detail: `must be SPAN, EVENT, ${Object.keys(KINDS).join(', ')}` }]);
  return kind;
}

function listRoute({ lists }: Reads) {
  return defineRoute({
    method: 'GET',
    path: '/api/public/observations',
    operationId: 'listLangfuseObservations',
    summary: 'List observations (Langfuse)',
    description: 'Lists spans that match every given filter, newest first.',
    tag: TAG,
    access: 'key',
    bulk: 'gathered',
    query: queryOf(Type.Object({ ...pageParameters('observations', 1_000_000), ...selection })),
    responses: { 200: { description: 'The observations.', schema: ObservationPage } },
    errors: ['invalid', 'too_large', 'unavailable'],
    renderError,
    async handle({ principal: { project_id }, query: { page, limit, ...asked }, signal }) {
      const window = { limit, offset: (page - 1) * limit, count: true };
      const found = await lists.spans(project_id, observationQuery(project_id, asked, window), signal);
      const data = (await rowsOf(found)).map((span) => toObservation(span, project_id));
      return { status: 200, body: { data, meta: metaOf({ page, limit }, found.total ?? 0) } };
    },
  });
}

const MAX_BEHIND = 1_000;
const BehindQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: MAX_BEHIND, default: 50, description: 'Most observations of a page.' }),
  cursor: anyText('Where the page before ended.'),
  fields: anyText('Ignored: all fields are returned.'),
  expandMetadata: anyText('Ignored: metadata is returned whole.'),
  parseIoAsJson: anyText('Ignored: what is JSON is returned as JSON.'),
  ...selection,
});

function listBehindRoute({ lists }: Reads) {
  return defineRoute({
    method: 'GET',
    path: '/api/public/v2/observations',
    operationId: 'listLangfuseObservationsByCursor',
    summary: 'List observations by a cursor (Langfuse)',
    description: 'Lists spans that match every given filter, newest first.',
    tag: TAG,
    access: 'key',
    bulk: 'gathered',
    query: queryOf(BehindQuery),
    responses: { 200: { description: 'The observations.', schema: ObservationsBehind } },
    errors: ['invalid', 'too_large', 'unavailable'],
    renderError,
    async handle({ principal: { project_id }, query: { limit, cursor, ...asked }, signal }) {
      const offset = offsetAt(cursor);
      const query = observationQuery(project_id, asked, { limit: limit + 1, offset, count: false });
      const found = await rowsOf(await lists.spans(project_id, query, signal));
      const data = found.slice(0, limit).map((span) => toObservation(span, project_id));
      return { status: 200, body: { data, meta: { cursor: found.length > limit ? cursorOf(offset + limit) : null } } };
    },
  });
}

function getRoute({ lists }: Reads) {
  return defineRoute({
    method: 'GET',
    path: '/api/public/observations/:observation_id',
    operationId: 'getLangfuseObservation',
    summary: 'Get an observation (Langfuse)',
    description: 'Returns a span.',
    tag: TAG,
    access: 'key',
    bulk: 'gathered',
    params: Type.Object({
      observation_id: Type.String({ minLength: 1, maxLength: MAX_ID, description: 'Id of the observation.' }),
    }),
    responses: { 200: { description: 'The observation.', schema: ObservationRead } },
    errors: ['not_found', 'too_large', 'unavailable'],
    renderError,
    async handle({ principal: { project_id }, params: { observation_id }, signal }) {
      const filters = [filterBy(spanList, 'id', ownId(project_id, observation_id))];
      const query = { ...queryFor(spanList, { filters, limit: 1, offset: 0 }), internal: 'included' } as const;
      const [span] = await rowsOf(await lists.spans(project_id, query, signal));
      if (span === undefined) throw new DomainError('not_found', 'There is no observation with this id');
      return { status: 200, body: toObservation(span, project_id) };
    },
  });
}
