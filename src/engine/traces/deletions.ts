import type { DeletedThing, Below, DeletableKind, PlacedSpan, StoredSpans } from './model/deletion/stored-spans.js';
import type { Micros } from '../timestamp.js';
import { LONG_STATEMENTS } from './clickhouse/client/long-statements.js';
import { empty, join, literal, number, sql, value, type Sql } from './clickhouse/client/sql.js';
import { TombstoneWriter } from './deletion/tombstones.js';
import type { DeletionSource } from './deletion/deletion-source.js';
import { removeProject } from './deletion/project-removal.js';
import { Descendants } from './deletion/descendants.js';
import { ResultsOfRows } from './deletion/results-of-rows.js';
import {
  isFactOf,
  keyOf,
  PORTION,
  scoredSince,
  sessionsWrittenSince,
  spansWrittenSince,
  toSpan,
  tracesOf,
  uuids,
  writtenSince,
  type SpanRow,
} from './deletion/things.js';
import { openReader, type ReadRows } from './read/row-reader.js';
import { inProject } from './read/scope.js';
import { isOwnCall } from './read/tags.js';
import type { TimeRange } from './read/times.js';
import { current } from './read/visibility.js';

/** So few spans are told from others of their traces. */
const FEW = 500;
/** The most texts that ClickHouse looks for in one go. */
const NEEDLES = 200;
/** In microseconds. */
const MINUTE = 60e6;

/**
 * Deletes by tombstones in the same log that writes go through: a later write of the same span is another span, and
 * deleted spans leave every rollup by the same recomputation as any other change.
 */
export class ClickHouseDeletions implements StoredSpans {
  readonly #source: DeletionSource;
  readonly #rows: ReadRows;
  readonly #below: Descendants;
  readonly #tombstones: TombstoneWriter;

  constructor(source: DeletionSource) {
    this.#source = source;
    this.#rows = openReader(source.client, {}, LONG_STATEMENTS).rows;
    this.#below = new Descendants(this.#rows, source.reads);
    this.#tombstones = new TombstoneWriter(source, this.#rows);
  }

  async below(projectId: string, kind: DeletableKind, id: string): Promise<Below | null> {
    // A deletion that would be refused is not ordered: it would be done later, although the client got an error.
    this.#source.log.gate.requireRoom();
    return this.#below.below(projectId, kind, id);
  }

  async *within(
    projectId: string,
    list: 'traces' | 'sessions',
    ids: readonly string[],
  ): AsyncGenerator<readonly DeletedThing[]> {
    this.#source.log.gate.requireRoom();
    await this.#source.settle(projectId);
    yield* list === 'traces' ? this.#below.ofTraces(projectId, ids) : this.#below.ofSessions(projectId, ids);
  }

