import { tell, type Told } from '../../facade/told.js';
import { newAttributes } from '../../otlp/model.js';
import type { Observation, Trace } from './event-schema.js';

/* What events say of observations and traces, by the attributes of today's clients of Langfuse. */

/** @param type of the observation, where the event says it */
export function observed(body: Observation, type: string | null): Told {
  const said = new Said('langfuse.observation');
  said.put('type', type);
  said.put('model.name', body.model);
  said.put('model.parameters', body.modelParameters);
  said.put('completion_start_time', body.completionStartTime);
  said.put('level', body.level);
  said.put('status_message', body.statusMessage);
  said.put('prompt.name', body.promptName);
  said.put('prompt.version', body.promptVersion);
  const usage = usageOf(body);
  said.put('usage_details', usage);
  said.put('cost_details', body.costDetails ?? costOf(body.usage));
  said.metadata(body.metadata);
  said.context(body);
  return { attributes: said.attributes, usage: usage !== null, input: body.input, output: body.output };
}

export function traced(body: Trace): Told {
  const said = new Said('langfuse.trace');
  said.put('public', body.public);
  said.put('external_id', body.externalId);
  said.put('tags', body.tags);
  said.metadata(body.metadata);
  said.context(body);
  tell(said.attributes, 'langfuse.release', body.release);
  tell(said.attributes, 'langfuse.session.id', body.sessionId);
  tell(said.attributes, 'langfuse.user.id', body.userId);
  return { attributes: said.attributes, usage: false, input: body.input, output: body.output };
}

class Said {
  readonly attributes = newAttributes();
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  put(name: string, value: unknown): void {
    tell(this.attributes, `${this.#prefix}.${name}`, value);
  }

  /** Each name of metadata is said by itself: what a later event says of others leaves it. */
  metadata(value: unknown): void {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) this.put('metadata', value);
    else for (const [name, each] of Object.entries(value)) this.put(`metadata.${name}`, each);
  }

  context({ version, environment }: Pick<Trace, 'version' | 'environment'>): void {
    tell(this.attributes, 'langfuse.version', version);
    tell(this.attributes, 'langfuse.environment', environment);
  }
}

const SHORT_USAGE = {
  input: ['input', 'promptTokens', 'prompt_tokens'],
  output: ['output', 'completionTokens', 'completion_tokens'],
  total: ['total', 'totalTokens', 'total_tokens'],
} as const;

/** The tokens of a call: by kind, or in the older form, which may count something else. */
function usageOf({ usage, usageDetails }: Observation): Record<string, unknown> | null {
  if (usageDetails != null && Object.keys(usageDetails).length > 0) return usageDetails;
  if (usage == null) return null;
  const { unit } = usage;
  if (typeof unit === 'string' && unit.toUpperCase() !== 'TOKENS') return null;
  const entries = Object.entries(SHORT_USAGE).map(([name, names]) => [name, firstOf(usage, names)] as const);
  const there = entries.filter(([, value]) => value !== null);
  return there.length === 0 ? null : Object.fromEntries(there);
}

function costOf(usage: Observation['usage']): Record<string, unknown> | null {
  if (usage == null) return null;
  const [input, output, total] = (['inputCost', 'outputCost', 'totalCost'] as const).map((name) =>
    firstOf(usage, [name]),
  );
  if (total != null) return { total };
  return input == null && output == null
    ? null
    : { ...(input != null && { input }), ...(output != null && { output }) };
}

function firstOf(usage: Readonly<Record<string, unknown>>, names: readonly string[]): number | null {
  const found = names.map((name) => usage[name]).find((value) => typeof value === 'number');
  return typeof found === 'number' ? found : null;
}
