import { v5 as uuidv5 } from 'uuid';
import type { ModelAnswer } from '../../engine/models/model-client.js';
import { modelNameOf, SOME_ENDPOINT } from '../../engine/models/model-name.js';
import { NOTHING_SAID, type Span } from '../../engine/traces/model/span/span.js';
import { JUDGE_TAG } from '../../engine/schema/own-calls.js';
import type { Judge } from './judge.js';
import type { JudgedWhole } from '../../engine/traces/model/judged/whole-reader.js';
import type { ModelCall } from './model-call.js';

/** The evaluation for which models are called. */
export interface CallOrigin {
  readonly judge: Pick<Judge, 'id' | 'name' | 'project_id'>;
  /** Id of the run. With the attempt it gives the ids of trace and spans, so that a repetition replaces them. */
  readonly runId: string;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  /** The span that is evaluated, or stands for what is. */
  readonly spanId: string;
  /** The trace or session that is evaluated; null, or absent: the span is. */
  readonly whole?: Pick<JudgedWhole, 'kind' | 'id'> | null | undefined;
  /** Spans that were shown as examples. */
  readonly shown: readonly string[];
}

/** Namespace of the ids that are derived here. */
const NAMESPACE = '6f1d5a3e-1b0c-5a5e-9d0a-3f6f2f6f7d11';

/** The calls as spans: all attempts of a run in one trace of their own, each tagged with the id of the judge. */
export function callSpans(origin: CallOrigin, calls: readonly ModelCall[]): Span[] {
  const trace_id = callTraceId(origin.runId);
  return calls.map((call, index) => toSpan(origin, call, trace_id, index));
}

/** The trace that the calls of a run are in. */
export function callTraceId(runId: string): string {
  return uuidv5(runId, NAMESPACE);
}

/** Attribute of a judge's call with the spans shown as examples: the deletion of such a span finds the call by it. */
export function aboutShown(spanIds: readonly string[]): { readonly examples?: readonly string[] } {
  return spanIds.length === 0 ? {} : { examples: spanIds };
}

function toSpan(origin: CallOrigin, call: ModelCall, trace_id: string, index: number): Span {
  const { judge, runId, attempt, spanId, whole, shown } = origin;
  const of = whole == null ? {} : { [`${whole.kind}_id`]: whole.id };
  const place: CallPlace = {
    id: uuidv5(`${runId}/${attempt}/${index}`, NAMESPACE),
    trace_id,
    name: `judge ${judge.name}`,
    tags: { [JUDGE_TAG]: judge.id },
    about: { judge_id: judge.id, run_id: runId, attempt, span_id: spanId, ...of, ...aboutShown(shown) },
  };
  return callSpan(place, call);
}

/** Ids, name, tags and subject of the span of a call. */
export interface CallPlace {
  readonly id: string;
  readonly trace_id: string;
  readonly name: string;
  /** Tags of the span and of its trace. */
  readonly tags: Readonly<Record<string, string>>;
  /** Subject of the call, kept as the attribute `spanhouse`. */
  readonly about: Readonly<Record<string, unknown>>;
}

/**
 * Provider of a call, as far as the name of its model says it, the one that answered or else the one that was asked: the
 * endpoint's own is its operator's, and none of a project's business.
 */
export function callProvider(answered: string, asked = answered): string {
  const ofName = (model: string) => modelNameOf(null, model).provider;
  return ofName(answered) ?? ofName(asked) ?? SOME_ENDPOINT;
}

/** What a call cost follows from. @param asked the model that was asked @param answer null: there was none */
export function callAttributes(asked: string, answer: Pick<ModelAnswer, 'model' | 'usage'> | null) {
  const model = answer?.model ?? asked;
  const usage = answer?.usage ?? null;
  return {
    provider: callProvider(model, asked),
    model,
    ...(usage !== null && {
      inputTokens: usage.input_tokens,
      outputTokens: usage.output_tokens,
      ...(usage.cached_tokens > 0 && { cacheReadTokens: usage.cached_tokens }),
    }),
  };
}

/** A call of a model as a span. */
export function callSpan({ id, trace_id, name, tags, about }: CallPlace, call: ModelCall): Span {
  const { request, answer, failure } = call;
  return {
    id,
    trace_id,
    parent_span_id: null,
    session_id: null,
    session_name: null,
    name,
    kind: 'llm',
    status: failure === null ? 'ok' : 'error',
    started_at: call.started_at,
    ended_at: call.ended_at,
    duration_ms: (call.ended_at - call.started_at) / 1000,
    cost: null,
    input_data: JSON.stringify(request.messages),
    output_data: answer === null ? null : (answer.refusal ?? answer.content).toWellFormed(),
    attributes: { ...callAttributes(request.model, answer), spanhouse: about },
    tags,
    trace_tags: tags,
    session_tags: {},
    ...NOTHING_SAID,
    error_code: failure?.code ?? null,
    error_message: failure?.message ?? null,
  };
}