  async changedSince(
    projectId: string,
    list: 'spans' | 'traces' | 'sessions',
    objects: Parameters<StoredSpans['changedSince']>[2],
    { after, scores }: Parameters<StoredSpans['changedSince']>[3],
  ): Promise<ReadonlySet<string>> {
    if (objects.length === 0) return new Set();
    const ids = objects.map(({ id }) => id);
    const written = {
      spans: () => spansWrittenSince(projectId, objects, after),
      traces: () => sql`SELECT trace AS id FROM (${writtenSince(projectId, ids, after)})`,
      sessions: () => sql`SELECT DISTINCT session AS id FROM (${sessionsWrittenSince(projectId, ids, after)})`,
    };
    return this.#source.reads.run(projectId, async () => {
      const rows = await this.#rows<{ readonly id: string }>(written[list]());
      const scored =
        scores.length === 0
          ? []
          : await this.#rows<{ readonly id: string }>(scoredSince[list](projectId, ids, scores, after));
      return new Set([...rows, ...scored].map(({ id }) => id));
    });
  }

  async *contents(projectId: string, traceIds: readonly string[]): AsyncGenerator<readonly DeletedThing[]> {
    if (traceIds.length === 0) return;
    await this.#source.settle(projectId);
    yield* this.#below.ofTraces(projectId, traceIds);
  }

  async *callsShowing(
    projectId: string,
    judgeIds: readonly string[],
    spanIds: readonly string[],
  ): AsyncGenerator<readonly DeletedThing[]> {
    for (let from = 0; from < spanIds.length; from += NEEDLES) {
      const needles = join(spanIds.slice(from, from + NEEDLES).map(literal), ', ');
      const calls = sql`hasAny(mapValues(tags), [${join(judgeIds.map(literal), ', ')}]) AND ${isOwnCall}
  AND multiSearchAny(attributes, [${needles}])`;
      let page: DeletedThing[] = [];
      do {
        page = await this.#callsBehind(projectId, calls, page.at(-1) ?? null);
        if (page.length > 0) yield page;
      } while (page.length === PORTION);
    }
  }

  async *resultsOfRows(
    projectId: string,
    experimentIds: readonly string[],
    rowIds: readonly string[],
  ): AsyncGenerator<readonly DeletedThing[]> {
    const results = new ResultsOfRows(this.#rows, this.#source.reads, { projectId, experimentIds, rowIds });
    for await (const { alone, traces } of results.portions()) {
      if (alone.length > 0) yield alone;
      yield* this.contents(projectId, traces);
    }
  }

  writeTombstones(
    projectId: string,
    things: readonly DeletedThing[],
    upTo: Micros | null,
  ): Promise<ReadonlySet<string>> {
    return this.#tombstones.writeTombstones(projectId, things, upTo);
  }

  sentAgain(projectId: string, spans: readonly DeletedThing[]): Promise<ReadonlySet<string>> {
    return this.#tombstones.sentAgain(projectId, spans);
  }

  removeTraces(projectId: string, ids: readonly string[], upTo: Micros): Promise<ReadonlySet<string>> {
    return this.#tombstones.removeTraces(projectId, ids, upTo);
  }

  async sharedIds(projectId: string, things: readonly DeletedThing[]): Promise<ReadonlySet<string>> {
    const spans = things.filter(({ kind }) => kind === 'span');
    const mine = new Set(spans.map(keyOf));
    return this.#source.reads.run(projectId, async (upTo) => {
      const shared = new Set<string>();
      for (let from = 0; from < spans.length; from += PORTION) {
        const ids = spans.slice(from, from + PORTION).map(({ id }) => id);
        const rows = await this.#rows<SpanRow>(
          sql`SELECT toString(trace_id) AS trace, toString(id) AS span, toString(toUnixTimestamp64Micro(max(started_at))) AS started FROM spans
WHERE ${inProject(projectId)} AND id IN ${uuids(ids)} AND ${current({ projectId, upTo })} GROUP BY trace_id, id`,
        );
        for (const row of rows) if (!mine.has(keyOf(toSpan(row)))) shared.add(row.span);
      }
      return shared;
    });
  }

  async forgetWords(projectId: string, spans: readonly PlacedSpan[], signal: AbortSignal): Promise<void> {
    const { indexer } = this.#source;
    await indexer.forget(projectId, [...minutesOf(spans), ...(await this.#startsOf(projectId, spans))], signal);
  }

  removeProject(projectId: string, signal: AbortSignal): Promise<void> {
    return removeProject(this.#source, projectId, signal);
  }

  async #callsBehind(projectId: string, calls: Sql, after: DeletedThing | null): Promise<DeletedThing[]> {
    const behind =
      after === null
        ? empty
        : sql` AND (trace_id, id) > (${value(after.trace_id, 'UUID')}, ${value(after.id, 'UUID')})`;
    const rows = await this.#source.reads.run(projectId, (upTo) =>
      this.#rows<SpanRow>(
        sql`SELECT toString(trace_id) AS trace, toString(id) AS span, toString(toUnixTimestamp64Micro(started_at)) AS started FROM spans
WHERE ${inProject(projectId)} AND ${calls} AND ${current({ projectId, upTo })}${behind}
ORDER BY trace_id, id LIMIT ${number(PORTION)}`,
        { settings: { max_threads: 1 } },
      ),
    );
    return rows.map(toSpan);
  }

  /**
   * When spans started by each of their writes, as far as these are not purged yet: words of replaced texts lie there. By the minute,
   * as there may be many.
   */
  async #startsOf(projectId: string, spans: readonly PlacedSpan[]): Promise<TimeRange[]> {
    const stored = spans.filter(({ trace_id }) => trace_id !== '');
    if (stored.length === 0) return [];
    // Of many, all that is in their traces: times of spans that stay do no harm, and ids take longer to read.
    const among =
      stored.length <= FEW
        ? isFactOf(projectId, stored)
        : sql`${inProject(projectId)} AND f.trace_id IN ${uuids(tracesOf(stored))}`;
    const rows = await this.#rows<{ readonly from: string; readonly to: string }>(
      sql`SELECT toString(min(at)) AS from, toString(max(at)) AS to
FROM (SELECT toUnixTimestamp64Micro(f.started_at) AS at FROM facts AS f WHERE ${among} AND row_type = 0 AND NOT deleted)
GROUP BY intDiv(at, ${number(MINUTE)})`,
    );
    return rows.map(({ from, to }) => ({ from: Number(from), to: Number(to) }));
  }
}

/** From the first to the last start within each minute. */
function minutesOf(spans: readonly PlacedSpan[]): TimeRange[] {
  const minutes = new Map<number, TimeRange>();
  for (const { started_at } of spans) {
    const minute = Math.floor(started_at / MINUTE);
    const { from, to } = minutes.get(minute) ?? { from: started_at, to: started_at };
    minutes.set(minute, { from: Math.min(from, started_at), to: Math.max(to, started_at) });
  }
  return [...minutes.values()];
}
