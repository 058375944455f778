import { Type, type Static } from '@sinclair/typebox';
import { DomainError } from '../../engine/errors.js';
import { count, oneOf, time, uuid } from '../../engine/schema/parts.js';
import { sessionList, traceList } from '../../engine/traces/model/list/definitions.js';
import type { Lists } from '../../engine/traces/model/list/lists.js';
import { filterBy, queryFor, rowsOf, type Row } from '../../facade/list-rows.js';
import { queryOf } from '../../http/query.js';
import { defineRoute } from '../../http/route.js';
import { sessionNamed } from '../../otlp/session-id.js';
import { ProjectParams } from '../annotations/read-route.js';
import { cursor, cursorBehind, limit, nextCursor, offsetAt } from '../cursor.js';
import { BASE, TAG } from '../tag.js';

type Reads = Pick<Lists, 'sessions' | 'traces'>;

/** Sessions, as clients of Phoenix read them. */
export function sessionRoutes(lists: Reads) {
  return [listRoute(lists), getRoute(lists)];
}

export const SessionName = Type.String({ minLength: 1, maxLength: 4096, description: 'Name or id of the session.' });

/** Most traces of the sessions of one answer: of more sessions, a page has fewer; of one session, the first are named. */
const MAX_TRACES = 5_000;

const TraceRead = Type.Object({
  id: uuid('Id of the trace.'),
  trace_id: Type.String({ description: 'The same, as OpenTelemetry names it.' }),
  start_time: time('Start of the trace.'),
  end_time: time('End of the trace; of one that has not ended, its start.'),
});
const tokens = (what: string) => count(`${what} of all spans.`);
const SessionRead = Type.Object(
  {
    id: uuid('Id of the session.'),
    session_id: Type.String({ description: 'How the application names it.' }),
    project_id: Type.String({ description: 'The tag `project` of the session.' }),
    start_time: time('Start of its first trace.'),
    end_time: time('End of its last trace.'),
    traces: Type.Array(TraceRead, { description: `Its traces, the first ones first, ${MAX_TRACES} at most.` }),
    token_count_prompt: tokens('Input tokens'),
    token_count_completion: tokens('Output tokens'),
    token_count_total: tokens('Both'),
  },
  { $id: 'PhoenixSession', description: 'A session, as clients of Phoenix read it.' },
);

const Page = Type.Object(
  { data: Type.Array(SessionRead, { description: 'A page of sessions.' }), next_cursor: nextCursor },
  { $id: 'PhoenixSessions', description: 'A page of sessions.' },
);
const shared = { tag: TAG, access: 'key', scopes: ['spans:read'], bulk: 'gathered' } as const;

function listRoute(lists: Reads) {
  return defineRoute({
    ...shared,
    method: 'GET',
    path: `${BASE}/v1/projects/:phoenix_project/sessions`,
    operationId: 'listPhoenixSessions',
    summary: 'List sessions (Phoenix)',
    description: 'Lists sessions with the tag `project`, in the order in which they were first written.',
    params: ProjectParams,
    query: queryOf(
      Type.Object({
        limit: limit('sessions', 100),
        cursor,
        order: oneOf(['asc', 'desc'], 'Whether the oldest or the newest come first.', 'asc'),
      }),
    ),
    responses: { 200: { description: 'The sessions.', schema: Page } },
    errors: ['too_large', 'unavailable'],
    async handle({ principal: { project_id }, params, query: { limit: most, cursor: at, order }, signal }) {
      const offset = offsetAt(at);
      const project = params.phoenix_project;
      const asked = queryFor(sessionList, {
        filters: [],
        tags: { project },
        ...{ sort: 'created_at', descending: order === 'desc', limit: most, offset },
      });
      const found = await rowsOf(await lists.sessions(project_id, asked, signal));
      const { traces, sessions } = await withTraces(lists, project_id, found, signal);
      const data = sessions.map((session) => toSession(session, traces, project));
      const isLast = found.length < most && sessions.length === found.length;
      return { status: 200, body: { data, next_cursor: cursorBehind(offset + sessions.length, isLast) } };
    },
  });
}

