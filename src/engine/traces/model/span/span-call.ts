import { modelNameOf } from '../../../models/model-name.js';
import { promptNamedIn, type PromptNames } from './named-prompt.js';
import { normalizeText } from '../../../schema/normalize.js';
import type { Span } from './span.js';
import { PRICED_KINDS, statedModel, tokensOf, WRAPPER_KINDS } from './usage.js';
import { callFields, type SpanCall } from '../list/fields.js';

const NAMES = Object.keys(callFields) as (keyof SpanCall)[];

/** Names of the fields of {@link SpanCall}. */
export const CALL_FIELDS: ReadonlySet<string> = new Set(NAMES);

/** The fields of a span that says nothing of a call. */
export const NO_CALL = Object.fromEntries(NAMES.map((name) => [name, null])) as unknown as SpanCall;

/** What an answer or a record says of the call. */
export function callIn(span: SpanCall): SpanCall {
  return Object.fromEntries(NAMES.map((name) => [name, span[name]])) as unknown as SpanCall;
}

/**
 * What a span says of a call and of its prompt; undefined: nothing. Tokens are those that a price counts, so that wrappers
 * have none; a model is also that of a call without a price, such as one of speech.
 */
export function callOf(
  span: Pick<Span, 'kind' | 'attributes'>,
  projectId: string,
  prompts: PromptNames,
): SpanCall | undefined {
  const { kind, attributes } = span;
  const model = WRAPPER_KINDS.has(kind) ? null : statedModel(attributes);
  const tokens = PRICED_KINDS.has(kind) ? tokensOf(attributes) : null;
  const prompt = promptNamedIn(attributes, projectId, prompts);
  if (model === null && tokens === null && prompt === null) return undefined;
  const meant = model === null ? null : modelNameOf(model.provider, model.model);
  return {
    ...NO_CALL,
    ...(meant !== null && {
      provider: meant.provider === null ? null : normalizeText(meant.provider),
      model: normalizeText(meant.model),
    }),
    ...(tokens !== null && {
      input_tokens: whole(tokens.inputTokens),
      output_tokens: whole(tokens.outputTokens),
      cache_read_tokens: whole(tokens.cacheReadTokens),
      cache_write_tokens: whole(tokens.cacheWriteTokens),
    }),
    ...prompt,
  };
}

/** Some say how many tokens they used by estimate; costs are calculated of the estimate, sums are of whole tokens. */
function whole(count: number | null): number | null {
  return count === null ? null : Math.round(count);
}
