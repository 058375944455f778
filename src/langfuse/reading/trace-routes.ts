import { Type, type Static } from '@sinclair/typebox';
import { DomainError } from '../../engine/errors.js';
import { invalid } from '../../engine/validation/validation.js';
import { spanList, traceList } from '../../engine/traces/model/list/definitions.js';
import type { Lists } from '../../engine/traces/model/list/lists.js';
import type { ScoreService } from '../../features/scores/score-service.js';
import { csv } from '../../http/parameter.js';
import { queryOf } from '../../http/query.js';
import { defineRoute } from '../../http/route.js';
import { renderError } from '../errors.js';
import { askedSession, MAX_ID, ownId } from '../ids.js';
import { anyText, metaOf, pageParameters } from '../page.js';
import { ANY_SCORE, ScoreRead, toRead as toScoreRead } from '../score-routes.js';
import { TAG } from '../tag.js';
import { filterBy, queryFor, rowsOf, timeOf, type Row } from '../../facade/list-rows.js';
import { standsForTrace, toObservation, toTrace } from './presented.js';
import { ObservationRead, TracePage, TraceRead } from './schema.js';

export interface LangfuseReads {
  readonly lists: Pick<Lists, 'spans' | 'traces' | 'sessions' | 'sessionsById'>;
  readonly scores: Pick<ScoreService, 'list'>;
}

export const environments = Type.Optional(
  csv(Type.String({ minLength: 1, maxLength: 1000 }), { description: 'Only those of these environments.' }),
);

/** The last microsecond that still counts. */
export const before = (time: number | undefined) => (time === undefined ? undefined : time - 1);

const SORTS = { timestamp: 'started_at', name: 'name' } as const;

const TraceQuery = Type.Object({
  ...pageParameters('traces', 1_000_000),
  userId: anyText('Only traces of this user.'),
  name: anyText('Only traces with this name.'),
  sessionId: anyText('Only traces of this session.'),
  fromTimestamp: anyText('Only traces that started then or later, in ISO 8601.'),
  toTimestamp: anyText('Only traces that started before, in ISO 8601.'),
  orderBy: anyText('`timestamp` or `name`, with `.asc` or `.desc`. Default: `timestamp.desc`.'),
  tags: Type.Optional(
    csv(Type.String({ minLength: 1, maxLength: 1000 }), { description: 'Only traces with all of these tags.' }),
  ),
  version: anyText('Only traces of this version.'),
  release: anyText('Only traces of this release.'),
  environment: environments,
  fields: anyText('Ignored: all fields are returned.'),
});

/** Traces, as clients of Langfuse read them. */
export function langfuseTraceRoutes(reads: LangfuseReads) {
  return [listRoute(reads), getRoute(reads)];
}

function listRoute(reads: LangfuseReads) {
  return defineRoute({
    method: 'GET',
    path: '/api/public/traces',
    operationId: 'listLangfuseTraces',
    summary: 'List traces (Langfuse)',
    description: 'Lists traces that match every given filter, newest first, those of experiments among them.',
    tag: TAG,
    access: 'key',
    bulk: 'gathered',
    query: queryOf(TraceQuery),
    responses: { 200: { description: 'The traces.', schema: TracePage } },
    errors: ['invalid', 'too_large', 'unavailable'],
    renderError,
    async handle({ principal: { project_id }, query, signal }) {
      const { page, limit } = query;
      const found = await reads.lists.traces(project_id, traceQuery(query), signal);
      const traces = await rowsOf(found);
      const presented = await presentedTraces(reads, project_id, traces);
      const ids = traces.map(({ id }) => id);
      const [observations, scores] = await Promise.all([
        observationIds(reads, project_id, ids, signal),
        scoreIds(reads, project_id, ids, signal),
      ]);
      const data = presented.map((trace) => ({
        ...trace,
        observations: observations.get(trace.id) ?? [],
        scores: scores.get(trace.id) ?? [],
      }));
      return { status: 200, body: { data, meta: metaOf({ page, limit }, found.total ?? 0) } };
    },
  });
}

function traceQuery(query: Static<typeof TraceQuery>) {
  const { page, limit, name, userId, sessionId, fromTimestamp, toTimestamp, orderBy, tags, version, release } = query;
  const [field = 'timestamp', order = 'desc'] = (orderBy ?? '').split('.').filter((part) => part !== '');
  if (!Object.hasOwn(SORTS, field) || !/^(asc|desc)$/i.test(order))
    throw invalid([{ pointer: '?orderBy', detail: 'must be `timestamp` or `name`, with `.asc` or `.desc`' }]);
  const named = Object.fromEntries((tags ?? []).map((tag) => [tag, 'true']));
  return queryFor(traceList, {
    filters: [
      filterBy(traceList, 'names', name),
      filterBy(traceList, 'session_id', askedSession(sessionId)),
      filterBy(traceList, 'started_after', timeOf('fromTimestamp', fromTimestamp)),
      filterBy(traceList, 'started_before', before(timeOf('toTimestamp', toTimestamp))),
    ],
    tags: { user: userId, version, release, environment: query.environment, ...named },
    sort: SORTS[field as keyof typeof SORTS],
    descending: order.toLowerCase() === 'desc',
    ...{ limit, offset: (page - 1) * limit, count: true },
  });
}

