import type { Micros } from '../../timestamp.js';
import { versionTime } from '../write/version-clock.js';
import { LONG_STATEMENTS } from '../clickhouse/client/long-statements.js';
import { sql, value, type Sql } from '../clickhouse/client/sql.js';
import { tracesIn } from '../list/membership.js';
import type { ReadRows } from '../read/row-reader.js';
import { inProject, type ReadScope } from '../read/scope.js';
import { factsOf, standing, written } from '../read/visibility.js';
import type { TurnShape } from './outline/session-outline.js';
import { placed, shapeColumns, toShape, type ShapeRow, type StoredShape } from './shape-rows.js';

/** The latest traces of a session that are read one by one. */
export const LATEST_TURNS = 500;
/** Spans that failed, of each trace. */
const FAILED = 3;

export interface StoredTurn extends TurnShape {
  readonly anchor: StoredShape;
  readonly failed: readonly StoredShape[];
}

/** What is known of a session before its texts are read. */
export interface StoredSession {
  /** Its latest traces, in the order of start. */
  readonly turns: readonly StoredTurn[];
  /** The span that stands for its first trace. */
  readonly anchor: Pick<StoredShape, 'started_at' | 'version'>;
  readonly traces: number;
  readonly spans: number;
  /** When its last span arrived. */
  readonly arrived_at: Micros;
}

/** Reads the traces of a session without their texts; null: it has no span. */
export async function readSession(rows: ReadRows, scope: ReadScope, sessionId: string): Promise<StoredSession | null> {
  const traces = tracesIn(scope, sql`(${value(sessionId, 'UUID')})`);
  const latest = await rows<TurnRow>(turns(scope, traces, sql`DESC`, LATEST_TURNS));
  const [newest] = latest;
  if (newest === undefined) return null;
  const isAll = Number(newest.traces) === latest.length;
  const [first = newest] = isAll ? latest.slice(-1) : await rows<TurnRow>(turns(scope, traces, sql`ASC`, 1));
  const wanted = latest.flatMap(({ anchor, failed }) => [placeOf(anchor), ...failed.map(placeOf)]);
  const shapes = await rows<ShapeRow>(
    sql`SELECT ${shapeColumns([])} FROM spans WHERE ${inProject(scope.projectId)} AND ${placed(wanted)}`,
    { settings: LONG_STATEMENTS },
  );
  const byVersion = new Map(shapes.map((row) => [row.version, toShape(row)]));
  return {
    turns: latest.reverse().flatMap((row) => turnOf(row, byVersion)),
    anchor: placeOf(first.anchor),
    traces: Number(newest.traces),
    spans: Number(newest.all_spans),
    arrived_at: versionTime(Number(newest.arrived)),
  };
}

/** Microseconds of the start, and the version. */
type Place = readonly [string, string];

interface TurnRow {
  readonly spans: string;
  readonly errors: string;
  readonly anchor: Place;
  readonly failed: readonly Place[];
  /** Of the whole session, as the others below are. */
  readonly traces: string;
  readonly all_spans: string;
  readonly arrived: string;
}

/** Traces by their start, from facts: these are in the order of traces, and know all but texts and kinds. */
function turns(scope: ReadScope, traces: Sql, order: Sql, limit: number): Sql {
  const facts = standing(
    sql`project_id, trace_id, id, started_at, parent_span_id, has_error, origin_ver`,
    factsOf(scope, traces),
  );
  const place = sql`(toString(toUnixTimestamp64Micro(started_at)), toString(ver))`;
  return sql`SELECT toString(count()) AS spans, toString(countIf(has_error)) AS errors,
  argMin(${place}, (isNotNull(parent_span_id), started_at, id)) AS anchor,
  arrayMap(each -> (toString(toUnixTimestamp64Micro(each.1)), toString(each.2)), groupArraySortedIf(${value(FAILED + 1, 'UInt64')})((started_at, ver), has_error)) AS failed,
  toString(count() OVER ()) AS traces, toString(sum(count()) OVER ()) AS all_spans, toString(max(max(${written})) OVER ()) AS arrived
FROM (${facts}) WHERE row_type = 0
GROUP BY trace_id
ORDER BY min(started_at) ${order}, trace_id ${order} LIMIT ${value(limit, 'UInt64')}`;
}

function placeOf([started, version]: Place): Pick<StoredShape, 'started_at' | 'version'> {
  return { started_at: Number(started), version };
}

function turnOf({ spans, errors, anchor, failed }: TurnRow, shapes: ReadonlyMap<string, StoredShape>): StoredTurn[] {
  const first = shapes.get(anchor[1]);
  if (first === undefined) return [];
  const others = failed.flatMap(([, version]) => shapes.get(version) ?? []).filter((shape) => shape !== first);
  return [{ anchor: first, spans: Number(spans), errors: Number(errors), failed: others.slice(0, FAILED) }];
}