function getRoute(lists: Reads) {
  return defineRoute({
    ...shared,
    method: 'GET',
    path: `${BASE}/v1/sessions/:phoenix_session`,
    operationId: 'getPhoenixSession',
    summary: 'Get a session (Phoenix)',
    description: 'Returns a session with its traces.',
    params: Type.Object({ phoenix_session: SessionName }),
    responses: {
      200: {
        description: 'The session.',
        schema: Type.Object({ data: SessionRead }, { $id: 'PhoenixSessionAnswer', description: 'A session.' }),
      },
    },
    errors: ['not_found', 'too_large', 'unavailable'],
    async handle({ principal: { project_id }, params: { phoenix_session }, signal }) {
      const id = sessionNamed(phoenix_session)?.id;
      const one = queryFor(sessionList, { filters: [filterBy(sessionList, 'id', id)], limit: 1, offset: 0 });
      const found = id === undefined ? [] : await rowsOf(await lists.sessions(project_id, one, signal));
      const { traces, sessions } = await withTraces(lists, project_id, found, signal);
      const [session] = sessions;
      if (session === undefined) throw new DomainError('not_found', 'There is no session with this id');
      return { status: 200, body: { data: toSession(session, traces) } };
    },
  });
}

const BY_SESSIONS = {
  parameter: 'session_ids',
  field: 'session_id',
  comparison: 'anyOf',
  description: 'Traces of some sessions.',
} as const;

interface WithTraces {
  /** The first of the sessions, at least one. */
  readonly sessions: readonly Row[];
  readonly traces: ReadonlyMap<string | null, readonly Row[]>;
}

/** The traces of as many of some sessions as have few enough, in one read or few. */
async function withTraces(lists: Reads, projectId: string, found: readonly Row[], signal: AbortSignal) {
  for (let sessions = found; ; sessions = sessions.slice(0, Math.ceil(sessions.length / 4))) {
    if (sessions.length === 0) return { sessions, traces: new Map() } satisfies WithTraces;
    const asked = queryFor(traceList, {
      filters: [{ filter: BY_SESSIONS, values: sessions.map(({ id }) => id) }],
      ...{ sort: 'started_at', descending: false, limit: MAX_TRACES + 1, offset: 0 },
      fields: ['id', 'session_id', 'started_at', 'ended_at'],
    });
    const traces = await rowsOf(await lists.traces(projectId, asked, signal));
    if (traces.length > MAX_TRACES && sessions.length > 1) continue;
    const bySession = new Map<string | null, Row[]>(sessions.map(({ id }) => [id, []]));
    for (const trace of traces.slice(0, MAX_TRACES)) bySession.get(trace.session_id)?.push(trace);
    return { sessions, traces: bySession } satisfies WithTraces;
  }
}

/** @param project default: as the session says */
function toSession(session: Row, traces: WithTraces['traces'], project?: string): Static<typeof SessionRead> {
  const { id, name, started_at, ended_at, created_at, tags } = session;
  const [input, output] = [session.input_tokens ?? 0, session.output_tokens ?? 0];
  const start = (started_at as string | null) ?? created_at;
  return {
    ...{ id, session_id: name ?? id, project_id: project ?? tags?.['project'] ?? 'default' },
    ...{ start_time: start, end_time: ended_at ?? start },
    traces: (traces.get(id) ?? []).map((trace) => ({
      ...{ id: trace.id, trace_id: trace.id.replaceAll('-', '') },
      ...{ start_time: trace.started_at, end_time: trace.ended_at ?? trace.started_at },
    })),
    ...{ token_count_prompt: input, token_count_completion: output, token_count_total: input + output },
  };
}
