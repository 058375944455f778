import { isBounded } from '../model/judged/filters.js';
import type { WholeFilters, WholeKind, WholeOutline } from '../model/judged/whole-reader.js';
import { versionTime } from '../write/version-clock.js';
import { join, listOf, sql, type Sql } from '../clickhouse/client/sql.js';
import { memberships } from '../list/membership.js';
import type { ReadRows } from '../read/row-reader.js';
import type { ReadScope } from '../read/scope.js';
import { isOwnCall } from '../read/tags.js';
import { written } from '../read/visibility.js';
import { matches } from './span-rows.js';
import { spansOf } from './trace-shapes.js';

/** What is known of some traces or sessions without the texts of their spans. @param asked null: not whether they match */
export async function readOutlines(
  rows: ReadRows,
  scope: ReadScope,
  kind: WholeKind,
  ids: readonly string[],
  asked: WholeFilters | null,
): Promise<WholeOutline[]> {
  const answersMatches = asked !== null && isBounded([asked.filters]);
  const matching = answersMatches ? matchingOf(scope.projectId, asked) : sql`0`;
  const wanted = listOf('UUID', ids);
  const found = await rows<OutlineRow>(
    kind === 'trace' ? tracesOf(scope, wanted, matching) : sessionsOf(scope, wanted, matching),
  );
  return found.map(({ whole, spans, arrived, anchor: [started, trace, span], matched, own, marked }) => ({
    id: whole,
    span: { span_id: span, trace_id: trace, span_started_at: Number(started) },
    spans: Number(spans),
    arrived_at: versionTime(Number(arrived)),
    matches: answersMatches ? Boolean(matched) : null,
    internal: Boolean(own),
    tried: Boolean(marked),
  }));
}

interface OutlineRow {
  readonly whole: string;
  readonly spans: string;
  readonly arrived: string;
  /** Microseconds of the start, trace, and id. */
  readonly anchor: readonly [string, string, string];
  readonly matched: number;
  readonly own: number;
  readonly marked: number;
}

function matchingOf(projectId: string, asked: WholeFilters): Sql {
  if (asked.filters.prompt_slug !== null && asked.prompt === null) return sql`0`;
  return sql`(${join(matches(projectId, asked), ' AND ')})`;
}

/** Each trace with its figures, by the spans that count. */
function figures(scope: ReadScope, traces: Sql, matching: Sql): { readonly bounds: Sql; readonly select: Sql } {
  const { bounds, where } = spansOf(scope, traces);
  const select = sql`SELECT trace_id, count() AS spans, max(${written}) AS arrived, min(started_at) AS first,
    min((isNotNull(parent_span_id), started_at, id)) AS oldest, max(${matching}) AS matched, max(${isOwnCall}) AS own, max(isNotNull(experiment_id)) AS any_marked
  FROM spans WHERE ${where} GROUP BY trace_id`;
  return { bounds, select };
}

const ANCHOR = sql`(toString(toUnixTimestamp64Micro(oldest.2)), toString(trace_id), toString(oldest.3))`;

function tracesOf(scope: ReadScope, wanted: Sql, matching: Sql): Sql {
  const { bounds, select } = figures(scope, sql`IN ${wanted}`, matching);
  return sql`${bounds}SELECT toString(trace_id) AS whole, toString(spans) AS spans, toString(arrived) AS arrived, ${ANCHOR} AS anchor, matched, own, any_marked AS marked
FROM (${select})`;
}

/** A session is what its first trace is, and has what all of them have. */
function sessionsOf(scope: ReadScope, wanted: Sql, matching: Sql): Sql {
  const members = memberships(scope, { sessions: wanted });
  const { bounds, select } = figures(scope, sql`IN (SELECT trace_id FROM (${members}))`, matching);
  return sql`${bounds}SELECT toString(session_id) AS whole, toString(sum(of.spans)) AS spans, toString(max(of.arrived)) AS arrived,
  argMin(${ANCHOR}, (first, trace_id)) AS anchor, max(of.matched) AS matched, max(of.own) AS own, min(of.any_marked) AS marked
FROM (${select}) AS of INNER JOIN (${members}) AS members USING (trace_id)
GROUP BY session_id`;
}
