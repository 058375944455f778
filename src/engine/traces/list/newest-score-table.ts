import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { deleteRows } from '../clickhouse/client/mutations.js';
import { LONG_STATEMENTS } from '../clickhouse/client/long-statements.js';
import { number, sql, value, type Sql } from '../clickhouse/client/sql.js';
import { openReader, type ReadLimits, type ReadRows } from '../read/row-reader.js';
import { inProject, type NewestOfLists, type ReadScope, type StoredNewest } from '../read/scope.js';
import type { StampedWrite } from '../write/unflushed-writes.js';
import type { Version } from '../write/version-clock.js';
import { fill, fillAgain, sessionsChanged, tracesChanged, type FillingOf } from './newest-score-statements.js';
import { sessionSource, spanSource, traceSource, type ListSource } from './sources.js';

/** Fillings of a project: those that were asked for last. */
const MAX_FILLINGS = 40;
/** So many changed objects are computed by each read, that often; then they are stored. */
const COMPUTED_EACH_TIME = 100;
const TIMES = 4;
/** Where more changed, all is filled in anew. */
const MAX_CHANGED = 20_000;
/** Names that a project is known to have asked for. */
const MAX_ASKED = 1_000;
/** So many changed objects are looked for by a read at most, in a statement that is not too long; of more, scores are read. */
const MAX_COMPUTED = 2_000;
/** After a filling that failed, none of its name begins for so long, twice as long after each more, and at most for a day. */
const AFTER_FAILURE_MS = 60_000;
const LONGEST_AFTER_FAILURE_MS = 86_400_000;
/** A filling that made room for others is not made again at once: where more names are in use than are kept, scores are read. */
const AFTER_EVICTION_MS = 600_000;

interface Filling extends FillingOf {
  readonly projectId: string;
  generation: number;
  /** The state that it is of. */
  upTo: Version;
  /** Reads that count on its rows as they are. */
  readers: number;
  /** How many objects were stored again. */
  again: number;
  /** How often what changed was computed since it was stored. */
  computed: number;
}

/** What reads of a scope may count on until they have ended. */
export interface OpenedScores {
  readonly scope: ReadScope;
  release(): void;
}

interface Opened {
  readonly stored: StoredNewest;
  readonly filling: Filling;
}

/**
 * The table `newest_scores`: whoever lists traces or sessions by a score finds there the newest one of each, instead of looking for it among the
 * scores of all that is in them. A name is filled in when it is asked for again, so that writes pay nothing. What changed since is
 * known by the versions of facts and scores: a trace's newest score is another only if one of these is newer, a session's only if that of a
 * trace in it is, or it came from a trace that changed.
 *
 * Fillings are known to this process alone, and while one is read, its rows stay as they are. Where none counts in a state, scores are read.
 */
export class NewestScoreTable {
  readonly #client: ClickHouseClient;
  readonly #rows: ReadRows;
  readonly #limits: Pick<ReadLimits, 'timeoutSeconds'>;
  /** By project, those asked for last at the end. */
  readonly #fillings = new Map<string, Map<string, Filling>>();
  /** The last version of each project that was stored since the start. */
  readonly #written = new Map<string, Version>();
  /** Names that were asked for, by project, and from when on they may be filled in. */
  readonly #asked = new Map<string, Map<string, number>>();
  /** How often in a row a name could not be filled in, by project and name. */
  readonly #failures = new Map<string, number>();
  readonly #removed = new Set<string>();
  #storing: { readonly projectId: string; readonly done: Promise<unknown> } | null = null;
  #closings = 0;
  /** How often all fillings ended because of what has no newer version. */
  #forgotten = 0;
  #readers = 0;
  #waiting: (() => void)[] = [];
  /** Versions of fillings are those of no earlier process. */
  #last = Date.now() * 1000;
  #emptied: Promise<void> | undefined;

  constructor(client: ClickHouseClient, limits: ReadLimits) {
    this.#client = client;
    this.#limits = limits;
    this.#rows = openReader(client, limits, LONG_STATEMENTS).rows;
  }

  /** To be called when ClickHouse holds writes, in the turn of the event loop in which the state shows them. */
  stored(writes: readonly Pick<StampedWrite, 'projectId' | 'last'>[]): void {
    for (const { projectId, last } of writes)
      this.#written.set(projectId, Math.max(last, this.#written.get(projectId) ?? 0));
  }

