import type { DeletedThing, Below } from '../../engine/traces/model/deletion/stored-spans.js';
import type { Micros } from '../../engine/timestamp.js';
import type { Governor } from '../../engine/work/governor.js';
import { GoingTraces, type GoingParts } from './going-traces.js';
import {
  EXAMINED_AT_ONCE,
  type Examined,
  type OldTraces,
  type TraceCount,
  type TracePlace,
} from '../../engine/traces/model/retention/old-traces.js';

export interface RetentionPassParts extends GoingParts {
  readonly traces: OldTraces;
  /** Deletes things, with all that belongs to them; resolves when they are gone. */
  readonly expire: (projectId: string, below: Below) => Promise<void>;
  readonly governor: Pick<Governor, 'storeIsUsed'>;
  /** Takes what is deleted out of the tables, so that it does not pile up before the next portion; reads in progress keep theirs. */
  readonly purge: () => Promise<void>;
}

/** What one portion came to. */
export interface Portion {
  readonly removed: TraceCount;
  /** Traces that are old and stay. */
  readonly kept: number;
  /** The age of the oldest trace that went, beyond the age at which it had to, in seconds; 0: none went. */
  readonly behindSeconds: number;
  /** Whether the project is done. */
  readonly done: boolean;
}

/** The next traces of those that wait. */
interface Portioned {
  readonly ids: readonly string[];
  readonly examined: Promise<Examined>;
}

/**
 * What is removed first. Each portion is twice as large as the one before, after a failure as small as the first: the more goes
 * together, the less each span costs, as facts of other traces are read with those of the traces that go.
 */
const FIRST_PORTION = { spans: 10_000, traces: 2_000 };
/** The largest portion, in times of the first, and its most traces: fewer while clients are there, whose calls it keeps waiting. */
const LARGEST = { inUse: { times: 32, traces: 20_000 }, alone: { times: 64, traces: EXAMINED_AT_ONCE } } as const;
/**
 * Removed spans that are purged while more go, but not twice as many: reads leave each of them out until then. Fewer go by
 * themselves, soon.
 */
const PURGED_AT_ONCE = 900_000;
/** Traces read together that may be old: looking for them reads all there are. */
const LOOKED_AT = 150_000;
const SESSIONS_AT_ONCE = 2_000;

/**
 * One look through the traces of a project from the oldest start on, a portion at a time: in this order spans that go together lie
 * together, in the tables as in the index of words. Nothing of it is written down: another pass finds what this one left.
 */
export class RetentionPass {
  readonly projectId: string;
  readonly days: number;
  readonly #before: Micros;
  readonly #parts: RetentionPassParts;
  #waiting: TracePlace[] = [];
  #after: TracePlace | null = null;
  #hasMore = true;
  #lastSession: string | null = null;
  /** How much goes together, in times of the first portion. */
  #size = 1;
  /** What is examined beside the removal of the portion before it. */
  #ahead: Portioned | null = null;
  #unpurged = 0;
  #purging: Promise<{ readonly error: unknown } | null> = Promise.resolve(null);

  /** @param now from when on ages count */
  constructor(parts: RetentionPassParts, projectId: string, days: number, now: Micros) {
    this.projectId = projectId;
    this.days = days;
    this.#before = oldBefore(days, now);
    this.#parts = parts;
  }

