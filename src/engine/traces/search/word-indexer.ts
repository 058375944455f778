import { BackgroundLoop } from '../../work/background-loop.js';
import { FairSemaphore } from '../../work/fair-semaphore.js';
import { restMs, type Governor } from '../../work/governor.js';
import { metLimit } from '../clickhouse/client/client-errors.js';
import type { ClickHouseClient } from '../clickhouse/client/client.js';
import type { Version } from '../write/version-clock.js';
import { deleteRows } from '../clickhouse/client/mutations.js';
import { statementsEnded } from '../clickhouse/client/running-statements.js';
import { number, sql, type Sql } from '../clickhouse/client/sql.js';
import type { TimeRange } from '../read/times.js';
import { SEARCHED_BYTES } from './searched-words.js';
import type { WordIndex } from './word-index.js';
import { emptiedRows, indexing, isEmptied, refilling, type EmptiedRow } from './word-rows.js';
import type { Signals } from '../../signals/signals.js';

export interface WordIndexerSource {
  readonly client: ClickHouseClient;
  readonly index: WordIndex;
  /** The version up to which everything is stored. */
  readonly settled: () => Version;
  readonly governor: Pick<Governor, 'writesAreBusy' | 'listsAreRead'>;
  readonly observer: Pick<Signals, 'wordsIndexed' | 'wordIndexFailed'>;
}

/** Spans whose words are kept together. More of them take less space each, and lead to more spans that have to be read. */
const BATCH_SPANS = 8_192;
/** Spans of one statement, which takes a third of a second of one of the engine's sessions, or with large texts a second. */
const MAX_ROUND = 4 * BATCH_SPANS;
const MAX_ROUND_BYTES = 64 * 1024 * 1024;
/** Time limit of a statement, which ends it before its client gives up. */
const MAX_SECONDS = 20;
/** Rows that are read at once, from every part of the table that a round reads. */
const BLOCK_ROWS = 512;
const LOOKED_AFTER_MS = 1_000;
/** How long emptied rows wait to be filled: deletions often come one after another, and may empty the same ones again. */
const REFILLED_AFTER_MS = 10_000;
/** How long, and how many, rows are filled before the emptied ones are removed, which takes as long for one as for all. */
const REFILLING_MS = 500;
const MAX_REFILLED = 64;
/** After so many failures, texts are indexed without words, such as some too large for the engine's memory. */
const MAX_FAILURES = 5;
/** Rounds between checks whether most of what the table holds is of spans that are gone. */
const ROUNDS_BETWEEN_CHECKS = 16;
/** With more indexed versions than this for each stored span, the table is refilled. */
const MAX_VERSIONS_PER_SPAN = 3;
/** Statements that change the table. */
const CHANGES = '^(INSERT INTO|DELETE FROM|TRUNCATE TABLE) span_words\\b';
/** The party of indexing rounds, which take turns with the projects that delete. */
const ROUNDS = '';

/** The versions that a round indexes. */
interface Portion {
  readonly last: Version;
  readonly spans: number;
  /** Whether there may be more to index. */
  readonly full: boolean;
}

/** Fills `span_words` with the words of new spans, a little at a time and mostly while no one writes. */
export class WordIndexer {
  readonly #source: WordIndexerSource;
  readonly #loop: BackgroundLoop;
  /** Lets one change of the table run at a time: two rounds at once would index the same spans. */
  readonly #turns = new FairSemaphore('changes of the word index', { atOnce: 1 });
  /** The most spans that may be left to index; unknown at the start. */
  #waiting = Infinity;
  /** From when on emptied rows are filled again; there may be some from before the start. */
  #refillAt = 0;
  #notBefore = 0;
  #rounds = 0;
  #size = MAX_ROUND;
  /** Rounds of the smallest size that failed one after another. */
  #failures = 0;

