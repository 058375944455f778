import type { DeletedThing } from '../../domain/deletion/deletion-store.js';
import type { Below, DeletableKind, PlacedSpan, StoredSpans } from '../../domain/deletion/stored-spans.js';
import type { Micros } from '../../domain/time/timestamp.js';
import type { ClickHouseClient } from './client/client.js';
import type { CommitLog } from './commit/commit-log.js';
import type { AppendedWrites } from './commit/rows.js';
import { versionTime } from './commit/version-clock.js';
import { inProject } from './read/scope.js';
import { isOwnCall } from './read/tags.js';
import { current, isDeleted, rolledUp, tracesOfSession, written } from './read/visibility.js';
import { deleteRows } from './client/mutations.js';
import type { ReadsInProgress, Settle } from './read/reads-in-progress.js';
import { rowReader, type ReadRows } from './read/row-reader.js';
import type { WordIndexer } from './search/word-indexer.js';
import { empty, join, literal, sql, value, type Sql } from './client/sql.js';

/** Things of one portion: their ids fit twice into a statement's text. */
const PORTION = 2_000;
/** Times that are looked for in one statement. */
const TIMES_AT_ONCE = 5_000;
/** As many as ClickHouse looks for in one go. */
const NEEDLES = 200;

/** Everything that is kept by project, but for what has its place in `removeProject`. */
const TABLES = [
  'spans',
  'facts',
  'traces',
  'trace_starts',
  'session_traces',
  'session_statements',
  'sessions',
  'session_starts',
  'set_aside',
];

export interface DeletionSource {
  readonly client: ClickHouseClient;
  readonly log: CommitLog;
  readonly settle: Settle;
  readonly reads: ReadsInProgress;
  readonly indexer: WordIndexer;
  /** Resolves once nothing that is set aside of a project is tried again. */
  readonly forgetAside: (projectId: string) => Promise<void>;
  /** The traces of a project that cannot be recomputed in any way. */
  readonly stale: (projectId: string) => readonly string[];
  /** Resolves once nothing is being written for purging what left `superseded` before the call. */
  readonly purgeWritten: () => Promise<void>;
  /** Called after a deletion. */
  readonly deleted: () => void;
}

/**
 * Deletes by tombstones in the same log that writes go through: a later write of the same span is another span, and
 * what is gone is gone from every rollup by the same recomputation as any other change.
 */
export class ClickHouseDeletions implements StoredSpans {
  readonly #source: DeletionSource;
  readonly #rows: ReadRows;

  constructor(source: DeletionSource) {
    this.#source = source;
    this.#rows = rowReader(source.client);
  }

