import type { AttachmentIntake } from '../images/intake.js';
import { TO_BE_CONTINUED, type JobContext, type JobWork } from '../../engine/work/job-work.js';
import type { NameModel } from '../../engine/models/model-name.js';
import { costOf, withCalculatedCost, type PriceModelCall } from '../../engine/traces/model/span/pricing.js';
import type {
  CalculatedSpan,
  CalculatedSpans,
  RepricingSnapshot,
  RepriceScope,
} from '../../engine/traces/model/prices/calculated-spans.js';
import { NOTHING_DONE, type RepriceCheckpoint } from './reprice-job.js';
import { inParts, replaceSpans } from './replaced-spans.js';
import { inScope } from './reprice-scope.js';
import type { Signals } from '../../engine/signals/signals.js';

export interface RepriceParts {
  readonly spans: CalculatedSpans;
  readonly price: PriceModelCall;
  readonly modelName: NameModel;
  /** Notes references to the images of the new span versions; must not fetch anything. */
  readonly attachments: AttachmentIntake;
  readonly observer: Pick<Signals, 'repriceAdvanced'>;
  /** Spans looked at together; default 1,000. */
  readonly pageSize?: number;
}

const PAGE = 1_000;
/** Most passes through a page whose spans clients write meanwhile; their writes are priced on the way in. */
const MAX_ROUNDS = 5;

/** Prices stored spans again: first they are counted, then each portion of the job is one page. */
export function repriceWork(parts: RepriceParts): JobWork {
  return async (context) => {
    const { job, enter } = context;
    if (job.total !== null) return new PageWork(parts, context).run();
    enter('calculating', await parts.spans.count(job.project_id, job.input as RepriceScope));
    return TO_BE_CONTINUED;
  };
}

/** One attempt of one page. */
class PageWork {
  readonly #parts: RepriceParts;
  readonly #context: JobContext;
  readonly #scope: RepriceScope;
  readonly #before: RepriceCheckpoint;
  /** Spans that got another cost. */
  #changed = 0;

  constructor(parts: RepriceParts, context: JobContext) {
    this.#parts = parts;
    this.#context = context;
    this.#scope = context.job.input as RepriceScope;
    this.#before = (context.job.checkpoint as RepriceCheckpoint | null) ?? NOTHING_DONE;
  }

  async run(): Promise<unknown> {
    // A page that cannot be read may be readable in smaller parts.
    const limit = Math.max(1, Math.floor((this.#parts.pageSize ?? PAGE) / 4 ** this.#context.failedAttempts));
    const page = await this.#page(limit);
    const last = page.at(-1);
    const { after } = this.#before;
    this.#keep(
      page.length,
      last === undefined ? after : { started_at: last.started_at, trace_id: last.trace_id, id: last.id },
    );
    return page.length < limit ? null : TO_BE_CONTINUED;
  }

  #keep(examined: number, after: RepriceCheckpoint['after']): void {
    const { job, advance } = this.#context;
    const checkpoint: RepriceCheckpoint = { after, changed: this.#before.changed + this.#changed };
    advance(job.done + examined, checkpoint);
    this.#parts.observer.repriceAdvanced({ changed: this.#changed });
  }

  /**
   * Goes through a page until no client was faster. Spans that came meanwhile may make the page end earlier than at first;
   * the next page begins there. A page may fail half way; what it changed by then is counted.
   */
  async #page(limit: number): Promise<readonly CalculatedSpan[]> {
    const { after } = this.#before;
    let page: readonly CalculatedSpan[] = [];
    try {
      for (let round = 0; round < MAX_ROUNDS; round += 1) {
        const revision = await this.#parts.spans.open(this.#context.job.project_id);
        try {
          page = await revision.page(this.#scope, after, limit);
          if ((await this.#revise(page, revision)) === 0) break;
        } finally {
          revision.close();
        }
      }
      return page;
    } catch (error) {
      if (this.#changed > 0) this.#keep(0, after);
      throw error;
    }
  }

  /** @returns how many spans clients have written meanwhile */
  async #revise(page: readonly CalculatedSpan[], revision: RepricingSnapshot): Promise<number> {
    const costs = new Map<number, number | null>();
    const wrong = page.filter((span) => {
      if (!this.#isMeant(span)) return false;
      const cost = costOf(span, this.#context.job.project_id, this.#parts.price);
      if (cost !== span.cost) costs.set(span.version, cost);
      return cost !== span.cost;
    });
    let overtaken = wrong.length;
    for (const part of inParts(wrong)) {
      this.#context.signal.throwIfAborted();
      const found = await revision.read(part);
      const priced = found.map(({ version, span }) => ({
        version,
        span: withCalculatedCost(span, costs.get(version) ?? null),
      }));
      const times = await replaceSpans(revision, this.#parts.attachments, this.#context.job.project_id, priced);
      const changed = times.filter((time) => time !== null).length;
      this.#changed += changed;
      overtaken -= changed;
    }
    return overtaken;
  }

  #isMeant({ attributes }: CalculatedSpan): boolean {
    const { project_id } = this.#context.job;
    return inScope(this.#scope, attributes, (stated, name) => this.#parts.modelName(project_id, stated, name));
  }
}
