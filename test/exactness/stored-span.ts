import type { SentSpan, SentTags } from './sent.js';
import { iso, micros, money, picodollars } from './units.js';

/** A listed object as it is compared: costs as decimal texts, so that nothing is lost to floating point. */
export type Read = Readonly<Record<string, unknown>>;

/** A span as stored. */
export interface StoredSpan {
  readonly id: string;
  readonly trace: string;
  readonly parent: string | null;
  readonly session: string | null;
  readonly sessionName: string | null;
  readonly name: string;
  readonly status: string | null;
  readonly start: number;
  readonly end: number | null;
  readonly cost: bigint | null;
  readonly input: string | null;
  readonly output: string | null;
  /** What a list says of its error. */
  readonly error: string | null;
  readonly traceTags: Tags;
  readonly sessionTags: Tags;
  readonly hasError: boolean;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly read: Read;
}

export type Tags = Readonly<Record<string, string>>;

/** US dollars per 1,000,000 tokens of the models that histories call. */
const PRICES: Readonly<Record<string, { readonly input: number; readonly output: number }>> = {
  'openai/gpt-4o': { input: 2.5, output: 10 },
};
const PRICED_KINDS = new Set(['llm', 'embedding', 'reranker']);

export function spanKey(span: { readonly trace_id: unknown; readonly id: unknown }): string {
  return `${String(span.trace_id).toLowerCase()}/${String(span.id).toLowerCase()}`;
}

/** A span with every default applied. */
export function storedSpan(sent: SentSpan, projectId: string): StoredSpan {
  const start = micros(sent.started_at);
  const end = sent.ended_at == null ? null : micros(sent.ended_at);
  const kind = sent.kind ?? 'generic';
  const cost = sent.cost != null ? picodollars(sent.cost) : priceOf(kind, sent.attributes ?? {});
  const session = (sent.session_id ?? sent.session?.id)?.toLowerCase() ?? null;
  const sessionName = sent.session?.name || sent.session_name || null;
  const sessionTags = { ...tagsOf(sent.session?.tags), ...tagsOf(sent.session_tags) };
  const hasError = sent.status === 'error' || Boolean(sent.error_code) || Boolean(sent.error_message);
  const read = {
    id: sent.id.toLowerCase(),
    trace_id: sent.trace_id.toLowerCase(),
    parent_span_id: sent.parent_span_id?.toLowerCase() ?? null,
    session_id: session,
    session_name: sessionName,
    project_id: projectId,
    name: sent.name,
    kind,
    status: sent.status ?? null,
    started_at: iso(start),
    ended_at: end === null ? null : iso(end),
    duration_ms: sent.duration_ms ?? (end === null ? null : (end - start) / 1000),
    cost: money(cost),
    input_data: payload(sent.input_data),
    output_data: payload(sent.output_data),
    attributes: sent.attributes ?? {},
    tags: tagsOf(sent.tags),
    trace_tags: tagsOf(sent.trace_tags),
    session_tags: sessionTags,
    error_code: sent.error_code ?? null,
    error_message: sent.error_message ?? null,
    error_stack: sent.error_stack ?? null,
    code_filepath: sent.code_filepath ?? null,
    code_lineno: sent.code_lineno ?? null,
    has_error: hasError,
    ...callOf(kind, sent.attributes ?? {}),
  };
  return {
    id: read.id,
    trace: read.trace_id,
    parent: read.parent_span_id,
    session,
    sessionName,
    name: read.name,
    status: read.status,
    start,
    end,
    cost,
    input: read.input_data,
    output: read.output_data,
    error: sent.error_message || sent.error_code || null,
    traceTags: read.trace_tags,
    sessionTags,
    hasError,
    inputTokens: read.input_tokens,
    outputTokens: read.output_tokens,
    read,
  };
}

/** What `POST /spans` answers for a span, but for `created_at`. */
export function spanRead(sent: SentSpan, projectId: string): Read {
  return storedSpan(sent, projectId).read;
}

/** What histories say of calls: whole numbers of tokens, none of them cached, and names without their provider's in front. */
function callOf(kind: string, attributes: Readonly<Record<string, unknown>>) {
  const { provider, model, inputTokens, outputTokens, prompt_slug, prompt_version } = attributes;
  const tokens = (count: unknown) => (PRICED_KINDS.has(kind) && typeof count === 'number' ? count : null);
  const text = (said: unknown) => (typeof said === 'string' ? said : null);
  const isWrapper = kind === 'agent' || kind === 'chain' || kind === 'tool';
  return {
    provider: isWrapper ? null : text(provider),
    model: isWrapper ? null : text(model),
    input_tokens: tokens(inputTokens),
    output_tokens: tokens(outputTokens),
    cache_read_tokens: null,
    cache_write_tokens: null,
    prompt_slug: text(prompt_slug),
    prompt_version: typeof prompt_version === 'number' ? prompt_version : null,
    prompt_version_id: null,
  };
}

/** `(inputTokens × inputPrice + outputTokens × outputPrice) / 1,000,000`; null for what has no known price. */
function priceOf(kind: string, attributes: Readonly<Record<string, unknown>>): bigint | null {
  const { provider, model, inputTokens, outputTokens } = attributes;
  const price = PRICES[`${String(provider)}/${String(model)}`];
  if (!PRICED_KINDS.has(kind) || !price || inputTokens === undefined || outputTokens === undefined) return null;
  // Both prices are whole microdollars per token times 1e-1, so this stays exact.
  const tenthsOfMicros = Number(inputTokens) * price.input * 10 + Number(outputTokens) * price.output * 10;
  return BigInt(tenthsOfMicros) * 100_000n;
}

export function tagsOf(tags: SentTags | null | undefined): Tags {
  const kept = Object.entries(tags ?? {}).filter(([, value]) => value !== null);
  return Object.fromEntries(kept.map(([key, value]) => [key, String(value)]));
}

function payload(value: unknown): string | null {
  if (value == null) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
