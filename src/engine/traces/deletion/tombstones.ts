import type { DeletedThing } from '../model/deletion/stored-spans.js';
import type { Micros } from '../../timestamp.js';
import { STAMPS } from '../model/partial/stamps.js';
import { LONG_STATEMENTS } from '../clickhouse/client/long-statements.js';
import { literal, sql, value } from '../clickhouse/client/sql.js';
import type { AppendedWrites } from '../write/rows.js';
import { versionOf, versionTime, type Version } from '../write/version-clock.js';
import type { ReadRows } from '../read/row-reader.js';
import { inProject } from '../read/scope.js';
import { isDeleted, standing, written } from '../read/visibility.js';
import type { DeletionSource } from './deletion-source.js';
import {
  isFactOf,
  keyOf,
  PORTION,
  sessionThing,
  toThing,
  tracesOf,
  uuids,
  writtenSince,
  type FactRow,
} from './things.js';

/** Whole traces that are removed together: the more there are, the less of others is read with each. */
const TRACES_AT_ONCE = 60_000;
/** Tombstones of one write, which one round hides: the more there are, the fewer sessions are computed again and again. */
const TOMBSTONES_AT_ONCE = 20_000;
/** More than one takes of what a request may store. */
const TOMBSTONE_BYTES = 200;
/** As many as one round computes: until it has, lists compute these traces themselves. */
const TRACES_BESIDE_READS = 2_000;

type TombstoneSource = Pick<
  DeletionSource,
  'client' | 'log' | 'settle' | 'settleMany' | 'governor' | 'stale' | 'deleted'
>;

/** Writes tombstones of what is deleted, except for what was sent again meanwhile. */
export class TombstoneWriter {
  readonly #source: TombstoneSource;
  readonly #rows: ReadRows;

  constructor(source: TombstoneSource, rows: ReadRows) {
    this.#source = source;
    this.#rows = rows;
  }

