import { formatTimestamp } from '../../engine/timestamp.js';
import type { EvaluationStore } from './evaluation-store.js';
import type { Judge } from './judge.js';
import type { JudgeService } from './judge-service.js';
import { mismatches, neverEvaluated, type IdentifyPrompt, type Mismatch } from './matching.js';
import { sampleHash } from '../../engine/traces/model/judged/sample.js';
import { currentRun, type CurrentRun } from './run.js';
import type { RunStore } from './run-store.js';
import type { ANSWERS } from './run-schema.js';
import type { SpanReader, SpanTraits } from '../../engine/traces/model/judged/span-reader.js';

type Answer = (typeof ANSWERS)[number];
type Reason = readonly [answer: Answer, explanation: string];

/** Why a span was or was not evaluated by a judge, with what that rests on. */
export interface Explanation {
  readonly judge_id: string;
  readonly span_id: string;
  readonly answer: Answer;
  /** The answer in a sentence. */
  readonly explanation: string;
  /** Its newest evaluation. */
  readonly evaluation_id: string | null;
  readonly run: CurrentRun | null;
  /** How many runs are queued before it; null unless it is queued. */
  readonly position: number | null;
  /** Empty when the span matches or was not found. */
  readonly mismatches: readonly Mismatch[];
  readonly sample: { readonly hash: number; readonly rate: number; readonly included: boolean };
}

export interface ExplainOptions {
  readonly judges: Pick<JudgeService, 'require' | 'notRunnableReason'>;
  readonly evaluations: Pick<EvaluationStore, 'latest'>;
  readonly runs: Pick<RunStore, 'ofSpan' | 'before' | 'position'>;
  readonly spans: Pick<SpanReader, 'traits'>;
  readonly identifyPrompt: IdentifyPrompt;
  readonly running: () => readonly string[];
}

/** Says why a span was or was not evaluated by a judge: the first reason that holds, in the order in which they count. */
export class ExplainService {
  readonly #options: ExplainOptions;

  constructor(options: ExplainOptions) {
    this.#options = options;
  }

  /** @throws DomainError `not_found` when there is no such judge; of a span that is not there it says so */
  async explain(projectId: string, judgeId: string, spanId: string): Promise<Explanation> {
    const { judges, spans } = this.#options;
    const judge = judges.require(projectId, judgeId);
    const span = (await spans.traits(projectId, [spanId], [judge.filters])).get(spanId);
    const evaluation = this.#options.evaluations.latest(judgeId, spanId);
    const [stored] = this.#options.runs.ofSpan(judgeId, spanId);
    const run = stored && currentRun(stored, this.#options.running());
    const position = stored !== undefined && run?.state === 'queued' ? this.#options.runs.before(stored) : null;
    const unmatched = span === undefined ? [] : this.#mismatches(judge, span);
    const hash = sampleHash(spanId, judgeId);
    const [answer, explanation]: Reason =
      (evaluation && evaluated(evaluation.created_at)) ??
      (run && this.#ofRun(judge, run, position)) ??
      this.#ofSpan(judge, span, unmatched, hash);
    return {
      judge_id: judgeId,
      span_id: spanId,
      answer,
      explanation,
      evaluation_id: evaluation?.id ?? null,
      run: run ?? null,
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

  #ofRun(judge: Judge, run: CurrentRun, position: number | null): Reason {
    if (run.state === 'running') return ['running', 'The model is processing it now.'];
    const notRunnableReason = this.#options.judges.notRunnableReason(judge);
    if (run.state === 'queued' && notRunnableReason?.kind === 'no_endpoint')
      return ['no_endpoint', `It is queued. ${notRunnableReason.text}.`];
    const attempts = run.attempts === 0 ? '' : ` ${run.attempts} attempts failed, most recently: ${run.reason ?? ''}.`;
    const refused = notRunnableReason?.kind === 'key_refused' ? ` ${notRunnableReason.text}.` : '';
    if (run.state === 'queued')
      return [
        'queued',
        `It is queued behind ${position ?? 0} others of its project; next attempt at ${formatTimestamp(run.next_attempt_at)}.${attempts}${refused}`,
      ];
    return ['failed', `It failed permanently at ${formatTimestamp(run.updated_at)}: ${run.reason ?? ''}`];
  }

  #ofSpan(judge: Judge, span: SpanTraits | undefined, unmatched: readonly Mismatch[], hash: number): Reason {
    if (span === undefined) return ['not_found', 'There is no span with this id; it may not have arrived yet.'];
    return ofItself(span) ?? filteredOut(unmatched) ?? this.#notRunning(judge, span) ?? this.#ofFeed(judge, span, hash);
  }

  #notRunning(judge: Judge, span: SpanTraits): Reason | undefined {
    const notRunnableReason = this.#options.judges.notRunnableReason(judge);
    if (notRunnableReason?.kind === 'no_endpoint')
      return ['no_endpoint', `${notRunnableReason.text}; no judge can run.`];
    if (!judge.enabled) return ['judge_disabled', 'The judge is disabled: it does not evaluate spans automatically.'];
    const [arrived, since] = [formatTimestamp(span.arrived_at), formatTimestamp(judge.judged_since)];
    if (span.arrived_at <= judge.judged_since)
      return [
        'arrived_before',
        `The span arrived at ${arrived}, before the judge was created or last enabled at ${since}. Use a run call to evaluate older spans.`,
      ];
    const began = this.#options.runs.position(judge.project_id)?.began_at ?? Infinity;
    if (span.arrived_at <= began)
      return [
        'not_running_then',
        `The span arrived at ${arrived}, while no judge could run. Use a run call to evaluate older spans.`,
      ];
    return undefined;
  }

  #ofFeed(judge: Judge, span: SpanTraits, hash: number): Reason {
    if (hash >= judge.sample_rate)
      return ['sampled_out', `Its hash ${hash} is not below the sample rate ${judge.sample_rate}.`];
    const seen = this.#options.runs.position(judge.project_id)?.arrived_at ?? 0;
    const arrived = formatTimestamp(span.arrived_at);
    if (span.arrived_at > seen)
      return [
        'pending',
        `The span arrived at ${arrived} and is not checked yet: that takes about one second, longer while the queue is full.`,
      ];
    return [
      'changed_since',
      `The span matches now, but was checked soon after ${arrived}. Since then the judge was changed (last at ${formatTimestamp(judge.updated_at)}), or its failure record has expired.`,
    ];
  }
}

function evaluated(at: number): Reason {
  return ['evaluated', `It was evaluated at ${formatTimestamp(at)}.`];
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
