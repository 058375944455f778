import { setImmediate as nextTurn } from 'node:timers/promises';
import { DomainError } from '../../engine/errors.js';
import type { Principal } from '../../engine/identity/identity.js';
import { tokensOf } from '../../engine/excerpt.js';
import type { PriceModelCall } from '../../engine/traces/model/span/pricing.js';
import type { Micros } from '../../engine/timestamp.js';
import { FairSemaphore } from '../../engine/work/fair-semaphore.js';
import { fitting } from '../../engine/validation/fitting.js';
import { compileClosed } from '../../engine/validation/validation.js';
import { estimatedCost } from './estimated-cost.js';
import { NO_EXAMPLES } from './examples.js';
import { instructionOf, type Instruction } from './instruction.js';
import type { Judge, NotRunnableReason } from './judge.js';
import type { JudgeService } from './judge-service.js';
import { mismatches, type IdentifyPrompt, type Mismatch } from './matching.js';
import type { KindCount, Matches, MatchingSpans } from '../../engine/traces/model/judged/matching-spans.js';
import { JudgePreviewInput } from './preview-schema.js';
import { requireCountable } from '../../engine/traces/model/prompts/completion.js';
import type { PromptStore } from '../prompts/prompt-store.js';
import { judgeRequest } from './request.js';
import type { JudgedSpan, SpanReader } from '../../engine/traces/model/judged/span-reader.js';
import type { WholeReader } from '../../engine/traces/model/judged/whole-reader.js';
import type { Tryout, Tryouts } from './tryouts.js';
import { MAX_AUTOMATIC, quietOf, shapeOf } from './whole-settings.js';

export interface PreviewOptions {
  readonly judges: Pick<JudgeService, 'draft' | 'notRunnableReason'>;
  readonly prompts: Pick<PromptStore, 'findVersion'>;
  readonly matching: MatchingSpans;
  readonly spans: Pick<SpanReader, 'read'>;
  readonly wholes: Pick<WholeReader, 'readWholes'>;
  readonly identifyPrompt: IdentifyPrompt;
  readonly price: PriceModelCall;
  /** The model endpoint; null: none is configured. */
  readonly model: { readonly defaultModel: string | null; readonly tryouts: Pick<Tryouts, 'of'> } | null;
}

/** What a judge would come to in a day. */
export interface Estimate {
  /** How many of the latest it is made of. */
  readonly spans: number;
  readonly input_tokens_per_evaluation: number;
  readonly output_tokens_per_evaluation: number;
  readonly input_tokens_per_day: number;
  readonly output_tokens_per_day: number;
  /** US dollars; null when the price is not known. */
  readonly cost_per_day: number | null;
  readonly cost_unknown_reason: string | null;
}

/** What a judge would do, that is not there yet. */
export interface JudgePreview {
  readonly not_runnable_reason: NotRunnableReason | null;
  readonly model: string | null;
  readonly since: Micros;
  readonly matches: number;
  /** Kinds that the filter by kinds alone leaves out, with their spans. */
  readonly other_kinds: readonly KindCount[];
  readonly evaluations_per_day: number;
  readonly sample: readonly JudgedSpan[];
  /** Null without a matching span. */
  readonly estimate: Estimate | null;
  readonly tried: readonly (Tryout & { readonly mismatches: readonly Mismatch[] })[];
}

const checkInput = compileClosed(JudgePreviewInput);
const DAY: Micros = 86_400e6;
const SHOWN = 5;
/** Spans whose requests the estimate is made of. */
const ESTIMATED_BY = 20;
/** Tokens of a short reason with its verdict, and of each criterion's reason and score. */
const TOKENS_OF_VERDICT = 120;
const TOKENS_OF_CRITERION = 60;
/** How long models are waited for, which other work of the project may keep busy. */
const LONGEST_MS = 120_000;
/** A preview counts spans and may wait for a model: a project has few of them at once. */
const LIMITS = { atOnce: 32, perParty: 2, maxWaiting: 4, maxWaitMs: 10_000 };

interface Draft {
  readonly judge: Judge;
  readonly instruction: Instruction | undefined;
  readonly tryOn: JudgePreviewInput['try'];
}

/** Shows what a draft of a judge would do: which spans it is about, what they would cost, what a model says of some. */
export class PreviewService {
  readonly #options: PreviewOptions;
  readonly #turns = new FairSemaphore('judge previews', LIMITS);

  constructor(options: PreviewOptions) {
    this.#options = options;
  }

  /**
   * @throws DomainError `invalid` with every broken rule; `conflict` when a model is to be asked and cannot be, or the
   *   prompt has too many versions; `overloaded`, `unavailable`
   */
  preview(principal: Principal, body: unknown, signal: AbortSignal): Promise<JudgePreview> {
    const draft = this.#draft(principal, body);
    return this.#turns.run(principal.project_id, () => this.#preview(draft, signal), signal);
  }

  #draft(principal: Principal, body: unknown): Draft {
    const stated = fitting(checkInput, body);
    const judge = this.#options.judges.draft(principal, stated);
    const { prompt, try: tryOn } = stated.values;
    const instruction =
      prompt == null
        ? instructionOf(this.#options.prompts, judge)
        : { content: prompt, prompt_version_id: judge.id, model_id: null };
    return { judge, instruction, tryOn };
  }

