import type { Project } from '../../engine/identity/identity.js';
import { RETRIES, retryDelay } from '../../engine/work/backoff.js';
import { BackgroundLoop } from '../../engine/work/background-loop.js';
import { restMs } from '../../engine/work/governor.js';
import { unlessAborted } from '../../engine/work/unless-aborted.js';
import type { Micros } from '../../engine/timestamp.js';
import type { BelievedClock } from './believed-clock.js';
import type { TraceCount } from '../../engine/traces/model/retention/old-traces.js';
import { RetentionPass, type RetentionPassParts } from './retention-pass.js';
import type { Signals } from '../../engine/signals/signals.js';

export interface RetentionWorkParts extends RetentionPassParts {
  readonly projects: {
    listProjects(): readonly Project[];
    findProject(id: string): Project | undefined;
  };
  /** Whether a project is being deleted. */
  readonly isGone: (projectId: string) => boolean;
  readonly observer: Pick<Signals, 'retentionRemoved' | 'retentionBehind' | 'retentionFailed' | 'retentionFinished'>;
  readonly clock: Pick<BelievedClock, 'now' | 'state'>;
  /** Milliseconds from the begin of one run through all projects to that of the next; null: it never looks by itself. */
  readonly everyMs: number | null;
}

/** A project in the run that is in progress, and what it came to so far. */
interface Turn {
  readonly pass: RetentionPass;
  readonly began: number;
  readonly removed: TraceCount;
  readonly kept: number;
  readonly behindSeconds: number;
  /** Portions in a row that failed. */
  readonly failures: number;
  /** When the next portion begins at the earliest, on the clock of `performance`. */
  readonly notBefore: number;
}

/** The longest wait for the first run: a server that is restarted often looks, too. */
const FIRST_MS = 60_000;
/** The longest wait for a clock that is not believed: someone may say that it is right. */
const CLOCK_LOOK_MS = 10_000;
/** After so many failures in a row a project waits for the next run: it may be one that fails again and again. */
const MAX_FAILURES = 5;

/**
 * Removes what is older than its project keeps it: now and then it goes through the projects that have a retention, one portion of
 * each in turn. While clients use the store, it pauses after each portion for as long as that took: their calls go
 * first. A project that takes long, or fails, keeps no other waiting. No run begins by a clock that is not believed.
 */
export class RetentionWork {
  readonly #parts: RetentionWorkParts;
  readonly #loop: BackgroundLoop;
  #turns: Turn[] = [];
  /** When removing began to fail, on the clock of `performance`, by projects that no run has got through since. */
  readonly #failingSince = new Map<string, number>();
  /** When the next run begins, on the clock of `performance`; null: never. */
  #nextRun: number | null = null;

