import { randomUUID } from 'node:crypto';
import { DomainError } from '../../engine/errors.js';
import type { DeletionScope, WorkUnderWay } from '../../engine/work/work-under-way.js';
import { costOf, type PriceModelCall } from '../../engine/traces/model/span/pricing.js';
import type { Span } from '../../engine/traces/model/span/span.js';
import { invalid } from '../../engine/validation/validation.js';
import type { CallNotes } from './call-notes.js';
import { callSpans } from './call-spans.js';
import type { Verdict } from './evaluation.js';
import { NO_EXAMPLES } from './examples.js';
import type { Instruction } from './instruction.js';
import type { Judge } from './judge.js';
import type { Judgement, JudgeCaller } from './judge-caller.js';
import { neverEvaluated } from './matching.js';
import type { ModelRequest } from '../../engine/models/model-client.js';
import type { JudgedSpan, SpanReader } from '../../engine/traces/model/judged/span-reader.js';
import type { WholeReader, WholeShape } from '../../engine/traces/model/judged/whole-reader.js';
import { shapeOf } from './whole-settings.js';
import { requireWholes } from './whole-runs.js';

/** What a model says of a span for a judge that is not there yet. */
export interface Tryout {
  readonly span: JudgedSpan;
  /** The request as it was sent first; null: nothing could be asked. */
  readonly request: ModelRequest | null;
  readonly verdict: Verdict | null;
  /** Why there is no verdict. */
  readonly failure: string | null;
  readonly model_used: string | null;
  readonly duration_ms: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** US dollars; null when the price of some call is not known. */
  readonly cost: number | null;
}

export interface TryoutsOptions {
  readonly caller: Pick<JudgeCaller, 'evaluate'>;
  readonly spans: Pick<SpanReader, 'shown'>;
  readonly wholes: Pick<WholeReader, 'outlines' | 'readWholes'>;
  readonly notes: CallNotes;
  /** Stores calls as spans of a project. @throws DomainError */
  readonly storeSpans: (projectId: string, spans: readonly Span[]) => Promise<unknown>;
  readonly price: PriceModelCall;
}

interface UnderWay {
  readonly projectId: string;
  /** The span that is evaluated, or stands for the trace or session that is. */
  readonly spanId: string;
  /** The trace or session; null: the span is evaluated. */
  readonly wholeId: string | null;
  readonly runId: string;
  /** Aborted when nothing of the span may be stored any more. */
  readonly gone: AbortController;
  /** Spans whose texts it holds. */
  holds: ReadonlySet<string>;
}

/** How often traces are read again because spans of the project were deleted meanwhile. */
const MAX_READS = 5;
/** The tag of the calls of all drafts has this in place of the id of a judge. */
export const DRAFT = 'draft';
const deleted = () => invalid([{ pointer: '/try', detail: 'a span was deleted in the meantime' }]);
const stopping = () => new DomainError('unavailable', 'The server is stopping');

/**
 * Tries drafts of judges on spans, traces and sessions. No evaluation is stored; calls are stored as spans, as those of judges
 * are.
 */
export class Tryouts implements WorkUnderWay {
  readonly #options: TryoutsOptions;
  readonly #underWay = new Map<UnderWay, Promise<unknown>>();
  /** For each read of traces or sessions under way, the deletions that were heard of since it began. */
  readonly #reads = new Set<DeletionScope[]>();

  constructor(options: TryoutsOptions) {
    this.#options = options;
  }