  /** A scope that says which newest scores of some names are stored as of its state. The caller releases it. */
  async open(
    source: ListSource,
    scope: ReadScope,
    names: readonly string[],
    signal?: AbortSignal,
  ): Promise<OpenedScores> {
    const opened: Filling[] = [];
    const release = () => {
      for (const filling of opened.splice(0)) this.#release(filling);
    };
    if (source === spanSource) return { scope, release };
    const newest = new Map<string, NewestOfLists>();
    try {
      for (const name of new Set(names)) {
        let found: NewestOfLists = {};
        for (const each of source === traceSource ? [traceSource] : [traceSource, sessionSource]) {
          const one = await this.#open(each, { ...scope, newest: new Map([[name, found]]) }, name, signal);
          if (one === null) break;
          opened.push(one.filling);
          found = { ...found, [each.list.name]: one.stored };
        }
        newest.set(name, found);
      }
      return { scope: { ...scope, newest }, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Ends all fillings, and empties the table. Until the function that is returned is called, scores are read. */
  async close(signal?: AbortSignal): Promise<() => void> {
    this.#closings += 1;
    const reopen = () => {
      this.#closings -= 1;
    };
    try {
      this.#fillings.clear();
      await this.#ended(signal);
      await this.#empty(signal);
      return reopen;
    } catch (error) {
      reopen();
      throw error;
    }
  }

  /** Ends all fillings: something may have changed that has no newer version. */
  forgetAll(): void {
    this.#forgotten += 1;
    const fillings = [...this.#fillings.values()].flatMap((each) => [...each.values()]);
    for (const filling of fillings) this.#drop(filling);
  }

  /** Resolves once nothing more is stored of a project, which is deleted. */
  async forgetProject(projectId: string): Promise<void> {
    this.#removed.add(projectId);
    this.#fillings.delete(projectId);
    this.#asked.delete(projectId);
    this.#written.delete(projectId);
    while (this.#storing?.projectId === projectId) await this.#storing.done;
  }

  /** @returns null: nothing that is stored counts */
  async #open(source: ListSource, scope: ReadScope, name: string, signal?: AbortSignal): Promise<Opened | null> {
    const filling = await this.#current(source, scope, name);
    if (filling === null) return null;
    try {
      const changed = await this.#changed(filling, scope, signal);
      if (changed.length + filling.again <= MAX_CHANGED) {
        const left = await this.#store(filling, scope, changed);
        const { filling: number, generation } = filling;
        if (left.length <= MAX_COMPUTED) return { filling, stored: { filling: number, generation, changed: left } };
      } else this.#drop(filling);
    } catch (error) {
      this.#release(filling);
      throw error;
    }
    this.#release(filling);
    return null;
  }

  /**
   * The filling of a name, which from this turn on stays as it is until it is released. Null: none counts in the state, or something
   * is being stored for the project: whoever comes meanwhile reads the scores.
   */
  async #current(source: ListSource, scope: ReadScope, name: string): Promise<Filling | null> {
    for (let isFilled = false; ; isFilled = true) {
      const { projectId, upTo } = scope;
      if (this.#storing?.projectId === projectId || this.#closings > 0 || this.#removed.has(projectId)) return null;
      const fillings = this.#fillings.get(projectId);
      const filling = fillings?.get(keyOf(source, name));
      if (filling !== undefined) {
        fillings?.delete(keyOf(source, name));
        fillings?.set(keyOf(source, name), filling);
        if (filling.upTo > upTo) return null;
        filling.readers += 1;
        this.#readers += 1;
        return filling;
      }
      if (isFilled || !(await this.#fill(source, scope, name))) return null;
    }
  }

  /** Objects that may have another newest score than is stored. */
  async #changed(filling: Filling, scope: ReadScope, signal: AbortSignal | undefined): Promise<readonly string[]> {
    const { source, name, upTo } = filling;
    if ((this.#written.get(scope.projectId) ?? 0) <= upTo) return [];
    const read = async (statement: Sql) =>
      (await this.#rows<{ object: string }>(statement, { signal })).map(({ object }) => object);
    const traces = await read(tracesChanged(scope, name, upTo, MAX_CHANGED + 1));
    const changed =
      source === traceSource || traces.length > MAX_CHANGED
        ? traces
        : await read(sessionsChanged(scope, filling, upTo, traces, MAX_CHANGED + 1));
    if (changed.length === 0) filling.upTo = Math.max(filling.upTo, scope.upTo);
    return changed;
  }

  /** Stores what changed if that is worthwhile and nobody else reads. @returns what is not stored */
  async #store(filling: Filling, scope: ReadScope, changed: readonly string[]): Promise<readonly string[]> {
    if (changed.length === 0) return changed;
    filling.computed += 1;
    const isWorthwhile = changed.length > COMPUTED_EACH_TIME || filling.computed >= TIMES;
    if (!isWorthwhile || filling.readers > 1 || this.#storing !== null || !this.#isKept(filling)) return changed;
    const next = { ...filling, generation: filling.generation + 1 };
    const isStored = await this.#insert(filling, fillAgain(scope, next, changed), () => {
      filling.generation = next.generation;
      filling.again += changed.length;
      filling.upTo = scope.upTo;
      filling.computed = 0;
    });
    return isStored ? [] : changed;
  }

  /** @returns whether it is filled in; not while another one is, or soon after it failed */
  async #fill(source: ListSource, scope: ReadScope, name: string): Promise<boolean> {
    const { projectId, upTo } = scope;
    if (!this.#isWanted(projectId, keyOf(source, name)) || !(await this.#hasScores(scope, name))) return false;
    if (this.#storing !== null || this.#closings > 0 || this.#removed.has(projectId)) return false;
    this.#last += 1;
    const state = { upTo, generation: 0, readers: 0, again: 0, computed: 0 };
    const filling = { projectId, source, name, filling: this.#last, ...state };
    const forgotten = this.#forgotten;
    return this.#insert(filling, fill(scope, filling), () => {
      if (this.#closings === 0 && this.#forgotten === forgotten && !this.#removed.has(projectId)) this.#keep(filling);
    });
  }

  /** Names are made up by clients: for one without scores, nothing is looked for among all spans. */
  async #hasScores({ projectId }: ReadScope, name: string): Promise<boolean> {
    const found = await this.#rows(
      sql`SELECT 1 FROM scores WHERE ${inProject(projectId)} AND name = ${value(name, 'String')} LIMIT 1`,
    );
    return found.length > 0;
  }

  /** Whether a name is asked for again, and has not just failed. */
  #isWanted(projectId: string, key: string): boolean {
    const asked = this.#asked.get(projectId) ?? new Map<string, number>();
    this.#asked.set(projectId, asked);
    const from = asked.get(key);
    if (from !== undefined) return performance.now() >= from;
    // Names are made up by clients.
    if (asked.size >= MAX_ASKED) asked.clear();
    asked.set(key, -Infinity);
    return false;
  }

  /** One insert at a time. @returns whether all of it is stored; otherwise the filling is dropped */
  async #insert(filling: Filling, statement: Sql, onStored: () => void): Promise<boolean> {
    const { projectId, source, name } = filling;
    const stored = this.#inserted(statement);
    this.#storing = { projectId, done: stored };
    const done = await stored;
    // In one turn, so that whoever has waited finds it.
    this.#storing = null;
    if (done) onStored();
    this.#wake();
    const failing = `${projectId} ${keyOf(source, name)}`;
    if (done) this.#failures.delete(failing);
    else {
      const failures = this.#failures.get(failing) ?? 0;
      if (this.#failures.size >= MAX_ASKED) this.#failures.clear();
      this.#failures.set(failing, failures + 1);
      const pause = Math.min(LONGEST_AFTER_FAILURE_MS, AFTER_FAILURE_MS * 2 ** failures);
      this.#asked.get(projectId)?.set(keyOf(source, name), performance.now() + pause);
      this.#drop(filling);
    }
    return done;
  }

  async #inserted(statement: Sql): Promise<boolean> {
    try {
      // What an earlier process left is of no use.
      await (this.#emptied ??= this.#empty());
      await this.#client.command(statement, {
        settings: { ...LONG_STATEMENTS, max_execution_time: this.#limits.timeoutSeconds },
      });
      return true;
    } catch {
      // Whoever waits reads the scores instead, and hears of it if these cannot be read either.
      return false;
    }
  }

  async #empty(signal?: AbortSignal): Promise<void> {
    try {
      await this.#client.command(sql`TRUNCATE TABLE newest_scores`, signal === undefined ? {} : { signal });
    } catch (error) {
      this.#emptied = undefined;
      throw error;
    }
  }

  #keep(filling: Filling): void {
    const { projectId, source, name } = filling;
    const fillings = this.#fillings.get(projectId) ?? new Map<string, Filling>();
    this.#fillings.set(projectId, fillings.set(keyOf(source, name), filling));
    const oldest = [...fillings.values()].find(({ readers }) => readers === 0);
    if (fillings.size <= MAX_FILLINGS || oldest === undefined) return;
    this.#asked.get(projectId)?.set(keyOf(oldest.source, oldest.name), performance.now() + AFTER_EVICTION_MS);
    this.#drop(oldest);
  }

  #isKept(filling: Filling): boolean {
    return this.#fillings.get(filling.projectId)?.get(keyOf(filling.source, filling.name)) === filling;
  }

  #drop(filling: Filling): void {
    if (this.#isKept(filling)) this.#fillings.get(filling.projectId)?.delete(keyOf(filling.source, filling.name));
    if (filling.readers === 0) this.#delete(filling);
  }

  /** Nobody waits for it, and what is left goes with the next erasure or start. */
  #delete({ filling }: Filling): void {
    const rows = sql`filling = ${number(filling)}`;
    const signal = AbortSignal.timeout(DELETED_WITHIN_MS);
    deleteRows(this.#client, 'newest_scores', rows, signal).catch(() => undefined);
  }

  #release(filling: Filling): void {
    filling.readers -= 1;
    this.#readers -= 1;
    if (filling.readers === 0 && !this.#isKept(filling) && this.#closings === 0) this.#delete(filling);
    if (this.#readers === 0) this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Resolves once nothing is read or stored. */
  async #ended(signal?: AbortSignal): Promise<void> {
    while (this.#readers > 0 || this.#storing !== null) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
        signal?.addEventListener('abort', () => resolve(), { once: true });
      });
      signal?.throwIfAborted();
    }
  }
}

const DELETED_WITHIN_MS = 600_000;

const keyOf = ({ list }: ListSource, name: string) => `${list.name} ${name}`;
