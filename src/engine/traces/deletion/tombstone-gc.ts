import type { Counted } from '../model/deletion/erasure.js';
import { items, type Recompute } from '../check/audited.js';
import { ofProject } from '../check/keys.js';
import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { LONG_STATEMENTS } from '../clickhouse/client/long-statements.js';
import { deleteRows, MUTATIONS_END_WITHIN_MS } from '../clickhouse/client/mutations.js';
import { identifier, listOf, literal, number, sql, type Sql } from '../clickhouse/client/sql.js';
import type { Version } from '../write/version-clock.js';
import { stateVersion } from '../rollup/row-version.js';

export interface TombstoneGcSource {
  readonly client: ClickHouseClient;
  /** A state that is rolled up, and that every read sees at least; 0: what was deleted has to stay. */
  readonly settled: () => Version;
  /** A number above those of all rounds that are stored. */
  readonly round: () => Version;
  /** Recomputes traces and sessions, even if no one has written to them. */
  readonly recompute: Recompute;
}

/** What is gone of a project. */
interface Gone {
  readonly table: 'traces' | 'sessions';
  readonly project: string;
  readonly count: number;
}

/** Things that go together: each time, the tables are read as a whole. */
const BATCH = 50_000;
const QUIETLY = { ...LONG_STATEMENTS, max_threads: 1, optimize_aggregation_in_order: 1 } as const;

/**
 * Removes the remains of deleted traces and sessions: tombstones, and rows that say that there is nothing. Whatever
 * is written meanwhile has later versions, and stays; no row that counts depends on those that go, and the row by which a thing
 * is found goes last, so that it may be interrupted anywhere.
 */
export class TombstoneGc {
  readonly #source: TombstoneGcSource;

  constructor(source: TombstoneGcSource) {
    this.#source = source;
  }

  /**
   * Call when deleted spans are purged: the tombstones of others stay.
   * @param onProgress told how many traces and sessions that are gone were looked at
   * @throws DomainError `unavailable` when ClickHouse takes too long; the signal's reason
   */
  async remove(signal: AbortSignal, onProgress: Counted): Promise<void> {
    const work = [...(await this.#projects('traces', signal)), ...(await this.#projects('sessions', signal))];
    const total = work.reduce((sum, { count }) => sum + count, 0);
    let done = 0;
    onProgress(done, total);
    for (const { table, project } of work)
      for await (const ids of this.#gone(table, project, signal)) {
        await (table === 'traces' ? this.#traces(project, ids, signal) : this.#sessions(project, ids, signal));
        done += ids.length;
        onProgress(done, Math.max(done, total));
      }
  }

  /** Projects in which anything is gone, and about how much. */
  async #projects(table: Gone['table'], signal: AbortSignal): Promise<Gone[]> {
    const rows = await this.#query<{ project: string; count: string }>(
      sql`SELECT toString(project_id) AS project, toString(uniq(id)) AS count FROM ${identifier(table)} WHERE gone
GROUP BY project_id ORDER BY project_id`,
      signal,
    );
    return rows.map(({ project, count }) => ({ table, project, count: Number(count) }));
  }

  async #traces(project: string, ids: readonly string[], signal: AbortSignal): Promise<void> {
    const upTo = this.#source.settled();
    const staying = new Set(await this.#ids(stayingTraces(project, ids, upTo), signal));
    const going = ids.filter((id) => !staying.has(id));
    if (upTo === 0 || going.length === 0) return;
    const seen = (version: Sql) => sql`${stateVersion(version)} <= ${number(upTo)}`;
    const of = (column: string) => sql`${ofProject(project)} AND ${identifier(column)} IN ${listOf('UUID', going)}`;
    const emptied = await this.#ids(emptiedSessions(project, of('trace_id')), signal);
    await Promise.all([
      this.#delete('facts', sql`${of('trace_id')} AND deleted AND ver <= ${number(upTo)}`, signal),
      this.#deleteReplacing(
        'session_traces',
        sql`${of('trace_id')} AND ${seen(sql`ver`)}`,
        sql`(named OR member)`,
        signal,
      ),
      this.#delete('trace_starts', sql`${of('id')} AND ${seen(sql`ver`)}`, signal),
    ]);
    await this.#deleteReplacing('traces', sql`${of('id')} AND ${seen(sql`ver`)}`, sql`NOT gone`, signal);
    // When something that was sent again was made is told by the oldest of what is stored of it, which may just have gone.
    const traces = await this.#ids(sql`SELECT DISTINCT trace_id AS id FROM facts WHERE ${of('trace_id')}`, signal);
    const sessions = await this.#namedAgain(project, emptied, signal);
    if (traces.length + sessions.length > 0)
      await this.#source.recompute({ traces: items(project, traces), sessions: items(project, sessions) });
  }

