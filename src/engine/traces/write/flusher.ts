import { setImmediate as nextTurn } from 'node:timers/promises';
import { metLimit } from '../clickhouse/client/client-errors.js';
import { InsertError, type ClickHouseClient, type InsertOptions } from '../clickhouse/client/client.js';
import type { SegmentLog } from './log/segment-log.js';
import { RETRIES, retryDelay } from '../../work/backoff.js';
import { InsertAgain } from './insert-again.js';
import { sizeOf } from './commit-group.js';
import { loggedColumns } from './logged-columns.js';
import { insertedColumns, STORED_IN, type TableName } from './table-columns.js';
import type { FlushLimits, StampedRows, StampedWrite, UnflushedWrites } from './unflushed-writes.js';
import type { Signals } from '../../signals/signals.js';

export interface FlusherParts {
  readonly client: ClickHouseClient;
  readonly writes: UnflushedWrites;
  /** Null: requests are acknowledged when ClickHouse holds them. */
  readonly log: SegmentLog | null;
  readonly limits: FlushLimits;
  readonly observer: Pick<Signals, 'spansFlushed' | 'flushFailed' | 'writeQuarantined' | 'tracing'>;
  /** Called when writes are stored, in the turn of the event loop in which states show them. */
  readonly onStored: (writes: readonly StampedWrite[]) => void;
  /** Told of a project before a span of it with the mark of an experiment is stored. */
  readonly onMarked: (projectId: string) => void;
}

/** How long a write waits for others when no one reads its project. */
const FLUSH_AFTER_MS = 1_000;
/** So many rows, or bytes, are flushed at once: from there on a row hardly costs less in a larger insert. */
const FLUSH_ROWS = 8_000;
const FLUSH_BYTES = 16 * 1024 * 1024;
/** A project with as many rows that wait is flushed alone, so that no one else waits for them. */
const LARGE_ROWS = 1_000;
/** A flush that takes longer says that ClickHouse is away: writes no longer wait for it. */
const AWAY_AFTER_MS = 1_500;

/** In this order: the facts of a span come from its row by materialized view. */
const TABLES: readonly TableName[] = ['spans', 'marked_spans', 'facts', 'session_statements', 'scores'];

/** Parts of scores are small until they are merged, which indexes them: until then, all of such a part is read as quickly. */
const INSERTED_WITH: Partial<Record<string, InsertOptions['settings']>> = {
  scores: { materialize_skip_indexes_on_insert: 0 },
};

interface Run {
  readonly projects: ReadonlySet<string>;
  readonly started: number;
  readonly done: Promise<void>;
}

/**
 * Stores acknowledged writes in ClickHouse: soon by itself, in large inserts, and at once for reads of a project. An insert
 * whose outcome is not known is sent again with the same versions: a row that is stored twice changes nothing.
 */
export class Flusher {
  readonly #parts: FlusherParts;
  readonly #runs = new Set<Run>();
  /** Projects whose readers wait for the next awaited flush; null: all projects. */
  #awaited: Set<string> | null = new Set();
  #awaitedRun: Promise<Failures> | null = null;
  #background: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #failures = 0;
  #closed = false;

  constructor(parts: FlusherParts) {
    this.#parts = parts;
  }

  /** Whether the last flush failed; without a log, whether there is anything that may be stored in part. */
  get failing(): boolean {
    const { log, writes } = this.#parts;
    return this.#failures > 0 || (log === null && (writes.untaken.rows > 0 || this.#runs.size > 0));
  }

