import { DomainError } from '../errors.js';
import type { Micros } from '../timestamp.js';
import type { ClickHouseClient } from './clickhouse/client/client.js';
import { refusalCode } from './clickhouse/client/client-errors.js';
import { RESULT_TOO_LARGE } from './clickhouse/client/error-codes.js';
import { sql, value } from './clickhouse/client/sql.js';
import { KnownTraces, type KnownTrace } from './known-traces.js';
import type { SpanKey } from './model/partial/partial-span.js';
import { sinceOf, withSince } from './model/partial/stamps.js';
import { WRITTEN_MEANWHILE, type OpenedSpans, type PartialSpans } from './model/partial/partial-spans.js';
import type { PlacedSpan } from './model/prices/calculated-spans.js';
import type { Span } from './model/span/span.js';
import type { WriteReceipt, Writes } from './model/write-log.js';
import type { ReadsInProgress } from './read/reads-in-progress.js';
import { openReader, type Reader, type ReadLimits } from './read/row-reader.js';
import { inProject } from './read/scope.js';
import { standing } from './read/visibility.js';
import { wholeSpans } from './span-revision.js';
import type { CommitLog } from './write/commit-log.js';
import type { AppendedWrites } from './write/rows.js';
import type { SpanRow } from './write/table-columns.js';
import type { UnflushedWrites } from './write/unflushed-writes.js';
import { SharedLookUp } from '../work/shared-look-up.js';
import { versionOf, versionTime } from './write/version-clock.js';

export interface PartialSpansParts {
  readonly client: ClickHouseClient;
  readonly log: CommitLog;
  readonly reads: ReadsInProgress;
  readonly writes: Pick<UnflushedWrites, 'concern'>;
  readonly limits: ReadLimits;
  /** Bytes of spans that are kept in memory. */
  readonly maxKnownBytes?: number;
}

/** Bytes of spans that were lately sent in parts. */
const MAX_KNOWN_BYTES = 32 * 1024 * 1024;
/** Spans read in one statement, and the bytes that all of one request may have. */
const READ_AT_ONCE = 10;
const MAX_READ_BYTES = 64 * 1024 * 1024;

/** Of one statement; its answer is as large as it may be with all of the request. */
const MAX_READ = { settings: { max_result_bytes: String(MAX_READ_BYTES) } };

/** Few rows by their keys: more threads would only cost more. */
const ONE_THREAD = { settings: { max_threads: 1 } };

/** A span that is stored, and when the earliest of what is in it was received. */
interface Read {
  readonly span: Span;
  readonly since: Micros;
}

/** A span as its facts place it. */
interface PlaceRow {
  readonly trace: string;
  readonly span: string;
  readonly version: string;
  readonly started: string;
}

/**
 * Spans as they are now: those lately sent in parts from memory, which follows all writes; of others, those of traces that no
 * unflushed write concerns from ClickHouse as it is. Only for the rest is the project flushed.
 */
export class ClickHousePartialSpans implements PartialSpans {
  readonly #parts: PartialSpansParts;
  readonly #reader: Reader;
  readonly #known: KnownTraces;
  /** Traces that have facts of spans. */
  readonly #stand: SharedLookUp;
  /** Whether what is queued in this turn is what was opened. */
  #own = false;

  constructor(parts: PartialSpansParts) {
    this.#parts = parts;
    this.#reader = openReader(parts.client, parts.limits);
    this.#known = new KnownTraces(parts.maxKnownBytes ?? MAX_KNOWN_BYTES);
    this.#stand = new SharedLookUp((projectId, traces) => this.#standing(projectId, traces));
    parts.log.onQueued((named) => {
      if (!this.#own) this.#known.note(named);
    });
  }

  forgetProject(projectId: string): void {
    this.#known.forgetProject(projectId);
  }

  async open(projectId: string, keys: readonly SpanKey[]): Promise<OpenedSpans> {
    const traces = new Map<string, KnownTrace>();
    for (const { trace_id } of keys)
      if (!traces.has(trace_id)) traces.set(trace_id, this.#known.use(projectId, trace_id));
    const close = () => {
      for (const trace of traces.values()) this.#known.release(trace);
    };
    const opened = new Map([...traces.values()].map((trace) => [trace, trace.writes]));
    try {
      const missing = keys.filter(({ trace_id, id }) => {
        const trace = traces.get(trace_id);
        const known = trace?.spans.get(id);
        return trace !== undefined && (known === undefined ? !trace.whole : known.span === null);
      });
      const read = missing.length === 0 ? new Map<string, Read>() : await this.#read(projectId, missing, opened);
      const find = (key: SpanKey): Read | undefined => {
        const known = traces.get(key.trace_id)?.spans.get(key.id);
        return known?.span == null ? read.get(keyOf(key)) : { span: known.span, since: known.since };
      };
      return {
        find: (key) => find(key)?.span,
        log: {
          admit: (project) => this.#parts.log.admit(project),
          append: (writes) => this.#append(writes, opened, (key) => find(key)?.since),
        },
        close,
      };
    } catch (error) {
      close();
      throw error;
    }
  }

  /**
   * @param opened traces, each with the number of writes to it when it was opened
   * @param sinceOf when the earliest was received of what a span is built on
   */
  async #append(
    writes: Writes,
    opened: ReadonlyMap<KnownTrace, number>,
    sinceOf: (key: SpanKey) => Micros | undefined,
  ): Promise<WriteReceipt> {
    for (const [trace, seen] of opened) if (trace.writes !== seen) throw writtenMeanwhile();
    // A deletion in progress takes also what was added to a span: the texts that are to go are in it.
    const built = (writes.spans ?? []).map((span) => ({ span, since: sinceOf(span) }));
    const spans = built.map(({ span, since }): SpanRow => {
      if (since === undefined) return span;
      return { ...span, attributes: withSince(span.attributes, since), builtOn: versionOf(since) };
    });
    const appended = this.#queue({ ...writes, spans });
    const traces = new Map([...opened].map(([trace, seen]) => [trace.traceId, { trace, seen }]));
    try {
      const receipt = await appended;
      for (const [index, { span, since }] of built.entries()) {
        const known = traces.get(span.trace_id);
        if (known !== undefined && known.trace.writes === known.seen)
          this.#known.put(known.trace, span, since ?? receipt.createdAt[index] ?? 0);
      }
      return receipt;
    } catch (error) {
      // Perhaps it is stored anyway.
      for (const { trace } of traces.values()) this.#known.forget(trace);
      throw error;
    }
  }

  #queue(writes: AppendedWrites): Promise<WriteReceipt> {
    this.#own = true;
    try {
      // Queued before it waits for anything.
      return this.#parts.log.append(writes);
    } finally {
      this.#own = false;
    }
  }

