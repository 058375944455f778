import { USAGE_ATTRIBUTES } from '../../../domain/span/pricing.js';

/** One place a value may come from. A string is the name of an attribute. */
export type Source =
  | string
  /** Attributes `<indexed>.N.<path>`, which together make up a list of messages. */
  | { readonly indexed: string }
  /** An attribute of the span event of this name. */
  | { readonly event: string; readonly attribute: string }
  /** Span events that are one message each: event name → role of the message, unless it states one. */
  | { readonly messages: Readonly<Record<string, string>> };

/**
 * How a value is read; a source whose value cannot be read so is passed over.
 * - `text`: a string that is not empty, or a number
 * - `provider`: text without the name of the API that the Vercel AI SDK appends
 * - `count`: a whole number of tokens, as a number or as text
 * - `amount`: US dollars, as a number or as text
 * - `line`: a line number
 * - `payload`: anything that is not empty; what is not text becomes its JSON
 */
export type Reading = 'text' | 'provider' | 'count' | 'amount' | 'line' | 'payload';

export interface FieldRule {
  readonly reads: Reading;
  /** In order of preference: the first one that can be read wins. */
  readonly sources: readonly Source[];
}

const INFERENCE_DETAILS = 'gen_ai.client.inference.operation.details';

/**
 * Meaning of attributes in the conventions that exporters use. Each list is in this order: this service's
 * own name, OpenTelemetry today, OpenTelemetry before, OpenInference, OpenLLMetry, the Vercel AI SDK.
 * Sources are data: a new convention is a new line here, and a test with the payload of a real exporter.
 */