  /** Whether ClickHouse takes nothing for now. */
  get away(): boolean {
    const now = performance.now();
    return this.failing || [...this.#runs].some(({ started }) => now - started > AWAY_AFTER_MS);
  }

  /** Call after writes were added. */
  added(): void {
    const { rows, bytes } = this.#parts.writes.untaken;
    // After a failure, the retry that is due comes first.
    if (this.#closed || this.#failures > 0 || rows === 0) return;
    if (rows >= FLUSH_ROWS || bytes >= FLUSH_BYTES) this.#runInBackground();
    else this.#schedule(FLUSH_AFTER_MS);
  }

  /**
   * Resolves once ClickHouse holds everything acknowledged of a project before the call.
   * @param projectId default: of all projects
   * @throws DomainError `unavailable` when ClickHouse does not answer; the flush is repeated anyway
   */
  async flush(projectId?: string): Promise<void> {
    const { writes } = this.#parts;
    const upTo = Math.min(writes.last(projectId), writes.acknowledged);
    while (writes.storedUpTo(projectId) < upTo) {
      const waits = projectId === undefined ? writes.waiting.length > 0 : writes.waits(projectId);
      const own = [...this.#runs].filter(({ projects }) => projectId === undefined || projects.has(projectId));
      if (waits) {
        if (projectId === undefined) this.#awaited = null;
        else this.#awaited?.add(projectId);
        const failures = await (this.#awaitedRun ??= this.#runAwaited());
        const failure = projectId === undefined ? [...failures.values()][0] : failures.get(projectId);
        if (failure !== undefined) throw failure;
      } else if (own.length > 0) await Promise.race(own.map(({ done }) => done));
      else return;
    }
  }

  /** Resolves after a flush that begins now or is in progress, whatever comes of it; at once when there is nothing to flush. */
  async next(): Promise<void> {
    if (this.#parts.writes.untaken.rows > 0) this.#runInBackground();
    const underWay = [...this.#runs].map(({ done }) => done.catch(() => undefined));
    if (underWay.length > 0) await Promise.race(underWay);
  }

  /**
   * Stores writes that no log has. What fails in a way that may have stored some of it is sent again until it is stored.
   * @param onUnreadable called with a write whose rows ClickHouse cannot read
   * @throws InsertError
   */
  async storeNow(
    given: readonly StampedWrite[],
    onUnreadable: (write: StampedWrite, error: unknown) => void,
  ): Promise<void> {
    const { writes } = this.#parts;
    writes.add(given);
    const taken = writes.takeThese(given);
    try {
      await this.#store(taken, async (write, error) => onUnreadable(write, error));
    } catch (error) {
      if (isNothingStored(error)) writes.remove(taken);
      else this.#failed(taken, error);
      throw error;
    }
  }

  /** @param unsure whether an insert of the same writes has just failed after it may have stored some */
  async #store(
    taken: readonly StampedWrite[],
    onUnreadable: (write: StampedWrite, error: unknown) => Promise<void>,
    unsure = false,
  ): Promise<void> {
    const { writes, log, observer, onStored } = this.#parts;
    const started = performance.now();
    let stored = taken;
    try {
      await this.#insert(taken, unsure);
    } catch (error) {
      const unreadable = error instanceof InsertError && error.unreadable;
      const [only] = taken;
      if (!unreadable && (taken.length === 1 || !metLimit(error))) throw error;
      const again = unsure || !isNothingStored(error);
      // Without a log, what may be stored is made whole before anything else.
      if (again && log === null) throw error;
      if (taken.length > 1 || only === undefined) {
        // It does not say which rows it cannot read, or cannot hold beside the others.
        const half = Math.ceil(taken.length / 2);
        await this.#store(taken.slice(0, half), onUnreadable, again);
        return this.#store(taken.slice(half), onUnreadable, again);
      }
      await onUnreadable(only, error);
      stored = [{ ...only, unsure: true }];
    }
    writes.remove(taken);
    onStored(stored);
    log?.stored(taken.flatMap(({ place }) => place ?? []));
    const deletes = taken.every((write) => write.deletes);
    observer.spansFlushed({ ...sizeOf(taken), deletes, seconds: (performance.now() - started) / 1000 });
  }

  /** Stores all acknowledged writes. If ClickHouse does not respond, the log has them for the next start. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.flush().catch(() => undefined);
    await Promise.allSettled([this.#background, ...[...this.#runs].map(({ done }) => done)]);
  }

  /** Never rejects. @returns what failed, by project */
  async #runAwaited(): Promise<Failures> {
    // Who else reads in this turn shares it.
    await nextTurn();
    const { writes } = this.#parts;
    const projects = this.#awaited === null ? writes.waiting : [...this.#awaited];
    this.#awaited = new Set();
    try {
      return await this.#failuresOf(projects);
    } finally {
      this.#awaitedRun = null;
    }
  }

  /** Flushes projects together, and where that fails for the sake of some rows, each alone: no one waits for another's. */
  async #failuresOf(projects: readonly string[]): Promise<Failures> {
    const failures = new Map<string, Error>();
    try {
      await this.#run(projects);
    } catch (error) {
      const all = projects.length === 1 || isAway(error);
      for (const projectId of projects) if (all) failures.set(projectId, error as Error);
      if (!all)
        for (const projectId of projects)
          await this.#run([projectId]).catch((own: unknown) => failures.set(projectId, own as Error));
    }
    return failures;
  }

  #runInBackground(): void {
    this.#background ??= this.#flushDue().finally(() => {
      this.#background = null;
      this.added();
    });
  }

