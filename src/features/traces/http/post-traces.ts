import { mayRead } from '../../../engine/identity/scopes.js';
import { SessionInput, TraceInput } from '../../../engine/traces/model/trace/schema.js';
import type { PostedIngest } from '../posted-ingest.js';
import { SessionRead, TraceRead, partly } from '../../../engine/traces/model/list/read-schemas.js';
import { defineRoute, jsonElements } from '../../../http/route.js';

/** What a key that may not read is answered. */
const AS_SENT = 'A key that may only send gets back only the fields it sent, without figures.';

export function postTracesRoute(ingest: Pick<PostedIngest, 'postTraces'>) {
  return defineRoute({
    method: 'POST',
    path: '/traces',
    operationId: 'postTraces',
    summary: 'Create or replace traces',
    description:
      'Stores traces, all or none. Posted fields override values derived from spans. If you post a trace again, it ' +
      'replaces all fields posted before. ' +
      AS_SENT,
    tag: 'Traces',
    access: 'key',
    body: jsonElements(TraceInput, 'The traces.'),
    responses: {
      200: { description: 'The traces, with counts, costs and times from their spans.', schema: partly(TraceRead) },
    },
    errors: ['invalid', 'overloaded', 'unavailable'],
    async handle({ principal, body, unknown }) {
      const options = { mayRead: mayRead(principal), unknown };
      return { status: 200, body: await ingest.postTraces(principal.project_id, body, options) };
    },
  });
}

export function postSessionsRoute(ingest: Pick<PostedIngest, 'postSessions'>) {
  return defineRoute({
    method: 'POST',
    path: '/sessions',
    operationId: 'postSessions',
    summary: 'Create or replace sessions',
    description:
      'Stores sessions, all or none. Posted fields override values derived from spans. If you post a session again, ' +
      'it replaces all fields posted before. ' +
      AS_SENT,
    tag: 'Traces',
    access: 'key',
    body: jsonElements(SessionInput, 'The sessions.'),
    responses: {
      200: {
        description: 'The sessions, with counts, costs and times from their traces.',
        schema: partly(SessionRead),
      },
    },
    errors: ['forbidden', 'invalid', 'overloaded', 'unavailable'],
    async handle({ principal, body, unknown }) {
      const options = { mayRead: mayRead(principal), unknown };
      return { status: 200, body: await ingest.postSessions(principal.project_id, body, options) };
    },
  });
}
