import { randomUUID } from 'node:crypto';
import { v5 as uuidFrom } from 'uuid';
import { DomainError, type Issue } from '../../engine/errors.js';
import { toJsonText } from '../../engine/json-text.js';
import { uuidOf } from '../../engine/schema/ids.js';
import { metadataIssues } from '../../engine/schema/metadata.js';
import { normalizeCost, normalizeText } from '../../engine/schema/normalize.js';
import { parseTimestamp, type Micros } from '../../engine/timestamp.js';
import type { CalculatedSpans, StoredSpan } from '../../engine/traces/model/prices/calculated-spans.js';
import type { PricedSpans } from '../../engine/traces/model/prices/priced-spans.js';
import type { PromptIdentities, PromptIdentity } from '../../engine/traces/model/prompts/completion.js';
import { describedSpan, type SpanSources } from '../../engine/traces/model/span/described-span.js';
import type { SpanInput } from '../../engine/traces/model/span/schema.js';
import type { Span } from '../../engine/traces/model/span/span.js';
import { fitting } from '../../engine/validation/fitting.js';
import { UnknownNames } from '../../engine/validation/unknown-names.js';
import { compile, invalid } from '../../engine/validation/validation.js';
import type { AttachmentIntake } from '../images/intake.js';
import type { Masker } from '../masking/masker.js';
import type { MaskerOf } from '../masking/maskers.js';
import { replaceSpans } from '../prices/replaced-spans.js';
import type { SpanIngest } from '../traces/span-ingest.js';
import { CompletionInput } from './logged-schema.js';

export interface CompletionLogParts {
  readonly promptIds: Pick<PromptIdentities, 'ofSlug'>;
  readonly ingest: Pick<SpanIngest, 'postSpans'>;
  readonly spans: CalculatedSpans & PricedSpans;
  /** Masks what a completion says of a stored span. What becomes a span of its own is masked as others are. */
  readonly masker: MaskerOf;
  /** What it takes to describe a stored span again. */
  readonly sources: SpanSources;
  /** Notes references to the images of a stored span. */
  readonly restated: AttachmentIntake;
}

/** A completion that was logged, with the span that it became. */
export interface LoggedCompletion {
  readonly input: CompletionInput;
  readonly prompt: PromptIdentity;
  readonly span: Pick<Span, 'id' | 'trace_id' | 'cost'>;
  readonly created_at: Micros;
}

/** Names the ids of completions whose span has not arrived, so that a retry is the same one. */
const NAMESPACE = '5b0f6b4e-2f0a-4c1d-8a6e-9d6a53c1f0e7';
/** Most attempts at a span that clients write meanwhile. */
const MAX_ROUNDS = 5;

const validator = compile(CompletionInput);

/** Takes completions of prompts that clients log beside their spans, and makes spans of them. */
export class CompletionLog {
  readonly #parts: CompletionLogParts;

  constructor(parts: CompletionLogParts) {
    this.#parts = parts;
  }

  /**
   * Logs a completion of a prompt: in the span that it names, if that is stored, else in a span of its own, which is the same one for
   * the same `span_id`.
   * @throws DomainError `not_found` for an unknown prompt, `invalid`, those of WriteLog; nothing is stored then
   */
  async log(projectId: string, slug: string, body: unknown): Promise<LoggedCompletion> {
    const prompt = this.#parts.promptIds.ofSlug(projectId, slug);
    if (prompt === undefined) throw new DomainError('not_found', 'There is no prompt with this slug');
    const sent = fitting(validator, body);
    const input = sent.require([...promptIssues(sent.values, prompt), ...metadataIssues(sent.values.metadata)]);
    const own = ownIds(projectId, input);
    const logged = { input, prompt };
    for (const id of input.span_id == null ? [] : [own.id, uuidOf(input.span_id)]) {
      const completed = await this.#complete(projectId, id, logged);
      if (completed !== null) return { ...logged, ...completed };
    }
    const [span] = await this.#post(projectId, { ...own, ...newSpan(input, prompt) });
    if (span === undefined) throw new Error('A stored span was not answered');
    return { ...logged, span, created_at: parseTimestamp(span.created_at) ?? 0 };
  }

  async #post(projectId: string, span: SpanInput) {
    const options = { minimal: false as const, mayRead: true, unknown: new UnknownNames() };
    try {
      return (await this.#parts.ingest.postSpans(projectId, [span], options)) as SpanAnswer[];
    } catch (error) {
      if (!(error instanceof DomainError) || error.kind !== 'invalid') throw error;
      throw invalid(error.issues.map((issue) => ({ ...issue, pointer: ownPointer(issue.pointer) })));
    }
  }

