import { DomainError } from '../../engine/errors.js';
import type { Signals } from '../../engine/signals/signals.js';
import type { Micros } from '../../engine/timestamp.js';
import { MAX_TOGETHER } from '../../engine/traces/model/list/statistics.js';
import { RETRIES, retryDelay } from '../../engine/work/backoff.js';
import { BackgroundLoop } from '../../engine/work/background-loop.js';
import { restMs } from '../../engine/work/governor.js';
import type { Announce } from '../webhooks/event.js';
import type { Figure } from './condition.js';
import type { GroupFigures, Measurer } from './measurer.js';
import { keyOf, lastMoment, momentsOf, type Measured, type Moments } from './moments.js';
import type { Monitor, MonitorStore, Outcome } from './monitor.js';
import { eventOf, isSettled, outcomeOf, reasonOf } from './outcome.js';

/** The last check of a monitor since the server started. */
export interface LastLook {
  /** Of the condition. */
  readonly revision: number;
  readonly at: Micros;
  readonly value: number | null;
  readonly count: number | null;
  /** Why it failed; null: it did not. */
  readonly error: string | null;
}

export interface MonitorLoopParts {
  readonly store: MonitorStore;
  readonly measurer: Measurer;
  /** Calls back after each commit to a project, until the function that it returns is called. */
  readonly onCommit: (projectId: string, listener: () => void) => () => void;
  readonly isGone: (projectId: string) => boolean;
  /** Runs writes as one transaction. */
  readonly together: <T>(store: () => T) => T;
  readonly announce: Announce;
  readonly observer: Pick<Signals, 'monitorsLooked' | 'monitorFailed' | 'monitorFired' | 'monitorRecovered'>;
}

/** Monitors that are measured together, and when. */
interface Group extends Measured {
  readonly project: Project;
  readonly monitors: Monitor[];
  readonly moments: Moments;
  dueMs: number;
  failures: number;
  /** Whether it is measured alone the next time, as a measurement of several failed. */
  alone: boolean;
  /** Number of commits to the project when nothing was found; null: something was found. */
  emptyAfter: number | null;
}

interface Project {
  readonly id: string;
  readonly groups: Map<string, Group>;
  commits: number;
  /** Order of its last check: grows. */
  served: number;
  readonly end: () => void;
}

/** The longest wait: another process may have changed monitors. */
const LOOK_MS = 60_000;
/** How much rest the changes of a project may skip within a time. */
const HURRY = { skippedMs: 2_000, withinMs: 10_000 };

/**
 * Checks monitors, one group after the other, each at its moments. With the rest that follows each check, all checks together take
 * a twentieth of a thread, however many monitors there are; if that is not enough, checks are delayed. Projects take turns. A group
 * that found nothing is checked again only after a write to its project.
 */
export class MonitorLoop {
  readonly #parts: MonitorLoopParts;
  readonly #loop: BackgroundLoop;
  readonly #projects = new Map<string, Project>();
  readonly #last = new Map<string, LastLook>();
  /** Projects whose monitors are read again, but never during a check of one of them. */
  readonly #changed = new Set<string>();
  #isLoaded = false;
  #served = 0;
  /** Null: there is no rest. */
  #resting: { readonly until: number; readonly end: () => void } | null = null;
  /** How much rest projects have skipped recently. */
  readonly #skipped = new Map<string, { readonly since: number; readonly ms: number }>();

