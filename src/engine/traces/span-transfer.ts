import type { PostedSession, PostedTrace } from './model/trace/posted.js';
import type { Imported, PageOf, RecordPage } from './model/transfer/record-page.js';
import type { DatedSpan, SpanTransfer } from './model/transfer/span-transfer.js';
import { sql, value } from './clickhouse/client/sql.js';
import type { SpanRow } from './write/table-columns.js';
import { statedVersion, type Version } from './write/version-clock.js';
import { inProject } from './read/scope.js';
import { isDeleted, standing, written } from './read/visibility.js';
import type { RevisedStore } from './span-revision.js';
import { postedPage, postedSessions, postedTraces, spanPage, type PostedSource } from './transfer-pages.js';

/** Takes spans out of a project and into another one. */
export class ClickHouseSpanTransfer implements SpanTransfer {
  readonly #store: RevisedStore;

  constructor(store: RevisedStore) {
    this.#store = store;
  }

  spans(of: PageOf): Promise<RecordPage<string>> {
    return spanPage(this.#store, of);
  }

  traces(of: PageOf): Promise<RecordPage<string>> {
    return postedPage(this.#store, postedTraces, of);
  }

  sessions(of: PageOf): Promise<RecordPage<string>> {
    return postedPage(this.#store, postedSessions, of);
  }

  async takeSpans(projectId: string, spans: readonly DatedSpan[]): Promise<Imported> {
    const { log } = this.#store;
    const watch = await log.watch(projectId);
    try {
      const there = await this.#writtenSpans(projectId, spans);
      // Nothing may come between this look at the watch and the append: both are in one turn of the event loop.
      const rows = latest(spans)
        .filter(
          ({ span, writtenAt }) => !watch.sawChanged(span) && (there.get(keyOf(span)) ?? -1) < statedVersion(writtenAt),
        )
        .map(toRow);
      await log.append({ projectId, spans: rows });
      return { stored: rows.length, unchanged: spans.length - rows.length };
    } finally {
      watch.end();
    }
  }

  takeTraces(projectId: string, traces: readonly PostedTrace[]): Promise<Imported> {
    return this.#takePosted(projectId, 'trace', postedTraces, traces, (kept) => ({ projectId, traces: kept }));
  }

  takeSessions(projectId: string, sessions: readonly PostedSession[]): Promise<Imported> {
    return this.#takePosted(projectId, 'session', postedSessions, sessions, (kept) => ({ projectId, sessions: kept }));
  }

  async #takePosted<T extends { readonly id: string }>(
    projectId: string,
    kind: 'trace' | 'session',
    { table, id, condition }: PostedSource,
    posted: readonly T[],
    writes: (kept: readonly T[]) => Parameters<RevisedStore['log']['append']>[0],
  ): Promise<Imported> {
    const { log, reader } = this.#store;
    const watch = await log.watch(projectId);
    try {
      const ids = posted.map((each) => each.id);
      const rows = await reader.rows<{ id: string }>(sql`SELECT toString(${id}) AS id FROM ${table}
WHERE ${inProject(projectId)} AND ${id} IN ${value(ids, 'Array(UUID)')}${condition}
GROUP BY ${id} HAVING NOT ${isDeleted}`);
      const there = new Set(rows.map((row) => row.id));
      const kept = [...new Map(posted.map((each) => [each.id, each])).values()].filter(
        (each) => !there.has(each.id) && !watch.sawSent({ kind, id: each.id }),
      );
      await log.append(writes(kept));
      return { stored: kept.length, unchanged: posted.length - kept.length };
    } finally {
      watch.end();
    }
  }

  /** The versions that clients wrote of spans that are there, by their keys. */
  async #writtenSpans(projectId: string, spans: readonly DatedSpan[]): Promise<Map<string, Version>> {
    if (spans.length === 0) return new Map();
    const ids = [...new Set(spans.map(({ span }) => span.id))];
    const traces = [...new Set(spans.map(({ span }) => span.trace_id))];
    const rows = await this.#store.reader.rows<{ trace_id: string; id: string; at: string }>(
      sql`SELECT toString(f.trace_id) AS trace_id, toString(f.id) AS id, toString(${written}) AS at
FROM (${standing(sql`trace_id, id, origin_ver`, sql`${inProject(projectId)} AND trace_id IN ${value(traces, 'Array(UUID)')} AND (row_type = 2 OR (row_type = 0 AND id IN ${value(ids, 'Array(UUID)')}))`)}) AS f`,
    );
    return new Map(rows.map(({ at, ...span }) => [keyOf(span), Number(at)]));
  }
}

function keyOf({ trace_id, id }: { readonly trace_id: string; readonly id: string }): string {
  return `${trace_id}/${id}`;
}

/** Of the same span several times, the one that was written last. */
function latest(spans: readonly DatedSpan[]): DatedSpan[] {
  const byKey = new Map<string, DatedSpan>();
  for (const dated of spans) {
    const known = byKey.get(keyOf(dated.span));
    if (known === undefined || known.writtenAt <= dated.writtenAt) byKey.set(keyOf(dated.span), dated);
  }
  return [...byKey.values()];
}

function toRow({ span, writtenAt, receivedAt }: DatedSpan): SpanRow {
  return { ...span, originVersion: statedVersion(writtenAt), receivedVersion: statedVersion(receivedAt) };
}
