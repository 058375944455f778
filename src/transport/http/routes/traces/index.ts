import type { DeletionService } from '../../../../domain/deletion/deletion-service.js';
import type { IngestService } from '../../../../domain/ingest/ingest-service.js';
import { sessionList, spanList, traceList } from '../../../../domain/list/definitions.js';
import type { Lists } from '../../../../domain/list/lists.js';
import { SessionRead, SpanRead, TraceRead } from '../../../../domain/list/read-schemas.js';
import type { Route } from '../../route.js';
import { deleteRoute } from './delete-route.js';
import { listRoute } from './list-route.js';
import { postSpansRoute } from './post-spans.js';
import { postSessionsRoute, postTracesRoute } from './post-traces.js';

export interface TraceRouteParts {
  readonly ingest: IngestService;
  readonly lists: Lists;
  readonly deletions: Pick<DeletionService, 'delete'>;
}

/** Everything about spans, traces and sessions. */
export function traceRoutes({ ingest, lists, deletions }: TraceRouteParts): Route[] {
  return [
    postSpansRoute(ingest),
    listRoute(spanList, SpanRead, (projectId, query, signal) => lists.spans(projectId, query, signal)),
    deleteRoute('span', deletions),
    postTracesRoute(ingest),
    listRoute(traceList, TraceRead, (projectId, query, signal) => lists.traces(projectId, query, signal)),
    deleteRoute('trace', deletions),
    postSessionsRoute(ingest),
    listRoute(sessionList, SessionRead, (projectId, query, signal) => lists.sessions(projectId, query, signal)),
    deleteRoute('session', deletions),
  ];
}
