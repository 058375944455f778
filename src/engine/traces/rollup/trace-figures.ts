import { identifier, join, sql, type Sql } from '../clickhouse/client/sql.js';
import { successors, written } from '../read/visibility.js';
import { rowVersion } from './row-version.js';

/** An expression over aggregates, and which of them it needs. */
type Figure = readonly [expression: Sql, ...needs: AggregateName[]];
type AggregateName = keyof typeof aggregates;

/** Aggregates over the facts of one trace, each with `newest`, `live` (a span), `stated` (a posted trace) and `written`. */
const aggregates = {
  // What is purged below the tombstone of a trace is remembered by it.
  first_ver: sql`min(if(row_type = 2, origin_ver, ver))`,
  spans: sql`countIf(live)`,
  errors: sql`countIf(live AND has_error)`,
  oks: sql`countIf(live AND status = 'ok')`,
  first_start: sql`minIf(started_at, live)`,
  last_end: sql`maxIf(ended_at, live)`,
  costs: sql`sumIf(cost, live)`,
  inputs: sql`sumIf(input_tokens, live)`,
  outputs: sql`sumIf(output_tokens, live)`,
  oldest: sql`minIf((isNotNull(parent_span_id), started_at, id, name, ver), live)`,
  of_session: sql`maxIf((written, assumeNotNull(session_id)), live AND isNotNull(session_id))`,
  tag_writes: sql`maxMapIf(mapApply((k, v) -> (k, (written, v)), trace_tags), live)`,
  statements: sql`countIf(stated)`,
  stated_as: sql`anyIf((session_id, name, status, started_at, ended_at, duration_ms, cost, trace_tags, attributes), stated)`,
} satisfies Record<string, Sql>;

/** The figures, in the order of the table `traces`. One may be built on those before it. */
const figures = {
  gone: [sql`spans = 0 AND statements = 0`, 'spans', 'statements'],
  session_id: [
    sql`if(isNull(stated_as.1) AND of_session.1 != 0, of_session.2, stated_as.1)`,
    'stated_as',
    'of_session',
  ],
  name: [sql`if(statements > 0, stated_as.2, oldest.4)`, 'statements', 'stated_as', 'oldest'],
  status: [
    sql`multiIf(stated_as.3 != '', stated_as.3, errors > 0, 'error', oks > 0, 'ok', 'unset')`,
    'stated_as',
    'errors',
    'oks',
  ],
  started_at: [sql`if(statements > 0, stated_as.4, first_start)`, 'statements', 'stated_as', 'first_start'],
  ended_at: [sql`coalesce(stated_as.5, last_end)`, 'stated_as', 'last_end'],
  duration_ms: [
    sql`coalesce(stated_as.6, if(ended_at < started_at, 0, dateDiff('microsecond', started_at, ended_at) / 1000))`,
    'stated_as',
  ],
  cost: [sql`coalesce(stated_as.7, costs)`, 'stated_as', 'costs'],
  span_count: [sql`spans`, 'spans'],
  error_count: [sql`errors`, 'errors'],
  tags: [sql`mapUpdate(mapApply((k, v) -> (k, v.2), tag_writes), stated_as.8)`, 'tag_writes', 'stated_as'],
  attributes: [sql`stated_as.9`, 'stated_as'],
  created_ver: [sql`first_ver`, 'first_ver'],
  root_ver: [sql`if(spans > 0 AND NOT oldest.1, oldest.5, 0)`, 'spans', 'oldest'],
  root_started_at: [sql`if(root_ver > 0, oldest.2, toDateTime64(0, 6, 'UTC'))`, 'oldest'],
  input_tokens: [sql`inputs`, 'inputs'],
  output_tokens: [sql`outputs`, 'outputs'],
} satisfies Record<string, Figure>;

export type FigureName = keyof typeof figures;

const allFigures = Object.keys(figures) as FigureName[];

/** The columns of a trace's row, in the order of {@link traceFigures}, except for those of storing it. */
export const figureColumns = ['project_id', 'id', ...allFigures] as const;

/** Columns that are wanted of a trace beside its figures. */
export interface Beside {
  /** The figures that are wanted; default: all. */
  readonly figures?: readonly FigureName[];
  /** Further columns, over the aggregates. */
  readonly columns: Sql;
  /** Further aggregates over the facts, each with `newest`, `live`, `stated` and `written`. */
  readonly aggregates: Sql;
  /** Further columns of `facts`. */
  readonly facts: Sql;
  /** The expressions that are read for `trace_tags` and `session_tags`. */
  readonly tags: Sql;
}

const nothing: Beside = { columns: sql``, aggregates: sql``, facts: sql``, tags: sql`trace_tags` };

/**
 * The figures of traces, from their facts: the one definition that rounds store and that lists read of traces which no
 * round has stored yet. Written flat, on plain columns: its analysis is most of what it costs for few traces.
 *
 * @param facts conditions on `facts`: which traces, up to which version
 */
