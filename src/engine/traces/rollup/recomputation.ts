import { setTimeout as sleep } from 'node:timers/promises';
import { metLimit, refusalCode } from '../clickhouse/client/client-errors.js';
import { THROWN_BY_VIEW } from '../clickhouse/client/error-codes.js';
import type { ClickHouseClient, QueryOptions } from '../clickhouse/client/client.js';
import { identifier, number, sql, value } from '../clickhouse/client/sql.js';
import { RowBinaryWriter } from '../write/row-binary.js';
import type { Version, VersionClock } from '../write/version-clock.js';
import type { DirtyItem, WaitingItem } from './dirty-set.js';
import type { Aside, Kind, SetAside } from './set-aside.js';

/** Of `touch_traces` and `touch_removed_traces`. */
const TRACE_COLUMNS = ['project_id', 'trace_id', 'upto', 'round'];
/** How often an item that meets a limit alone is tried before it is set aside: the memory may have been another's. */
const TRIES = 3;
const TRY_PAUSE_MS = 100;
/** The longest that one statement may take. A round takes a fraction of it. */
const MAX_SECONDS = 20;

/** The state that traces are recomputed to, and the mark by which the sessions that it concerns are found. */
export interface Round {
  /** The version up to which a project is rolled up. */
  readonly upTo: (projectId: string) => Version;
  readonly round: Version;
}

type Touch = (items: readonly DirtyItem[], bare: boolean) => Promise<void>;

/**
 * Has the views recompute traces and sessions. A batch that meets a limit of memory, time or size is halved until the
 * culprit is alone; that one is set aside, and recomputed without its tags, so that all others, and all figures, are right.
 */
export class Recomputation {
  readonly #client: ClickHouseClient;
  readonly #clock: VersionClock;
  readonly #aside: SetAside;
  readonly #settings: NonNullable<QueryOptions['settings']>;

