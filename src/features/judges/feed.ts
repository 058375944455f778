import pLimit from 'p-limit';
import type { DeletionScope, WorkUnderWay } from '../../engine/work/work-under-way.js';
import type { Micros } from '../../engine/timestamp.js';
import { BackgroundLoop } from '../../engine/work/background-loop.js';
import { RETRIES, retryDelay, type Retry } from '../../engine/work/backoff.js';
import { restMs } from '../../engine/work/governor.js';
import { FeedLane, type FeedLaneOptions, type Look } from './feed-lane.js';
import type { Judge } from './judge.js';
import type { JudgeStore } from './judge-store.js';
import { queueQuota } from './queue-quota.js';
import type { RunStore } from './run-store.js';
import { MAX_WAITING } from './whole-settings.js';
import type { Arrivals } from '../../engine/traces/model/judged/span-reader.js';
import type { Signals } from '../../engine/signals/signals.js';

export interface FeedOptions extends Pick<FeedLaneOptions, 'identifyPrompt' | 'known' | 'maxAttempts'> {
  readonly judges: Pick<JudgeStore, 'enabled'>;
  readonly runs: Pick<RunStore, 'begin' | 'position' | 'setArrived' | 'advance' | 'queued' | 'waiting'>;
  readonly arrivals: Arrivals;
  /** While a project has no room in the queue, nothing of it is read; its position stays. See {@link queueQuota}. */
  readonly queueMax: number;
  /** The waits after reads that failed; default: those of work. */
  readonly retry?: Retry;
  /** Called after runs were queued. */
  readonly onQueued: () => void;
  readonly observer: Pick<Signals, 'feedFailed' | 'spanNotRead'>;
}

type JudgesByProject = ReadonlyMap<string, readonly Judge[]>;

/** A project with enabled judges. */
interface Project {
  readonly id: string;
  readonly lane: FeedLane;
  /** Spans that arrived up to here were looked at. */
  position: Micros;
  /** The position as it is stored. */
  saved: Micros;
  /** Whether there may be more to look at. */
  hasNews: boolean;
  looking: boolean;
  /** Looks in a row that failed. */
  failures: number;
  /** Earliest time of the next look, on the clock of `performance`. */
  notBefore: number;
}

/** How long the feed waits for more spans after some arrived. */
const GATHER_MS = 20;
/** Interval of writing positions up to which nothing was queued. */
const SAVE_MS = 5_000;
/** Projects looked at together; those whose last look failed wait for one another alone. */
const LOOKS_AT_ONCE = 2;
/** Up to so many projects are all looked at; with more, the store is asked first which of them have news. */
const FEW_PROJECTS = 3;
const ALL_HAVE_NEWS = { projects: null, upTo: null };

/**
 * Looks at new spans in the order of their arrival, each project for itself, and queues evaluations of those that match.
 * The position in that order is written together with the queued runs, so that after a crash nothing is missed or
 * queued twice.
 */