export const MAPPING = {
  provider: {
    reads: 'provider',
    sources: ['provider', 'gen_ai.provider.name', 'gen_ai.system', 'llm.provider', 'llm.system', 'ai.model.provider'],
  },
  model: {
    reads: 'text',
    sources: [
      'model',
      'gen_ai.response.model',
      'gen_ai.request.model',
      'llm.response.model_name',
      'llm.request.model_name',
      'llm.model_name',
      'embedding.model_name',
      'reranker.model_name',
      'ai.response.model',
      'ai.model.id',
    ],
  },
  inputTokens: {
    reads: 'count',
    sources: [
      'inputTokens',
      'gen_ai.usage.input_tokens',
      'gen_ai.usage.prompt_tokens',
      'llm.token_count.prompt',
      'ai.usage.inputTokens',
      'ai.usage.promptTokens',
      'ai.usage.tokens',
    ],
  },
  outputTokens: {
    reads: 'count',
    sources: [
      'outputTokens',
      'gen_ai.usage.output_tokens',
      'gen_ai.usage.completion_tokens',
      'llm.token_count.completion',
      'ai.usage.outputTokens',
      'ai.usage.completionTokens',
    ],
  },
  cacheReadTokens: {
    reads: 'count',
    sources: [
      'cacheReadTokens',
      'gen_ai.usage.cache_read.input_tokens',
      'gen_ai.usage.cache_read_input_tokens',
      'gen_ai.usage.cache_read_tokens',
      'gen_ai.usage.details.cache_read_tokens',
      'gen_ai.usage.details.cache_read_input_tokens',
      'gen_ai.usage.input_cached_tokens',
      'llm.token_count.prompt_details.cache_read',
      'ai.usage.cachedInputTokens',
      'ai.usage.inputTokenDetails.cacheReadTokens',
    ],
  },
  cacheWriteTokens: {
    reads: 'count',
    sources: [
      'cacheWriteTokens',
      'gen_ai.usage.cache_write.input_tokens',
      'gen_ai.usage.cache_creation.input_tokens',
      'gen_ai.usage.cache_creation_input_tokens',
      'gen_ai.usage.cache_write_tokens',
      'gen_ai.usage.details.cache_write_tokens',
      'gen_ai.usage.details.cache_creation_input_tokens',
      'gen_ai.usage.input_cache_creation',
      'llm.token_count.prompt_details.cache_write',
      'ai.usage.inputTokenDetails.cacheWriteTokens',
    ],
  },
  reasoningTokens: {
    reads: 'count',
    sources: [
      'reasoningTokens',
      'gen_ai.usage.reasoning.output_tokens',
      'gen_ai.usage.reasoning_tokens',
      'llm.token_count.completion_details.reasoning',
      'llm.usage.reasoning_tokens',
      'ai.usage.reasoningTokens',
      'ai.usage.outputTokenDetails.reasoningTokens',
    ],
  },
  givenCost: {
    reads: 'amount',
    sources: ['gen_ai.usage.cost', 'gen_ai.usage.total_cost', 'llm.cost.total'],
  },
  input: {
    reads: 'payload',
    sources: [
      'gen_ai.input.messages',
      { event: INFERENCE_DETAILS, attribute: 'gen_ai.input.messages' },
      'gen_ai.prompt',
      { event: 'gen_ai.content.prompt', attribute: 'gen_ai.prompt' },
      {
        messages: {
          'gen_ai.system.message': 'system',
          'gen_ai.user.message': 'user',
          'gen_ai.assistant.message': 'assistant',
          'gen_ai.tool.message': 'tool',
        },
      },
      { indexed: 'llm.input_messages' },
      { indexed: 'llm.prompts' },
      'llm.prompts',
      'input.value',
      { indexed: 'gen_ai.prompt' },
      'traceloop.entity.input',
      'ai.prompt.messages',
      'ai.prompt',
      'ai.value',
      'ai.values',
      'ai.documents',
      'ai.toolCall.args',
    ],
  },
  /** Set before the input messages, but only before those of the same convention. */
  systemInstructions: {
    reads: 'payload',
    sources: ['gen_ai.system_instructions', { event: INFERENCE_DETAILS, attribute: 'gen_ai.system_instructions' }],
  },
  output: {
    reads: 'payload',
    sources: [
      'gen_ai.output.messages',
      { event: INFERENCE_DETAILS, attribute: 'gen_ai.output.messages' },
      'gen_ai.completion',
      { event: 'gen_ai.content.completion', attribute: 'gen_ai.completion' },
      { messages: { 'gen_ai.choice': 'assistant' } },
      { indexed: 'llm.output_messages' },
      { indexed: 'llm.choices' },
      'llm.choices',
      'output.value',
      { indexed: 'gen_ai.completion' },
      'traceloop.entity.output',
      'ai.response.text',
      'ai.response.toolCalls',
      'ai.response.object',
      'ai.ranking',
      'ai.result.text',
      'ai.result.toolCalls',
      'ai.result.object',
      'ai.toolCall.result',
    ],
  },
  /** For spans of kind `tool` these come before `input` and `output`. */
  toolInput: {
    reads: 'payload',
    sources: ['gen_ai.tool.call.arguments', 'tool.parameters', 'ai.toolCall.args'],
  },
  toolOutput: {
    reads: 'payload',
    sources: ['gen_ai.tool.call.result', 'output.value', 'ai.toolCall.result'],
  },
  session: {
    reads: 'text',
    sources: [
      'zeroeval.session.id',
      'session.id',
      'gen_ai.conversation.id',
      'langfuse.session.id',
      'traceloop.association.properties.session_id',
      'ai.telemetry.metadata.sessionId',
      'ai.settings.context.sessionId',
    ],
  },
  sessionName: { reads: 'text', sources: ['zeroeval.session.name', 'session.name'] },
  user: {
    reads: 'text',
    sources: [
      'user.id',
      'enduser.id',
      'traceloop.association.properties.user_id',
      'gen_ai.user',
      'llm.user',
      'ai.telemetry.metadata.userId',
      'ai.settings.context.userId',
    ],
  },
  service: { reads: 'text', sources: ['service.name'] },
  environment: { reads: 'text', sources: ['deployment.environment.name', 'deployment.environment'] },
  errorType: { reads: 'text', sources: ['error.type', 'exception.type'] },
  codeFile: { reads: 'text', sources: ['code.file.path', 'code.filepath'] },
  codeLine: { reads: 'line', sources: ['code.line.number', 'code.lineno'] },
} as const satisfies Record<string, FieldRule>;

export type FieldName = keyof typeof MAPPING;

/** Token counts and names that are written into a span's attributes under the names of the interface. */
export const CONTRACT_ATTRIBUTES = [...USAGE_ATTRIBUTES, 'reasoningTokens'] as const satisfies readonly FieldName[];
