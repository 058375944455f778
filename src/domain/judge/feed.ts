import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PromptIdentity } from '../prompt/completion.js';
import type { Judge } from './judge.js';
import type { JudgeStore } from './judge-store.js';
import { mismatches, sampleHash, type IdentifyPrompt } from './matching.js';
import type { RunDraft } from './run.js';
import type { FeedPosition, RunStore } from './run-store.js';
import type { Arrival, ArrivalFilter, Arrivals } from './span-reader.js';

export interface FeedObserver {
  /** It goes on by itself. */
  feedFailed(failure: { readonly error: unknown }): void;
}

export interface FeedOptions {
  readonly judges: Pick<JudgeStore, 'enabled'>;
  readonly runs: Pick<RunStore, 'position' | 'setPosition' | 'advance' | 'state'>;
  readonly arrivals: Arrivals;
  readonly identifyPrompt: IdentifyPrompt;
  /** While so many evaluations are queued, it reads nothing; its position stays. */
  readonly queueMax: number;
  /** Called after runs were queued. */
  readonly onQueued: () => void;
  readonly observer: FeedObserver;
}

/** Spans looked at together. */
const PAGE = 500;
/** So long it waits for company after spans arrived. */
const GATHER_MS = 20;
/** It rests for this many times what a read took, so that reads never take much of the engine. */
const REST = 16;
const MAX_REST_MS = 4_000;
const RETRY_MS = 1_000;
/** How often a position is written that nothing was queued at. */
const SAVE_MS = 5_000;

/**
 * Looks at new spans in the order of their arrival and queues evaluations of those that match. Where it is in that order
 * is written together with what it queues, so that after a crash it misses nothing and queues nothing twice.
 */
export class JudgeFeed {
  readonly #options: FeedOptions;
  readonly #stopping = new AbortController();
  #judges: readonly Judge[] | null = null;
  #position: FeedPosition | null = null;
  #savedAt = 0;
  #woken = false;
  #running: Promise<void> | null = null;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  /** Goes on where it was. @throws DomainError `unavailable` */
  start(): void {
    const { runs, arrivals } = this.#options;
    const now = arrivals.now();
    this.#position = runs.position() ?? { began_at: now, arrived_at: now };
    runs.setPosition(this.#position);
    arrivals.onArrival(() => {
      this.wake();
    });
    this.wake();
  }

  /** There may be something to do: spans, or room in the queue. */
  wake(): void {
    this.#woken = true;
    if (this.#position === null || this.#stopping.signal.aborted) return;
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
      if (this.#woken) this.wake();
    });
  }

  /** Judges were made, changed or deleted. */
  changed(): void {
    this.#judges = null;
    this.wake();
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    this.#woken = false;
    await this.#running;
    if (this.#position !== null) this.#options.runs.setPosition(this.#position);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    const rest = (ms: number) => sleep(ms, undefined, { signal }).catch(() => undefined);
    await rest(GATHER_MS);
    while (this.#woken && !signal.aborted) {
      this.#woken = false;
      const started = performance.now();
      try {
        if (await this.#advance()) this.#woken = true;
      } catch (error) {
        this.#options.observer.feedFailed({ error });
        this.#woken = true;
        await rest(RETRY_MS);
        continue;
      }
      await rest(Math.min(MAX_REST_MS, Math.max(GATHER_MS, (performance.now() - started) * REST)));
    }
  }

  /** One page. @returns whether there is more to be looked at now */
  async #advance(): Promise<boolean> {
    const { runs, arrivals, queueMax } = this.#options;
    const position = this.#position;
    const judges = this.#active();
    if (position === null || judges.length === 0) return false;
    const room = queueMax - runs.state().queued;
    if (room <= 0) return false;
    const limit = Math.min(PAGE, Math.max(1, Math.floor(room / judges.length)));
    const from = Math.max(position.arrived_at, Math.min(...judges.map(({ judged_since }) => judged_since)));
    const page = await arrivals.read(from, judges.map(toFilter), limit);
    if (page.upTo <= position.arrived_at) return page.more;
    // Judges may have changed meanwhile; one made meanwhile is about none of these spans.
    const drafts = this.#drafts(page.spans, this.#active());
    this.#move({ ...position, arrived_at: page.upTo }, drafts);
    return page.more;
  }

  #move(position: FeedPosition, drafts: readonly RunDraft[]): void {
    const { runs, onQueued } = this.#options;
    const now = Date.now();
    if (drafts.length > 0 || now - this.#savedAt >= SAVE_MS) {
      const queued = runs.advance(position, drafts, now * 1000);
      this.#savedAt = now;
      if (queued > 0) onQueued();
    }
    this.#position = position;
  }

  #active(): readonly Judge[] {
    this.#judges ??= this.#options.judges.enabled().filter(({ sample_rate }) => sample_rate > 0);
    return this.#judges;
  }

  #drafts(spans: readonly Arrival[], judges: readonly Judge[]): RunDraft[] {
    const prompts = new Map<string, PromptIdentity | undefined>();
    const promptOf = ({ project_id, filters: { prompt_slug } }: Judge) => {
      if (prompt_slug === null) return undefined;
      const key = `${project_id}/${prompt_slug}`;
      if (!prompts.has(key)) prompts.set(key, this.#options.identifyPrompt(project_id, prompt_slug));
      return prompts.get(key);
    };
    return spans.flatMap((span) =>
      judges
        .filter(
          (judge) =>
            judge.project_id === span.project_id &&
            span.arrived_at > judge.judged_since &&
            mismatches(span, judge.filters, promptOf(judge)).length === 0 &&
            sampleHash(span.id, judge.id) < judge.sample_rate,
        )
        .map((judge) => draftOf(judge, span)),
    );
  }
}

function toFilter({ id, project_id, filters, sample_rate }: Judge): ArrivalFilter {
  return { judge_id: id, project_id, filters, sample_rate };
}

function draftOf(judge: Judge, span: Arrival): RunDraft {
  return {
    id: randomUUID(),
    project_id: judge.project_id,
    judge_id: judge.id,
    span_id: span.id,
    trace_id: span.trace_id,
    span_started_at: span.started_at,
    origin: 'automatic',
  };
}
