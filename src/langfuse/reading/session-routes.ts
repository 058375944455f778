import { Type } from '@sinclair/typebox';
import { DomainError } from '../../engine/errors.js';
import { sessionList, traceList } from '../../engine/traces/model/list/definitions.js';
import { sessionNamed } from '../../otlp/session-id.js';
import { queryOf } from '../../http/query.js';
import { defineRoute } from '../../http/route.js';
import { renderError } from '../errors.js';
import { MAX_ID } from '../ids.js';
import { anyText, metaOf, pageParameters } from '../page.js';
import { TAG } from '../tag.js';
import { filterBy, queryFor, rowsOf, timeOf, type Row } from '../../facade/list-rows.js';
import { SessionPage, SessionWithTraces } from './schema.js';
import { before, environments, presentedTraces, type LangfuseReads } from './trace-routes.js';

type Reads = Pick<LangfuseReads, 'lists'>;

/** Sessions, as clients of Langfuse read them. */
export function langfuseSessionRoutes(reads: Reads) {
  return [listRoute(reads), getRoute(reads)];
}

const SessionQuery = Type.Object({
  ...pageParameters('sessions', 1_000_000),
  fromTimestamp: anyText('Only sessions that were first written then or later, in ISO 8601.'),
  toTimestamp: anyText('Only sessions that were first written before, in ISO 8601.'),
  environment: environments,
});

function listRoute({ lists }: Reads) {
  return defineRoute({
    method: 'GET',
    path: '/api/public/sessions',
    operationId: 'listLangfuseSessions',
    summary: 'List sessions (Langfuse)',
    description: 'Lists sessions that match every given filter, newest first.',
    tag: TAG,
    access: 'key',
    bulk: 'gathered',
    query: queryOf(SessionQuery),
    responses: { 200: { description: 'The sessions.', schema: SessionPage } },
    errors: ['invalid', 'unavailable'],
    renderError,
    async handle({ principal: { project_id }, query, signal }) {
      const { page, limit, fromTimestamp, toTimestamp, environment } = query;
      const asked = queryFor(sessionList, {
        filters: [
          filterBy(sessionList, 'created_after', timeOf('fromTimestamp', fromTimestamp)),
          filterBy(sessionList, 'created_before', before(timeOf('toTimestamp', toTimestamp))),
        ],
        tags: { environment },
        ...{ limit, offset: (page - 1) * limit, count: true },
      });
      const found = await lists.sessions(project_id, asked, signal);
      const data = (await rowsOf(found)).map((session) => toSession(session, project_id));
      return { status: 200, body: { data, meta: metaOf({ page, limit }, found.total ?? 0) } };
    },
  });
}

const MAX_TRACES = 500;

function getRoute(reads: Reads) {
  return defineRoute({
    method: 'GET',
    path: '/api/public/sessions/:langfuse_session',
    operationId: 'getLangfuseSession',
    summary: 'Get a session (Langfuse)',
    description: `Returns a session with its newest ${MAX_TRACES} traces.`,
    tag: TAG,
    access: 'key',
    bulk: 'gathered',
    params: Type.Object({
      langfuse_session: Type.String({ minLength: 1, maxLength: MAX_ID, description: 'Name or id of the session.' }),
    }),
    responses: { 200: { description: 'The session.', schema: SessionWithTraces } },
    errors: ['not_found', 'too_large', 'unavailable'],
    renderError,
    async handle({ principal: { project_id }, params: { langfuse_session }, signal }) {
      const id = sessionNamed(langfuse_session)?.id;
      const one = { filters: [filterBy(sessionList, 'id', id)], limit: 1, offset: 0 };
      const [session] =
        id === undefined
          ? []
          : await rowsOf(await reads.lists.sessions(project_id, queryFor(sessionList, one), signal));
      if (session === undefined) throw new DomainError('not_found', 'There is no session with this id');
      const asked = { filters: [filterBy(traceList, 'session_id', id)], limit: MAX_TRACES, offset: 0 };
      const found = await rowsOf(await reads.lists.traces(project_id, queryFor(traceList, asked), signal));
      const traces = await presentedTraces(reads, project_id, found);
      return { status: 200, body: { ...toSession(session, project_id), traces } };
    },
  });
}

function toSession({ id, name, created_at, tags }: Row, projectId: string) {
  return {
    id: name ?? id,
    projectId,
    createdAt: created_at,
    environment: tags?.['environment'] ?? 'default',
  };
}