  /** As {@link StoredSpans.writeTombstones}. */
  async writeTombstones(
    projectId: string,
    things: readonly DeletedThing[],
    upTo: Micros | null,
  ): Promise<ReadonlySet<string>> {
    const staying = new Set<string>();
    for (let from = 0; from < things.length; from += PORTION)
      for (const id of await this.#writeTombstones(projectId, things.slice(from, from + PORTION), upTo))
        staying.add(id);
    return staying;
  }

  /** As {@link StoredSpans.removeTraces}. */
  async removeTraces(projectId: string, ids: readonly string[], upTo: Micros): Promise<ReadonlySet<string>> {
    const removed = new Set<string>();
    for (let from = 0; from < ids.length;) {
      const some = ids.slice(from, from + (this.#source.governor.listsAreRead ? TRACES_BESIDE_READS : TRACES_AT_ONCE));
      for (const id of await this.#removeTraces(projectId, some, upTo)) removed.add(id);
      from += some.length;
    }
    return removed;
  }

  /** As in {@link #writeTombstones}, nothing may come between the look at the watch and the append. */
  async #removeTraces(projectId: string, ids: readonly string[], upTo: Micros): Promise<string[]> {
    const { log, settle, settleMany, stale, deleted } = this.#source;
    const watch = await log.watch(projectId);
    try {
      await settle(projectId);
      const changed = await this.#changedSince(projectId, ids, upTo);
      const stored = await this.#firstVersions(projectId, ids);
      const tooLarge = new Set(stale(projectId));
      const going = ids.filter((id) => !changed.has(id) && !tooLarge.has(id) && (stored.get(id) ?? 0) > 0);
      const removed: string[] = [];
      for (let from = 0; from < going.length;) {
        const some = going.slice(from, from + this.#tombstonesAtOnce);
        await settleMany(projectId, async () => {
          const removedTraces = some
            .filter((id) => !watch.sawWritten(id))
            .map((id) => ({ trace_id: id, firstVersion: stored.get(id) ?? 0 }));
          await log.append({ projectId, removedTraces });
          for (const { trace_id } of removedTraces) removed.push(trace_id);
        });
        from += some.length;
      }
      await this.#hideRemoved(projectId, removed);
      deleted();
      return removed;
    } finally {
      watch.end();
    }
  }

  get #tombstonesAtOnce(): number {
    const { log, governor } = this.#source;
    const most = governor.listsAreRead ? TRACES_BESIDE_READS : TOMBSTONES_AT_ONCE;
    return Math.max(1, Math.min(most, Math.floor(log.easyBytes / TOMBSTONE_BYTES)));
  }

  /** The first versions of those of some traces that are stored, or were. */
  async #firstVersions(projectId: string, ids: readonly string[]): Promise<ReadonlyMap<string, Version>> {
    const rows = await this.#rows<{ readonly trace: string; readonly first: string }>(
      sql`SELECT toString(t.id) AS trace, toString(argMax(t.created_ver, t.ver)) AS first FROM traces AS t
WHERE ${inProject(projectId)} AND t.id IN ${uuids(ids)} GROUP BY t.id`,
    );
    return new Map(rows.map(({ trace, first }) => [trace, Number(first)]));
  }

  /** Nothing may come between the look at the watch and the append: both are in one turn of the event loop. */
  async #writeTombstones(projectId: string, things: readonly DeletedThing[], upTo: Micros | null): Promise<string[]> {
    const { log, settle, deleted } = this.#source;
    const watch = await log.watch(projectId);
    try {
      await settle(projectId);
      const wanted = new Set(things.map(keyOf));
      const live = [
        ...(await this.#live(projectId, things, upTo)),
        ...(await this.#liveSessions(projectId, things)),
      ].filter((thing) => wanted.has(keyOf(thing)));
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
      return [
        ...idsOfSpans(staying.filter(sentLater)),
        ...(await this.#writeUnsureTombstones(projectId, staying, upTo)),
      ];
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
INNER JOIN (SELECT f.trace_id, f.id, max(f.ver) AS last FROM facts AS f WHERE ${among} GROUP BY f.trace_id, f.id HAVING ${isDeleted}) AS deleted
  ON deleted.trace_id = f.trace_id AND deleted.id = f.id
WHERE ${among} AND f.ver < last`;
    await this.#source.client.command(statement, { settings: LONG_STATEMENTS });
  }

  /** As {@link #hideStale}, of whole traces: removing them was the round that failed. */
  async #hideRemoved(projectId: string, traces: readonly string[]): Promise<void> {
    const stale = new Set(this.#source.stale(projectId));
    const hidden = traces.filter((id) => stale.has(id));
    if (hidden.length === 0) return;
    const among = sql`${inProject(projectId)} AND f.trace_id IN ${uuids(hidden)}`;
    const statement = sql`INSERT INTO superseded SELECT project_id, f.ver, last FROM facts AS f
INNER JOIN (SELECT f.trace_id, max(f.ver) AS last FROM facts AS f WHERE ${among} AND row_type = 2 GROUP BY f.trace_id) AS removed
  ON removed.trace_id = f.trace_id
WHERE ${among} AND row_type = 0 AND f.ver < last`;
    await this.#source.client.command(statement, { settings: LONG_STATEMENTS });
  }

  /** As {@link StoredSpans.sentAgain}. */
  async sentAgain(projectId: string, spans: readonly DeletedThing[]): Promise<ReadonlySet<string>> {
    const wanted = new Set(spans.map(keyOf));
    const live: LiveThing[] = [];
    for (let from = 0; from < spans.length; from += PORTION)
      live.push(...(await this.#liveNow(projectId, spans.slice(from, from + PORTION))));
    return new Set(idsOfSpans(live.filter((thing) => wanted.has(keyOf(thing)))));
  }

  /** Deletes things that stayed because a later write of them was accepted, where that write was not stored after all. */
  async #writeUnsureTombstones(
    projectId: string,
    staying: readonly LiveThing[],
    upTo: Micros | null,
  ): Promise<string[]> {
    const unsure = staying.filter(({ sentAt }) => upTo !== null && sentAt <= upTo);
    if (unsure.length === 0) return [];
    await this.#source.log.idle();
    return this.#writeTombstones(projectId, unsure, upTo);
  }

  /** What is left of the things: in traces that nothing was written to since they were read, that is all of them. */
  async #live(projectId: string, things: readonly DeletedThing[], upTo: Micros | null): Promise<LiveThing[]> {
    const inTraces = things.filter(({ kind }) => kind !== 'session');
    if (upTo === null || inTraces.length === 0) return this.#liveNow(projectId, inTraces);
    const changed = await this.#changedSince(projectId, tracesOf(inTraces), upTo);
    const unchanged = inTraces
      .filter(({ trace_id }) => !changed.has(trace_id))
      .map((thing) => ({ ...thing, version: 0, sentAt: upTo }));
    const rest = inTraces.filter(({ trace_id }) => changed.has(trace_id));
    return [...unchanged, ...(await this.#asBuilt(projectId, await this.#liveNow(projectId, rest), upTo))];
  }

  /** Things, of which spans that hold what was sent before are as old as that, however late a part was added to them. */
  async #asBuilt(projectId: string, things: readonly LiveThing[], upTo: Micros): Promise<LiveThing[]> {
    const later = things.filter(({ kind, sentAt }) => kind === 'span' && sentAt > upTo);
    if (later.length === 0) return [...things];
    const rows = await this.#rows<{ readonly version: string; readonly since: string }>(
      sql`SELECT toString(ver) AS version, toString(JSONExtractUInt(attributes, ${literal(STAMPS)}, 'since')) AS since FROM spans
WHERE ${inProject(projectId)} AND trace_id IN ${uuids(tracesOf(later))} AND id IN ${uuids(later.map(({ id }) => id))}
  AND ver > ${value(versionOf(upTo), 'UInt64')} AND since != '0'`,
    );
    const since = new Map(rows.map((row) => [Number(row.version), Number(row.since)]));
    return things.map((thing) => ({ ...thing, sentAt: Math.min(thing.sentAt, since.get(thing.version) ?? Infinity) }));
  }

  async #changedSince(projectId: string, traces: readonly string[], upTo: Micros): Promise<ReadonlySet<string>> {
    const rows = await this.#rows<{ readonly trace: string }>(writtenSince(projectId, traces, upTo));
    return new Set(rows.map(({ trace }) => trace));
  }

  async #liveNow(projectId: string, inTraces: readonly DeletedThing[]): Promise<LiveThing[]> {
    if (inTraces.length === 0) return [];
    const rows = await this.#rows<FactRow & { readonly version: string; readonly own: string }>(
      // A price that was recalculated is not sent by a client: what counts is the version that was.
      sql`SELECT toString(f.trace_id) AS trace, row_type AS type, toString(f.id) AS span, '0' AS started, toString(${written}) AS version, toString(ver) AS own
FROM (${standing(sql`trace_id, id, origin_ver`, sql`${inProject(projectId)} AND trace_id IN ${uuids(tracesOf(inTraces))}`)}) AS f
WHERE f.id IN ${uuids(inTraces.map(({ id }) => id))}`,
    );
    return rows.map((row) => ({ ...toThing(row), version: Number(row.own), sentAt: versionTime(Number(row.version)) }));
  }

  /** Posted sessions that are stored now. */
  async #liveSessions(projectId: string, things: readonly DeletedThing[]): Promise<LiveThing[]> {
    const ids = things.filter(({ kind }) => kind === 'session').map(({ id }) => id);
    if (ids.length === 0) return [];
    const rows = await this.#rows<{ readonly session: string; readonly version: string }>(
      sql`SELECT toString(session_id) AS session, toString(max(ver)) AS version FROM session_statements
WHERE ${inProject(projectId)} AND session_id IN ${uuids(ids)} GROUP BY session_id HAVING NOT ${isDeleted}`,
    );
    return rows.map(({ session, version }) => ({
      ...sessionThing(session),
      version: Number(version),
      sentAt: versionTime(Number(version)),
    }));
  }
}

/** A thing that is stored now. */
interface LiveThing extends DeletedThing {
  /** The version that it has now, or 0 where nothing was written to its trace. */
  readonly version: Version;
  /** When a client sent the thing. */
  readonly sentAt: Micros;
}

function idsOfSpans(things: readonly DeletedThing[]): string[] {
  return things.filter(({ kind }) => kind === 'span').map(({ id }) => id);
}