  /** @throws DomainError `invalid` for what is not there, or no judge ever evaluates; `unavailable`, `overloaded` */
  async of(
    judge: Judge,
    instruction: Instruction,
    ids: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly Tryout[]> {
    const { begun, spans } = await this.#begin(judge, ids, signal);
    const tried = begun.map((one) => this.#ended(one, spans, judge, instruction, signal));
    const results = await Promise.allSettled(tried);
    return results.map((result) => {
      if (result.status === 'rejected') throw result.reason;
      return result.value;
    });
  }

  /** Gives up tries of deleted spans: nothing of them is stored any more, once this resolves. */
  async giveUp(scope: DeletionScope): Promise<void> {
    for (const heard of this.#reads) heard.push(scope);
    const over = [...this.#underWay].filter(([one]) => isOver(one, scope));
    for (const [{ gone }] of over) gone.abort(deleted());
    await Promise.allSettled(over.map(([, ended]) => ended));
  }

  async close(): Promise<void> {
    for (const { gone } of this.#underWay.keys()) gone.abort(stopping());
    await Promise.allSettled(this.#underWay.values());
  }

  /** What is read is noted before: a deletion finds the note, or else the span is gone by now. */
  async #begin(judge: Judge, ids: readonly string[], signal: AbortSignal) {
    const { wholes } = this.#options;
    const project = judge.project_id;
    const shape = shapeOf(judge);
    if (shape === null) {
      const begun = [...new Set(ids)].map((id) => this.#note(project, id, null));
      return { begun, spans: this.#readWhileThere(begun, signal, () => this.#readSpans(project, ids, begun)) };
    }
    const outlines = await wholes.outlines(project, shape.kind, [...new Set(ids)]);
    requireWholes(outlines, { kind: shape.kind, ids, field: 'try' });
    const begun = [...new Set(ids)].flatMap((id) => {
      const outline = outlines.get(id);
      return outline === undefined ? [] : [this.#note(project, outline.span.span_id, id)];
    });
    return { begun, spans: this.#readWhileThere(begun, signal, () => this.#readWholes(project, shape, begun)) };
  }

  #note(projectId: string, spanId: string, wholeId: string | null): UnderWay {
    const runId = randomUUID();
    this.#options.notes.add(projectId, runId, spanId, Date.now() * 1000);
    return { projectId, spanId, wholeId, runId, gone: new AbortController(), holds: new Set([spanId]) };
  }

  /** Which traces are shown is known only once that is read: so it is read again when anything of it was deleted meanwhile. */
  async #readWhileThere(
    begun: readonly UnderWay[],
    signal: AbortSignal,
    read: () => Promise<Map<string, JudgedSpan>>,
  ): Promise<Map<string, JudgedSpan>> {
    for (let times = 0; times < MAX_READS; times += 1) {
      signal.throwIfAborted();
      const heard: DeletionScope[] = [];
      this.#reads.add(heard);
      const found = await read().finally(() => this.#reads.delete(heard));
      if (!begun.some((one) => heard.some((scope) => isOver(one, scope)))) return found;
    }
    throw new DomainError('unavailable', 'Spans of the project are being deleted. Retry.', { retryAfterSeconds: 5 });
  }

  async #readSpans(
    projectId: string,
    ids: readonly string[],
    begun: readonly UnderWay[],
  ): Promise<Map<string, JudgedSpan>> {
    const { spans, notes } = this.#options;
    const read = required(await spans.shown(projectId, ids), ids);
    for (const one of begun) {
      const shows = read.get(one.spanId)?.shows;
      if (shows !== undefined && !notes.addTraces(projectId, one.runId, [shows.trace_id])) throw deleted();
      one.holds = new Set(shows === undefined ? [one.spanId] : [one.spanId, shows.span_id]);
    }
    return read;
  }

  async #readWholes(
    projectId: string,
    shape: WholeShape,
    begun: readonly UnderWay[],
  ): Promise<Map<string, JudgedSpan>> {
    const { wholes, notes } = this.#options;
    const ids = begun.flatMap(({ wholeId }) => wholeId ?? []);
    const read = await wholes.readWholes(projectId, ids, shape);
    for (const one of begun) {
      const whole = read.get(one.wholeId ?? '')?.whole;
      if (whole == null || !notes.addTraces(projectId, one.runId, whole.trace_ids)) throw deleted();
      one.holds = new Set(whole.span_ids);
    }
    return read;
  }

  #ended(one: UnderWay, spans: Promise<Map<string, JudgedSpan>>, ...asked: [Judge, Instruction, AbortSignal]) {
    const ended = this.#try(one, spans, ...asked).finally(() => this.#underWay.delete(one));
    this.#underWay.set(one, ended);
    return ended;
  }

  async #try(
    { runId, spanId, wholeId, gone }: UnderWay,
    spans: Promise<Map<string, JudgedSpan>>,
    judge: Judge,
    instruction: Instruction,
    signal: AbortSignal,
  ): Promise<Tryout> {
    const { caller, notes, storeSpans } = this.#options;
    let calls: Span[] = [];
    try {
      const span = (await spans).get(wholeId ?? spanId) as JudgedSpan;
      const overrides = { instruction, examples: NO_EXAMPLES };
      const judgement = await caller.evaluate(judge, span, AbortSignal.any([signal, gone.signal]), overrides);
      gone.signal.throwIfAborted();
      const origin = {
        judge: { ...judge, id: DRAFT },
        runId,
        attempt: 1,
        spanId: span.id,
        whole: span.whole,
        shown: [],
      };
      calls = callSpans(origin, judgement.calls);
      if (calls.length > 0) await storeSpans(judge.project_id, calls);
      return this.#tryoutOf(span, judgement, calls, judge.project_id);
    } finally {
      if (calls.length === 0) notes.remove(runId);
    }
  }

  #tryoutOf(span: JudgedSpan, judgement: Judgement, calls: readonly Span[], projectId: string): Tryout {
    const { verdict, failure, model_used, duration_ms } = judgement;
    const tokens = (of: 'input_tokens' | 'output_tokens') =>
      judgement.calls.reduce((sum, { answer }) => sum + (answer?.usage?.[of] ?? 0), 0);
    const costs = calls.map((call) => costOf(call, projectId, this.#options.price));
    return {
      span,
      request: judgement.calls[0]?.request ?? null,
      verdict,
      failure: failure?.message ?? null,
      model_used,
      duration_ms,
      input_tokens: tokens('input_tokens'),
      output_tokens: tokens('output_tokens'),
      cost: costs.reduce<number | null>((sum, cost) => (sum === null || cost === null ? null : sum + cost), 0),
    };
  }
}

/** Whether what is under way holds a text of what is deleted. */
function isOver({ projectId, spanId, holds }: UnderWay, deletion: DeletionScope): boolean {
  const { spans } = deletion;
  if (deletion.projectId !== projectId) return false;
  return spans === null || spans.has(spanId) || [...holds].some((id) => spans.has(id));
}

/** @throws DomainError `invalid` unless each span is there and may be judged */
function required(found: Map<string, JudgedSpan>, ids: readonly string[]): Map<string, JudgedSpan> {
  const issues = ids.flatMap((id, index) => {
    const span = found.get(id);
    if (span === undefined) return [{ pointer: `/try/${index}`, detail: 'there is no span with this id' }];
    const never = neverEvaluated(span);
    return never === null ? [] : [{ pointer: `/try/${index}`, detail: never.detail }];
  });
  if (issues.length > 0) throw invalid(issues);
  return found;
}