  async #sessions(project: string, ids: readonly string[], signal: AbortSignal): Promise<void> {
    const [upTo, round] = [this.#source.settled(), this.#source.round()];
    const staying = new Set(await this.#ids(stayingSessions(project, ids, upTo), signal));
    const going = ids.filter((id) => !staying.has(id));
    if (upTo === 0 || going.length === 0) return;
    const seen = (version: Sql) => sql`${stateVersion(version)} <= ${number(round)}`;
    const of = (column: string) => sql`${ofProject(project)} AND ${identifier(column)} IN ${listOf('UUID', going)}`;
    await Promise.all([
      this.#delete('session_statements', sql`${of('session_id')} AND deleted AND ver <= ${number(upTo)}`, signal),
      this.#delete('session_starts', sql`${of('id')} AND ${seen(sql`ver`)}`, signal),
    ]);
    await this.#deleteReplacing('sessions', sql`${of('id')} AND ${seen(sql`ver`)}`, sql`NOT gone`, signal);
    const again = await this.#namedAgain(project, going, signal);
    if (again.length > 0) await this.#source.recompute({ traces: [], sessions: items(project, again) });
  }

  /** Things of a project that are gone, in portions, by their ids. */
  async *#gone(table: Gone['table'], project: string, signal: AbortSignal): AsyncGenerator<string[]> {
    for (let after: string | undefined, more = true; more;) {
      const behind: Sql = after === undefined ? sql`1` : sql`t.id > toUUID(${literal(after)})`;
      const ids = await this.#ids(
        sql`SELECT t.id AS id FROM ${identifier(table)} AS t FINAL WHERE ${ofProject(project)} AND ${behind} AND t.gone
ORDER BY t.project_id, t.id LIMIT ${number(BATCH)}`,
        signal,
      );
      if (ids.length > 0) yield ids;
      after = ids.at(-1);
      more = ids.length === BATCH;
    }
  }

  async #ids(statement: Sql, signal: AbortSignal): Promise<string[]> {
    const rows = await this.#query<{ found: string }>(
      sql`SELECT toString(named.id) AS found FROM (${statement}) AS named`,
      signal,
    );
    return rows.map(({ found }) => found);
  }

  #query<Row>(statement: Sql, signal: AbortSignal): Promise<Row[]> {
    return this.#source.client.query<Row>(statement, { settings: QUIETLY, signal });
  }

  /** Which of some sessions are named by anything that is stored. */
  async #namedAgain(project: string, sessions: readonly string[], signal: AbortSignal): Promise<string[]> {
    if (sessions.length === 0) return [];
    const among = sql`${ofProject(project)} AND session_id IN ${listOf('UUID', sessions)}`;
    return this.#ids(
      sql`SELECT session_id AS id FROM session_traces WHERE ${among}
UNION DISTINCT SELECT session_id AS id FROM session_statements WHERE ${among}`,
      signal,
    );
  }

  /**
   * Deletes rows of a table of which the latest of each thing counts, and says that there is nothing. Those that say something go
   * first: ClickHouse deletes part by part, and an earlier row without the latest would count.
   */
  async #deleteReplacing(table: string, condition: Sql, saysSomething: Sql, signal: AbortSignal): Promise<void> {
    await this.#delete(table, sql`${condition} AND ${saysSomething}`, signal);
    await this.#delete(table, condition, signal);
  }

  #delete(table: string, condition: Sql, signal: AbortSignal): Promise<void> {
    const patience = AbortSignal.any([signal, AbortSignal.timeout(MUTATIONS_END_WITHIN_MS)]);
    return deleteRows(this.#source.client, table, condition, patience);
  }
}

/**
 * Traces that are gone and whose remains stay: something is stored of them that is not purged, or is later than the state; they
 * are set aside; or they tell when a session that is there was made.
 */
function stayingTraces(project: string, ids: readonly string[], upTo: Version): Sql {
  const own = ofProject(project);
  const among = sql`${own} AND trace_id IN ${listOf('UUID', ids)}`;
  const replaced = (column: string) =>
    sql`ver IN (SELECT ${identifier(column)} FROM superseded WHERE ${own} AND next_ver <= ${number(upTo)})`;
  return sql`SELECT trace_id AS id FROM facts WHERE ${among}
  GROUP BY project_id, trace_id HAVING max(ver) > ${number(upTo)} OR countIf(NOT deleted) > 0
    OR countIf(${replaced('ver')}) > 0 OR countIf(${replaced('next_ver')}) > 0
UNION DISTINCT
SELECT id FROM set_aside FINAL WHERE ${own} AND kind = 'trace' AND aside
UNION DISTINCT
SELECT trace_id AS id FROM session_traces WHERE ${among}
  AND (session_id, created_ver) IN (
    SELECT id, created_ver FROM sessions FINAL
    WHERE ${own} AND id IN (SELECT session_id FROM session_traces WHERE ${among}) AND NOT gone)`;
}

/** Sessions that are gone and whose remains stay: a trace remembers them, or a statement is not purged or later than the state. */
function stayingSessions(project: string, ids: readonly string[], upTo: Version): Sql {
  const own = ofProject(project);
  return sql`SELECT session_id AS id FROM session_traces WHERE ${own} AND session_id IN ${listOf('UUID', ids)}
UNION DISTINCT
SELECT session_id AS id FROM session_statements WHERE ${own} AND session_id IN ${listOf('UUID', ids)} AND (NOT deleted OR ver > ${number(upTo)})
UNION DISTINCT
SELECT id FROM set_aside FINAL WHERE ${own} AND kind = 'session' AND aside`;
}

/** Sessions that are gone and that some traces remember. */
function emptiedSessions(project: string, traces: Sql): Sql {
  return sql`SELECT id FROM sessions FINAL
WHERE ${ofProject(project)} AND id IN (SELECT session_id FROM session_traces WHERE ${traces}) AND gone`;
}
