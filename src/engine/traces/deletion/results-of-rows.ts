import type { DeletedThing } from '../model/deletion/stored-spans.js';
import { empty, sql, value, type Sql } from '../clickhouse/client/sql.js';
import { IS_RESULT, markedRows } from '../experiment/marked-rows.js';
import type { ReadsInProgress } from '../read/reads-in-progress.js';
import type { ReadRows } from '../read/row-reader.js';
import { PORTION, toSpan, uuids, type SpanRow } from './things.js';

/** Rows of a dataset, and the experiments in which their results are looked for. */
interface TriedRows {
  readonly projectId: string;
  readonly experimentIds: readonly string[];
  readonly rowIds: readonly string[];
}

/** Of a portion of results: those that go alone, and the traces that go whole. */
interface Portion {
  readonly alone: readonly DeletedThing[];
  readonly traces: readonly string[];
}

/** The span of a result, and the trace in which it was made. */
interface ResultRow extends SpanRow {
  readonly made: string;
}

/** Finds the results that were made of rows, whether the server or a client marked them. */
export class ResultsOfRows {
  readonly #rows: ReadRows;
  readonly #reads: ReadsInProgress;
  readonly #tried: TriedRows;

  constructor(rows: ReadRows, reads: ReadsInProgress, tried: TriedRows) {
    this.#rows = rows;
    this.#reads = reads;
    this.#tried = tried;
  }

  async *portions(): AsyncGenerator<Portion> {
    let page: readonly ResultRow[] = [];
    do {
      page = await this.#behind(page.at(-1) ?? null);
      if (page.length === 0) return;
      const traces = [...new Set(page.flatMap(({ trace, made }) => [trace, made]))];
      const shared = await this.#ofOthersToo(traces);
      yield {
        alone: page.filter(({ trace }) => shared.has(trace)).map(toSpan),
        traces: traces.filter((id) => !shared.has(id)),
      };
    } while (page.length === PORTION);
  }

  #behind(after: ResultRow | null): Promise<readonly ResultRow[]> {
    const behind =
      after === null
        ? empty
        : sql` WHERE (trace_id, id) > (${value(after.trace, 'UUID')}, ${value(after.span, 'UUID')})`;
    const columns = sql`trace_id, id, started_at, made_in`;
    return this.#read<ResultRow>(
      sql`row_id IN ${value(this.#tried.rowIds, 'Array(String)')}`,
      columns,
      (
        marked,
      ) => sql`SELECT toString(trace_id) AS trace, toString(id) AS span, toString(toUnixTimestamp64Micro(started_at)) AS started,
  toString(made_in) AS made FROM (${marked})${behind} ORDER BY trace_id, id LIMIT 1 BY trace_id, id LIMIT ${value(PORTION, 'UInt64')}`,
    );
  }

  /** Those of some traces that results of other rows are in, or were made in. */
  async #ofOthersToo(traces: readonly string[]): Promise<ReadonlySet<string>> {
    const among = uuids(traces);
    const rows = await this.#read<{ readonly id: string }>(
      sql`row_id NOT IN ${value(this.#tried.rowIds, 'Array(String)')} AND (trace_id IN ${among} OR made_in IN ${among})`,
      sql`trace_id, made_in`,
      (marked) => sql`SELECT DISTINCT toString(arrayJoin([trace_id, made_in])) AS id FROM (${marked})`,
    );
    return new Set(rows.map(({ id }) => id));
  }

  #read<T>(condition: Sql, columns: Sql, statement: (marked: Sql) => Sql): Promise<T[]> {
    const { projectId, experimentIds } = this.#tried;
    const conditions = [sql`experiment_id IN ${value(experimentIds, 'Array(UUID)')}`, IS_RESULT, condition];
    return this.#reads.run(projectId, (upTo) =>
      this.#rows<T>(statement(markedRows({ projectId, upTo }, columns, conditions)), { settings: { max_threads: 1 } }),
    );
  }
}
