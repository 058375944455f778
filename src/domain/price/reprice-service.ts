import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AttachmentIntake } from '../attachment/intake.js';
import { DomainError, type Issue } from '../errors.js';
import { Normaliser } from '../ingest/normalise.js';
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

/** Prices stored spans anew, in jobs that go on after a restart. One runs at a time, page by page. */
export class RepriceService {
  readonly #options: RepriceServiceOptions;
  readonly #now: () => Micros;
  readonly #stopping = new AbortController();
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
        job = store.next();
        if (job === undefined) return;
        await this.#advance(job);
      } catch (error) {
        const passing = error instanceof DomainError && ['unavailable', 'overloaded'].includes(error.kind);
        observer.repriceFailed({ id: job?.id ?? 'none', error, final: !passing });
        if (passing) await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
        else if (job === undefined || !this.#giveUp(job)) return;
      }
    }
  }

  /** One page of a job. */
  async #advance(job: RepriceJob): Promise<void> {
    const { store, spans, observer, pageSize = PAGE } = this.#options;
    if (job.total === null) {
      const total = await spans.count(job.project_id, job);
      store.update(job.id, { ...job, status: 'running', total });
      return;
    }
    const { page, changed } = await this.#page(job, pageSize);
    observer.repriceAdvanced({ changed });
    const last = page.at(-1);
    const progress: RepriceProgress = {
      ...job,
      examined: job.examined + page.length,
      changed: job.changed + changed,
      after: last === undefined ? job.after : { started_at: last.started_at, trace_id: last.trace_id, id: last.id },
    };
    const done = page.length < pageSize;
    store.update(job.id, done ? { ...progress, status: 'done', finished_at: this.#now() } : progress);
    if (done) observer.repriceFinished({ id: job.id, examined: progress.examined, changed: progress.changed });
  }

  /**
   * Goes through a page until no client was faster. Spans that came meanwhile may make it end earlier than at first; the
   * next page begins there.
   */
  async #page(job: RepriceJob, limit: number): Promise<{ page: readonly CalculatedSpan[]; changed: number }> {
    let page: readonly CalculatedSpan[] = [];
    let changed = 0;
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const revision = await this.#options.spans.open(job.project_id);
      try {
        page = await revision.page(job, job.after, limit);
        const result = await this.#revise(job.project_id, page, revision);
        changed += result.changed;
        if (result.overtaken === 0) break;
      } finally {
        revision.close();
      }
    }
    return { page, changed };
  }

  async #revise(projectId: string, page: readonly CalculatedSpan[], revision: SpanRevision) {
    const costs = new Map<number, number | null>();
    const wrong = page.filter((span) => {
      const cost = costOf(span, projectId, this.#options.price);
      if (cost !== span.cost) costs.set(span.version, cost);
      return cost !== span.cost;
    });
    let changed = 0;
    for (const part of parts(wrong)) {
      const found = await revision.read(part);
      const priced = found.map(({ version, span }) => ({
        version,
        span: withCalculatedCost(span, costs.get(version) ?? null),
      }));
      const times = await this.#replace(projectId, priced, revision);
      changed += times.filter((time) => time !== null).length;
    }
    return { changed, overtaken: wrong.length - changed };
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
      detached.stored(times);
      return times;
    } catch (error) {
      detached.failed();
      throw error;
    }
  }

  /** False when even that fails; the next start tries again. */
  #giveUp(job: RepriceJob): boolean {
    try {
      const error = 'The job met a defect; the log of the server has more';
      this.#options.store.update(job.id, { ...job, status: 'failed', error, finished_at: this.#now() });
      return true;
    } catch {
      return false;
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