  async below(projectId: string, kind: DeletableKind, id: string): Promise<Below | null> {
    // What would be refused is not ordered: it would be done later, to the surprise of whoever was told no.
    this.#source.log.demandRoom();
    const { upTo, first } = await this.#source.reads.run(projectId, async (upTo) => ({
      upTo,
      first: await this.#first(projectId, kind, id, upTo),
    }));
    if (first.length === 0) return null;
    const traces = kind === 'span' ? null : kind === 'trace' ? sql`= ${value(id, 'UUID')}` : inSession(projectId, id);
    const having = kind === 'session' ? strays(projectId, id) : empty;
    return { upTo: versionTime(upTo), things: this.#pages(projectId, traces, having, kind === 'trace' ? [] : first) };
  }

  async contents(projectId: string, traceIds: readonly string[]): Promise<DeletedThing[]> {
    if (traceIds.length === 0) return [];
    await this.#source.settle(projectId);
    return this.#things(projectId, sql`IN ${uuids(traceIds)}`, empty, null, null);
  }

  async callsShowing(
    projectId: string,
    judgeIds: readonly string[],
    spanIds: readonly string[],
  ): Promise<DeletedThing[]> {
    return this.#source.reads.run(projectId, async (upTo) => {
      const found: DeletedThing[] = [];
      for (let from = 0; from < spanIds.length; from += NEEDLES) {
        const needles = join(spanIds.slice(from, from + NEEDLES).map(literal), ', ');
        const rows = await this.#rows<SpanRow>(
          sql`SELECT toString(trace_id) AS trace, toString(id) AS span, toString(toUnixTimestamp64Micro(started_at)) AS started FROM spans
WHERE ${inProject(projectId)} AND hasAny(mapValues(tags), [${join(judgeIds.map(literal), ', ')}]) AND ${isOwnCall}
  AND multiSearchAny(attributes, [${needles}]) AND ${current({ projectId, upTo })}`,
          { settings: { max_threads: 1 } },
        );
        found.push(...rows.map(toSpan));
      }
      return found;
    });
  }

  async bury(projectId: string, things: readonly DeletedThing[], upTo: Micros | null): Promise<ReadonlySet<string>> {
    const staying = new Set<string>();
    for (let from = 0; from < things.length; from += PORTION)
      for (const id of await this.#bury(projectId, things.slice(from, from + PORTION), upTo)) staying.add(id);
    return staying;
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
    for (let from = 0; from < spans.length; from += PORTION) {
      const part = spans.slice(from, from + PORTION);
      const times = new Set(part.map(({ started_at }) => started_at));
      for (const time of await this.#startsOf(projectId, part)) times.add(time);
      const all = [...times];
      for (let at = 0; at < all.length; at += TIMES_AT_ONCE)
        await indexer.forget(projectId, all.slice(at, at + TIMES_AT_ONCE), signal);
    }
  }

  async removeProject(projectId: string, signal: AbortSignal): Promise<void> {
    const { client, log, settle, indexer, forgetAside, purgeWritten } = this.#source;
    await log.idle();
    await settle(projectId);
    await forgetAside(projectId);
    const condition = sql`project_id = ${literal(requireUuid(projectId))}`;
    // First, so that from then on the purge writes nothing of the project.
    await deleteRows(client, 'superseded', condition, signal);
    await purgeWritten();
    for (const table of TABLES) await deleteRows(client, table, condition, signal);
    await indexer.forgetProject(projectId, signal);
  }

  /** When spans started by each of their writes, as far as these are not purged yet: words of replaced texts lie there. */
  async #startsOf(projectId: string, spans: readonly PlacedSpan[]): Promise<Micros[]> {
    const stored = spans.filter(({ trace_id }) => trace_id !== '');
    if (stored.length === 0) return [];
    const rows = await this.#rows<{ readonly started: string }>(
      sql`SELECT DISTINCT toString(toUnixTimestamp64Micro(f.started_at)) AS started FROM facts AS f
WHERE ${isFactOf(projectId, stored)} AND row_type = 0 AND NOT deleted`,
    );
    return rows.map(({ started }) => Number(started));
  }

  /** What is no content of a trace: the span itself; of a session, what was posted about it. */
  async #first(projectId: string, kind: DeletableKind, id: string, upTo: number): Promise<DeletedThing[]> {
    if (kind === 'trace') return this.#things(projectId, sql`= ${value(id, 'UUID')}`, empty, null, 1);
    if (kind === 'session') {
      const [known] = await this.#rows(rolledUp(sql`sessions`, projectId, id));
      return known ? [sessionThing(id)] : [];
    }
    const found = await this.#rows<SpanRow>(
      sql`SELECT toString(trace_id) AS trace, toString(id) AS span, toString(toUnixTimestamp64Micro(max(started_at))) AS started FROM spans
WHERE ${inProject(projectId)} AND id = ${value(id, 'UUID')} AND ${current({ projectId, upTo })} GROUP BY trace_id, id`,
    );
    return found.map(toSpan);
  }

  async *#pages(
    projectId: string,
    traces: Sql | null,
    having: Sql,
    last: readonly DeletedThing[],
  ): AsyncGenerator<readonly DeletedThing[]> {
    let after: DeletedThing | null = null;
    for (let more = traces !== null; more;) {
      const page: DeletedThing[] = await this.#things(projectId, traces ?? empty, having, after, PORTION);
      if (page.length > 0) yield page;
      after = page.at(-1) ?? null;
      more = page.length === PORTION;
    }
    if (last.length > 0) yield last;
  }

  /** What traces hold now: spans and the statements about them. Columns are qualified: `toString` hides the bare names. */
  async #things(
    projectId: string,
    traces: Sql,
    having: Sql,
    after: DeletedThing | null,
    limit: number | null,
  ): Promise<DeletedThing[]> {
    const rows = await this.#rows<FactRow>(
      sql`SELECT toString(f.trace_id) AS trace, row_type AS type, toString(f.id) AS span, toString(toUnixTimestamp64Micro(argMax(f.started_at, ver))) AS started FROM facts AS f
WHERE ${inProject(projectId)} AND f.trace_id ${traces}${after === null ? empty : isBehind(after)}
GROUP BY f.trace_id, row_type, f.id HAVING NOT ${isDeleted}${having}
ORDER BY f.trace_id, row_type, f.id${limit === null ? empty : sql` LIMIT ${value(limit, 'UInt64')}`}`,
    );
    return rows.map(toThing);
  }

  /** Nothing may come between the look at the watch and the append: both are in one turn of the event loop. */
  async #bury(projectId: string, things: readonly DeletedThing[], upTo: Micros | null): Promise<string[]> {
    const { log, settle, deleted } = this.#source;
    const watch = await log.watch(projectId);
    try {
      await settle(projectId);
      const wanted = new Set(things.map(keyOf));
      const live = [...(await this.#live(projectId, things)), ...(await this.#liveSessions(projectId, things))].filter(
        (thing) => wanted.has(keyOf(thing)),
      );
      const sentLater = ({ sentAt }: LiveThing) => upTo !== null && sentAt > upTo;
      const staying = live.filter((thing) => upTo !== null && (sentLater(thing) || watch.sawSent(thing)));
      const stays = new Set(staying.map(keyOf));
      const tombstones = live
        .filter((thing) => thing.kind !== 'session' && !stays.has(keyOf(thing)))
        .map(({ kind, trace_id, id }) => ({ trace_id, id, rowType: kind === 'trace' ? (1 as const) : (0 as const) }));
      const deletedSessions = things
        .filter((thing) => thing.kind === 'session' && !stays.has(keyOf(thing)) && !watch.sawSent(thing))
        .map(({ id }) => id);
      const writes: AppendedWrites = { projectId, tombstones, deletedSessions };
      await log.append(writes);
      await settle(projectId);
      await this.#hideStale(projectId, things);
      deleted();
      return [...idsOfSpans(staying.filter(sentLater)), ...(await this.#buryUnsure(projectId, staying, upTo))];
    } finally {
      watch.end();
    }
  }

  /**
   * Takes what was deleted of a trace that is too large to be recomputed off the list of spans, as recomputing it would
   * have done. Purging then makes the trace smaller, until it is recomputed after all.
   */
  async #hideStale(projectId: string, things: readonly DeletedThing[]): Promise<void> {
    const stale = new Set(this.#source.stale(projectId));
    const spans = things.filter(({ kind, trace_id }) => kind === 'span' && stale.has(trace_id));
    if (spans.length === 0) return;
    const among = sql`${isFactOf(projectId, spans)} AND row_type = 0`;
    const statement = sql`INSERT INTO superseded SELECT project_id, f.ver, last FROM facts AS f
INNER JOIN (SELECT f.trace_id, f.id, max(f.ver) AS last FROM facts AS f WHERE ${among} GROUP BY f.trace_id, f.id HAVING ${isDeleted}) AS buried
  ON buried.trace_id = f.trace_id AND buried.id = f.id
WHERE ${among} AND f.ver < last`;
    await this.#source.client.command(statement);
  }

  /** What stays for a write that was only accepted: when that was not stored after all, it goes. */
  async #buryUnsure(projectId: string, staying: readonly LiveThing[], upTo: Micros | null): Promise<string[]> {
    const unsure = staying.filter(({ sentAt }) => upTo !== null && sentAt <= upTo);
    if (unsure.length === 0) return [];
    await this.#source.log.idle();
    return this.#bury(projectId, unsure, upTo);
  }

  async #live(projectId: string, things: readonly DeletedThing[]): Promise<LiveThing[]> {
    const inTraces = things.filter(({ kind }) => kind !== 'session');
    if (inTraces.length === 0) return [];
    const rows = await this.#rows<FactRow & { readonly version: string }>(
      // A price that was calculated anew is not sent by a client: what counts is the version that was.
      sql`SELECT toString(f.trace_id) AS trace, row_type AS type, toString(f.id) AS span, '0' AS started,
  toString(argMax(${written}, ver)) AS version FROM facts AS f
WHERE ${isFactOf(projectId, inTraces)}
GROUP BY f.trace_id, row_type, f.id HAVING NOT ${isDeleted}`,
    );
    return rows.map((row) => ({ ...toThing(row), sentAt: versionTime(Number(row.version)) }));
  }

  /** What was posted about sessions. */
  async #liveSessions(projectId: string, things: readonly DeletedThing[]): Promise<LiveThing[]> {
    const ids = things.filter(({ kind }) => kind === 'session').map(({ id }) => id);
    if (ids.length === 0) return [];
    const rows = await this.#rows<{ readonly session: string; readonly version: string }>(
      sql`SELECT toString(session_id) AS session, toString(max(ver)) AS version FROM session_statements
WHERE ${inProject(projectId)} AND session_id IN ${uuids(ids)} GROUP BY session_id HAVING NOT ${isDeleted}`,
    );
    return rows.map(({ session, version }) => ({ ...sessionThing(session), sentAt: versionTime(Number(version)) }));
  }
}

