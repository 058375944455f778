import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AttachmentIntake } from '../attachment/intake.js';
import { DomainError, type Issue } from '../errors.js';
import { Normaliser } from '../schema/normalise.js';
import { retryDelay } from '../job/backoff.js';
import { costOf, withCalculatedCost, type PriceModelCall } from '../span/pricing.js';
import { formatTimestamp, type Micros } from '../time/timestamp.js';
import { invalid } from '../validation/validation.js';
import type { CalculatedSpan, CalculatedSpans, SpanRevision, StoredSpan } from './calculated-spans.js';
import type { RepriceJob, RepriceProgress, RepriceStore } from './reprice-job.js';
import type { RepriceInput, RepriceJobRead } from './schema.js';

export interface RepriceObserver {
  repriceAdvanced(advance: { readonly changed: number }): void;
  repriceFinished(job: { readonly id: string; readonly examined: number; readonly changed: number }): void;
  /** It is tried again, unless `final`. */
  repriceFailed(failure: { readonly id: string; readonly error: unknown; readonly final: boolean }): void;
}

export interface RepriceServiceOptions {
  readonly store: RepriceStore;
  readonly spans: CalculatedSpans;
  readonly price: PriceModelCall;
  /** Names the images of the spans anew; it must not fetch anything. */
  readonly attachments: AttachmentIntake;
  readonly observer: RepriceObserver;
  /** How often a page is tried while a store does not answer, each time with fewer spans. */
  readonly maxAttempts: number;
  /** Wait before the second attempt, in milliseconds; default 1 s. */
  readonly retryBaseMs?: number;
  readonly now?: () => Micros;
  /** Spans looked at together; default 1,000. */
  readonly pageSize?: number;
}

const PAGE = 1_000;
/** Whole spans are read and written in parts of about this size. */
const MAX_PART_BYTES = 8 * 1024 * 1024;
/** A page whose spans clients write meanwhile is gone through again; what they write is priced on its way in. */
const MAX_ROUNDS = 5;
const MAX_UNFINISHED = 10;
const MAX_LISTED = 100;
const RETRY_MS = 1_000;
const MAX_REST_MS = 1_000;
const DEFECT = 'The job met a defect; the log of the server has more';

interface Attempts {
  readonly failed: number;
  /** On the clock of `performance`. */
  readonly notBefore: number;
}

/** Prices stored spans anew, in jobs that go on after a restart: one page at a time, of each project in turn. */
export class RepriceService {
  readonly #options: RepriceServiceOptions;
  readonly #now: () => Micros;
  readonly #stopping = new AbortController();
  /** Of jobs whose last page failed. */
  readonly #attempts = new Map<string, Attempts>();
  /** By job, the spans that got another cost since its progress was last stored: a page may fail half way. */
  readonly #uncounted = new Map<string, number>();
  /** The project that had the last turn. */
  #served = '';
  #running: Promise<void> | null = null;

