import { Type, type Static, type TObject } from '@sinclair/typebox';
import { oneOf, uuid } from '../../../engine/schema/parts.js';
import { formatTimestamp } from '../../../engine/timestamp.js';
import { page } from '../../../http/page.js';
import { exportFormat } from '../../../http/parameters.js';
import { queryOf } from '../../../http/query.js';
import { defineRoute } from '../../../http/route.js';
import { checkTimeRange, timeRange } from '../../../http/time-range.js';
import { columnsOf } from '../../exports/exported-rows.js';
import type { Exports } from '../../exports/exports.js';
import { exportRoute, type ExportedList } from '../../exports/http/export-route.js';
import { ACTORS, type AuditEntry, type AuditFilter } from '../audit-entry.js';
import type { AuditTrail } from '../audit-trail.js';
import { ACTION_NAMES, AuditEntryRead, AuditPageRead, OBJECT_TYPES, objectTypeOf } from '../schema.js';

/** How the documentation groups these routes. */
const TAG = 'Audit';
const SCOPES = ['audit:read'] as const;

/** The audit log of a project. */
export function auditRoutes(audit: Pick<AuditTrail, 'list' | 'exported'>, exports: Exports) {
  return [listRoute(audit), exportRoute(exportedAudit(audit), exports)];
}

const selection = {
  ...timeRange('entries'),
  action: Type.Optional(oneOf(ACTION_NAMES, 'Only this action.')),
  actor: Type.Optional(oneOf(ACTORS, 'Only actions of people, keys, commands or the server itself.')),
  actor_id: Type.Optional(uuid('Only actions of the user, or of the API key, with this id.')),
  object_type: Type.Optional(oneOf(OBJECT_TYPES, 'Only actions on objects of this type.')),
  object_id: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'Only actions on the object with this id.' }),
  ),
};

type Values = Partial<Static<TObject<typeof selection>>>;

function filterOf({ start_date, end_date, action, actor, actor_id, object_type, object_id }: Values): AuditFilter {
  return {
    ...{ start: start_date ?? null, end: end_date ?? null, action: action ?? null, actor: actor ?? null },
    ...{ actorId: actor_id ?? null, objectType: object_type ?? null, objectId: object_id ?? null },
  };
}

const listQuery = queryOf(
  Type.Object({
    ...page({ maxLimit: 500, defaultLimit: 100 }),
    ...selection,
    sort_order: oneOf(['asc', 'desc'], 'desc: newest first; asc: oldest first.', 'desc'),
  }),
  {
    check: checkTimeRange,
    to: ({ limit, offset, sort_order, ...values }) => ({
      window: { limit, offset },
      descending: sort_order === 'desc',
      filter: filterOf(values),
    }),
  },
);

function listRoute(audit: Pick<AuditTrail, 'list'>) {
  return defineRoute({
    method: 'GET',
    path: '/audit',
    operationId: 'listAudit',
    summary: 'List the audit log',
    description:
      'Returns who did what in the project, and when: keys, people, prompts, judges, prices, settings, exports and deletions. ' +
      'It has names and ids, never contents or secrets. `total` counts all entries that match.',
    tag: TAG,
    access: 'key',
    scopes: SCOPES,
    query: listQuery,
    responses: { 200: { description: 'A page of the audit log.', schema: AuditPageRead } },
    errors: ['invalid', 'unavailable'],
    handle({ principal, query: { window, descending, filter } }) {
      const { entries, total } = audit.list(principal.project_id, filter, window, descending);
      return { status: 200, body: { total, ...window, entries: entries.map(auditEntryRead) } };
    },
  });
}

function exportedAudit(audit: Pick<AuditTrail, 'exported'>): ExportedList<'audit', AuditFilter> {
  return {
    name: 'audit',
    objects: 'entries of the audit log',
    tag: TAG,
    scopes: SCOPES,
    described: 'Filters are those of `GET /audit`.',
    query: queryOf(Type.Object({ ...selection, format: exportFormat }), {
      check: checkTimeRange,
      to: ({ format, ...values }) => ({ query: filterOf(values), format }),
    }),
    rows: (projectId, filter) => ({
      columns: columnsOf(AuditEntryRead),
      async *pages() {
        for await (const entries of audit.exported(projectId, filter))
          yield entries.map((entry) => JSON.stringify(auditEntryRead(entry)));
      },
    }),
  };
}

/** An entry as clients read it. */
export function auditEntryRead(entry: AuditEntry): AuditEntryRead {
  const { number, action, actor, user_id, user_name, key_id, key_name, sign_in_id, object_id, object_name } = entry;
  return {
    number,
    created_at: formatTimestamp(entry.created_at),
    ...{ action, actor, user_id, user_name, key_id, key_name, sign_in_id },
    ...{ object_type: objectTypeOf(action), object_id, object_name },
    changes: entry.changes.map((change) => ({ ...change })),
    address: entry.address,
    request_id: entry.request_id,
  };
}
