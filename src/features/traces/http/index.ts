import type { DeletionService } from '../../deletion/deletion-service.js';
import type { PostedIngest } from '../posted-ingest.js';
import { sessionList, spanList, traceList } from '../../../engine/traces/model/list/definitions.js';
import type { Lists } from '../../../engine/traces/model/list/lists.js';
import type { ListStatistics } from '../../../engine/traces/model/list/statistics.js';
import { SessionRead, SpanRead, TraceRead } from '../../../engine/traces/model/list/read-schemas.js';
import type { OutlineService } from '../../../engine/traces/model/trace/outline.js';
import type { CostExplainer } from '../../prices/cost-explanation.js';
import { deleteRoute } from './delete-route.js';
import { getCostRoute } from './get-cost.js';
import type { Tails } from '../../../engine/traces/model/list/tail.js';
import { getOutlineRoute } from './get-outline.js';
import { getRoutes } from './get-route.js';
import { listRoute } from './list-route.js';
import { tailRoute } from './tail-route.js';
import { postSpansRoute, type PostSpans } from './post-spans.js';
import { facetsRoute, statisticsRoute } from './statistics-routes.js';
import { postSessionsRoute, postTracesRoute } from './post-traces.js';

export interface TraceRouteParts {
  readonly postSpans: PostSpans;
  readonly posted: PostedIngest;
  readonly lists: Lists;
  readonly statistics: ListStatistics;
  readonly outlines: Pick<OutlineService, 'of'>;
  readonly costs: Pick<CostExplainer, 'of'>;
  readonly tails: Tails;
  readonly deletions: Pick<DeletionService, 'delete'>;
}

/** Everything about spans, traces and sessions. */
export function traceRoutes(parts: TraceRouteParts) {
  const { postSpans, posted, lists, statistics, outlines, costs, tails, deletions } = parts;
  return [
    postSpansRoute(postSpans),
    listRoute(spanList, SpanRead, (projectId, query, signal) => lists.spans(projectId, query, signal)),
    deleteRoute('span', deletions),
    postTracesRoute(posted),
    listRoute(traceList, TraceRead, (projectId, query, signal) => lists.traces(projectId, query, signal)),
    deleteRoute('trace', deletions),
    postSessionsRoute(posted),
    listRoute(sessionList, SessionRead, (projectId, query, signal) => lists.sessions(projectId, query, signal)),
    deleteRoute('session', deletions),
    statisticsRoute(spanList, statistics),
    facetsRoute(spanList, statistics),
    statisticsRoute(traceList, statistics),
    facetsRoute(traceList, statistics),
    statisticsRoute(sessionList, statistics),
    facetsRoute(sessionList, statistics),
    ...getRoutes(lists),
    getOutlineRoute(outlines),
    getCostRoute(costs),
    tailRoute(spanList, tails),
    tailRoute(traceList, tails),
  ];
}