  constructor(options: RepriceServiceOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => Date.now() * 1000);
  }

  /** Goes on with what is not finished. */
  start(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
    });
  }

  /** Resolves after the page at work; the rest is done after the next start. */
  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  /** @throws DomainError `invalid`; `conflict` when too many wait already */
  create(projectId: string, input: RepriceInput): RepriceJobRead {
    const { store } = this.#options;
    const issues: Issue[] = [];
    const normaliser = new Normaliser('', issues);
    const started_after = normaliser.optionalTime('started_after', input.started_after);
    const started_before = normaliser.optionalTime('started_before', input.started_before);
    if (started_after !== null && started_before !== null && started_before < started_after)
      normaliser.fail('started_before', 'must not be before started_after');
    if (issues.length > 0) throw invalid(issues);
    if (store.countUnfinished(projectId) >= MAX_UNFINISHED)
      throw new DomainError('conflict', `${MAX_UNFINISHED} jobs of this project are not finished yet`);
    const job: RepriceJob = {
      id: randomUUID(),
      project_id: projectId,
      started_after,
      started_before,
      provider: input.provider ?? null,
      model: input.model ?? null,
      status: 'queued',
      total: null,
      examined: 0,
      changed: 0,
      after: null,
      error: null,
      created_at: this.#now(),
      finished_at: null,
    };
    store.insert(job);
    this.start();
    return toRead(job);
  }

  /** @throws DomainError `not_found` */
  get(projectId: string, id: string): RepriceJobRead {
    const job = this.#options.store.find(projectId, id);
    if (job === undefined) throw new DomainError('not_found', 'There is no such job');
    return toRead(job);
  }

  /** The newest hundred, newest first. */
  list(projectId: string): RepriceJobRead[] {
    return this.#options.store.list(projectId, MAX_LISTED).map(toRead);
  }

  async #run(): Promise<void> {
    const { store, observer } = this.#options;
    const { signal } = this.#stopping;
    // A creation in the same turn finds the run under way.
    await Promise.resolve();
    while (!signal.aborted) {
      let job: RepriceJob | undefined;
      try {
        const jobs = store.next();
        if (jobs.length === 0) return;
        job = this.#turn(jobs);
        if (job === undefined) await this.#wait(jobs);
        else {
          await this.#advance(job);
          this.#attempts.delete(job.id);
        }
      } catch (error) {
        const passing = error instanceof DomainError && ['unavailable', 'overloaded'].includes(error.kind);
        const failed = this.#failedOnce(job);
        const final = !passing || (job !== undefined && failed >= this.#options.maxAttempts);
        observer.repriceFailed({ id: job?.id ?? 'none', error, final });
        if (job === undefined) {
          if (final) return;
          await this.#rest(this.#options.retryBaseMs ?? RETRY_MS);
        } else if (final)
          this.#giveUp(job, passing ? `Given up after ${failed} attempts: a store did not answer` : DEFECT);
      }
    }
  }

  /** Of the project whose turn it is; undefined: all of them wait for their next attempt. */
  #turn(jobs: readonly RepriceJob[]): RepriceJob | undefined {
    const now = performance.now();
    const ready = jobs.filter(({ id }) => (this.#attempts.get(id)?.notBefore ?? 0) <= now);
    const next = ready.find(({ project_id }) => project_id > this.#served) ?? ready[0];
    if (next !== undefined) this.#served = next.project_id;
    return next;
  }

  #wait(jobs: readonly RepriceJob[]): Promise<void> {
    const times = jobs.map(({ id }) => this.#attempts.get(id)?.notBefore ?? 0);
    // A job of another project may come meanwhile.
    return this.#rest(Math.min(MAX_REST_MS, Math.max(0, Math.min(...times) - performance.now())));
  }

  #rest(ms: number): Promise<void> {
    return sleep(ms, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
  }

  /** @returns how often it failed in a row */
  #failedOnce(job: RepriceJob | undefined): number {
    if (job === undefined) return 1;
    const failed = (this.#attempts.get(job.id)?.failed ?? 0) + 1;
    const waitMs = retryDelay(failed, this.#options.retryBaseMs ?? RETRY_MS, null);
    this.#attempts.set(job.id, { failed, notBefore: performance.now() + waitMs });
    return failed;
  }

  /** One page of a job. */
  async #advance(job: RepriceJob): Promise<void> {
    const { store, spans, observer } = this.#options;
    // What cannot be read together may be readable in smaller parts.
    const failed = this.#attempts.get(job.id)?.failed ?? 0;
    const pageSize = Math.max(1, Math.floor((this.#options.pageSize ?? PAGE) / 4 ** failed));
    if (job.total === null) {
      const total = await spans.count(job.project_id, job);
      store.update(job.id, { ...job, status: 'running', total });
      return;
    }
    const page = await this.#page(job, pageSize);
    const changed = this.#uncounted.get(job.id) ?? 0;
    const last = page.at(-1);
    const progress: RepriceProgress = {
      ...job,
      examined: job.examined + page.length,
      changed: job.changed + changed,
      after: last === undefined ? job.after : { started_at: last.started_at, trace_id: last.trace_id, id: last.id },
    };
    const done = page.length < pageSize;
    store.update(job.id, done ? { ...progress, status: 'done', finished_at: this.#now() } : progress);
    this.#uncounted.delete(job.id);
    observer.repriceAdvanced({ changed });
    if (done) observer.repriceFinished({ id: job.id, examined: progress.examined, changed: progress.changed });
  }

  /**
   * Goes through a page until no client was faster. Spans that came meanwhile may make it end earlier than at first; the
   * next page begins there.
   */
  async #page(job: RepriceJob, limit: number): Promise<readonly CalculatedSpan[]> {
    let page: readonly CalculatedSpan[] = [];
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const revision = await this.#options.spans.open(job.project_id);
      try {
        page = await revision.page(job, job.after, limit);
        if ((await this.#revise(job, page, revision)) === 0) break;
      } finally {
        revision.close();
      }
    }
    return page;
  }

  /** @returns how many spans clients have written meanwhile */
  async #revise(job: RepriceJob, page: readonly CalculatedSpan[], revision: SpanRevision): Promise<number> {
    const { id, project_id: projectId } = job;
    const costs = new Map<number, number | null>();
    const wrong = page.filter((span) => {
      const cost = costOf(span, projectId, this.#options.price);
      if (cost !== span.cost) costs.set(span.version, cost);
      return cost !== span.cost;
    });
    let overtaken = wrong.length;
    for (const part of parts(wrong)) {
      const found = await revision.read(part);
      const priced = found.map(({ version, span }) => ({
        version,
        span: withCalculatedCost(span, costs.get(version) ?? null),
      }));
      const times = await this.#replace(projectId, priced, revision);
      const changed = times.filter((time) => time !== null).length;
      this.#uncounted.set(id, (this.#uncounted.get(id) ?? 0) + changed);
      overtaken -= changed;
    }
    return overtaken;
  }

  /** The new version of a span has to name its images before the old one ceases to. */
  async #replace(projectId: string, stored: readonly StoredSpan[], revision: SpanRevision): Promise<(Micros | null)[]> {
    const { attachments } = this.#options;
    const inspected = await attachments.inspect(stored.map(({ span }) => span));
    // What is stored was sound when it came; if it no longer is, it stays as it is.
    const flawed = new Set(inspected.flaws.map(({ index }) => index));
    const versions = stored.flatMap(({ version }, index) => (flawed.has(index) ? [] : [version]));
    const detached = await attachments.detach(projectId, inspected);
    try {
      const times = await revision.replace(
        detached.spans.map((span, index) => ({ version: versions[index] ?? 0, span })),
      );
      await detached.stored(times);
      return times;
    } catch (error) {
      await detached.failed();
      throw error;
    }
  }

  #giveUp(job: RepriceJob, error: string): void {
    try {
      const changed = job.changed + (this.#uncounted.get(job.id) ?? 0);
      this.#options.store.update(job.id, { ...job, changed, status: 'failed', error, finished_at: this.#now() });
      this.#attempts.delete(job.id);
      this.#uncounted.delete(job.id);
    } catch {
      // The store does not answer; after its wait the job is tried again and given up then.
    }
  }
}

function* parts(spans: readonly CalculatedSpan[]): Generator<CalculatedSpan[]> {
  let part: CalculatedSpan[] = [];
  let bytes = 0;
  for (const span of spans) {
    if (part.length > 0 && bytes + span.bytes > MAX_PART_BYTES) {
      yield part;
      [part, bytes] = [[], 0];
    }
    part.push(span);
    bytes += span.bytes;
  }
  if (part.length > 0) yield part;
}

function toRead(job: RepriceJob): RepriceJobRead {
  const time = (at: Micros | null) => (at === null ? null : formatTimestamp(at));
  return {
    id: job.id,
    status: job.status,
    started_after: time(job.started_after),
    started_before: time(job.started_before),
    provider: job.provider,
    model: job.model,
    total: job.total,
    examined: job.examined,
    changed: job.changed,
    error: job.error,
    created_at: formatTimestamp(job.created_at),
    finished_at: time(job.finished_at),
  };
}
