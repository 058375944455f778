import type { EvaluationStore } from './evaluation-store.js';
import { evaluated, notFound, Reasons, type Arrived, type Explanation, type Reason } from './explanation.js';
import type { Judge } from './judge.js';
import type { JudgeService } from './judge-service.js';
import { mismatches, neverEvaluated, type IdentifyPrompt, type Mismatch } from './matching.js';
import { sampleHash } from '../../engine/traces/model/judged/sample.js';
import type { RunStore } from './run-store.js';
import type { SpanReader, SpanTraits } from '../../engine/traces/model/judged/span-reader.js';
import { WholeExplanations, type WholeExplanationsParts } from './whole-explanations.js';

export interface ExplainOptions extends Omit<WholeExplanationsParts, 'reasons'> {
  readonly judges: Pick<JudgeService, 'require' | 'notRunnableReason'>;
  readonly evaluations: Pick<EvaluationStore, 'latest' | 'latestOfWhole' | 'countOfWhole'>;
  readonly runs: Pick<RunStore, 'ofSpan' | 'ofWhole' | 'before' | 'position'>;
  readonly spans: Pick<SpanReader, 'traits'>;
  readonly identifyPrompt: IdentifyPrompt;
  readonly running: () => readonly string[];
}

/**
 * Says why a span, trace or session was or was not evaluated by a judge: the first reason that holds, in the order in which
 * they count.
 */
export class ExplainService {
  readonly #options: ExplainOptions;
  readonly #reasons: Reasons;
  readonly #wholes: WholeExplanations;

  constructor(options: ExplainOptions) {
    this.#options = options;
    this.#reasons = new Reasons(options);
    this.#wholes = new WholeExplanations({ ...options, reasons: this.#reasons });
  }

  /**
   * @param id of a span; for a judge of traces or sessions, of one of these or of a span in it
   * @throws DomainError `not_found` when there is no such judge; of a span that is not there it says so
   */
  explain(projectId: string, judgeId: string, id: string): Promise<Explanation> {
    const judge = this.#options.judges.require(projectId, judgeId);
    return judge.subject === 'span' ? this.#span(judge, id) : this.#wholes.explain(judge, judge.subject, id);
  }

  async #span(judge: Judge, spanId: string): Promise<Explanation> {
    const { spans, evaluations, runs } = this.#options;
    const span = (await spans.traits(judge.project_id, [spanId], [judge.filters])).get(spanId);
    const evaluation = evaluations.latest(judge.id, spanId);
    const { run, position } = this.#reasons.current(runs.ofSpan(judge.id, spanId)[0]);
    const unmatched = span === undefined ? [] : this.#mismatches(judge, span);
    const hash = sampleHash(spanId, judge.id);
    const [answer, explanation]: Reason =
      (evaluation && evaluated(evaluation.created_at)) ??
      (run && this.#reasons.ofRun(judge, run, position)) ??
      this.#ofSpan(judge, span, unmatched, hash);
    return {
      judge_id: judge.id,
      span_id: spanId,
      subject_id: null,
      answer,
      explanation,
      evaluation_id: evaluation?.id ?? null,
      run,
      position,
      mismatches: unmatched,
      sample: { hash, rate: judge.sample_rate, included: hash < judge.sample_rate },
    };
  }

  #mismatches(judge: Judge, span: SpanTraits): Mismatch[] {
    const { prompt_slug: slug } = judge.filters;
    const prompt = slug === null ? undefined : this.#options.identifyPrompt(judge.project_id, slug);
    return mismatches(span, judge.filters, prompt);
  }

  #ofSpan(judge: Judge, span: SpanTraits | undefined, unmatched: readonly Mismatch[], hash: number): Reason {
    if (span === undefined) return notFound('span');
    const arrived: Arrived = { what: 'The span', at: span.arrived_at, many: 'spans' };
    return (
      ofItself(span) ??
      filteredOut(unmatched) ??
      this.#reasons.notRunning(judge, arrived) ??
      this.#reasons.ofFeed(judge, arrived, hash)
    );
  }
}

function ofItself(span: SpanTraits): Reason | undefined {
  const never = neverEvaluated(span);
  if (never !== null) return [never.caller === 'a judge' ? 'judge_call' : 'own_call', `The span ${never.detail}.`];
  if (!span.finished)
    return ['unfinished', 'The span has no output, end, duration or error yet; it is checked again when one arrives.'];
  if (!span.has_content) return ['empty', 'The span has neither input nor output: nothing to evaluate.'];
  return undefined;
}

function filteredOut(unmatched: readonly Mismatch[]): Reason | undefined {
  if (unmatched.length === 0) return undefined;
  const list = unmatched.map(({ filter, wanted, found }) => `${filter}: expected ${wanted}, found ${found}`);
  return ['filtered', `It does not match the filters. ${list.join('; ')}.`];
}