/** Traces with the names of their sessions. */
export async function presentedTraces(
  { lists }: Pick<LangfuseReads, 'lists'>,
  projectId: string,
  traces: readonly Row[],
) {
  const ids = [...new Set(traces.flatMap(({ session_id }) => (session_id === null ? [] : [session_id])))];
  const sessions = ids.length === 0 ? new Map<string, never>() : await lists.sessionsById(projectId, ids);
  return traces.map((trace) => toTrace(trace, { projectId, sessions }));
}

const ID_AND_TRACE = ['id', 'trace_id'];
const BY_TRACES = {
  parameter: 'trace_ids',
  field: 'trace_id',
  comparison: 'anyOf',
  description: 'Spans of some traces.',
} as const;

async function observationIds(
  { lists }: LangfuseReads,
  projectId: string,
  traces: readonly string[],
  signal: AbortSignal,
) {
  const byTrace = new Map<string, string[]>();
  if (traces.length === 0) return byTrace;
  const filters = [{ filter: BY_TRACES, values: traces }];
  const query = queryFor(spanList, { filters, fields: ID_AND_TRACE, limit: spanList.maxLimit, offset: 0 });
  for (const span of await rowsOf(await lists.spans(projectId, query, signal)))
    if (!standsForTrace(span)) note(byTrace, span.trace_id, span.id);
  return byTrace;
}

async function scoreIds({ scores }: LangfuseReads, projectId: string, traces: readonly string[], signal: AbortSignal) {
  const byTrace = new Map<string, string[]>();
  if (traces.length === 0) return byTrace;
  const query = {
    ...ANY_SCORE,
    entityType: 'trace',
    entityIds: traces,
    limit: 1_000,
    offset: 0,
    count: false,
  } as const;
  for (const { id, entity_id } of (await scores.list(projectId, query, signal)).scores) note(byTrace, entity_id, id);
  return byTrace;
}

function note(lists: Map<string, string[]>, key: string, id: string): void {
  const known = lists.get(key);
  if (known === undefined) lists.set(key, [id]);
  else known.push(id);
}

/** Most observations and scores that come with their trace. */
const MAX_BELOW = 1_000;

const TraceWithAll = Type.Object(
  {
    ...TraceRead.properties,
    observations: Type.Array(ObservationRead, { description: `Its observations, oldest first, up to ${MAX_BELOW}.` }),
    scores: Type.Array(ScoreRead, { description: `Its scores and those of its observations, up to ${MAX_BELOW}.` }),
  },
  { $id: 'LangfuseTraceWithDetails', description: 'A trace with all that is in it, as clients of Langfuse read it.' },
);

const TraceParams = Type.Object({
  trace_id: Type.String({ minLength: 1, maxLength: MAX_ID, description: 'Id of the trace, as the client named it.' }),
});

function getRoute(reads: LangfuseReads) {
  return defineRoute({
    method: 'GET',
    path: '/api/public/traces/:trace_id',
    operationId: 'getLangfuseTrace',
    summary: 'Get a trace (Langfuse)',
    description: `Returns a trace with up to ${MAX_BELOW} observations and scores.`,
    tag: TAG,
    access: 'key',
    bulk: 'gathered',
    params: TraceParams,
    query: queryOf(Type.Object({ fields: anyText('Ignored: all fields are returned.') })),
    responses: { 200: { description: 'The trace.', schema: TraceWithAll } },
    errors: ['not_found', 'too_large', 'unavailable'],
    renderError,
    async handle({ principal: { project_id }, params: { trace_id }, signal }) {
      const id = ownId(project_id, trace_id);
      const window = { limit: 1, offset: 0 };
      const asked = queryFor(traceList, { filters: [filterBy(traceList, 'id', id)], ...window });
      const found = await rowsOf(await reads.lists.traces(project_id, { ...asked, internal: 'included' }, signal));
      const [trace] = await presentedTraces(reads, project_id, found);
      if (trace === undefined) throw new DomainError('not_found', 'There is no trace with this id');
      const oldest = { sort: 'started_at', descending: false, limit: MAX_BELOW, offset: 0 };
      const below = queryFor(spanList, { filters: [filterBy(spanList, 'trace_id', id)], ...oldest });
      const [spans, { scores }] = await Promise.all([
        reads.lists.spans(project_id, { ...below, internal: 'included' }, signal).then(rowsOf),
        reads.scores.list(project_id, { ...ANY_SCORE, traceId: id, limit: MAX_BELOW, offset: 0, count: false }, signal),
      ]);
      const observations = spans.filter((span) => !standsForTrace(span)).map((span) => toObservation(span, project_id));
      return { status: 200, body: { ...trace, observations, scores: scores.map(toScoreRead) } };
    },
  });
}
