import type { FieldRule, Source } from './source.js';

const INFERENCE_DETAILS = 'gen_ai.client.inference.operation.details';
const LANGFUSE_USAGE = 'langfuse.observation.usage_details';
const LANGFUSE_COST = 'langfuse.observation.cost_details';
/** MLflow writes all attributes as JSON. */
const MLFLOW_USAGE = 'mlflow.chat.tokenUsage';

/** What a span says of a call: the model, its usage and cost, what went in and what came out. */
export const CALL_FIELDS = {
  provider: {
    becomes: 'attribute `provider`',
    reads: 'provider',
    sources: [
      ...['provider', 'gen_ai.provider.name', 'gen_ai.system', 'llm.provider', 'llm.system', 'ai.model.provider'],
      { json: 'mlflow.llm.provider' },
    ],
  },
  model: {
    becomes: 'attribute `model`',
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
      'langfuse.observation.model.name',
      { json: 'mlflow.llm.model' },
    ],
  },
  inputTokens: {
    becomes: 'attribute `inputTokens`, cached ones included',
    reads: 'count',
    sources: [
      'inputTokens',
      'gen_ai.usage.input_tokens',
      'gen_ai.usage.prompt_tokens',
      'llm.token_count.prompt',
      'ai.usage.inputTokens',
      'ai.usage.promptTokens',
      'ai.usage.tokens',
      // of OpenAI, where it includes cached tokens; Langfuse and Anthropic count these apart
      { within: LANGFUSE_USAGE, member: 'prompt_tokens' },
      { within: LANGFUSE_USAGE, sum: /^input|_input_tokens$/ },
      { within: MLFLOW_USAGE, member: 'input_tokens' },
    ],
  },
  outputTokens: {
    becomes: 'attribute `outputTokens`, reasoning included',
    reads: 'count',
    sources: [
      'outputTokens',
      'gen_ai.usage.output_tokens',
      'gen_ai.usage.completion_tokens',
      'llm.token_count.completion',
      'ai.usage.outputTokens',
      'ai.usage.completionTokens',
      { within: LANGFUSE_USAGE, member: 'completion_tokens' },
      { within: LANGFUSE_USAGE, sum: /^output/ },
      { within: MLFLOW_USAGE, member: 'output_tokens' },
    ],
  },
  cacheReadTokens: {
    becomes: 'attribute `cacheReadTokens`',
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
      ...usageMembers(
        'input_cached_tokens',
        'input_cache_read',
        'cache_read_input_tokens',
        'prompt_tokens_details.cached_tokens',
        'input_tokens_details.cached_tokens',
      ),
      { within: MLFLOW_USAGE, member: 'cache_read_input_tokens' },
    ],
  },
  cacheWriteTokens: {
    becomes: 'attribute `cacheWriteTokens`',
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
      ...usageMembers('input_cache_creation', 'cache_creation_input_tokens'),
      { within: MLFLOW_USAGE, member: 'cache_creation_input_tokens' },
    ],
  },
  reasoningTokens: {
    becomes: 'attribute `reasoningTokens`',
    reads: 'count',
    sources: [
      'reasoningTokens',
      'gen_ai.usage.reasoning.output_tokens',
      'gen_ai.usage.reasoning_tokens',
      'llm.token_count.completion_details.reasoning',
      'llm.usage.reasoning_tokens',
      'ai.usage.reasoningTokens',
      'ai.usage.outputTokenDetails.reasoningTokens',
      ...usageMembers(
        'output_reasoning_tokens',
        'output_reasoning',
        'completion_tokens_details.reasoning_tokens',
        'output_tokens_details.reasoning_tokens',
      ),
    ],
  },
  givenCost: {
    becomes: '`cost`; without it, the price of model and tokens',
    reads: 'amount',
    sources: [
      'gen_ai.usage.cost',
      'gen_ai.usage.total_cost',
      'llm.cost.total',
      { within: LANGFUSE_COST, member: 'total' },
      { within: LANGFUSE_COST, sum: /./ },
      { within: 'mlflow.llm.cost', member: 'total_cost' },
    ],
  },
  input: {
    becomes: '`input_data`',
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
      'langfuse.observation.input',
      'langfuse.trace.input',
      { json: 'mlflow.spanInputs' },
      { json: 'lmnr.span.input' },
    ],
  },
  /** Set before the input messages, but only before those of the same convention. */
  systemInstructions: {
    becomes: '`input_data`, before the messages',
    reads: 'payload',
    sources: ['gen_ai.system_instructions', { event: INFERENCE_DETAILS, attribute: 'gen_ai.system_instructions' }],
  },
  output: {
    becomes: '`output_data`',
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
      'langfuse.observation.output',
      'langfuse.trace.output',
      { json: 'mlflow.spanOutputs' },
      { json: 'lmnr.span.output' },
    ],
  },
  /** For spans of kind `tool` these come before `input` and `output`. */
  toolInput: {
    becomes: '`input_data` of a tool',
    reads: 'payload',
    sources: ['gen_ai.tool.call.arguments', 'tool.parameters', 'ai.toolCall.args'],
  },
  toolOutput: {
    becomes: '`output_data` of a tool',
    reads: 'payload',
    sources: ['gen_ai.tool.call.result', 'output.value', 'ai.toolCall.result'],
  },
} as const satisfies Record<string, FieldRule>;

function usageMembers(...members: readonly string[]): Source[] {
  return members.map((member) => ({ within: LANGFUSE_USAGE, member }));
}
