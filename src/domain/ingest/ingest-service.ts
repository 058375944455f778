import type { AttachmentIntake, SpanFlaw } from '../attachment/intake.js';
import { DomainError } from '../errors.js';
import type { SessionRead, SpanRead, TraceRead } from '../list/fields.js';
import type { Lists } from '../list/lists.js';
import { normaliseSpan } from '../span/normalise-span.js';
import { priceSpan, type PriceModelCall } from '../span/pricing.js';
import type { Span } from '../span/span.js';
import { toSpanRead } from '../span/span-read.js';
import { normaliseSession, normaliseTrace, requireOwnSessions } from '../trace/posted.js';
import { compile, invalid } from '../validation/validation.js';
import { readElements } from './elements.js';
import { SpanInput } from '../span/schema.js';
import { SessionInput, TraceInput } from '../trace/schema.js';
import { tagFlaws } from './tag-limit.js';
import type { WriteLog } from './write-log.js';

/** The way by which spans came in, for the metrics. */
export type SpanSource = 'rest' | 'otlp' | 'judge';

export interface IngestObserver {
  spansAccepted(accepted: { readonly source: SpanSource; readonly count: number }): void;
  spansRejected(rejected: { readonly source: SpanSource; readonly reason: string; readonly count: number }): void;
}

export interface IngestDependencies {
  readonly log: WriteLog;
  readonly lists: Lists;
  readonly price: PriceModelCall;
  readonly attachments: AttachmentIntake;
  /** Largest size of the keys and values of one object of tags, in bytes. */
  readonly maxTagBytes: number;
  readonly observer: IngestObserver;
}

const checkSpan = compile(SpanInput);
const checkTrace = compile(TraceInput);
const checkSession = compile(SessionInput);

/** Takes in spans, posted traces and posted sessions: check, normalise, detach images, price, store, answer. */
export class IngestService {
  readonly #dependencies: IngestDependencies;

  constructor(dependencies: IngestDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Stores an array of spans as sent over REST.
   * @returns the answers, one per element and in their order; only the ids when `minimal`.
   * @throws DomainError `invalid` with every issue, and nothing stored; those of WriteLog.
   */
  async postSpans(projectId: string, body: unknown, minimal: boolean): Promise<(SpanRead | { id: string })[]> {
    const { spans, createdAt } = await this.#counted('rest', body, () =>
      this.#store(projectId, readElements(body, checkSpan, normaliseSpan), refuseAll),
    );
    if (minimal) return spans.map(({ id }) => ({ id }));
    return spans.map((span, index) => toSpanRead(span, projectId, createdAt[index] ?? 0));
  }

  /**
   * Stores spans that another transport has decoded and normalised; the same path and guarantees.
   * @returns spans whose attachments or tags break a rule: they alone are not stored, and not counted as rejected yet.
   */
  async storeSpans(projectId: string, source: SpanSource, spans: readonly Span[]): Promise<readonly SpanFlaw[]> {
    const { flaws } = await this.#counted(source, spans, () => this.#store(projectId, spans, () => undefined));
    return flaws;
  }

  /** Stores posted traces and answers them with the figures of their spans. */
  async postTraces(projectId: string, body: unknown): Promise<TraceRead[]> {
    const traces = readElements(body, checkTrace, normaliseTrace);
    refuseAll(tagFlaws(traces, this.#dependencies.maxTagBytes));
    if (traces.length === 0) return [];
    await this.#dependencies.log.append({ projectId, traces });
    const stored = await this.#dependencies.lists.tracesById(projectId, ids(traces));
    return answers(traces, stored);
  }

  /** Stores posted sessions. @throws DomainError also `forbidden`, when a session is to be another project's. */
  async postSessions(projectId: string, body: unknown): Promise<SessionRead[]> {
    requireOwnSessions(body, projectId);
    const sessions = readElements(body, checkSession, normaliseSession);
    refuseAll(tagFlaws(sessions, this.#dependencies.maxTagBytes));
    if (sessions.length === 0) return [];
    await this.#dependencies.log.append({ projectId, sessions });
    const stored = await this.#dependencies.lists.sessionsById(projectId, ids(sessions));
    return answers(sessions, stored);
  }

  async #store(projectId: string, received: readonly Span[], refuse: (flaws: readonly SpanFlaw[]) => void) {
    const { log, price, attachments } = this.#dependencies;
    const { inspected, flaws } = await this.#inspect(received);
    refuse(flaws);
    if (inspected.found.size > 0) log.admit(projectId);
    const detached = await attachments.detach(projectId, inspected);
    const spans = detached.spans.map((span) => priceSpan(span, projectId, price));
    if (spans.length === 0) return { spans, createdAt: [], flaws };
    try {
      const { createdAt } = await log.append({ projectId, spans });
      await detached.stored(createdAt);
      return { spans, createdAt, flaws };
    } catch (error) {
      await detached.failed();
      throw error;
    }
  }

  /** Finds spans that break a rule; `inspected` holds the others. */
  async #inspect(received: readonly Span[]) {
    const { attachments, maxTagBytes } = this.#dependencies;
    const tagged = tagFlaws(received, maxTagBytes);
    if (tagged.length === 0) {
      const inspected = await attachments.inspect(received);
      return { inspected, flaws: inspected.flaws };
    }
    const refused = new Set(tagged.map(({ index }) => index));
    const places = [...received.keys()].filter((index) => !refused.has(index));
    const inspected = await attachments.inspect(received.filter((_span, index) => !refused.has(index)));
    const found = inspected.flaws.map(({ index, issues }) => ({ index: places[index] ?? index, issues }));
    return { inspected, flaws: [...tagged, ...found] };
  }

  async #counted<T extends { spans: readonly Span[] }>(source: SpanSource, sent: unknown, store: () => Promise<T>) {
    const { observer } = this.#dependencies;
    try {
      const stored = await store();
      observer.spansAccepted({ source, count: stored.spans.length });
      return stored;
    } catch (error) {
      const count = Array.isArray(sent) ? sent.length : 0;
      const reason = error instanceof DomainError ? error.kind : 'internal';
      if (count > 0) observer.spansRejected({ source, reason, count });
      throw error;
    }
  }
}

/** @throws DomainError `invalid`: the elements of such a request stand or fall together */
function refuseAll(flaws: readonly SpanFlaw[]): void {
  const issues = flaws.flatMap(({ index, issues }) =>
    issues.map(({ pointer, detail }) => ({ pointer: `/${index}${pointer}`, detail })),
  );
  if (issues.length > 0) throw invalid(issues);
}

function ids(posted: readonly { readonly id: string }[]): string[] {
  return [...new Set(posted.map(({ id }) => id))];
}

/** One answer per element; an element deleted by somebody else in between has none left to give. */
function answers<T>(posted: readonly { readonly id: string }[], stored: ReadonlyMap<string, T>): T[] {
  return posted.flatMap(({ id }) => stored.get(id) ?? []);
}