  /** Removes the next portion. One that fails is started over by the next call. @throws DomainError */
  async next(): Promise<Portion> {
    if (this.#unpurged >= PURGED_AT_ONCE) {
      await this.#purged();
      this.#purging = this.#parts.purge().then(
        () => null,
        (error: unknown) => ({ error }),
      );
      this.#unpurged = 0;
    }
    if (this.#waiting.length === 0 && this.#hasMore) await this.#look();
    // What was examined while no one was there may be too much beside clients that have come since.
    const ahead = (this.#ahead?.ids.length ?? 0) > this.#largest.traces ? null : this.#ahead;
    this.#ahead = null;
    const portion = ahead ?? this.#examined(0);
    if (portion === null) return this.#sessions();
    const larger = Math.min(this.#largest.times, this.#size * 2);
    this.#size = 1;
    const examined = await (ahead === null ? portion.examined : this.#stillOld(ahead));
    const following = this.#examined(portion.ids.length, larger);
    const result = await this.#remove(examined);
    this.#waiting.splice(0, portion.ids.length);
    this.#ahead = following;
    this.#size = larger;
    return result;
  }

  /** Waits for the purge that continues beside portions; the last one continues beside other projects. @throws what it failed with */
  async #purged(): Promise<void> {
    const failed = await this.#purging;
    this.#purging = Promise.resolve(null);
    if (failed !== null) throw failed.error;
  }

  async #look(): Promise<void> {
    this.#waiting = await this.#parts.traces.candidates(this.projectId, this.#before, this.#after, LOOKED_AT);
    this.#after = this.#waiting.at(-1) ?? this.#after;
    this.#hasMore = this.#waiting.length === LOOKED_AT;
  }

  /** Begins to examine the traces behind some of those that wait; null: there are none. */
  #examined(from: number, size = this.#size): Portioned | null {
    const portion = this.#portion(from, size);
    if (portion.length === 0) return null;
    const ids = portion.map(({ id }) => id);
    const examined = this.#parts.traces.examine(this.projectId, ids, this.#before);
    // The caller that awaits it learns of a failure; a portion before it that fails leaves it behind.
    examined.catch(() => undefined);
    return { ids, examined };
  }

  /** What was examined while the portion before it went, except for traces that were written to since. */
  async #stillOld({ ids, examined }: Portioned): Promise<Examined> {
    const { traces } = this.#parts;
    const { upTo, old } = await examined;
    const since = await traces.changedSince(this.projectId, ids, upTo);
    if (since.keepsSessions) return traces.examine(this.projectId, ids, this.#before);
    const changed = new Set(since.changed);
    return { upTo: since.upTo, old: old.filter(({ id }) => !changed.has(id)) };
  }

  get #largest() {
    return this.#parts.governor.storeIsUsed ? LARGEST.inUse : LARGEST.alone;
  }

  #portion(from: number, size: number): readonly TracePlace[] {
    const largest = this.#largest;
    const times = Math.min(size, largest.times);
    const most = { spans: FIRST_PORTION.spans * times, traces: Math.min(FIRST_PORTION.traces * times, largest.traces) };
    const waiting = this.#waiting.slice(from, from + most.traces);
    let spans = 0;
    const end = waiting.findIndex((trace, index) => (spans += trace.spans) > most.spans && index > 0);
    return end < 0 ? waiting : waiting.slice(0, end);
  }

  async #remove({ upTo, old }: Examined): Promise<Portion> {
    const { expire } = this.#parts;
    const due = old.filter(({ tagged }) => !tagged);
    const left = new GoingTraces(this.#parts, this.projectId, this.#before, due);
    if (due.length > 0) await expire(this.projectId, { upTo, things: left.things() });
    const going = left.left;
    const oldest = going.reduce((least, { newest }) => Math.min(least, newest), this.#before);
    const removed = { traces: going.length, spans: going.reduce((sum, { spans }) => sum + spans, 0) };
    this.#unpurged += removed.spans;
    return {
      removed,
      kept: old.length - going.length,
      behindSeconds: (this.#before - oldest) / 1e6,
      done: false,
    };
  }

  /** Last of all, sessions that were posted and have no trace left. */
  async #sessions(): Promise<Portion> {
    const { traces, expire } = this.#parts;
    const { upTo, ids } = await traces.emptySessions(this.projectId, this.#before, this.#lastSession, SESSIONS_AT_ONCE);
    if (ids.length > 0) await expire(this.projectId, { upTo, things: inOnePage(ids.map(postedSession)) });
    this.#lastSession = ids.at(-1) ?? this.#lastSession;
    return { removed: { traces: 0, spans: 0 }, kept: 0, behindSeconds: 0, done: ids.length < SESSIONS_AT_ONCE };
  }
}

/** Before which moment everything in a trace must lie for it to be old. */
export function oldBefore(days: number, now: Micros): Micros {
  return Math.max(0, now - days * 86_400e6);
}

async function* inOnePage(things: readonly DeletedThing[]): AsyncGenerator<readonly DeletedThing[]> {
  yield things;
}

function postedSession(id: string): DeletedThing {
  return { kind: 'session', trace_id: '', id, started_at: 0 };
}
