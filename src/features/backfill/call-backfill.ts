import type { AttachmentIntake } from '../images/intake.js';
import { DomainError } from '../../engine/errors.js';
import { BackgroundLoop } from '../../engine/work/background-loop.js';
import { restMs, type Governor } from '../../engine/work/governor.js';
import type { PlacedSpan, SpanRevision } from '../../engine/traces/model/prices/calculated-spans.js';
import { inParts, replaceSpans } from '../prices/replaced-spans.js';
import type { PromptNames } from '../../engine/traces/model/span/named-prompt.js';
import { CALL_FIELDS, callOf, NO_CALL } from '../../engine/traces/model/span/span-call.js';
import type { SpanCall } from '../../engine/traces/model/list/fields.js';
import type { Backfill, OlderSpans } from '../../engine/traces/model/older-spans.js';
import type { Signals } from '../../engine/signals/signals.js';

export interface BackfillParts {
  readonly spans: OlderSpans;
  readonly prompts: PromptNames;
  /** Notes references to the images of the new span versions; must not fetch anything. */
  readonly attachments: AttachmentIntake;
  readonly governor: Pick<Governor, 'writesAreBusy'>;
  readonly observer: Pick<Signals, 'backfillBegins' | 'backfillAdvanced' | 'backfillFailed' | 'backfillFinished'>;
  /** Spans looked at together; default 1,000. */
  readonly pageSize?: number;
}

const PAGE = 1_000;
/** The least pause between two pages while clients write: their writes go first. */
const BUSY_MS = 1_000;

/**
 * Fills in what the columns of older spans say of calls and prompts: one page at a time, with pauses as long as the work, and
 * noted page by page, so that the next start continues. A page done again changes nothing.
 */
export class CallBackfill {
  readonly #parts: BackfillParts;
  readonly #loop: BackgroundLoop;
  #left: Backfill[] | null = null;
  #began = 0;
  #changed = 0;
  /** Pages in a row that failed: one that cannot be read may be readable in smaller parts. */
  #failures = 0;

  constructor(parts: BackfillParts) {
    this.#parts = parts;
    this.#loop = new BackgroundLoop({
      round: () => this.#round(),
      onFailure: (error) => {
        this.#failures += 1;
        parts.observer.backfillFailed({ error });
      },
    });
  }

  /** Begins, or continues where an earlier server ended; nothing more is asked of the store where nothing is left. */
  start(): void {
    this.#loop.wake();
  }

  async close(): Promise<void> {
    await this.#loop.close();
  }

  async #round(): Promise<number> {
    const { spans, observer, governor } = this.#parts;
    if (this.#left === null) {
      this.#left = await spans.unfinished();
      if (this.#left.length === 0) return Infinity;
      this.#began = performance.now();
      observer.backfillBegins({ projects: this.#left.length });
    }
    const [first, ...others] = this.#left;
    if (first === undefined) return Infinity;
    const started = performance.now();
    const next = await this.#page(first);
    this.#failures = 0;
    // Each project in turn.
    this.#left = next.done ? others : [...others, next];
    const rest = restMs('upkeep', performance.now() - started);
    if (this.#left.length > 0) return Math.max(rest, governor.writesAreBusy ? BUSY_MS : 0);
    observer.backfillFinished({ changed: this.#changed, seconds: (performance.now() - this.#began) / 1000 });
    return Infinity;
  }

  async #page(backfill: Backfill): Promise<Backfill> {
    const { spans, pageSize = PAGE } = this.#parts;
    const limit = Math.max(1, Math.floor(pageSize / 4 ** this.#failures));
    const page = await this.#filled(backfill, limit);
    const after = page.at(-1) ?? backfill.after;
    const next = { ...backfill, after, done: page.length < limit, step: backfill.step + 1 };
    await spans.note(next);
    return next;
  }

  async #filled(backfill: Backfill, limit: number): Promise<readonly PlacedSpan[]> {
    const { projectId } = backfill;
    const snapshot = await this.#parts.spans.open(projectId);
    try {
      const page = await snapshot.page(backfill, limit);
      for (const part of inParts(page)) await this.#fill(projectId, part, snapshot);
      return page;
    } catch (error) {
      // The project was deleted.
      if (error instanceof DomainError && error.kind === 'not_found') return [];
      throw error;
    } finally {
      snapshot.close();
    }
  }

  /** A span that a client has written meanwhile has its columns. */
  async #fill(projectId: string, part: readonly PlacedSpan[], revision: SpanRevision): Promise<void> {
    const { attachments, prompts, observer } = this.#parts;
    this.#loop.signal.throwIfAborted();
    const lacking = (await revision.read(part)).flatMap(({ version, span }) => {
      const call = callOf(span, projectId, prompts) ?? NO_CALL;
      return isSame(call, span.call ?? NO_CALL) ? [] : [{ version, span: { ...span, call } }];
    });
    if (lacking.length === 0) return;
    const times = await replaceSpans(revision, attachments, projectId, lacking);
    const changed = times.filter((time) => time !== null).length;
    this.#changed += changed;
    observer.backfillAdvanced({ changed });
  }
}

function isSame(one: SpanCall, other: SpanCall): boolean {
  return ([...CALL_FIELDS] as (keyof SpanCall)[]).every((field) => one[field] === other[field]);
}
