import { DomainError } from '../../errors.js';
import type { Governor } from '../../work/governor.js';
import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { LONG_STATEMENTS } from '../clickhouse/client/long-statements.js';
import { sql, value, type Sql } from '../clickhouse/client/sql.js';
import { openReader, type ReadLimits, type ReadRows } from '../read/row-reader.js';
import { inProject, type NewestOfLists, type ReadScope, type StoredNewest } from '../read/scope.js';
import { UNBOUNDED, type DiskSpace } from '../write/disk-space.js';
import type { StampedWrite } from '../write/unflushed-writes.js';
import type { Version } from '../write/version-clock.js';
import { FilledRows } from './filled-rows.js';
import { Fillings, type Filling } from './fillings.js';
import { changedOf, MAX_CHANGED } from './newest-score-changes.js';
import { fill, fillAgain } from './newest-score-statements.js';
import { ofFilling } from './newest-scores.js';
import { sessionSource, spanSource, traceSource, type ListSource } from './sources.js';

/** So many changed objects are computed by each read, that often; then they are stored. */
const COMPUTED_EACH_TIME = 100;
const TIMES = 4;
/** So many changed objects are looked for by a read at most, in a statement that is not too long; of more, scores are read. */
const MAX_COMPUTED = 2_000;
/** Fillings that one read waits for: as many as a list of sessions needs of a name. */
const FILLED_BY_READ = 2;
/** How long an erasure waits for reads, each of which has a limit of its own. */
const READS_END_WITHIN_MS = 600_000;
const RETRY_AFTER_SECONDS = 60;

/** What reads of a scope may count on until they have ended. */
export interface OpenedScores {
  readonly scope: ReadScope;
  release(): void;
}

