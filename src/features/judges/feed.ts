import pLimit from 'p-limit';
import type { DeletionScope, WorkUnderWay } from '../../engine/work/work-under-way.js';
import type { Micros } from '../../engine/timestamp.js';
import { BackgroundLoop } from '../../engine/work/background-loop.js';
import { RETRIES, retryDelay, type Retry } from '../../engine/work/backoff.js';
import { restMs } from '../../engine/work/governor.js';
import { FeedLane, type FeedLaneOptions, type Look } from './feed-lane.js';
import { FeedRoom } from './feed-room.js';
import type { Judge } from './judge.js';
import type { JudgeStore } from './judge-store.js';
import { ProjectFeed, type Lane, type NextLook, type OpenReader } from './project-feed.js';
import type { RunStore } from './run-store.js';
import type { Arrivals } from '../../engine/traces/model/judged/span-reader.js';
import type { Signals } from '../../engine/signals/signals.js';

export interface FeedOptions extends Pick<FeedLaneOptions, 'identifyPrompt' | 'known' | 'maxAttempts'> {
  readonly judges: Pick<JudgeStore, 'enabled'>;
  readonly runs: Pick<RunStore, 'begin' | 'position' | 'setLooked' | 'advance' | 'queued' | 'changes'>;
  readonly arrivals: Arrivals;
  /** While a judge has no room, it looks at nothing, and no other judge waits for it. See {@link FeedRoom}. */
  readonly queueMax: number;
  /** The waits after reads that failed; default: those of work. */
  readonly retry?: Retry;
  /** Called after runs were queued. */
  readonly onQueued: () => void;
  readonly observer: Pick<Signals, 'feedFailed' | 'spanNotRead'>;
}

type JudgesByProject = ReadonlyMap<string, readonly Judge[]>;

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
 * The positions of its judges in that order are written together with the queued runs, so that after a crash nothing is missed or
 * queued twice.
 */
export class JudgeFeed implements WorkUnderWay {
  readonly #options: FeedOptions;
  readonly #loop: BackgroundLoop;
  readonly #sound = pLimit(LOOKS_AT_ONCE);
  readonly #troubled = pLimit(1);
  readonly #projects = new Map<string, ProjectFeed>();
  readonly #looks = new Set<Promise<void>>();
  /** Enabled judges by project; null: to be read again. */
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

  /** Continues where it was. @throws DomainError `unavailable` */
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

  /** Reads judges again, as they were made, changed or deleted. */
  changed(): void {
    this.#judges = null;
    this.wake();
  }

  /** Stops looking at a deleted project. A look in progress queues nothing, as the judges of the project are gone. */
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
    const { runs, arrivals } = this.#options;
    for (const [id, ofProject] of judges) {
      const known = this.#projects.get(id);
      if (known !== undefined) {
        known.setJudges(ofProject);
        continue;
      }
      const looked = runs.position(id) ?? { arrived_at: arrivals.now(), behind: {} };
      this.#projects.set(id, new ProjectFeed(id, looked, ofProject, this.#readerOf(id)));
    }
    this.#save();
    for (const [id, project] of this.#projects)
      if (!judges.has(id)) {
        // A look of it may be in progress.
        project.setJudges([]);
        this.#projects.delete(id);
      }
    this.#opened = judges;
  }

  #readerOf(projectId: string): OpenReader {
    const { identifyPrompt, known, maxAttempts, arrivals, observer } = this.#options;
    const spanNotRead: FeedLaneOptions['spanNotRead'] = (failure) => observer.spanNotRead(failure);
    const parts = { projectId, arrivals, identifyPrompt, known, maxAttempts, spanNotRead };
    return (isOfLane) =>
      new FeedLane({
        ...parts,
        judges: () => (this.#enabled().get(projectId) ?? []).filter(({ id }) => isOfLane(id)),
      });
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
      else if (since !== null && upTo !== null) project.skip(since, upTo);
    }
    this.#newsUpTo = upTo;
  }

  /**
   * Has the judges of each project look that have news and room for what comes of them.
   * @returns when those whose last look failed may look again, on the clock of `performance`
   */
  #begin(): number {
    const now = performance.now();
    const due = [...this.#projects.values()].filter(({ isDue }) => isDue);
    if (due.length === 0) return Infinity;
    const room = new FeedRoom(this.#options.runs, this.#options.queueMax);
    const judges = this.#enabled();
    const looks = due.flatMap((project) =>
      project.next(room.of(project.id, judges.get(project.id) ?? []), now).map((next) => ({ project, next })),
    );
    for (const { project, next } of looks) {
      const { lane } = next;
      const limit = lane.failures > 0 ? this.#troubled : this.#sound;
      lane.looking = true;
      const look = limit(() => this.#look(project, next, looks.length)).finally(() => {
        this.#looks.delete(look);
      });
      this.#looks.add(look);
    }
    return Math.min(Infinity, ...due.map((project) => project.waitsUntil(now)));
  }

  /** Looks at the next spans of a project. Never rejects. */
  async #look(project: ProjectFeed, { lane, limit, upTo }: NextLook, among: number): Promise<void> {
    if (!this.#isOpen) return;
    const started = performance.now();
    const before = lane.position;
    try {
      // A judge that was made meanwhile misses nothing: it is there before anything is read that came since.
      this.#open();
      // News may come while it looks.
      if (project.isFront(lane)) project.hasNews = false;
      const look = await lane.reader.look(lane.position, limit, upTo);
      this.#move(project, lane, look);
      if (project.isFront(lane)) project.hasNews ||= look.more;
      lane.failures = 0;
    } catch (error) {
      if (project.isFront(lane)) project.hasNews = true;
      this.#options.observer.feedFailed({ project: project.id, error });
      lane.failures += 1;
      lane.notBefore = performance.now() + retryDelay(lane.failures, this.#options.retry ?? RETRIES.work);
    }
    await this.#loop.rest(restAfter(started, among));
    lane.looking = false;
    // Others may look as far now, or be together with it.
    const isMore = project.isSplit && (lane.position > before || lane.failures > 0);
    if (project.hasNews || isMore) this.wake();
  }

  #move(project: ProjectFeed, lane: Lane, { upTo, drafts, failed }: Look): void {
    if (upTo <= lane.position) return;
    const { runs, onQueued } = this.#options;
    const before = lane.position;
    project.move(lane, upTo);
    if (drafts.length + failed.length > 0) {
      let queued: number;
      try {
        queued = runs.advance(project.id, project.looked, drafts, Date.now() * 1000, failed);
      } catch (error) {
        lane.position = before;
        throw error;
      }
      project.isMoved = false;
      if (queued > 0) onQueued();
    }
    if (Date.now() - this.#savedAt >= SAVE_MS) this.#save();
  }

  #save(): void {
    const moved = [...this.#projects.values()].filter(({ isMoved }) => isMoved);
    if (moved.length > 0) this.#options.runs.setLooked(new Map(moved.map((project) => [project.id, project.looked])));
    for (const project of moved) project.isMoved = false;
    this.#savedAt = Date.now();
  }
}

/** @param among how many share the time: each then waits for the rests of the others too */
function restAfter(started: number, among = 1): number {
  return Math.max(GATHER_MS / among, restMs('follow', performance.now() - started, among));
}