  constructor(source: WordIndexerSource) {
    this.#source = source;
    this.#loop = new BackgroundLoop({
      round: () => this.#look(),
      onFailure: (error) => this.#failed(error),
    });
    this.#loop.wakeIn(LOOKED_AFTER_MS);
  }

  /** Call after each commit. */
  committed({ rows }: { readonly rows: number }): void {
    this.#waiting += rows;
  }

  /** Indexes all whole groups of spans, and fills rows that deletions emptied; otherwise that happens by itself. */
  async run(): Promise<void> {
    this.#refillAt = 0;
    while (await this.#round());
  }

  /**
   * Runs {@link WordIndex.forget}. Rows that are indexed from then on have no words of spans deleted before the call.
   * @throws the signal's reason, which ends the waiting.
   */
  async forget(projectId: string, started: readonly TimeRange[], signal: AbortSignal): Promise<void> {
    try {
      await this.#turn(projectId, () => this.#source.index.forget(projectId, started, signal), signal);
    } finally {
      this.#refillAt = Math.min(this.#refillAt, performance.now() + REFILLED_AFTER_MS);
    }
  }

  /** Runs {@link WordIndex.forgetProject}. @throws as {@link forget} */
  async forgetProject(projectId: string, signal: AbortSignal): Promise<void> {
    await this.#turn(projectId, () => this.#source.index.forgetProject(projectId, signal), signal);
  }

  /** Ends indexing at once; the next process continues with it. */
  async close(): Promise<void> {
    await this.#loop.close();
    await this.#turns.run(ROUNDS, () => Promise.resolve());
  }

  async #look(): Promise<number> {
    const now = performance.now();
    if (now >= this.#notBefore && (this.#waiting >= BATCH_SPANS || now >= this.#refillAt))
      while ((await this.#round()) && performance.now() >= this.#notBefore);
    return Math.max(LOOKED_AFTER_MS, this.#notBefore - performance.now());
  }

  #failed(error: unknown): void {
    this.#failures = this.#size === BATCH_SPANS ? this.#failures + 1 : 0;
    this.#size = Math.max(BATCH_SPANS, this.#size / 2);
    this.#source.observer.wordIndexFailed({ error });
  }

  #turn<T>(party: string, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    return this.#turns.run(
      party,
      async () => {
        // A statement that still changes the table may have read spans deleted since, or delete rows that were written again.
        await statementsEnded(this.#source.client, CHANGES, signal);
        return work();
      },
      signal,
    );
  }

  /** Runs a round, behind one deletion of each project that waits. @returns whether there may be more to do. */
  async #round(): Promise<boolean> {
    const { signal } = this.#loop;
    if (signal.aborted) return false;
    return this.#turn(
      ROUNDS,
      async () => {
        const { governor } = this.#source;
        const settled = this.#source.settled();
        const started = performance.now();
        const more = (await this.#index(settled)) || (await this.#refill());
        const now = performance.now();
        if (governor.writesAreBusy || governor.listsAreRead) this.#notBefore = now + restMs('index', now - started);
        return more;
      },
      signal,
    );
  }

  /** Indexes the next portion. @returns whether there may be more to do. */
  async #index(settled: Version): Promise<boolean> {
    const { index, observer } = this.#source;
    const started = performance.now();
    const size = this.#size;
    const withTexts = this.#failures < MAX_FAILURES;
    const portion = await this.#portion(settled, size, withTexts);
    if (portion === null) return false;
    const { last, spans, full } = portion;
    await this.#command(
      indexing({
        after: number(index.upTo),
        upTo: last,
        together: Math.ceil(spans / Math.max(1, Math.floor(spans / BATCH_SPANS))),
        withTexts,
      }),
    );
    index.indexed(last);
    this.#failures = 0;
    this.#size = Math.min(MAX_ROUND, size * 2);
    this.#rounds += 1;
    if (this.#rounds % ROUNDS_BETWEEN_CHECKS === 0) await this.#renewWhenStale();
    observer.wordsIndexed({ spans, seconds: (performance.now() - started) / 1000 });
    return full;
  }

  /** The next versions to index: at most `size` of them, with texts of about as many bytes as go with that size. */
  async #portion(settled: Version, size: number, withTexts: boolean): Promise<Portion | null> {
    const [after, upTo] = [number(this.#source.index.upTo), number(settled)];
    const [next] = await this.#rows<{ last: string; spans: string; waiting: string }>(
      sql`SELECT toString(maxIf(ver, ver <= ${upTo})) AS last, toString(countIf(ver <= ${upTo})) AS spans, toString(count()) AS waiting
       FROM (SELECT ver FROM spans WHERE ver > ${after} ORDER BY ver LIMIT ${number(size)})`,
    );
    const [last, spans] = [Number(next?.last ?? 0), Number(next?.spans ?? 0)];
    this.#waiting = Number(next?.waiting ?? 0);
    if (spans < BATCH_SPANS) return null;
    if (!withTexts) return { last, spans, full: spans === size };
    const [fitting] = await this.#rows<{ last: string; spans: string }>(
      sql`SELECT toString(max(ver)) AS last, toString(count()) AS spans FROM (
         SELECT ver, bytes, sum(bytes) OVER (ORDER BY ver ROWS UNBOUNDED PRECEDING) AS total FROM (
           SELECT ver, ${SEARCHED_BYTES} AS bytes FROM spans WHERE ver > ${after} AND ver <= ${number(last)}))
       WHERE total - bytes < ${number(MAX_ROUND_BYTES * (size / MAX_ROUND))}`,
    );
    const fit = Number(fitting?.spans ?? 0);
    return { last: Number(fitting?.last ?? 0), spans: fit, full: fit < spans || spans === size };
  }

  /** Fills rows that deletions emptied from the spans that are left. @returns whether there may be more to do. */
  async #refill(): Promise<boolean> {
    if (performance.now() < this.#refillAt) return false;
    const started = performance.now();
    const emptied = await this.#rows<EmptiedRow>(emptiedRows(MAX_REFILLED));
    const refilled: EmptiedRow[] = [];
    for (const row of emptied) {
      await this.#refillRow(row);
      refilled.push(row);
      if (performance.now() - started > REFILLING_MS) break;
    }
    // Emptied rows go after others are there, so that no search misses anything in between.
    if (refilled.length > 0)
      await deleteRows(this.#source.client, 'span_words', isEmptied(refilled), this.#loop.signal);
    const more = refilled.length < emptied.length || emptied.length === MAX_REFILLED;
    if (!more) this.#refillAt = Infinity;
    return more;
  }

  /** Fills one emptied row; with texts that are too much for a statement, without words. */
  async #refillRow(row: EmptiedRow): Promise<void> {
    try {
      await this.#command(refilling(row, true));
    } catch (error) {
      if (!metLimit(error)) throw error;
      await this.#command(refilling(row, false));
    }
  }

  #rows<T>(statement: Sql): Promise<T[]> {
    const { signal } = this.#loop;
    return this.#source.client.query<T>(statement, { settings: { max_execution_time: MAX_SECONDS }, signal });
  }

  #command(statement: Sql): Promise<void> {
    return this.#source.client.command(statement, {
      settings: {
        max_threads: 1,
        max_insert_threads: '1',
        max_block_size: String(BLOCK_ROWS),
        max_execution_time: MAX_SECONDS,
      },
      signal: this.#loop.signal,
    });
  }

  async #renewWhenStale(): Promise<void> {
    const { client, index } = this.#source;
    const [row] = await client.query<{ stale: number }>(
      sql`SELECT (SELECT sum(spans) FROM span_words) > ${number(MAX_VERSIONS_PER_SPAN)} * (SELECT count() FROM spans) AS stale`,
    );
    if (Number(row?.stale) === 1) await index.clear();
  }
}
