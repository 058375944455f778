import { randomUUID } from 'node:crypto';
import { DomainError } from '../../engine/errors.js';
import type { Principal } from '../../engine/identity/identity.js';
import type { DeletionScope, WorkUnderWay } from '../../engine/work/work-under-way.js';
import type { CallNotes } from '../judges/call-notes.js';
import { callSpan, callTraceId } from '../judges/call-spans.js';
import { callModel, type ModelCall } from '../judges/model-call.js';
import { ModelFailure, type ModelClient, type ModelRequest } from '../../engine/models/model-client.js';
import type { SpanReader } from '../../engine/traces/model/judged/span-reader.js';
import type { SelectedVersion } from '../prompts/prompt.js';
import { PLAYGROUND_TAG } from '../../engine/schema/own-calls.js';
import { costOf, type PriceModelCall } from '../../engine/traces/model/span/pricing.js';
import type { Span } from '../../engine/traces/model/span/span.js';
import { invalid } from '../../engine/validation/validation.js';
import type { PlaygroundRun } from './schema.js';

export interface PlaygroundCallsOptions {
  readonly client: Pick<ModelClient, 'complete'>;
  /** Longest time that the endpoint may take for an answer. */
  readonly timeoutSeconds: number;
  readonly spans: Pick<SpanReader, 'traits'>;
  readonly notes: CallNotes;
  /** Stores calls as spans of a project. @throws DomainError */
  readonly storeSpans: (projectId: string, spans: readonly Span[]) => Promise<unknown>;
  readonly price: PriceModelCall;
}

/** A call that someone asks for, and what it was made from. */
export interface PlaygroundCall {
  readonly principal: Pick<Principal, 'project_id' | 'user_id'>;
  readonly request: ModelRequest;
  readonly version: SelectedVersion | null;
  /** Recorded span whose texts the request may hold. */
  readonly spanId: string | null;
}

interface UnderWay extends PlaygroundCall {
  readonly runId: string;
  /** Aborted when nothing of the call may be stored anymore. */
  readonly gone: AbortController;
}

/** How long a call may wait for others of the project, beside the time that its answer takes. */
const LONGEST_WAIT_SECONDS = 60;

/** Calls of models from the playground: each is stored as a span, and deleted with the span that it was made from. */
export class PlaygroundCalls implements WorkUnderWay {
  readonly #options: PlaygroundCallsOptions;
  readonly #underWay = new Map<UnderWay, Promise<unknown>>();

  constructor(options: PlaygroundCallsOptions) {
    this.#options = options;
  }

  /** @throws DomainError `invalid` for a span that is not there; `overloaded`, `unavailable` */
  run(call: PlaygroundCall, signal: AbortSignal): Promise<PlaygroundRun> {
    const one: UnderWay = { ...call, runId: randomUUID(), gone: new AbortController() };
    const ended = this.#run(one, signal).finally(() => this.#underWay.delete(one));
    this.#underWay.set(one, ended);
    return ended;
  }

  /** Gives up calls made from deleted spans, which are not stored anymore. */
  async giveUp({ projectId, spans }: DeletionScope): Promise<void> {
    const isOver = ({ principal, spanId }: UnderWay) =>
      principal.project_id === projectId && (spans === null || (spanId !== null && spans.has(spanId)));
    await this.#end(isOver, spanGone);
  }

  async close(): Promise<void> {
    await this.#end(
      () => true,
      () => new DomainError('unavailable', 'The server is stopping'),
    );
  }

  async #end(isOver: (one: UnderWay) => boolean, reason: () => DomainError): Promise<void> {
    const over = [...this.#underWay].filter(([one]) => isOver(one));
    for (const [{ gone }] of over) gone.abort(reason());
    await Promise.allSettled(over.map(([, ended]) => ended));
  }

  async #run(one: UnderWay, signal: AbortSignal): Promise<PlaygroundRun> {
    const { principal, runId, spanId, gone } = one;
    const { notes, storeSpans, price } = this.#options;
    let mayBeStored = false;
    // The span is looked for after its call is noted: a deletion finds the note, or else the span is gone by now.
    if (spanId !== null) notes.add(principal.project_id, runId, spanId, Date.now() * 1000);
    try {
      if (spanId !== null) await this.#require(principal.project_id, spanId);
      const call = await this.#ask(one, signal);
      gone.signal.throwIfAborted();
      const span = spanOf(one, call);
      mayBeStored = true;
      await storeSpans(principal.project_id, [span]);
      return runOf(span, call, costOf(span, principal.project_id, price));
    } finally {
      if (spanId !== null && !mayBeStored) notes.remove(runId);
    }
  }

  async #require(projectId: string, spanId: string): Promise<void> {
    if (!(await this.#options.spans.traits(projectId, [spanId])).has(spanId))
      throw invalid([{ pointer: '/source/span_id', detail: 'there is no span with this id' }]);
  }

  async #ask({ principal, request, gone }: UnderWay, signal: AbortSignal): Promise<ModelCall> {
    const { client, timeoutSeconds } = this.#options;
    const seconds = timeoutSeconds + LONGEST_WAIT_SECONDS;
    const late = AbortSignal.timeout(seconds * 1000);
    const either = AbortSignal.any([signal, gone.signal, late]);
    const call = await callModel({ client, projectId: principal.project_id }, request, either);
    if (call.failure?.code !== 'aborted' || !late.aborted || signal.aborted) return call;
    const failure = new ModelFailure('timeout', `No response within ${seconds} s: other calls were ahead`, {
      retryable: true,
    });
    return { ...call, failure };
  }
}

function spanGone(): DomainError {
  return invalid([{ pointer: '/source/span_id', detail: 'the span was deleted in the meantime' }]);
}

function spanOf({ principal, request, version, spanId, runId }: UnderWay, call: ModelCall): Span {
  const { answer } = call;
  return callSpan(
    {
      id: randomUUID(),
      trace_id: callTraceId(runId),
      name: version === null ? 'playground' : `playground ${version.slug}`,
      tags: { [PLAYGROUND_TAG]: principal.user_id },
      about: {
        ...(version === null
          ? {}
          : { prompt_slug: version.slug, version: version.version, prompt_version_id: version.id }),
        ...(spanId === null ? {} : { span_id: spanId }),
        ...(request.temperature === null ? {} : { temperature: request.temperature }),
        ...(answer === null ? {} : { finish_reason: answer.finish_reason, refused: answer.refusal !== null }),
      },
    },
    call,
  );
}

function runOf(span: Span, { request, answer, failure }: ModelCall, cost: number | null): PlaygroundRun {
  const refusal = answer?.refusal ?? null;
  return {
    span_id: span.id,
    trace_id: span.trace_id,
    model: answer?.model ?? request.model,
    output: refusal === null ? (answer?.content ?? null) : null,
    refusal,
    failure: failure && { code: failure.code, message: failure.message, retryable: failure.retryable },
    finish_reason: answer?.finish_reason ?? null,
    usage: answer?.usage ?? null,
    cost,
    duration_ms: span.duration_ms ?? 0,
  };
}