  async #preview({ judge, instruction, tryOn }: Draft, signal: AbortSignal): Promise<JudgePreview> {
    const { judges, model: endpoint } = this.#options;
    const wantsModel = tryOn != null && tryOn !== false;
    const not_runnable_reason = judges.notRunnableReason(judge, instruction);
    // Whether the key is still refused, a call finds out.
    if (wantsModel && not_runnable_reason !== null && not_runnable_reason.kind !== 'key_refused')
      throw new DomainError('conflict', `The judge cannot run. ${not_runnable_reason.text}`);
    const since = Date.now() * 1000 - DAY;
    const matches = await this.#matches(judge, since, signal);
    const { count, otherKinds } = matches;
    const sample = await this.#sample(judge, matches);
    const model = judge.model ?? instruction?.model_id ?? endpoint?.defaultModel ?? null;
    const evaluations_per_day = matches.evaluations * judge.sample_rate;
    const about = { judge, instruction, model, evaluations_per_day };
    return {
      not_runnable_reason,
      model,
      since,
      matches: count,
      other_kinds: otherKinds,
      evaluations_per_day,
      sample: sample.slice(0, SHOWN),
      estimate: sample.length === 0 ? null : await this.#estimate(about, sample),
      tried: wantsModel ? await this.#try(judge, instruction, idsOf(tryOn, sample), signal) : [],
    };
  }

  async #matches(judge: Judge, since: Micros, signal: AbortSignal): Promise<Matches> {
    const { filters, project_id } = judge;
    const prompt = this.#promptOf(judge);
    if (filters.prompt_slug !== null && prompt === undefined)
      return { count: 0, evaluations: 0, latest: [], wholes: [], otherKinds: [] };
    if (prompt !== undefined) requireCountable(prompt);
    const again = { quiet: quietOf(judge), most: MAX_AUTOMATIC };
    const wanted = { subject: judge.subject, filters, prompt: prompt ?? null, latest: ESTIMATED_BY, again };
    return this.#options.matching.arrivedSince(project_id, wanted, since, signal);
  }

  /** The latest that matched, as the judge would be shown them. */
  async #sample(judge: Judge, { latest, wholes }: Matches): Promise<JudgedSpan[]> {
    const shape = shapeOf(judge);
    if (shape === null) {
      const found = await this.#options.spans.read(judge.project_id, latest);
      return latest.flatMap(({ span_id }) => found.get(span_id) ?? []);
    }
    const found = await this.#options.wholes.readWholes(judge.project_id, wholes, shape);
    return wholes.flatMap((id) => found.get(id) ?? []);
  }

  #promptOf({ project_id, filters: { prompt_slug: slug } }: Judge) {
    return slug === null ? undefined : this.#options.identifyPrompt(project_id, slug);
  }

  async #try(judge: Judge, instruction: Instruction | undefined, ids: readonly string[], signal: AbortSignal) {
    const { model } = this.#options;
    if (model === null || instruction === undefined || ids.length === 0) return [];
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(LONGEST_MS)]);
    const tried = await model.tryouts.of(judge, instruction, ids, bounded);
    const prompt = this.#promptOf(judge);
    const unmatched = (span: JudgedSpan) => (judge.subject === 'span' ? mismatches(span, judge.filters, prompt) : []);
    return tried.map((tryout) => ({ ...tryout, mismatches: unmatched(tryout.span) }));
  }

  async #estimate(
    { judge, instruction, model, evaluations_per_day }: Estimated,
    spans: readonly JudgedSpan[],
  ): Promise<Estimate> {
    const parts = { judge, instruction: instruction?.content ?? '', examples: NO_EXAMPLES, model: model ?? '' };
    let tokens = 0;
    for (const span of spans) {
      const { messages, schema } = judgeRequest({ ...parts, span, code: judge.id });
      tokens += tokensOf(JSON.stringify(schema));
      for (const { content } of messages) tokens += tokensOf(content);
      await nextTurn();
    }
    const input = Math.round(tokens / spans.length);
    const criteria = judge.evaluation_type === 'scored' ? judge.criteria.length : 0;
    const output = TOKENS_OF_VERDICT + criteria * TOKENS_OF_CRITERION;
    const { price } = this.#options;
    const { cost, cost_unknown_reason } = estimatedCost(price, judge.project_id, model, { input, output });
    return {
      spans: spans.length,
      input_tokens_per_evaluation: input,
      output_tokens_per_evaluation: output,
      input_tokens_per_day: input * evaluations_per_day,
      output_tokens_per_day: output * evaluations_per_day,
      cost_per_day: cost === null ? null : cost * evaluations_per_day,
      cost_unknown_reason,
    };
  }
}

interface Estimated extends Pick<JudgePreview, 'model' | 'evaluations_per_day'> {
  readonly judge: Judge;
  readonly instruction: Instruction | undefined;
}

function idsOf(tryOn: JudgePreviewInput['try'], sample: readonly JudgedSpan[]): readonly string[] {
  return Array.isArray(tryOn) ? tryOn : sample.slice(0, 1).map(({ id, whole }) => whole?.id ?? id);
}
