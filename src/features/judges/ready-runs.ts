import pLimit from 'p-limit';
import { retryDelay, type Retry } from '../../engine/work/backoff.js';
import { makeReady, type Ready, type ReadyParts } from './ready.js';
import type { Run } from './run.js';
import type { RunStore } from './run-store.js';
import type { JudgedSpan, SpanReader } from '../../engine/traces/model/judged/span-reader.js';
import { isUnreadable, unreadable } from './unreadable.js';
import { WholeRoom } from './whole-room.js';
import type { Signals } from '../../engine/signals/signals.js';

export interface ReadyRunsOptions extends ReadyParts {
  readonly runs: Pick<RunStore, 'dueProjects' | 'due' | 'reading'>;
  readonly spans: Pick<SpanReader, 'answers'>;
  /** Whether runs of a project wait, and are not looked at. @throws DomainError `unavailable` */
  readonly isPaused: (projectId: string) => boolean;
  readonly maxAttempts: number;
  readonly retry: Retry;
  /** Called when there may be runs to take. */
  readonly onReady: () => void;
  readonly observer: Pick<Signals, 'runsNotRead'>;
}

/** Ready runs of one project, and the state of its reads. */
interface Lane {
  readonly ready: Ready[];
  loading: boolean;
  /** Runs that are made ready together: fewer after a read that failed. */
  size: number;
  /** Reads in a row that failed while the store did not answer. */
  failures: number;
  /** Earliest time of the next read, on the clock of `performance`. */
  notBefore: number;
  /** A run whose span could not be read alone, until it is known whether the span or the store was to blame. */
  suspect: { readonly run: Run; readonly error: unknown } | null;
  /** Characters that the traces and sessions may take that are being read. */
  reading: number;
  /** Whether a span is gone that was deleted while runs are being read. */
  readonly gone: IsGone[];
}

type IsGone = (span: JudgedSpan) => boolean;

/** Runs made ready together, with one read of spans, when one project alone has any. */
const READY_TOGETHER = 64;
/** Least runs made ready of each project, however many projects there are. */
const READY_AT_LEAST = 8;
/** Reads at once; those of projects whose last read failed wait for one another alone. */
const READS_AT_ONCE = 4;

/**
 * Makes queued runs ready, with their spans, and gives them out: one of each project in turn. Projects do not wait for one
 * another's reads, and a run whose span cannot be read fails alone.
 */
export class ReadyRuns {
  readonly #options: ReadyRunsOptions;
  readonly #wholes: WholeRoom;
  readonly #lanes = new Map<string, Lane>();
  /** Ids of runs that are ready or were taken and are not done with yet, by project. */
  readonly #taken = new Map<string, Set<string>>();
  readonly #loads = new Set<Promise<void>>();
  readonly #sound = pLimit(READS_AT_ONCE);
  readonly #troubled = pLimit(1);
  /** Projects that have not had their turn in this round. */
  #round: string[] = [];
  #isOpen = true;

  constructor(options: ReadyRunsOptions) {
    this.#options = options;
    this.#wholes = new WholeRoom(options.judges);
  }

