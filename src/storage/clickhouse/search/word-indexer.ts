import type { WordIndexObserver } from '../../../observability/events/storage.js';
import type { ClickHouseClient } from '../client.js';
import type { Micros } from '../../../domain/time/timestamp.js';
import type { Version } from '../commit/version-clock.js';
import { FIGURES, TOKENS, WORDS } from './searched-words.js';
import type { WordIndex } from './word-index.js';

export type { WordIndexObserver } from '../../../observability/events/storage.js';

export interface WordIndexerSource {
  readonly client: ClickHouseClient;
  readonly index: WordIndex;
  /** Up to which version everything is stored; null while that is not known. */
  readonly settled: () => Version | null;
  /** Whether clients keep the store busy with writing. */
  readonly busy: () => boolean;
  readonly observer: WordIndexObserver;
}

/** Spans whose words are kept together. More of them take less space each, and lead to more spans that have to be read. */
const TOGETHER = 8_192;
/** Of one statement: a third of a second of one of the engine's sessions. */
const MAX_ROUND = 4 * TOGETHER;
/** Rows that are read at once, from every part of the table that a round reads. */
const BLOCK_ROWS = 512;
/** Fewer spans of a project than this are read as quickly as their words. */
const MIN_SPANS = 512;
/** Words that take more than this share of the texts are not kept: they are ids or numbers, or a language without spaces. */
const MAX_SHARE = 1 / 8;
const LOOKED_AFTER_MS = 1_000;
const FAILURE_PAUSE_MS = 10_000;
/** Texts whose words cannot be had so many times are left without, such as some too large for the engine's memory. */
const MAX_FAILURES = 5;
/** While clients write, rounds take this share of the time of one connection, and so of one core. */
const SHARE_WHEN_BUSY = 0.05;
/** Rounds after which it is looked whether the table mostly speaks of spans that are gone. */
const ROUNDS_BETWEEN_CHECKS = 16;
/** Versions that were indexed per span that is stored, from which on the table is filled anew. */
const MAX_VERSIONS_PER_SPAN = 3;

/** Fills `span_words` with what was written since, a little at a time and mostly while nobody writes. */
export class WordIndexer {
  readonly #source: WordIndexerSource;
  readonly #timer: NodeJS.Timeout;
  /** Spans that are not indexed, at most; unknown at the start. */
  #waiting = Infinity;
  #notBefore = 0;
  #rounds = 0;
  #size = MAX_ROUND;
  /** Rounds of the smallest size that failed one after another. */
  #failures = 0;
  #running: Promise<unknown> | null = null;
  readonly #closing = new AbortController();