interface SpanRow {
  readonly trace: string;
  readonly span: string;
  readonly started: string;
}
interface FactRow extends SpanRow {
  readonly type: 0 | 1;
}
/** What there is now. */
interface LiveThing extends DeletedThing {
  /** When a client sent it. */
  readonly sentAt: Micros;
}

function toSpan({ trace, span, started }: SpanRow): DeletedThing {
  return { kind: 'span', trace_id: trace, id: span, started_at: Number(started) };
}

function toThing(row: FactRow): DeletedThing {
  return row.type === 1 ? { ...toSpan(row), kind: 'trace', started_at: 0 } : toSpan(row);
}

function idsOfSpans(things: readonly DeletedThing[]): string[] {
  return things.filter(({ kind }) => kind === 'span').map(({ id }) => id);
}

function sessionThing(id: string): DeletedThing {
  return { kind: 'session', trace_id: '', id, started_at: 0 };
}

function keyOf({ kind, trace_id, id }: DeletedThing): string {
  return `${kind}/${trace_id}/${id}`;
}

/** Facts `f` of these things of a project, and of a few more where an id is in several of the traces. */
function isFactOf(projectId: string, things: readonly Pick<DeletedThing, 'trace_id' | 'id'>[]): Sql {
  const traces = [...new Set(things.map(({ trace_id }) => trace_id))];
  return sql`${inProject(projectId)} AND f.trace_id IN ${uuids(traces)} AND f.id IN ${uuids(things.map(({ id }) => id))}`;
}

/** The traces that any write ever put into a session. */
function inSession(projectId: string, session: string): Sql {
  return sql`IN (${tracesOfSession(projectId, session, sql`(member OR named)`)})`;
}

/** A trace that has moved to another session keeps its spans, but for those that name this one. */
function strays(projectId: string, session: string): Sql {
  return sql` AND (f.trace_id IN (${tracesOfSession(projectId, session)}) OR argMax(tuple(session_id), ver).1 = ${value(session, 'UUID')})`;
}

function isBehind({ kind, trace_id, id }: DeletedThing): Sql {
  const [trace, last] = [value(trace_id, 'UUID'), value(id, 'UUID')];
  const type = value(kind === 'trace' ? 1 : 0, 'UInt8');
  return sql` AND f.trace_id >= ${trace} AND (f.trace_id, row_type, f.id) > (${trace}, ${type}, ${last})`;
}

/** In the statement's text: there are too many for a URL, which parameters go in. */
function uuids(ids: readonly string[]): Sql {
  return sql`(${join(
    ids.map((id) => literal(requireUuid(id))),
    ', ',
  )})`;
}

function requireUuid(id: string): string {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id)) throw new Error(`not a UUID: ${id}`);
  return id;
}
