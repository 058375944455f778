import { asObject } from '../../facade/json.js';

/* Tokens and costs of a run, wherever clients of LangSmith say them. */

type Json = Readonly<Record<string, unknown>>;

/** Attributes that say which tokens were used, and what they cost; null: nothing is said. */
export function usageIn(outputs: unknown, metadata: Json): Json | null {
  const said = asObject(outputs);
  const own = asObject(said?.['usage_metadata']);
  if (own !== undefined) return attributesOf(own);
  const ofPrompts = ofMessages(said);
  if (ofPrompts.length > 0) return sumOf(ofPrompts.map(attributesOf));
  const found =
    asObject(asObject(said?.['llm_output'])?.['token_usage']) ??
    asObject(said?.['usage']) ??
    asObject(metadata['usage_metadata']);
  return found === undefined ? null : attributesOf(found);
}

type Figures = Readonly<Record<string, number>>;

function attributesOf(usage: Json): Figures | null {
  const [inputs, outputs] = [
    asObject(usage['input_token_details'] ?? usage['prompt_tokens_details'] ?? usage['input_tokens_details']),
    asObject(usage['output_token_details'] ?? usage['completion_tokens_details'] ?? usage['output_tokens_details']),
  ];
  const counts = {
    inputTokens: numberIn(usage, 'input_tokens', 'prompt_tokens', 'promptTokens'),
    outputTokens: numberIn(usage, 'output_tokens', 'completion_tokens', 'completionTokens'),
    cacheReadTokens: numberIn(inputs, 'cache_read', 'cached_tokens'),
    cacheWriteTokens: numberIn(inputs, 'cache_creation'),
    reasoningTokens: numberIn(outputs, 'reasoning', 'reasoning_tokens'),
  };
  const there = Object.entries(counts).filter((each): each is [string, number] => each[1] !== null);
  if (there.length === 0) return null;
  const cost = numberIn(usage, 'total_cost');
  return { ...Object.fromEntries(there), ...(cost !== null && { 'gen_ai.usage.cost': cost }) };
}

/** Adds up attributes, which are few and known: whatever else a client says costs nothing here. */
function sumOf(usages: readonly (Figures | null)[]): Figures | null {
  const sum: Record<string, number> = {};
  for (const usage of usages)
    for (const [name, value] of Object.entries(usage ?? {})) sum[name] = (sum[name] ?? 0) + value;
  return Object.keys(sum).length === 0 ? null : sum;
}

/** Of LangChain: the first generation of each prompt has a message with its usage. */
function ofMessages(outputs: Json | undefined): Json[] {
  const generations = outputs?.['generations'];
  if (!Array.isArray(generations)) return [];
  return generations.flatMap((ofPrompt: unknown): Json[] => {
    const first: unknown = Array.isArray(ofPrompt) ? ofPrompt[0] : ofPrompt;
    const message = asObject(asObject(first)?.['message']);
    const usage = asObject(asObject(message?.['kwargs'])?.['usage_metadata'] ?? message?.['usage_metadata']);
    return usage === undefined ? [] : [usage];
  });
}

/** The model that a run calls; null: it is not said. */
export function modelIn(outputs: unknown, { metadata, invocation }: { metadata: Json; invocation: Json }): unknown {
  const said = asObject(outputs);
  const named = [
    metadata['ls_model_name'],
    ...[invocation['model'], invocation['model_name'], invocation['modelName']],
    ...[asObject(said?.['llm_output'])?.['model_name'], said?.['model']],
  ];
  return named.find((name) => typeof name === 'string' && name !== '') ?? null;
}

function numberIn(object: Json | undefined, ...names: readonly string[]): number | null {
  const found = names.map((name) => object?.[name]).find((value) => typeof value === 'number');
  return typeof found === 'number' ? found : null;
}