  /** @returns the spans that are stored, by their keys */
  async #read(
    projectId: string,
    keys: readonly SpanKey[],
    opened: ReadonlyMap<KnownTrace, number>,
  ): Promise<Map<string, Read>> {
    const { log, reads, writes } = this.#parts;
    // What was queued before the traces were watched.
    await log.idleOf(projectId);
    const traces = [...new Set(keys.map(({ trace_id }) => trace_id))];
    const wanted = { figures: false, traces };
    const read = () => this.#stored(projectId, keys, traces);
    const { spans, empty } = writes.concern(projectId, traces)
      ? await reads.ofCommitted(projectId, wanted, read)
      : await read();
    for (const [trace, seen] of opened) {
      if (trace.writes !== seen) throw writtenMeanwhile();
      if (empty.has(trace.traceId)) trace.whole = true;
    }
    return spans;
  }

  async #stored(projectId: string, keys: readonly SpanKey[], traces: readonly string[]) {
    // Most traces that are not known are new: to find that costs least, and for several requests at once hardly more.
    const there = await this.#stand.find(projectId, traces);
    const old = new Set(traces.filter((trace) => there.has(trace)));
    const empty = new Set(traces.filter((trace) => !old.has(trace)));
    const wanted = keys.filter(({ trace_id }) => old.has(trace_id));
    if (wanted.length === 0) return { spans: new Map<string, Read>(), empty };
    const ids = [...new Set(wanted.map(({ id }) => id))];
    const standingFacts = standing(
      sql`trace_id, id, started_at`,
      sql`${factsOf(projectId, [...old])} AND (row_type = 2 OR (row_type = 0 AND id IN ${value(ids, 'Array(UUID)')}))`,
    );
    const rows = await this.#reader.rows<PlaceRow>(
      sql`SELECT toString(trace_id) AS trace, toString(id) AS span, toString(ver) AS version,
  toString(toUnixTimestamp64Micro(started_at)) AS started FROM (${standingFacts})`,
      ONE_THREAD,
    );
    const names = new Set(wanted.map(keyOf));
    const places = rows
      .map(({ trace, span, version, started }): PlacedSpan => {
        const place = { trace_id: trace, id: span, started_at: Number(started) };
        return { ...place, version: Number(version), bytes: 0 };
      })
      .filter((place) => names.has(keyOf(place)));
    return { spans: await this.#whole(projectId, places), empty };
  }

  async #standing(projectId: string, traces: readonly string[]): Promise<ReadonlySet<string>> {
    const found = await this.#reader.rows<{ trace: string }>(
      sql`SELECT DISTINCT toString(trace_id) AS trace FROM facts WHERE ${factsOf(projectId, traces)} AND row_type != 1`,
      ONE_THREAD,
    );
    return new Set(found.map(({ trace }) => trace));
  }

  async #whole(projectId: string, places: readonly PlacedSpan[]): Promise<Map<string, Read>> {
    const spans = new Map<string, Read>();
    let bytes = 0;
    for (let from = 0; from < places.length; from += READ_AT_ONCE) {
      const lines = await wholeSpans(this.#reader, projectId, places.slice(from, from + READ_AT_ONCE), MAX_READ).catch(
        (error: unknown) => {
          throw refusalCode(error) === RESULT_TOO_LARGE ? tooLarge() : error;
        },
      );
      for (const { span, size, origin } of lines) {
        bytes += size;
        spans.set(keyOf(span), { span, since: sinceOf(span, versionTime(origin.written)) });
      }
      if (bytes > MAX_READ_BYTES) throw tooLarge();
    }
    if (spans.size < places.length) throw writtenMeanwhile();
    return spans;
  }
}

function factsOf(projectId: string, traces: readonly string[]) {
  return sql`${inProject(projectId)} AND trace_id IN ${value(traces, 'Array(UUID)')}`;
}

function keyOf({ trace_id, id }: SpanKey): string {
  return `${trace_id}/${id}`;
}

function tooLarge(): DomainError {
  return new DomainError('too_large', 'The spans that these events belong to are too large together: send fewer');
}

function writtenMeanwhile(): DomainError {
  const message = 'Other clients keep writing to the same traces. Retry.';
  return new DomainError('unavailable', message, { retryAfterSeconds: 1, reason: WRITTEN_MEANWHILE });
}