export function traceFigures(facts: Sql, beside: Beside = nothing): Sql {
  const wanted = allFigures.filter((name) => beside.figures?.includes(name) ?? true);
  const needed = new Set(wanted.flatMap((name) => (figures[name] as Figure).slice(1) as AggregateName[]));
  const columns = wanted.map((name) => sql`,\n  ${figures[name][0]} AS ${identifier(name)}`);
  const aggregated = [...needed].sort().map((name) => sql`,\n    ${aggregates[name]} AS ${identifier(name)}`);
  return sql`SELECT project_id, trace_id AS id${join(columns, '')}${beside.columns}
FROM (
  SELECT project_id, trace_id${join(aggregated, '')}${beside.aggregates}
  FROM (
    SELECT *, next_ver = 0 AS newest,
      row_type = 0 AND newest AND NOT deleted AS live,
      row_type = 1 AND newest AND NOT deleted AS stated,
      ${written} AS written
    FROM (
      ${successors(
        sql`project_id, trace_id, row_type, id, deleted, parent_span_id, session_id, name, status, started_at, ended_at, duration_ms, cost, input_tokens, output_tokens, has_error,
        ${beside.tags}, attributes, origin_ver${beside.facts}`,
        facts,
      )}
    )
    WHERE next_write != ver
  )
  GROUP BY project_id, trace_id
)`;
}

/** Whether a statement recomputes without tags, see `Recomputation`. */
export const bare = sql`getSetting('log_comment') = 'bare'`;
export const whole = sql`(getSetting('log_comment') != 'bare')`;
/** The version of the newest fact of a trace, among {@link Beside.aggregates}. */
export const latest = sql`,
    max(ver) AS latest`;
const sessionWrites = sql`,
    groupArrayIf((session_id, toUInt8(newest AND NOT deleted), written, session_name, CAST(session_tags, 'Map(String, String)')),
      isNotNull(session_id) OR (newest AND NOT deleted AND (session_name != '' OR notEmpty(session_tags)))) AS session_writes`;

/** With the names that views read its parts by. */
const namedSessionWrites = sql`CAST(session_writes, 'Array(Tuple(session_id Nullable(UUID), live UInt8, ver UInt64, name String, tags Map(String, String)))') AS session_writes`;

/** The columns that sessions need of a trace: the figures that they sum, and the writes about them in it. */
export const broughtBy: Beside = {
  figures: [
    'gone',
    'session_id',
    'started_at',
    'ended_at',
    'duration_ms',
    'cost',
    'error_count',
    'input_tokens',
    'output_tokens',
  ],
  columns: sql`,
  ${namedSessionWrites}`,
  aggregates: sessionWrites,
  facts: sql`, session_name`,
  tags: sql`trace_tags, session_tags`,
};

const noTags = sql`CAST(map(), 'Map(LowCardinality(String), String)')`;

/** The facts of the traces that are named in a table, each up to the version that stands there. */
function factsTouchedBy(table: Sql): Sql {
  return sql`(project_id, trace_id) IN (SELECT project_id, trace_id FROM ${table}) AND ver <= (SELECT maxMap(map(project_id, upto)) FROM ${table})[project_id]`;
}

/**
 * The query of the view that recomputes the traces named in `touch_traces`; the migrations hold the same text. A view
 * looks at what is inserted into the table that it reads first.
 */
export const recomputedTraces = sql`SELECT figures.* EXCEPT (latest),
  ${rowVersion({ state: sql`figures.latest`, whole, round: sql`touched.round` })} AS ver, touched.round AS round
FROM (SELECT max(round) AS round FROM touch_traces) AS touched
CROSS JOIN (
${traceFigures(factsTouchedBy(sql`touch_traces`), {
  columns: sql`,
  latest,
  stale,
  session_writes`,
  aggregates: sql`${latest},
    groupArrayIf((ver, next_ver), NOT newest AND (row_type = 0 OR (row_type = 1 AND removed != 0))) AS stale${sessionWrites}`,
  facts: broughtBy.facts,
  tags: sql`if(${bare}, ${noTags}, trace_tags) AS trace_tags, if(${bare}, ${noTags}, session_tags) AS session_tags`,
})}
) AS figures`;

/**
 * The query of the view that stores traces whose latest fact removed them, named in `touch_removed_traces`: what
 * {@link recomputedTraces} makes of such traces, without reading what does not count anymore. Retention does little else.
 */
export const recomputedRemovedTraces = sql`SELECT own.project_id AS project_id, own.trace_id AS id, 1 AS gone, 'unset' AS status, own.created_ver AS created_ver,
  ${rowVersion({ state: sql`own.latest`, whole: sql`1`, round: sql`touched.round` })} AS ver, touched.round AS round,
  stale, ${namedSessionWrites}
FROM (SELECT max(round) AS round FROM touch_removed_traces) AS touched
CROSS JOIN (
  SELECT project_id, trace_id, ${aggregates.first_ver} AS created_ver${latest},
    groupArrayIf((ver, next_ver), row_type < 2) AS stale,
    throwIf(latest != maxIf(ver, row_type = 2), 'the latest fact of a trace is no tombstone') AS wrong,
    groupArrayIf((session_id, 0, ${written}, '', CAST(map(), 'Map(String, String)')), isNotNull(session_id)) AS session_writes
  FROM (
    ${successors(
      sql`project_id, trace_id, row_type, id, session_id, origin_ver`,
      factsTouchedBy(sql`touch_removed_traces`),
    )}
  )
  WHERE next_write != ver
  GROUP BY project_id, trace_id
  HAVING wrong = 0
) AS own`;
