import { Type } from '@sinclair/typebox';
import { DomainError } from '../../engine/errors.js';
import type { Principal } from '../../engine/identity/identity.js';
import type { DeletionService } from '../../features/deletion/deletion-service.js';
import { defineRoute, jsonBody } from '../../http/route.js';
import { sessionNamed } from '../../otlp/session-id.js';
import { BASE, TAG } from '../tag.js';
import { SessionName } from './session-routes.js';

export type SessionDeletions = Pick<DeletionService, 'delete'>;

/** Most sessions of one request: each is deleted by itself, while the client waits. */
const MAX_SESSIONS = 100;

const shared = { tag: TAG, access: 'key', scopes: ['admin'] } as const;

/** Deletions of sessions, as clients of Phoenix ask for them: with their traces, spans and scores. */
export function deleteSessionRoutes(deletions: SessionDeletions) {
  return [deleteRoute(deletions), deleteSeveralRoute(deletions)];
}

function deleteRoute(deletions: SessionDeletions) {
  return defineRoute({
    ...shared,
    method: 'DELETE',
    path: `${BASE}/v1/sessions/:phoenix_session`,
    operationId: 'deletePhoenixSession',
    summary: 'Delete a session (Phoenix)',
    description: 'Deletes a session, its traces and all their spans and scores.',
    params: Type.Object({ phoenix_session: SessionName }),
    responses: { 204: { description: 'The session is deleted.' } },
    errors: ['not_found', 'invalid', 'overloaded', 'unavailable'],
    async handle({ principal, params: { phoenix_session } }) {
      if (await remove(deletions, principal, phoenix_session)) return { status: 204 };
      throw new DomainError('not_found', 'There is no session with this id');
    },
  });
}

const Input = Type.Object(
  {
    session_identifiers: Type.Array(SessionName, {
      ...{ minItems: 1, maxItems: MAX_SESSIONS },
      description: 'The sessions. Those that do not exist are skipped.',
    }),
  },
  { $id: 'PhoenixSessionsInput', description: 'Sessions to delete.' },
);

function deleteSeveralRoute(deletions: SessionDeletions) {
  return defineRoute({
    ...shared,
    method: 'POST',
    path: `${BASE}/v1/sessions/delete`,
    operationId: 'deletePhoenixSessions',
    summary: 'Delete sessions (Phoenix)',
    description:
      'Deletes sessions one by one, each with its traces and all their spans and scores. After an error, send the request again: ' +
      'what is gone is skipped.',
    body: jsonBody(Input, { lenient: true }),
    responses: { 204: { description: 'The sessions are deleted.' } },
    errors: ['invalid', 'overloaded', 'unavailable'],
    async handle({ principal, body: { session_identifiers } }) {
      for (const session of new Set(session_identifiers)) await remove(deletions, principal, session);
      return { status: 204 };
    },
  });
}

/** @returns whether there was such a session @throws DomainError as {@link DeletionService.delete} does */
async function remove(deletions: SessionDeletions, by: Principal, session: string): Promise<boolean> {
  const named = sessionNamed(session);
  return named !== null && (await deletions.delete(by.project_id, { kind: 'session', id: named.id, by }));
}