  constructor(parts: RetentionWorkParts) {
    this.#parts = parts;
    this.#loop = new BackgroundLoop({
      round: () => this.#round(),
      onFailure: (error) => parts.observer.retentionFailed({ project: null, error }),
    });
  }

  start(): void {
    const { everyMs } = this.#parts;
    if (everyMs === null) return;
    const first = Math.min(everyMs, FIRST_MS);
    this.#nextRun = performance.now() + first;
    this.#loop.wakeIn(first);
  }

  /** When what is old goes next: now, where that is in progress; null: never. @throws DomainError `unavailable` */
  nextRunAt(): Micros | null {
    if (this.#nextRun === null) return null;
    if (this.#turns.length > 0) return Date.now() * 1000;
    return Math.round(Date.now() * 1000 + Math.max(this.#untilNext() * 1000, this.#parts.clock.state.wait));
  }

  async close(): Promise<void> {
    await this.#loop.close();
  }

  async #round(): Promise<number> {
    this.#begin();
    const started = performance.now();
    const ready = this.#turns.find(({ notBefore }) => notBefore <= started);
    if (ready === undefined) return this.#untilNext();
    const others = this.#turns.filter((turn) => turn !== ready);
    this.#turns = [...others, ready];
    this.#turns = [...others, ...(await this.#turned(ready))];
    this.#tellBehind();
    const now = performance.now();
    if (!this.#turns.some(({ notBefore }) => notBefore <= now)) return this.#untilNext();
    return this.#parts.governor.storeIsUsed ? restMs('upkeep', now - started) : 0;
  }

  /** Removes a portion. @returns the rest of the turn; none: the project is done, or waits for the next run */
  async #turned(turn: Turn): Promise<Turn[]> {
    try {
      return this.#stands(turn)
        ? await this.#advance(turn)
        : this.#turnsOf(this.#project(turn), this.#parts.clock.now());
    } catch (error) {
      if (this.#loop.signal.aborted) throw error;
      const { projectId } = turn.pass;
      if (!this.#failingSince.has(projectId)) this.#failingSince.set(projectId, performance.now());
      this.#parts.observer.retentionFailed({ project: projectId, error });
      const failures = turn.failures + 1;
      if (failures >= MAX_FAILURES) return [];
      return [{ ...turn, failures, notBefore: performance.now() + retryDelay(failures, RETRIES.work) }];
    }
  }

  #begin(): void {
    const { projects, clock, everyMs } = this.#parts;
    if (everyMs === null || this.#nextRun === null || performance.now() < this.#nextRun) return;
    const now = clock.now();
    this.#nextRun = performance.now() + (now === null ? Math.min(everyMs, CLOCK_LOOK_MS) : everyMs);
    if (now === null) return;
    const underWay = new Set(this.#turns.map(({ pass }) => pass.projectId));
    const others = projects.listProjects().filter(({ id }) => !underWay.has(id));
    this.#turns = [...this.#turns, ...others.flatMap((project) => this.#turnsOf(project, now))];
    const due = new Set(this.#turns.map(({ pass }) => pass.projectId));
    for (const project of this.#failingSince.keys()) if (!due.has(project)) this.#failingSince.delete(project);
  }

  /** A new turn of a project that has a retention, from what is set now on. @param now null: the clock is not believed */
  #turnsOf(project: Project | undefined, now: Micros | null): Turn[] {
    if (project === undefined || project.retention_days === null || this.#parts.isGone(project.id)) return [];
    if (now === null) return [];
    const pass = new RetentionPass(this.#parts, project.id, project.retention_days, now);
    const none = { removed: { traces: 0, spans: 0 }, kept: 0, behindSeconds: 0, failures: 0, notBefore: 0 };
    return [{ pass, began: performance.now(), ...none }];
  }

  /** Whether the project is still there and keeps its traces for as long as when its turn began. */
  #stands(turn: Turn): boolean {
    return this.#project(turn)?.retention_days === turn.pass.days && !this.#parts.isGone(turn.pass.projectId);
  }

  #project({ pass }: Turn): Project | undefined {
    return this.#parts.projects.findProject(pass.projectId);
  }

  /** @returns the rest of the turn; none: the project is done */
  async #advance(turn: Turn): Promise<Turn[]> {
    const { observer } = this.#parts;
    // A stop does not wait for a portion: the next start completes a deletion that was ordered.
    const { removed, kept, behindSeconds, done } = await unlessAborted(turn.pass.next(), this.#loop.signal);
    if (removed.traces > 0) observer.retentionRemoved(removed);
    const sum = {
      traces: turn.removed.traces + removed.traces,
      spans: turn.removed.spans + removed.spans,
    };
    // A portion that is kept as a whole says nothing about those behind it.
    const behind = removed.traces > 0 ? behindSeconds : turn.behindSeconds;
    const next = { ...turn, removed: sum, kept: turn.kept + kept, behindSeconds: behind, failures: 0 };
    if (!done) return [next];
    this.#failingSince.delete(turn.pass.projectId);
    const seconds = (performance.now() - turn.began) / 1000;
    if (sum.traces > 0) observer.retentionFinished({ project: turn.pass.projectId, ...sum, kept: next.kept, seconds });
    return [];
  }

  #tellBehind(): void {
    const removing = this.#turns.map(({ behindSeconds }) => behindSeconds);
    // What became due since then may all be there.
    const failing = [...this.#failingSince.values()].map((since) => (performance.now() - since) / 1000);
    this.#parts.observer.retentionBehind({ seconds: Math.max(0, ...removing, ...failing) });
  }

  /** Milliseconds until a run begins, or a project is tried again. */
  #untilNext(): number {
    const next = Math.min(this.#nextRun ?? Infinity, ...this.#turns.map(({ notBefore }) => notBefore));
    return Math.max(0, next - performance.now());
  }
}