  async #flushDue(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    try {
      await this.#run(this.#nextProjects());
    } catch {
      // It was reported, and is tried again.
    }
  }

  /** The project whose writes wait longest; with it, all others that have few. */
  #nextProjects(): string[] {
    const { writes } = this.#parts;
    const { waiting } = writes;
    const [oldest] = waiting
      .map((projectId) => ({ projectId, since: writes.storedUpTo(projectId) }))
      .sort((one, other) => one.since - other.since);
    if (oldest === undefined) return [];
    // What cannot be stored of one holds up no other: each has its turn.
    if (this.#failures > 0) return waiting.slice(this.#failures % waiting.length).slice(0, 1);
    const isLarge = (projectId: string) => writes.rowsOf(projectId) >= LARGE_ROWS;
    if (isLarge(oldest.projectId)) return [oldest.projectId];
    return waiting.filter((projectId) => !isLarge(projectId));
  }

  async #run(projects: readonly string[]): Promise<void> {
    const { writes, limits, observer } = this.#parts;
    const { maxRows, maxBytes } = limits;
    const taken = writes.take(projects, { maxRows, maxBytes: Math.min(FLUSH_BYTES, maxBytes) });
    if (taken.length === 0) return;
    const store = () => this.#store(taken, (write, error) => this.#quarantine(write, error));
    const { tracing } = observer;
    const done = tracing === undefined ? store() : tracing.store(sizeOf(taken), store);
    const run = { projects: new Set(taken.map(({ projectId }) => projectId)), started: performance.now(), done };
    this.#runs.add(run);
    try {
      await done;
      this.#failures = 0;
      this.added();
    } catch (error) {
      this.#failed(taken, error);
      throw error;
    } finally {
      this.#runs.delete(run);
    }
  }

  /** Has writes stored again later. Halves of them that are stored already are no longer among those that wait. */
  #failed(taken: readonly StampedWrite[], error: unknown): void {
    this.#parts.writes.restore(taken, !isNothingStored(error));
    this.#failures += 1;
    this.#parts.observer.flushFailed({ rows: sizeOf(taken).rows, error });
    this.#schedule(retryDelay(this.#failures, RETRIES.soon));
  }

  #schedule(delay: number): void {
    if (this.#closed) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#runInBackground();
    }, delay).unref();
  }

  async #quarantine(write: StampedWrite, error: unknown): Promise<void> {
    const { log, observer } = this.#parts;
    if (log === null || write.place === null) throw error;
    const file = await log.quarantine(write.place);
    observer.writeQuarantined({ file, rows: write.rows, error });
  }

  async #insert(taken: readonly StampedWrite[], unsure: boolean): Promise<void> {
    const rows: StampedRows[] = [];
    const { client, log, onMarked } = this.#parts;
    for (const write of taken) {
      const own = write.tables ?? (await this.#read(write));
      if (own.some(({ table }) => table === 'marked_spans')) onMarked(write.projectId);
      rows.push(...own);
    }
    const again = unsure || taken.some((write) => write.unsure === true) ? new InsertAgain(client, taken) : null;
    await again?.ended();
    // Without a log they were refused: what got stored of them is only to be whole.
    if (again !== null && log === null) return again.reconcile();
    let isPartly = false;
    for (const [table, columns, own] of byColumns(rows)) {
      try {
        const through = await again?.missingOf(table, columns);
        const settings = INSERTED_WITH[STORED_IN[table]];
        await client.insert(STORED_IN[table], columns, 'RowBinary', own, {
          ...(through && { through }),
          ...(settings && { settings }),
        });
        if (STORED_IN[table] === 'spans') await again?.following();
      } catch (error) {
        throw isPartly && error instanceof InsertError ? error.partly() : error;
      }
      isPartly = true;
    }
  }

  async #read({ place }: StampedWrite): Promise<readonly StampedRows[]> {
    if (place === null) throw new Error('rows without a place in the log');
    const { log } = this.#parts;
    const record = await log?.read(place);
    const said = log?.columnsOf(place) ?? null;
    return ((record?.tables ?? []) as readonly StampedRows[]).map((rows) => {
      const columns = loggedColumns(said, rows.table);
      return columns === undefined ? rows : { ...rows, columns };
    });
  }
}

/** Rows that one insert takes, in the order of tables: those that an earlier version of the server logged may have other columns. */
function byColumns(rows: readonly StampedRows[]): [TableName, readonly string[], Buffer[]][] {
  return TABLES.flatMap((table) => {
    const groups = new Map<string, [TableName, readonly string[], Buffer[]]>();
    for (const { bytes, columns = insertedColumns[table] } of rows.filter((each) => each.table === table)) {
      const group = groups.get(String(columns));
      if (group === undefined) groups.set(String(columns), [table, columns, [bytes]]);
      else group[2].push(bytes);
    }
    return [...groups.values()];
  });
}

/** What failed, by project. */
type Failures = ReadonlyMap<string, Error>;

function isNothingStored(error: unknown): boolean {
  return error instanceof InsertError && error.outcome === 'none';
}

/** Whether ClickHouse as a whole failed, so that other rows would fare no better. */
function isAway(error: unknown): boolean {
  return error instanceof InsertError && error.kind === 'unavailable' && !metLimit(error);
}
