import { formatTimestamp } from '../../engine/timestamp.js';
import { sampleHash } from '../../engine/traces/model/judged/sample.js';
import type { SpanReader } from '../../engine/traces/model/judged/span-reader.js';
import type { WholeKind, WholeOutline, WholeReader } from '../../engine/traces/model/judged/whole-reader.js';
import type { EvaluationStore } from './evaluation-store.js';
import type { Evaluation } from './evaluation.js';
import { evaluated, notFound, type Arrived, type Explanation, type Reason, type Reasons } from './explanation.js';
import type { Judge } from './judge.js';
import type { IdentifyPrompt } from './matching.js';
import type { CurrentRun } from './run.js';
import type { RunStore } from './run-store.js';
import { filtersOf } from './whole-runs.js';
import { MAX_AUTOMATIC } from './whole-settings.js';

export interface WholeExplanationsParts {
  readonly evaluations: Pick<EvaluationStore, 'latestOfWhole' | 'countOfWhole'>;
  readonly runs: Pick<RunStore, 'ofWhole'>;
  readonly spans: Pick<SpanReader, 'traits'>;
  readonly wholes: Pick<WholeReader, 'outlines' | 'sessionsOf'>;
  readonly identifyPrompt: IdentifyPrompt;
  readonly reasons: Reasons;
}

/** A trace or session as far as it is stored; `outline` undefined: it is not. */
interface Found {
  readonly id: string;
  readonly outline: WholeOutline | undefined;
}

/** Says why a trace or session was or was not evaluated by a judge. */
export class WholeExplanations {
  readonly #parts: WholeExplanationsParts;

  constructor(parts: WholeExplanationsParts) {
    this.#parts = parts;
  }

  /** @param asked id of the trace or session, or of a span in it */
  async explain(judge: Judge, kind: WholeKind, asked: string): Promise<Explanation> {
    const { evaluations, runs, reasons } = this.#parts;
    const { id, outline } = await this.#find(judge, kind, asked);
    const evaluation = evaluations.latestOfWhole(judge.id, id);
    const { run, position } = reasons.current(runs.ofWhole(judge.id, id)[0]);
    const waits = run !== null && isWaiting(run);
    const hash = sampleHash(id, judge.id);
    const [answer, explanation]: Reason =
      (evaluation && this.#evaluated(judge, evaluation, outline, run)) ??
      (run && (waits ? ((outline && ofItself(outline, kind)) ?? quiet(run)) : reasons.ofRun(judge, run, position))) ??
      this.#ofWhole(judge, kind, outline, hash);
    return {
      judge_id: judge.id,
      span_id: outline?.span.span_id ?? evaluation?.span_id ?? asked,
      subject_id: id,
      answer,
      explanation,
      evaluation_id: evaluation?.id ?? null,
      run,
      position: waits ? null : position,
      mismatches: [],
      sample: { hash, rate: judge.sample_rate, included: hash < judge.sample_rate },
    };
  }

  async #find(judge: Judge, kind: WholeKind, asked: string): Promise<Found> {
    const { wholes, spans, identifyPrompt } = this.#parts;
    const filters = filtersOf(judge, identifyPrompt) ?? { filters: judge.filters, prompt: null };
    const outlineOf = async (id: string) => (await wholes.outlines(judge.project_id, kind, [id], filters)).get(id);
    const outline = await outlineOf(asked);
    if (outline !== undefined) return { id: asked, outline };
    const span = (await spans.traits(judge.project_id, [asked])).get(asked);
    if (span === undefined) return { id: asked, outline };
    const { trace_id } = span;
    const id = kind === 'trace' ? trace_id : (await wholes.sessionsOf(judge.project_id, [trace_id])).get(trace_id);
    return id === undefined ? { id: asked, outline } : { id, outline: await outlineOf(id) };
  }

  #evaluated(judge: Judge, evaluation: Evaluation, outline: WholeOutline | undefined, run: CurrentRun | null): Reason {
    const [answer, text] = evaluated(evaluation.created_at);
    const upto = evaluation.subject_upto ?? 0;
    if (outline === undefined || outline.arrived_at <= upto) return [answer, text];
    const changed = `${text} Spans have arrived since, most recently at ${formatTimestamp(outline.arrived_at)}.`;
    if (run?.state === 'running') return [answer, `${changed} The model is processing it again now.`];
    if (run?.state === 'queued')
      return [
        answer,
        `${changed} It is evaluated again at ${formatTimestamp(run.next_attempt_at)}, unless more spans arrive before then.`,
      ];
    if (run?.state === 'failed') return [answer, `${changed} The evaluation of that failed: ${run.reason ?? ''}`];
    if (this.#parts.evaluations.countOfWhole(judge.id, outline.id, MAX_AUTOMATIC) >= MAX_AUTOMATIC)
      return [
        'evaluated_often',
        `${changed} The judge has evaluated it ${MAX_AUTOMATIC} times automatically, the maximum: only run calls evaluate it again.`,
      ];
    return [answer, changed];
  }

  #ofWhole(judge: Judge, kind: WholeKind, outline: WholeOutline | undefined, hash: number): Reason {
    if (outline === undefined) return notFound(kind);
    const arrived: Arrived = { what: `The ${kind}`, at: outline.arrived_at, many: `${kind}s` };
    const { reasons } = this.#parts;
    return ofItself(outline, kind) ?? reasons.notRunning(judge, arrived) ?? reasons.ofFeed(judge, arrived, hash);
  }
}

function isWaiting({ state, origin, attempts, next_attempt_at }: CurrentRun): boolean {
  return state === 'queued' && origin === 'automatic' && attempts === 0 && next_attempt_at > Date.now() * 1000;
}

function quiet({ next_attempt_at }: CurrentRun): Reason {
  return [
    'quiet',
    `It is evaluated at ${formatTimestamp(next_attempt_at)} unless new spans arrive; each new span extends the wait.`,
  ];
}

function ofItself({ internal, tried, matches }: WholeOutline, kind: WholeKind): Reason | undefined {
  if (tried) return ['filtered', `The ${kind} belongs to an experiment: only run calls evaluate it.`];
  if (internal) return ['own_call', `The ${kind} contains calls of the server itself, which are never evaluated.`];
  if (matches !== false) return undefined;
  return ['filtered', `No span of it matches the filters, has ended or has an output, and is outside experiments.`];
}