export interface NewestScoreParts {
  readonly client: ClickHouseClient;
  readonly limits: ReadLimits;
  /** Default: not bounded. */
  readonly space?: Pick<DiskSpace, 'requireFree'>;
  readonly governor?: Pick<Governor, 'othersWriteFast'>;
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
  readonly #rows: ReadRows;
  readonly #governor: Pick<Governor, 'othersWriteFast'> | undefined;
  readonly #table: FilledRows;
  readonly #fillings = new Fillings((filling) => {
    // The table is emptied.
    if (this.#closings === 0) this.#table.remove(filling);
  });
  /** The last version of each project that was stored since the start. */
  readonly #written = new Map<string, Version>();
  readonly #removed = new Set<string>();
  #storing: { readonly projectId: string; readonly done: Promise<unknown> } | null = null;
  #closings = 0;
  /** How often all fillings ended because of what has no newer version. */
  #forgotten = 0;
  #readers = 0;
  #waiting: (() => void)[] = [];
  /** Versions of fillings are those of no earlier process. */
  #last = Date.now() * 1000;

  constructor({ client, limits, space = UNBOUNDED, governor }: NewestScoreParts) {
    this.#governor = governor;
    this.#table = new FilledRows({ client, limits, space });
    this.#rows = openReader(client, limits, LONG_STATEMENTS).rows;
  }

  /** To be called when ClickHouse holds writes, in the turn of the event loop in which the state shows them. */
  stored(writes: readonly Pick<StampedWrite, 'projectId' | 'last'>[]): void {
    for (const { projectId, last } of writes) this.#written.set(projectId, Math.max(last, this.written(projectId)));
  }

  /** The last version of a project that was stored since the start; 0: none was. */
  written(projectId: string): Version {
    return this.#written.get(projectId) ?? 0;
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
    try {
      await this.#openAll(source, scope, [...new Set(names)], opened);
      return { scope: { ...scope, newest: await this.#current(scope, opened, signal) }, release };
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
      await this.#table.empty(signal);
      return reopen;
    } catch (error) {
      reopen();
      throw error;
    }
  }

  /** Ends all fillings: something may have changed that has no newer version. */
  forgetAll(): void {
    this.#forgotten += 1;
    this.#fillings.dropAll();
  }

  /** Resolves once nothing more is stored of a project, which is deleted. */
  async forgetProject(projectId: string): Promise<void> {
    this.#removed.add(projectId);
    this.#fillings.clear(projectId);
    this.#written.delete(projectId);
    while (this.#storing?.projectId === projectId) await this.#storing.done;
  }

  /** The fillings of names for a list, which from then on stay as they are until they are released. */
  async #openAll(source: ListSource, scope: ReadScope, names: readonly string[], opened: Filling[]): Promise<void> {
    const left = { fills: FILLED_BY_READ };
    for (const name of names)
      for (const each of source === traceSource ? [traceSource] : [traceSource, sessionSource]) {
        // Sessions are filled in from what is stored of traces.
        const filling = await this.#find(each, scope, name, left, opened);
        if (filling === null) break;
        opened.push(filling);
      }
  }

  /** Null: none counts in the state, or something is being stored for the project: whoever comes meanwhile reads the scores. */
  async #find(
    source: ListSource,
    scope: ReadScope,
    name: string,
    left: { fills: number },
    opened: readonly Filling[],
  ): Promise<Filling | null> {
    const { projectId, upTo } = scope;
    for (let isFilled = false; ; isFilled = true) {
      if (this.#storing?.projectId === projectId || this.#closings > 0 || this.#removed.has(projectId)) return null;
      const filling = this.#fillings.find({ projectId, source, name });
      if (filling !== undefined) {
        if (filling.upTo > upTo) return null;
        filling.readers += 1;
        this.#readers += 1;
        return filling;
      }
      if (isFilled || left.fills === 0) return null;
      left.fills -= 1;
      if (!(await this.#fill(source, scope, name, opened))) return null;
    }
  }

  /** What of the opened fillings counts in the state; the others are read no more. */
  async #current(scope: ReadScope, opened: readonly Filling[], signal?: AbortSignal) {
    const newest = new Map<string, NewestOfLists>();
    const changed = await changedOf(this.#rows, scope, opened, this.written(scope.projectId), signal);
    for (const filling of opened) {
      const { source, name } = filling;
      const found = newest.get(name) ?? {};
      const ids = changed.get(filling) ?? [];
      if (ids.length + filling.again > MAX_CHANGED) {
        this.#fillings.drop(filling);
        continue;
      }
      const left = await this.#store(filling, { ...scope, newest: new Map([[name, found]]) }, ids);
      const stored = storedAs(filling, left);
      if (left.length <= MAX_COMPUTED) newest.set(name, { ...found, [source.list.name]: stored });
    }
    return newest;
  }

  /** Stores what changed if that is worthwhile and nobody else reads. @returns what is not stored */
  async #store(filling: Filling, scope: ReadScope, changed: readonly string[]): Promise<readonly string[]> {
    if (changed.length === 0) return changed;
    filling.computed += 1;
    const isWorthwhile = changed.length > COMPUTED_EACH_TIME || filling.computed >= TIMES;
    if (!isWorthwhile || filling.readers > 1 || this.#storing !== null || !this.#table.hasRoom) return changed;
    if (!this.#fillings.has(filling)) return changed;
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
  async #fill(source: ListSource, scope: ReadScope, name: string, opened: readonly Filling[]): Promise<boolean> {
    const { projectId, upTo } = scope;
    if (!this.#fillings.isWanted({ projectId, source, name }) || !(await this.#hasScores(scope, name))) return false;
    if (this.#storing !== null || this.#closings > 0 || this.#removed.has(projectId)) return false;
    // What is filled in while others write at full speed takes time from them, and is soon another.
    if (this.#governor?.othersWriteFast(0) === true || !this.#table.hasRoom) return false;
    this.#last += 1;
    const state = { upTo, generation: 0, readers: 0, again: 0, computed: 0, objects: 0 };
    const filling = { projectId, source, name, filling: this.#last, ...state };
    const forgotten = this.#forgotten;
    const isCurrent = (other: Filling) => other.upTo === upTo || this.written(projectId) <= other.upTo;
    const traces = opened.find((other) => other.name === name && other.source === traceSource && isCurrent(other));
    const stored = traces && storedAs(traces, []);
    const from = stored === undefined ? scope : { ...scope, newest: new Map([[name, { traces: stored }]]) };
    return this.#insert(filling, fill(from, filling), (rows) => {
      if (this.#closings > 0 || this.#forgotten !== forgotten || this.#removed.has(projectId)) return;
      this.#fillings.keep({ ...filling, objects: rows });
    });
  }

  /** Names are made up by clients: for one without scores, nothing is looked for among all spans. */
  async #hasScores({ projectId }: ReadScope, name: string): Promise<boolean> {
    const found = await this.#rows(
      sql`SELECT 1 FROM scores WHERE ${inProject(projectId)} AND name = ${value(name, 'String')} LIMIT 1`,
    );
    return found.length > 0;
  }

  /** One insert at a time. @returns whether all of it is stored; otherwise the filling is dropped */
  async #insert(filling: Filling, statement: Sql, onStored: (rows: number) => void): Promise<boolean> {
    const { projectId, source, name, filling: number } = filling;
    const stored = this.#table.insert(statement, ofFilling(source, { projectId }, name, number));
    this.#storing = { projectId, done: stored };
    const rows = await stored;
    // In one turn, so that whoever has waited finds it.
    this.#storing = null;
    if (rows !== null) {
      this.#fillings.stored(filling);
      onStored(rows);
    } else this.#fillings.failed(filling);
    this.#wake();
    return rows !== null;
  }

  #release(filling: Filling): void {
    filling.readers -= 1;
    this.#readers -= 1;
    if (filling.readers === 0 && !this.#fillings.has(filling)) this.#fillings.drop(filling);
    if (this.#readers === 0) this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Resolves once nothing is read or stored. */
  async #ended(signal?: AbortSignal): Promise<void> {
    const late = AbortSignal.timeout(READS_END_WITHIN_MS);
    const either = signal === undefined ? late : AbortSignal.any([late, signal]);
    while (this.#readers > 0 || this.#storing !== null) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
        either.addEventListener('abort', () => resolve(), { once: true });
      });
      signal?.throwIfAborted();
      if (late.aborted) throw stillRead();
    }
  }
}

const storedAs = ({ filling, generation, objects }: Filling, changed: readonly string[]): StoredNewest => ({
  ...{ filling, generation, objects, changed },
});

function stillRead(): DomainError {
  const message = 'Lists that are read by scores did not end in time: erasing again later';
  return new DomainError('unavailable', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}