  /** @param maxMemoryBytes of one statement; null: the server's own limit */
  constructor(client: ClickHouseClient, clock: VersionClock, aside: SetAside, maxMemoryBytes: number | null) {
    this.#client = client;
    this.#clock = clock;
    this.#aside = aside;
    this.#settings = {
      max_execution_time: MAX_SECONDS,
      ...(maxMemoryBytes === null ? {} : { max_memory_usage: String(maxMemoryBytes) }),
    };
  }

  /** @throws DomainError when ClickHouse as a whole fails. */
  async traces(traces: readonly WaitingItem[], round: Round): Promise<void> {
    const [removed, others]: [DirtyItem[], DirtyItem[]] = [[], []];
    for (const trace of traces) (this.#isRemoved(trace, round) ? removed : others).push(trace);
    await halving(
      removed,
      async (some) => {
        if (!(await this.#touchRemoved(some, round))) others.push(...some);
      },
      async (one) => void others.push(one),
    );
    await this.#each('trace', others, (items, bare) => this.#touchTraces(items, round, bare));
    await this.#sessionsOf(traces, round);
  }

  /** @throws DomainError when ClickHouse as a whole fails. */
  async sessions(sessions: readonly DirtyItem[], { upTo }: Pick<Round, 'upTo'>): Promise<void> {
    await this.#each('session', sessions, (items, bare) => this.#touchSessions(items, upTo, bare));
  }

  /**
   * Tries to recompute an item that was set aside, as a whole.
   * @throws DomainError when ClickHouse as a whole fails.
   */
  async again(aside: Aside, round: Round): Promise<void> {
    const { kind } = aside;
    const touch: Touch = (items, bare) =>
      kind === 'trace' ? this.#touchTraces(items, round, bare) : this.#touchSessions(items, round.upTo, bare);
    try {
      await touch([aside], false);
      await this.#aside.recomputed(aside);
    } catch (error) {
      if (!metLimit(error)) throw error;
      await this.#aside.add(kind, aside, error);
      if (aside.stale) await this.#bare(kind, [aside], touch);
    }
    if (kind === 'trace') await this.#sessionsOf([aside], round);
  }

  async #each(kind: Kind, items: readonly DirtyItem[], touch: Touch): Promise<void> {
    const whole = (item: DirtyItem) => this.#aside.get(kind, item)?.fits ?? true;
    const bare = items.filter((item) => !whole(item) && this.#aside.get(kind, item)?.stale === false);
    await halving(
      items.filter(whole),
      async (some) => {
        await touch(some, false);
        for (const item of some) await this.#aside.end(kind, item);
      },
      (one, error) => this.#alone(kind, one, touch, error),
    );
    await this.#bare(kind, bare, touch);
  }

  /** Tries again an item that met a limit by itself, and in the end sets it aside. */
  async #alone(kind: Kind, item: DirtyItem, touch: Touch, first: unknown): Promise<void> {
    let failure = first;
    for (let tried = 1; tried < TRIES; tried += 1) {
      await sleep(TRY_PAUSE_MS);
      try {
        await touch([item], false);
        return;
      } catch (error) {
        if (!metLimit(error)) throw error;
        failure = error;
      }
    }
    await this.#aside.add(kind, item, failure);
    await this.#bare(kind, [item], touch);
  }

  /** Recomputes items without their tags. Deleted ones have none, and are set aside no longer. */
  async #bare(kind: Kind, items: readonly DirtyItem[], touch: Touch): Promise<void> {
    await halving(
      items,
      async (some) => {
        await touch(some, true);
        await this.#aside.bared(kind, some, false);
        for (const item of await this.#gone(kind, some)) await this.#aside.end(kind, item);
      },
      (one, error) => this.#aside.bared(kind, [one], true, error),
    );
  }

  async #gone(kind: Kind, items: readonly DirtyItem[]): Promise<DirtyItem[]> {
    const keys = new Set(items.map(({ projectId, id }) => `${projectId}/${id}`));
    const projects = value([...new Set(items.map(({ projectId }) => projectId))], 'Array(String)');
    const ids = value(
      items.map(({ id }) => id),
      'Array(UUID)',
    );
    const rows = await this.#client.query<DirtyItem>(
      sql`SELECT projectId, id FROM (
         SELECT project_id AS projectId, toString(r.id) AS id, argMax(gone, r.ver) AS last FROM ${identifier(`${kind}s`)} AS r
         WHERE project_id IN ${projects} AND r.id IN ${ids} GROUP BY project_id, r.id)
       WHERE last`,
    );
    return rows.filter(({ projectId, id }) => keys.has(`${projectId}/${id}`));
  }

  async #sessionsOf(traces: readonly DirtyItem[], { upTo, round }: Round): Promise<void> {
    const sessions = sql`SELECT DISTINCT project_id, session_id FROM session_traces WHERE round = ${number(round)}`;
    // All sessions in one statement, while none is known to be too large.
    if (!this.#aside.anySession) {
      const projects = [...new Set(traces.map(({ projectId }) => projectId))];
      const states = value(projects.map(upTo), 'Array(UInt64)');
      const own = this.#sessionRound();
      try {
        await this.#client.command(
          sql`INSERT INTO touch_sessions (project_id, session_id, upto, round)
           SELECT project_id, session_id, ${states}[indexOf(${value(projects, 'Array(String)')}, project_id)], ${number(own)} FROM (${sessions})`,
          { settings: this.#settings },
        );
        return;
      } catch (error) {
        if (!metLimit(error)) throw error;
      }
    }
    const found = await this.#client.query<DirtyItem>(
      sql`SELECT project_id AS projectId, toString(session_id) AS id FROM (${sessions})`,
    );
    for (const session of found) this.#aside.written('session', session);
    await this.sessions(found, { upTo });
  }

  /** Whether the latest fact of a trace, of those that the round reads, is a tombstone of the whole trace. */
  #isRemoved(trace: WaitingItem, { upTo }: Round): boolean {
    const { removed = false, last, projectId } = trace;
    return removed && last <= upTo(projectId) && this.#aside.get('trace', trace) === undefined;
  }

  /** @returns false: not all of them are removed, and nothing is stored */
  async #touchRemoved(items: readonly DirtyItem[], round: Round): Promise<boolean> {
    try {
      await this.#touch('touch_removed_traces', TRACE_COLUMNS, encodeTraces(items, round), false);
      return true;
    } catch (error) {
      if (refusalCode(error) !== THROWN_BY_VIEW) throw error;
      return false;
    }
  }

  #touchTraces(items: readonly DirtyItem[], round: Round, bare: boolean): Promise<void> {
    return this.#touch('touch_traces', TRACE_COLUMNS, encodeTraces(items, round), bare);
  }

  #touchSessions(items: readonly DirtyItem[], upTo: Round['upTo'], bare: boolean): Promise<void> {
    const own = this.#sessionRound();
    const rows = encode(items, (writer, projectId) => {
      writer.uint64(upTo(projectId));
      writer.uint64(own);
    });
    return this.#touch('touch_sessions', ['project_id', 'session_id', 'upto', 'round'], rows, bare);
  }

  /**
   * The number by which a session that is computed now counts for more than before. It is taken when everything is stored that
   * concerns the session: whatever is stored later has it computed again.
   */
  #sessionRound(): Version {
    return this.#clock.take(1);
  }

  #touch(table: string, columns: readonly string[], rows: Buffer, bare: boolean): Promise<void> {
    // The views look at the comment, see the migrations.
    const settings = { ...this.#settings, ...(bare ? { log_comment: 'bare' } : {}) };
    return this.#client.insert(table, columns, 'RowBinary', rows, { settings });
  }
}

/** Does work with all items, or, where that meets a limit, with halves of them, down to the ones that do alone. */
async function halving(
  items: readonly DirtyItem[],
  work: (items: readonly DirtyItem[]) => Promise<void>,
  alone: (item: DirtyItem, error: unknown) => Promise<void>,
): Promise<void> {
  const [first] = items;
  if (first === undefined) return;
  try {
    await work(items);
  } catch (error) {
    if (!metLimit(error)) throw error;
    if (items.length === 1) return alone(first, error);
    const middle = Math.ceil(items.length / 2);
    await halving(items.slice(0, middle), work, alone);
    await halving(items.slice(middle), work, alone);
  }
}

function encodeTraces(items: readonly DirtyItem[], { upTo, round }: Round): Buffer {
  return encode(items, (writer, projectId) => {
    writer.uint64(upTo(projectId));
    writer.uint64(round);
  });
}

function encode(items: readonly DirtyItem[], more: (writer: RowBinaryWriter, projectId: string) => void): Buffer {
  const writer = new RowBinaryWriter();
  for (const { projectId, id } of items) {
    writer.string(projectId);
    writer.uuid(id);
    more(writer, projectId);
  }
  return writer.take();
}