  constructor(parts: MonitorLoopParts) {
    this.#parts = parts;
    this.#loop = new BackgroundLoop({
      round: () => this.#round(),
      onFailure: (error) => parts.observer.monitorFailed({ project: 'any', error }),
    });
  }

  /** Call once, at the start. */
  start(): void {
    this.#loop.wake();
  }

  /** Call after monitors of a project were created, changed or deleted. */
  changed(projectId: string): void {
    this.#changed.add(projectId);
    this.#hurry(projectId);
    this.#loop.wake();
  }

  /** Ends the current rest. Rests bound what all monitors take, so a project may skip only little of them, or a single one. */
  #hurry(projectId: string): void {
    if (this.#resting === null) return;
    const now = performance.now();
    // In the order of their times.
    for (const [id, { since }] of this.#skipped) {
      if (now - since < HURRY.withinMs) break;
      this.#skipped.delete(id);
    }
    const { since, ms } = this.#skipped.get(projectId) ?? { since: now, ms: 0 };
    if (ms >= HURRY.skippedMs) return;
    this.#skipped.set(projectId, { since, ms: ms + Math.max(0, this.#resting.until - now) });
    this.#resting.end();
    this.#resting = null;
  }

  /** Call when a project is deleted. */
  forget(projectId: string): void {
    const project = this.#projects.get(projectId);
    if (project === undefined) return;
    project.end();
    this.#projects.delete(projectId);
    for (const { monitors } of project.groups.values()) for (const { id } of monitors) this.#last.delete(id);
  }

  lastOf({ id, revision }: Pick<Monitor, 'id' | 'revision'>): LastLook | null {
    const last = this.#last.get(id);
    return last?.revision === revision ? last : null;
  }

  async close(): Promise<void> {
    await this.#loop.close(new DomainError('unavailable', 'The server is stopping'));
    for (const id of [...this.#projects.keys()]) this.forget(id);
  }

  async #round(): Promise<number> {
    if (!this.#isLoaded) for (const id of this.#parts.store.projects()) this.#changed.add(id);
    this.#isLoaded = true;
    for (let group = this.#next(); group !== undefined; group = this.#next()) {
      if (this.#loop.signal.aborted) return LOOK_MS;
      const began = performance.now();
      if (!(await this.#look(this.#together(group)))) continue;
      await this.#rest(restMs('follow', performance.now() - began));
    }
    const nextMs = Math.min(...[...this.#groups()].map(({ dueMs }) => dueMs));
    return Math.min(LOOK_MS, Math.max(0, nextMs - Date.now()));
  }

  /** A changed monitor is checked without a rest, except after many changes in a row. */
  async #rest(ms: number): Promise<void> {
    const until = performance.now() + ms;
    const skipped = new Promise<void>((resolve) => (this.#resting = { until, end: resolve }));
    await Promise.race([this.#loop.rest(ms), skipped]);
    this.#resting = null;
  }

  *#groups(): Iterable<Group> {
    for (const { groups } of this.#projects.values()) yield* groups.values();
  }

  /** The longest due group of the project that has waited longest. */
  #next(): Group | undefined {
    for (const id of this.#changed) this.#load(id);
    const now = Date.now();
    let next: Group | undefined;
    for (const group of this.#groups()) {
      // What is due later than any wait takes was put off by a clock that was ahead.
      if (group.dueMs > now && group.dueMs <= now + Math.max(group.moments.step / 1000, RETRIES.work.mostMs)) continue;
      const sooner = next === undefined ? -1 : group.project.served - next.project.served || group.dueMs - next.dueMs;
      if (sooner < 0) next = group;
    }
    return next;
  }

  /** Reads the monitors of a project. Known groups keep their state. */
  #load(projectId: string): void {
    const monitors = this.#parts.store.enabled(projectId);
    this.#changed.delete(projectId);
    const known = this.#projects.get(projectId);
    this.#forgetGone(known, monitors);
    if (monitors.length === 0) {
      this.forget(projectId);
      return;
    }
    const project = known ?? this.#open(projectId);
    const before = new Map(project.groups);
    project.groups.clear();
    for (const monitor of monitors) {
      const { list, query, window_minutes } = monitor.condition;
      const key = keyOf(projectId, { list, query, window_minutes });
      const group = project.groups.get(key) ?? this.#group(project, { list, query, window_minutes }, before.get(key));
      project.groups.set(key, group);
      group.monitors.push(monitor);
      // A new monitor, or one with a new condition, is checked at once.
      if (this.lastOf(monitor) === null) Object.assign(group, { dueMs: 0, emptyAfter: null });
    }
  }

  #open(id: string): Project {
    const project: Project = {
      ...{ id, groups: new Map(), commits: 0, served: 0 },
      end: this.#parts.onCommit(id, () => (project.commits += 1)),
    };
    this.#projects.set(id, project);
    return project;
  }

  #group(project: Project, measured: Measured, before: Group | undefined): Group {
    const moments = momentsOf(project.id, measured);
    const { dueMs, failures, alone, emptyAfter } = before ?? { dueMs: 0, failures: 0, alone: false, emptyAfter: null };
    return { ...measured, project, moments, monitors: [], dueMs, failures, alone, emptyAfter };
  }

  /** Forgets the last checks of monitors that are gone or disabled. */
  #forgetGone(known: Project | undefined, monitors: readonly Monitor[]): void {
    const ids = new Set(monitors.map(({ id }) => id));
    for (const group of known?.groups.values() ?? [])
      for (const { id } of group.monitors) if (!ids.has(id)) this.#last.delete(id);
  }

  /** A group, with those of its project and window that are due, too. */
  #together(group: Group): readonly [Group, ...Group[]] {
    if (group.failures > 0 || group.alone) return [group];
    const now = Date.now();
    const others = [...group.project.groups.values()].filter(
      (other) =>
        other !== group &&
        other.failures === 0 &&
        !other.alone &&
        other.list === group.list &&
        other.window_minutes === group.window_minutes &&
        other.dueMs <= now,
    );
    return [group, ...others.slice(0, MAX_TOGETHER - 1)];
  }

  /** @param groups of one project, list and window @returns whether something was measured */
  async #look(groups: readonly [Group, ...Group[]]): Promise<boolean> {
    const [{ project, moments, window_minutes, list }] = groups;
    const { measurer, observer, isGone } = this.#parts;
    project.served = this.#served += 1;
    if (isGone(project.id)) {
      this.forget(project.id);
      return false;
    }
    const at = lastMoment(moments, Date.now() * 1000);
    for (const group of groups) group.dueMs = (at + moments.step) / 1000;
    const { commits } = project;
    const awake = groups.filter(({ emptyAfter, monitors }) => emptyAfter !== commits || !monitors.every(isSettled));
    if (awake.length === 0) return false;
    const window = { end: at, step: moments.length, length: moments.length, count: 1 };
    const asked = awake.map(({ query, monitors }) => ({
      ...{ projectId: project.id, list, query, window_minutes },
      conditions: monitors.map(({ condition }) => condition),
    }));
    const began = performance.now();
    try {
      const measured = await measurer.measureTogether(asked, window, this.#loop.signal);
      for (const [index, group] of awake.entries()) this.#measured(group, measured[index], { at, commits });
      const monitors = awake.reduce((sum, group) => sum + group.monitors.length, 0);
      observer.monitorsLooked({ seconds: (performance.now() - began) / 1000, monitors });
    } catch (error) {
      // One of them may be the reason: that says nothing of the others.
      if (awake.length > 1) for (const group of awake) Object.assign(group, { alone: true, dueMs: Date.now() });
      else for (const group of awake) this.#failed(group, at, error);
    }
    return true;
  }

  #measured(
    group: Group,
    { figures, isEmpty }: GroupFigures = { figures: [], isEmpty: false },
    { at, commits }: { readonly at: Micros; readonly commits: number },
  ): void {
    try {
      group.emptyAfter = null;
      this.#keep(group.monitors, figures, at);
      Object.assign(group, { failures: 0, alone: false, emptyAfter: isEmpty ? commits : null });
    } catch (error) {
      this.#failed(group, at, error);
    }
  }

  #failed(group: Group, at: Micros, error: unknown): void {
    if (this.#loop.signal.aborted) return;
    group.failures += 1;
    group.dueMs = Date.now() + retryDelay(group.failures, RETRIES.work);
    this.#parts.observer.monitorFailed({ project: group.project.id, error });
    const last = { at, value: null, count: null, error: reasonOf(error) };
    for (const { id, revision } of group.monitors) this.#last.set(id, { ...last, revision });
  }

  #keep(monitors: Monitor[], figures: readonly (readonly Figure[])[], at: Micros): void {
    for (const [index, monitor] of monitors.entries()) {
      const figure = figures[index]?.[0] ?? { value: null, count: 0, interval: null };
      const { revision } = monitor;
      this.#last.set(monitor.id, { revision, at, value: figure.value, count: figure.count, error: null });
      const outcome = outcomeOf(monitor, figure, at);
      const isChanged =
        outcome.state !== monitor.state || outcome.alarm !== monitor.alarm || outcome.told !== monitor.told;
      if (!isChanged) continue;
      if (!this.#record(monitor, outcome)) continue;
      const since = outcome.state === monitor.state ? monitor.since : at;
      const { state, alarm, told } = outcome;
      monitors[index] = { ...monitor, state, alarm, told, since };
    }
  }

  /** @returns false when it was deleted or changed meanwhile */
  #record(monitor: Monitor, outcome: Outcome): boolean {
    const { store, together, announce, observer } = this.#parts;
    const { id, project_id: project } = monitor;
    const isTold = outcome.told !== monitor.told;
    const isKept = together(() => {
      if (!store.record(monitor, outcome)) return false;
      if (isTold) announce(eventOf(monitor, outcome));
      return true;
    });
    if (isKept && isTold && outcome.told === 'firing') observer.monitorFired({ project, id });
    else if (isKept && isTold) observer.monitorRecovered({ project, id });
    return isKept;
  }
}