  /**
   * The next run that may begin, of the project whose turn it is. Undefined: none is ready now; `onReady` is called later,
   * unless there is none to be had.
   * @throws DomainError `unavailable`
   */
  next(mayBegin: (ready: Ready) => boolean): Ready | undefined {
    for (let isNew = false; ; isNew = true) {
      for (let project = this.#round.shift(); project !== undefined; project = this.#round.shift()) {
        // It may have been paused since the round began.
        if (this.#options.isPaused(project)) continue;
        const ready = this.#ofProject(project, mayBegin);
        if (ready !== undefined) return ready;
      }
      if (isNew) return undefined;
      const { runs, isPaused } = this.#options;
      const due = runs.dueProjects(Date.now() * 1000).filter((project) => !isPaused(project));
      this.#forget(new Set(due));
      this.#round = due;
    }
  }

  /** Forgets runs that are done with, which may then be taken again. */
  release(runs: readonly Run[]): void {
    for (const { id, project_id } of runs) {
      const taken = this.#taken.get(project_id);
      taken?.delete(id);
      if (taken?.size === 0) this.#taken.delete(project_id);
    }
  }

  /** Drops ready runs, so that they are made ready anew. */
  reset(): void {
    for (const { ready } of this.#lanes.values()) this.release(ready.splice(0).map(({ run }) => run));
  }

  /** Drops ready runs that hold texts of deleted spans, also those that are being read, so that they are made ready anew. */
  giveUp(project: string, isGone: IsGone): void {
    const lane = this.#lanes.get(project);
    if (lane === undefined) return;
    if (lane.loading) lane.gone.push(isGone);
    const gone = lane.ready.filter(({ span }) => isGone(span));
    lane.ready.splice(0, Infinity, ...lane.ready.filter((each) => !gone.includes(each)));
    this.release(gone.map(({ run }) => run));
  }

  /** Count of runs that were given out and are not released. */
  get underWay(): number {
    const taken = [...this.#taken.values()].reduce((sum, { size }) => sum + size, 0);
    return taken - this.ready().length;
  }

  /**
   * How long until the next project may be read again whose reads failed; Infinity when there is none.
   * @param now on the clock of `performance`
   */
  waitMs(now: number): number {
    const waits = [...this.#lanes.values()].map(({ notBefore }) => notBefore - now).filter((ms) => ms > 0);
    return Math.min(Infinity, ...waits);
  }

  /** Runs that are ready, of all projects. */
  ready(): Ready[] {
    return [...this.#lanes.values()].flatMap(({ ready }) => ready);
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    await Promise.all(this.#loads);
  }

  #ofProject(project: string, mayBegin: (ready: Ready) => boolean): Ready | undefined {
    const lane = this.#lane(project);
    const index = lane.ready.findIndex(mayBegin);
    const [found] = index === -1 ? [] : lane.ready.splice(index, 1);
    if (found === undefined) this.#load(project, lane);
    return found;
  }

  #lane(project: string): Lane {
    let lane = this.#lanes.get(project);
    if (lane === undefined) {
      lane = {
        ready: [],
        loading: false,
        size: READY_TOGETHER,
        failures: 0,
        notBefore: 0,
        suspect: null,
        reading: 0,
        gone: [],
      };
      this.#lanes.set(project, lane);
    }
    return lane;
  }

  #forget(due: ReadonlySet<string>): void {
    for (const [project, { ready, loading, suspect }] of this.#lanes)
      if (!due.has(project) && !loading && suspect === null) {
        this.release(ready.map(({ run }) => run));
        this.#lanes.delete(project);
      }
  }

  #load(project: string, lane: Lane): void {
    if (!this.#isOpen || lane.loading || lane.notBefore > performance.now()) return;
    const together = lane.suspect === null ? this.#wanted(project, lane) : [];
    if (together.length === 0 && lane.suspect === null) return;
    lane.loading = true;
    const limit = lane.failures > 0 || lane.size < READY_TOGETHER ? this.#troubled : this.#sound;
    lane.reading = together.reduce((sum, run) => sum + this.#wholes.sizeOf(run), 0);
    const load = limit(() => this.#read(project, lane, together)).finally(() => {
      lane.loading = false;
      lane.reading = 0;
      lane.gone.length = 0;
      this.#loads.delete(load);
      if (this.#isOpen) this.#options.onReady();
    });
    this.#loads.add(load);
  }

  /** Runs of a project to be made ready next. One whose span could not be read is read alone. */
  #wanted(project: string, lane: Lane): readonly Run[] {
    // None of the ready runs may begin: one of each judge is kept, the others leave room.
    const waiting = new Set<string>();
    const kept = lane.ready.filter(({ judge }) => !waiting.has(judge.id) && waiting.add(judge.id));
    this.release(lane.ready.filter((each) => !kept.includes(each)).map(({ run }) => run));
    lane.ready.splice(0, Infinity, ...kept);

    const taken = this.#taken.get(project) ?? new Set();
    const share = Math.max(READY_AT_LEAST, Math.floor(READY_TOGETHER / this.#lanes.size));
    const size = Math.min(lane.size, share);
    const due = this.#options.runs
      .due(project, Date.now() * 1000, taken.size + size, [...waiting])
      .filter(({ id }) => !taken.has(id))
      .slice(0, size);
    const first = due.findIndex(isUnreadable);
    const together = this.#wholes.fitting(first === -1 ? due : due.slice(0, Math.max(1, first)), () => this.#held());
    this.#taken.set(project, new Set([...taken, ...together.map(({ id }) => id)]));
    return together;
  }

  /** Characters of traces and sessions that are ready or being read, of all projects. */
  #held(): number {
    const ofReady = ({ span }: Ready) => span.whole?.outline.length ?? 0;
    return [...this.#lanes.values()].reduce(
      (sum, { ready, reading }) => ready.reduce((all, each) => all + ofReady(each), sum + reading),
      0,
    );
  }

  /** Makes runs of a project ready. Never rejects. */
  async #read(project: string, lane: Lane, together: readonly Run[]): Promise<void> {
    try {
      if (lane.suspect !== null) await this.#clear(lane, lane.suspect);
      if (together.length > 0) await this.#add(project, lane, together);
      lane.failures = 0;
      lane.size = Math.min(READY_TOGETHER, lane.size * 2);
    } catch (error) {
      this.release(together);
      this.#options.observer.runsNotRead({ project, runs: together.length, error });
      await this.#failed(lane, together, error);
    }
  }

  async #add(project: string, lane: Lane, together: readonly Run[]): Promise<void> {
    const ready = await makeReady(this.#options, project, together);
    // A trace or session may show a span that was deleted meanwhile, or a result; a run about the span itself is gone with it.
    const isStale = ({ span }: Ready) =>
      (span.whole != null || span.shows !== undefined) && lane.gone.some((isGone) => isGone(span));
    this.release(ready.filter(isStale).map(({ run }) => run));
    lane.ready.push(...ready.filter((each) => !isStale(each)));
  }

  async #failed(lane: Lane, together: readonly Run[], error: unknown): Promise<void> {
    const [run] = together;
    if (together.length > 1) lane.size = Math.ceil(together.length / 2);
    else if (run !== undefined && lane.suspect === null) lane.suspect = { run, error };
    try {
      if (lane.suspect !== null) await this.#clear(lane, lane.suspect);
      else await this.#options.spans.answers();
      lane.failures = 0;
    } catch {
      lane.failures += 1;
      lane.notBefore = performance.now() + retryDelay(lane.failures, this.#options.retry);
    }
  }

  /**
   * Ends an attempt of a run whose span could not be read although the store answers. While that does not, no run is
   * to blame.
   * @throws DomainError when the store does not answer
   */
  async #clear(lane: Lane, { run, error }: NonNullable<Lane['suspect']>): Promise<void> {
    const { spans, maxAttempts, retry, onEnded } = this.#options;
    await spans.answers();
    lane.suspect = null;
    const reason = unreadable(error);
    const attempts = run.attempts + 1;
    const at = Math.round((Date.now() + retryDelay(attempts, retry)) * 1000);
    this.#take(run);
    onEnded({
      outcome: attempts < maxAttempts ? { kind: 'retry', run, reason, at } : { kind: 'failed', run, reason },
      spans: [],
    });
  }

  #take({ project_id, id }: Run): void {
    this.#taken.set(project_id, (this.#taken.get(project_id) ?? new Set()).add(id));
  }
}
