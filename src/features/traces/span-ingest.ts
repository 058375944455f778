import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AttachmentIntake, InspectedSpans, SpanFlaw } from '../images/intake.js';
import { DomainError } from '../../engine/errors.js';
import type { SpanRead } from '../../engine/traces/model/list/fields.js';
import { describedSpan, type SpanSources } from '../../engine/traces/model/span/described-span.js';
import type { Span } from '../../engine/traces/model/span/span.js';
import type { MaskerOf } from '../masking/maskers.js';
import { toSpanRead } from '../../engine/traces/model/span/span-read.js';
import type { UnknownNames } from '../../engine/validation/unknown-names.js';
import { maskedScores } from '../scores/masked-score.js';
import { SpanScores, type SpanEvaluation, type SpanScoresParts } from '../scores/span-scores.js';
import { spanAsSent } from './as-sent.js';
import { issuesOf, readElements, refuse } from './elements.js';
import { modelSums } from './model-sums.js';
import { scoredSpanReader } from './readers.js';
import { tagFlaws } from './tag-limit.js';
import type { WriteLog } from '../../engine/traces/model/write-log.js';
import type { Signals } from '../../engine/signals/signals.js';

/** The way by which spans came in, for the metrics. */
export type SpanSource = 'rest' | 'otlp' | 'judge' | 'langfuse' | 'langsmith';

export interface SpanIngestParts extends SpanSources {
  readonly log: WriteLog;
  readonly attachments: AttachmentIntake;
  readonly scores: SpanScoresParts;
  /** Masks spans before anything else is done with them. */
  readonly masker: MaskerOf;
  /** Largest size of the keys and values of one object of tags, in bytes. */
  readonly maxTagBytes: number;
  /** Whether it is told what is stored by model. */
  readonly countsModels?: boolean;
  readonly observer: Pick<Signals, 'spansAccepted' | 'spansRejected' | 'modelsCounted'>;
}

export interface PostOptions {
  /** Whether the caller may read the project; otherwise it gets back only what it sent. */
  readonly mayRead: boolean;
  /** Takes the names of fields that are not known. */
  readonly unknown: UnknownNames;
}

export interface PostSpansOptions extends PostOptions {
  /** Whether to answer ids alone. */
  readonly minimal: boolean;
}

/** What is not stored of the spans of another transport, and not counted as rejected yet. */
export interface Omissions {
  /** Spans whose attachments or tags break a rule. */
  readonly flaws: readonly SpanFlaw[];
  /** For each evaluation that became no score, the rule that it breaks. Its span is stored, with the event. */
  readonly unfit: readonly string[];
}

/** Longest time that spans are described before other requests get a turn. */
const MAX_TURN_MS = 10;

/** Takes in spans: check, normalize, detach images, price, store, answer. */
export class SpanIngest {
  readonly #parts: SpanIngestParts;

  constructor(parts: SpanIngestParts) {
    this.#parts = parts;
  }