  /** Completes a stored span. Whatever a client writes meanwhile is completed, too. @returns null: no span has the id */
  async #complete(projectId: string, id: string, logged: Pick<LoggedCompletion, 'input' | 'prompt'>) {
    const { spans, sources, restated } = this.#parts;
    const masker = this.#parts.masker(projectId);
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const revision = await spans.open(projectId);
      try {
        const [place] = await spans.find(projectId, { id, traceId: null }, 1);
        if (place === undefined) return null;
        const completed = (await revision.read([place])).map(({ version, span }): StoredSpan => {
          const whole = completedSpan(span, logged, masker);
          return { version, span: describedSpan(whole, projectId, sources) };
        });
        const replaced = { replace: (stored: readonly StoredSpan[]) => revision.replace(stored, true) };
        const [at = null] = await replaceSpans(replaced, restated, projectId, completed);
        const [stored] = completed;
        if (at !== null && stored !== undefined) return { span: stored.span, created_at: at };
      } finally {
        revision.close();
      }
    }
    throw new DomainError('unavailable', 'Other clients keep writing the span. Retry.', { retryAfterSeconds: 1 });
  }
}

type SpanAnswer = Pick<Span, 'id' | 'trace_id' | 'cost'> & { readonly created_at: string };

function promptIssues({ prompt_id, prompt_version_id }: Partial<CompletionInput>, prompt: PromptIdentity): Issue[] {
  return [
    ...(prompt_id != null && uuidOf(prompt_id) !== prompt.id
      ? [{ pointer: '/prompt_id', detail: 'must be the id of the prompt with this slug' }]
      : []),
    ...(prompt_version_id != null && !prompt.versions.has(uuidOf(prompt_version_id))
      ? [{ pointer: '/prompt_version_id', detail: 'must be the id of a version of the prompt' }]
      : []),
  ];
}

function ownIds(projectId: string, { span_id }: CompletionInput) {
  if (span_id == null) return { id: randomUUID(), trace_id: randomUUID() };
  const id = (what: string) => uuidFrom(JSON.stringify([projectId, uuidOf(span_id), what]), NAMESPACE);
  return { id: id('span'), trace_id: id('trace') };
}

function newSpan(input: CompletionInput, prompt: PromptIdentity): Omit<SpanInput, 'id' | 'trace_id'> {
  const now = Date.now();
  const { input_data = null, output_data = null, error } = saidOf(input);
  return {
    ...{ name: prompt.slug, kind: 'llm', input_data, output_data, attributes: attributesOf(input, prompt) },
    started_at: new Date(Math.max(0, now - (input.duration_ms ?? 0))).toISOString(),
    ended_at: new Date(now).toISOString(),
    duration_ms: input.duration_ms ?? null,
    ...(input.cost != null && { cost: input.cost }),
    ...(error ?? { status: 'ok' }),
  };
}

/** A stored span with what the completion says; what that leaves open stays. */
function completedSpan(
  stored: Span,
  { input, prompt }: Pick<LoggedCompletion, 'input' | 'prompt'>,
  masker: Masker | null,
): Span {
  const { call: _call, cost_calculated, ...span } = stored;
  const { error, ...texts } = saidOf(input);
  const said = { ...texts, ...error, attributes: attributesOf(input, prompt) };
  const { attributes, ...masked } = masker === null ? said : masker.mask(said);
  return {
    ...span,
    ...masked,
    kind: 'llm',
    attributes: { ...span.attributes, ...attributes },
    duration_ms: span.duration_ms ?? input.duration_ms ?? null,
    cost: input.cost != null ? normalizeCost(input.cost) : cost_calculated === true ? null : span.cost,
  };
}

/** The texts of a completion, those that it has. */
function saidOf({ messages, input_text, output_text, has_error, error_message }: CompletionInput) {
  const asked = messages != null && messages.length > 0 ? toJsonText(messages) : input_text;
  return {
    ...(asked != null && { input_data: normalizeText(asked) }),
    ...(output_text != null && { output_data: normalizeText(output_text) }),
    ...((has_error === true || error_message != null) && {
      error: {
        status: 'error' as const,
        ...(error_message != null && { error_message: normalizeText(error_message) }),
      },
    }),
  };
}

function attributesOf(input: CompletionInput, { slug, id }: PromptIdentity): Record<string, unknown> {
  const { messages, input_text, metadata, span_id } = input;
  const stated = {
    model: input.model_id,
    inputTokens: input.prompt_tokens,
    outputTokens: input.completion_tokens,
    totalTokens: input.total_tokens,
    prompt_version_id: input.prompt_version_id,
    input_text: messages != null && messages.length > 0 ? input_text : null,
    metadata,
    logged_for_span: span_id,
  };
  const there = Object.entries(stated).filter(([, value]) => value != null);
  return { ...Object.fromEntries(there), prompt_slug: slug, prompt_id: id };
}

/** Where the call's body has what is wrong with its span. */
function ownPointer(pointer: string): string {
  return pointer
    .replace(/^\/0/, '')
    .replace(/^\/input_data/, '/messages')
    .replace(/^\/output_data/, '/output_text');
}