export class JudgeFeed implements WorkUnderWay {
  readonly #options: FeedOptions;
  readonly #loop: BackgroundLoop;
  readonly #sound = pLimit(LOOKS_AT_ONCE);
  readonly #troubled = pLimit(1);
  readonly #projects = new Map<string, Project>();
  readonly #looks = new Set<Promise<void>>();
  /** Enabled judges by project; null: to be read anew. */
  #judges: JudgesByProject | null = null;
  /** Judges that `#projects` was made for. */
  #opened: JudgesByProject | null = null;
  /** Projects with anything that arrived up to here are known to have news; null: it is not known of any. */
  #newsUpTo: Micros | null = null;
  #savedAt = 0;
  #isOpen = false;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#loop = new BackgroundLoop({
      round: () => this.#round(),
      onFailure: (error) => options.observer.feedFailed({ project: null, error }),
      retry: RETRIES.soon,
      gatherMs: GATHER_MS,
    });
  }

  /** Goes on where it was. @throws DomainError `unavailable` */
  start(): void {
    const { runs, arrivals } = this.#options;
    runs.begin(arrivals.now());
    this.#isOpen = true;
    arrivals.onArrival(() => {
      this.wake();
    });
    this.wake();
  }

  /** Begins a round, as there may be new spans, or room in the queue. */
  wake(): void {
    if (this.#isOpen) this.#loop.wake();
  }

  /** Reads judges anew, as they were made, changed or deleted. */
  changed(): void {
    this.#judges = null;
    this.wake();
  }

  /** Stops looking at a deleted project. A look under way queues nothing, as the judges of the project are gone. */
  giveUp({ spans }: DeletionScope): Promise<void> {
    if (spans === null) this.changed();
    return Promise.resolve();
  }

  async close(): Promise<void> {
    const wasOpen = this.#isOpen;
    this.#isOpen = false;
    await this.#loop.close();
    await Promise.all(this.#looks);
    if (wasOpen) this.#save();
  }

  async #round(): Promise<number> {
    this.#open();
    const started = performance.now();
    await this.#hearNews();
    const rest = restAfter(started);
    const dueAt = this.#begin();
    if (Date.now() - this.#savedAt >= SAVE_MS) this.#save();
    await this.#loop.rest(rest);
    return Math.max(0, dueAt - performance.now());
  }

  /** Makes `#projects` those with enabled judges. */
  #open(): void {
    const judges = this.#enabled();
    if (this.#opened === judges) return;
    const { runs, identifyPrompt, known, maxAttempts, arrivals, observer } = this.#options;
    for (const id of judges.keys()) {
      if (this.#projects.has(id)) continue;
      const lane = new FeedLane({
        projectId: id,
        arrivals,
        identifyPrompt,
        known,
        maxAttempts,
        judges: () => this.#enabled().get(id) ?? [],
        spanNotRead: (failure) => observer.spanNotRead(failure),
      });
      const position = runs.position(id)?.arrived_at ?? arrivals.now();
      const fresh = { position, saved: position, hasNews: true, looking: false, failures: 0, notBefore: 0 };
      this.#projects.set(id, { id, lane, ...fresh });
    }
    this.#save();
    for (const id of this.#projects.keys()) if (!judges.has(id)) this.#projects.delete(id);
    this.#opened = judges;
  }

  #enabled(): JudgesByProject {
    if (this.#judges !== null) return this.#judges;
    const judges = new Map<string, Judge[]>();
    for (const judge of this.#options.judges.enabled()) {
      if (judge.sample_rate === 0) continue;
      const others = judges.get(judge.project_id);
      if (others === undefined) judges.set(judge.project_id, [judge]);
      else others.push(judge);
    }
    this.#judges = judges;
    return judges;
  }

  /** Notes which projects have news; when there are few, all of them. */
  async #hearNews(): Promise<void> {
    const since = this.#newsUpTo;
    const isFew = this.#projects.size <= FEW_PROJECTS;
    const { projects, upTo } = isFew ? ALL_HAVE_NEWS : await this.#options.arrivals.news(since);
    for (const project of this.#projects.values()) {
      if (projects?.has(project.id) ?? true) project.hasNews = true;
      else if (!project.hasNews && !project.looking && since !== null && upTo !== null && project.position >= since)
        project.position = Math.max(project.position, upTo);
    }
    this.#newsUpTo = upTo;
  }

  /** How many more runs a project may queue: any of them may be due at once, or wait for quiet. */
  #room(): (projectId: string) => number {
    const { runs, queueMax } = this.#options;
    const now = Date.now() * 1000;
    const [queued, waiting] = [runs.queued(now), runs.waiting(now)];
    return (id) => Math.min(queueQuota(id, queued, queueMax), queueQuota(id, waiting, MAX_WAITING));
  }

  /**
   * Begins to look at each project that has news and room for what comes of them.
   * @returns when one whose last look failed may be looked at again, on the clock of `performance`
   */
  #begin(): number {
    const now = performance.now();
    const waiting = [...this.#projects.values()].filter(({ hasNews, looking }) => hasNews && !looking);
    if (waiting.length === 0) return Infinity;
    const roomOf = this.#room();
    for (const project of waiting) {
      const room = roomOf(project.id);
      if (project.notBefore > now || room === 0) continue;
      const limit = project.failures > 0 ? this.#troubled : this.#sound;
      project.looking = true;
      const look = limit(() => this.#look(project, room, waiting.length)).finally(() => {
        this.#looks.delete(look);
      });
      this.#looks.add(look);
    }
    return Math.min(Infinity, ...waiting.map(({ notBefore }) => notBefore).filter((at) => at > now));
  }

  /** Looks at the next spans of a project. Never rejects. */
  async #look(project: Project, room: number, among: number): Promise<void> {
    if (!this.#isOpen) return;
    const started = performance.now();
    try {
      // News may come while it looks.
      project.hasNews = false;
      const look = await project.lane.look(project.position, room);
      this.#move(project, look);
      project.hasNews ||= look.more;
      project.failures = 0;
    } catch (error) {
      project.hasNews = true;
      this.#options.observer.feedFailed({ project: project.id, error });
      project.failures += 1;
      project.notBefore = performance.now() + retryDelay(project.failures, this.#options.retry ?? RETRIES.work);
    }
    await this.#loop.rest(restAfter(started, among));
    project.looking = false;
    if (project.hasNews) this.wake();
  }

  #move(project: Project, { upTo, drafts, failed }: Look): void {
    if (upTo <= project.position) return;
    const { runs, onQueued } = this.#options;
    if (drafts.length + failed.length > 0) {
      const queued = runs.advance(project.id, upTo, drafts, Date.now() * 1000, failed);
      project.saved = upTo;
      if (queued > 0) onQueued();
    }
    project.position = upTo;
    if (Date.now() - this.#savedAt >= SAVE_MS) this.#save();
  }

  #save(): void {
    const moved = [...this.#projects.values()].filter(({ position, saved }) => position > saved);
    if (moved.length > 0) this.#options.runs.setArrived(new Map(moved.map(({ id, position }) => [id, position])));
    for (const project of moved) project.saved = project.position;
    this.#savedAt = Date.now();
  }
}

/** @param among how many share the time: each then waits for the rests of the others too */
function restAfter(started: number, among = 1): number {
  return Math.max(GATHER_MS / among, restMs('follow', performance.now() - started, among));
}