  /**
   * Stores an array of spans as sent over REST, with the scores that they bring. Fields that are not known are kept among the
   * attributes.
   * @returns the answers, one per element and in their order; only the ids when `minimal`.
   * @throws DomainError `invalid` with every issue, and nothing stored; those of WriteLog.
   */
  async postSpans(
    projectId: string,
    body: unknown,
    { minimal, mayRead, unknown }: PostSpansOptions,
  ): Promise<(SpanRead | { id: string })[]> {
    const { spans, createdAt } = await this.#counted(projectId, 'rest', body, async () => {
      const scores = new SpanScores(projectId, mayRead, this.#parts.scores);
      const { elements: sent, issues } = readElements(body, scoredSpanReader(scores), unknown);
      const elements = await this.#masked(projectId, sent);
      const inspected = await this.#parts.attachments.inspect(elements);
      refuse([...issues, ...issuesOf(this.#tagFlaws(elements)), ...issuesOf(inspected.flaws)]);
      return this.#store(projectId, inspected, scores);
    });
    if (minimal) return spans.map(({ id }) => ({ id }));
    return spans.map((span, index) =>
      toSpanRead(mayRead ? span : spanAsSent(span, projectId), projectId, createdAt[index] ?? 0),
    );
  }

  /** Stores spans that another transport has decoded and normalized, with what their events say of them; the same path and guarantees. */
  async storeSpans(
    projectId: string,
    source: SpanSource,
    spans: readonly Span[],
    evaluations: readonly SpanEvaluation[] = [],
  ): Promise<Omissions> {
    const { omitted } = await this.#counted(projectId, source, spans, async () => {
      const { inspected, flaws } = await this.#inspect(await this.#masked(projectId, spans));
      const scores = new SpanScores(projectId, false, this.#parts.scores);
      const unfit = readEvaluations(evaluations, spans, flaws, scores);
      return { ...(await this.#store(projectId, inspected, scores)), omitted: { flaws, unfit } };
    });
    return omitted;
  }

  async #masked(projectId: string, spans: readonly Span[]): Promise<readonly Span[]> {
    const masker = this.#parts.masker(projectId);
    return masker === null ? spans : masker.maskEach(spans);
  }

  async #store(projectId: string, inspected: InspectedSpans, scores: SpanScores) {
    const { log, attachments } = this.#parts;
    if (inspected.found.size > 0) log.admit(projectId);
    const detached = await attachments.detach(projectId, inspected);
    const spans = await this.#described(projectId, detached.spans);
    if (spans.length === 0) return { spans, createdAt: [] };
    try {
      if (scores.scores.length > 0) log.admit(projectId);
      scores.keep();
      const { definitions } = this.#parts.scores;
      const find = (name: string) => definitions.find(projectId, name);
      const masked = maskedScores(scores.scores, this.#parts.masker(projectId), find);
      const { createdAt } = await log.append({ projectId, spans, scores: masked });
      await detached.stored(createdAt);
      return { spans, createdAt };
    } catch (error) {
      await detached.failed();
      throw error;
    }
  }

  /** The spans with their costs, and what else their attributes say. Names of models that nobody has sent before take their time: others get turns meanwhile. */
  async #described(projectId: string, spans: readonly Span[]): Promise<Span[]> {
    const described: Span[] = [];
    let began = performance.now();
    for (const span of spans) {
      if (performance.now() - began > MAX_TURN_MS) {
        await nextTurn();
        began = performance.now();
      }
      described.push(describedSpan(span, projectId, this.#parts));
    }
    return described;
  }

  #tagFlaws(elements: Parameters<typeof tagFlaws>[0]): SpanFlaw[] {
    return tagFlaws(elements, this.#parts.maxTagBytes);
  }

  /** Finds spans that break a rule; `inspected` holds the others. */
  async #inspect(received: readonly Span[]) {
    const { attachments } = this.#parts;
    const tagged = this.#tagFlaws(received);
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

  async #counted<T extends { spans: readonly Span[] }>(
    projectId: string,
    source: SpanSource,
    sent: unknown,
    store: () => Promise<T>,
  ) {
    const { observer, countsModels = false } = this.#parts;
    try {
      const stored = await store();
      const { spans } = stored;
      const cost = spans.reduce((sum, span) => sum + (span.cost ?? 0), 0);
      observer.spansAccepted({ source, count: spans.length, cost });
      if (countsModels) observer.modelsCounted({ projectId, sums: modelSums(spans) });
      return stored;
    } catch (error) {
      const count = Array.isArray(sent) ? sent.length : 0;
      if (count > 0) observer.spansRejected({ source, reason: reasonOf(error), count });
      throw error;
    }
  }
}

/** @returns what those break that become no scores */
function readEvaluations(
  evaluations: readonly SpanEvaluation[],
  spans: readonly Span[],
  flaws: readonly SpanFlaw[],
  scores: SpanScores,
): string[] {
  const refused = new Set(flaws.map(({ index }) => index));
  return evaluations.flatMap((evaluation) => {
    const span = spans[evaluation.span];
    if (span === undefined || refused.has(evaluation.span)) return [];
    return scores.readEvaluation(span.id, evaluation) ?? [];
  });
}

/** What metrics call the reason for which spans were refused. */
export function reasonOf(error: unknown): string {
  return error instanceof DomainError ? (error.reason ?? error.kind) : 'internal';
}