  constructor(source: WordIndexerSource) {
    this.#source = source;
    this.#timer = setInterval(() => {
      this.#look();
    }, LOOKED_AFTER_MS).unref();
  }

  /** To be called after each commit. */
  committed({ rows }: { readonly rows: number }): void {
    this.#waiting += rows;
  }

  /** Indexes all that makes whole groups of spans, which otherwise happens by itself. */
  async run(): Promise<void> {
    await this.#inTurn(async () => {
      while (!this.#closing.signal.aborted && (await this.#round()));
    });
  }

  /** See {@link WordIndex.forget}. What is indexed from then on has none of what was deleted before the call. */
  async forget(projectId: string, startedAt: readonly Micros[]): Promise<void> {
    await this.#inTurn(() => this.#source.index.forget(projectId, startedAt));
    this.#waiting = Infinity;
  }

  /** See {@link WordIndex.forgetProject}. */
  async forgetProject(condition: string): Promise<void> {
    await this.#inTurn(() => this.#source.index.forgetProject(condition));
  }

  /** Ends at once; what is not indexed is by the next process. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#closing.abort();
    await this.#running;
  }

  #look(): void {
    if (this.#running || this.#waiting < TOGETHER || performance.now() < this.#notBefore) return;
    this.#alone(() => this.#whileIdle()).catch((error: unknown) => {
      if (this.#closing.signal.aborted) return;
      this.#failures = this.#size === TOGETHER ? this.#failures + 1 : 0;
      this.#size = Math.max(TOGETHER, this.#size / 2);
      this.#notBefore = performance.now() + FAILURE_PAUSE_MS;
      this.#source.observer.wordIndexFailed({ error });
    });
  }

  /** After the work under way. */
  async #inTurn(work: () => Promise<void>): Promise<void> {
    while (this.#running) await this.#running;
    await this.#alone(work);
  }

  /** Two rounds at a time would index the same spans. */
  #alone(work: () => Promise<void>): Promise<void> {
    const done = work().finally(() => {
      this.#running = null;
    });
    // Whoever waits for the end wants no error of another's work.
    this.#running = done.catch(() => undefined);
    return done;
  }

  async #whileIdle(): Promise<void> {
    let more = true;
    while (more && !this.#closing.signal.aborted) {
      const started = performance.now();
      more = await this.#round();
      const ms = performance.now() - started;
      if (!this.#source.busy()) continue;
      this.#notBefore = performance.now() + ms * (1 / SHARE_WHEN_BUSY - 1);
      return;
    }
  }

  /** @returns whether there may be more to do. */
  async #round(): Promise<boolean> {
    const { client, index, observer } = this.#source;
    const settled = this.#source.settled();
    if (settled === null) return false;
    const started = performance.now();
    const size = this.#size;
    const [next] = await client.query<{ last: string; spans: string; waiting: string }>(
      `SELECT toString(maxIf(ver, ver <= ${settled})) AS last, toString(countIf(ver <= ${settled})) AS spans, toString(count()) AS waiting
       FROM (SELECT ver FROM spans WHERE ver > ${index.upTo} ORDER BY ver LIMIT ${size})`,
    );
    const [last, spans] = [Number(next?.last ?? 0), Number(next?.spans ?? 0)];
    this.#waiting = Number(next?.waiting ?? 0);
    if (spans < TOGETHER) return false;
    const texts = this.#failures < MAX_FAILURES ? 'payload' : "''";
    await client.command(indexing(index.upTo, last, Math.ceil(spans / Math.floor(spans / TOGETHER)), texts), {
      settings: { max_threads: 1, max_insert_threads: '1', max_block_size: String(BLOCK_ROWS) },
      signal: this.#closing.signal,
    });
    index.indexed(last);
    this.#failures = 0;
    this.#size = Math.min(MAX_ROUND, size * 2);
    this.#rounds += 1;
    if (this.#rounds % ROUNDS_BETWEEN_CHECKS === 0) await this.#renewWhenStale();
    observer.wordsIndexed({ spans, seconds: (performance.now() - started) / 1000 });
    return spans === size;
  }

  async #renewWhenStale(): Promise<void> {
    const { client, index } = this.#source;
    const [row] = await client.query<{ stale: number }>(
      `SELECT (SELECT sum(spans) FROM span_words) > ${MAX_VERSIONS_PER_SPAN} * (SELECT count() FROM spans) AS stale`,
    );
    if (Number(row?.stale) === 1) await index.clear();
  }
}

/**
 * Rows for the versions after one up to another, in groups of about `together` spans: one insert, whole or not at all.
 * Versions that were replaced or deleted since are left out: what was deleted must leave no words.
 *
 * @param texts the column whose words are kept, or an empty text.
 */
function indexing(after: Version, upTo: Version, together: number, texts: string): string {
  return `INSERT INTO span_words (project_id, started_from, started_to, spans, indexed_to, complete, words, figures)
WITH ${WORDS} AS all_words, ${FIGURES} AS all_figures,
  spans >= ${MIN_SPANS} AND length(all_words) + length(all_figures) <= bytes * ${MAX_SHARE} AS worthwhile
SELECT project_id, started_from, started_to, spans, ${upTo}, worthwhile, if(worthwhile, all_words, ''), if(worthwhile, all_figures, '')
FROM (
  SELECT project_id, min(started_at) AS started_from, max(started_at) AS started_to, count() AS spans,
    sum(length(payload)) AS bytes, ${TOKENS} AS tokens
  FROM (
    SELECT project_id, started_at, payload, intDiv(rowNumberInAllBlocks(), ${together}) AS part FROM (
      SELECT project_id, started_at, ${texts} AS payload FROM spans
      WHERE ver > ${after} AND ver <= ${upTo} AND ver NOT IN (SELECT ver FROM superseded WHERE ver > ${after} AND ver <= ${upTo})
      ORDER BY project_id, started_at
    )
  )
  GROUP BY project_id, part
)`;
}
