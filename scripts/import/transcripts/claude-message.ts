import { calcPrice } from '@pydantic/genai-prices';
import { countOf, membersOf, shortened, textOf, type Members } from '../members.js';
import { blocksOf } from './claude-content.js';
import { MAX_ERROR } from './reader.js';

const COUNTS = ['input_tokens', 'output_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'] as const;

/** What the program puts in place of an answer that did not come. */
const NO_MODEL = '<synthetic>';

/** An answer of the model, of which each block is a line, and each line repeats the usage of all. */
export class Message {
  readonly id: string;
  readonly parent: string;
  readonly startedAt: number;
  endedAt: number;
  error: string | null = null;
  #model: string | null = null;
  #stated: number | null = null;
  #reason: string | null = null;
  #hourly = 0;
  readonly #blocks: unknown[] = [];
  readonly #usage = Object.fromEntries(COUNTS.map((name) => [name, 0])) as Record<(typeof COUNTS)[number], number>;

  constructor(id: string, parent: string, startedAt: number) {
    this.id = id;
    this.parent = parent;
    this.startedAt = startedAt;
    this.endedAt = startedAt;
  }

  add(line: Members, said: Members, at: number): void {
    this.endedAt = Math.max(this.endedAt, at);
    this.#model = textOf(said['model']) ?? this.#model;
    this.#reason = textOf(said['stop_reason']) ?? this.#reason;
    const usage = membersOf(said['usage']);
    // The counts of output grow with the lines: the largest are those of all.
    for (const name of COUNTS) this.#usage[name] = Math.max(this.#usage[name], countOf(usage[name]));
    this.#hourly = Math.max(this.#hourly, countOf(membersOf(usage['cache_creation'])['ephemeral_1h_input_tokens']));
    if (typeof line['costUSD'] === 'number') this.#stated = Math.max(this.#stated ?? 0, line['costUSD']);
    for (const block of blocksOf(said['content'])) this.#blocks.push(shownBlock(block));
    if (line['isApiErrorMessage'] === true) this.error = shortened(this.text ?? 'API error', MAX_ERROR);
  }

  /** What it says to the person; null: nothing. */
  get text(): string | null {
    const texts = this.#blocks.filter((block): block is string => typeof block === 'string');
    return texts.length === 0 ? null : texts.join('\n');
  }

  /** The fields of its span that are about the call. */
  fields() {
    const blocks = this.#blocks.map((block) => (typeof block === 'string' ? { type: 'text', text: block } : block));
    const onlyText = this.#blocks.every((block) => typeof block === 'string');
    const output_data = onlyText ? this.text : JSON.stringify([{ role: 'assistant', content: blocks }]);
    const model = this.#model;
    if (model === null || model === NO_MODEL)
      return { name: 'Claude Code', kind: 'generic', output_data, attributes: {} } as const;
    const {
      input_tokens,
      output_tokens,
      cache_creation_input_tokens: written,
      cache_read_input_tokens: read,
    } = this.#usage;
    const attributes = {
      ...(model.startsWith('claude') && { provider: 'anthropic' }),
      ...{ model, inputTokens: input_tokens + written + read, outputTokens: output_tokens },
      ...{ cacheReadTokens: read, cacheWriteTokens: written },
      ...(this.#hourly > 0 && { cacheWrite1hTokens: this.#hourly }),
      ...(this.#reason !== null && { stop_reason: this.#reason }),
    };
    return { name: model, kind: 'llm', output_data, attributes, cost: this.#cost(model) } as const;
  }

  /**
   * The cost that older versions state; else null, so that the server calculates it, unless something was cached for an
   * hour: that costs more than the writes that a server knows the price of.
   */
  #cost(model: string): number | null {
    if (this.#stated !== null) return this.#stated;
    if (this.#hourly === 0 || !model.startsWith('claude')) return null;
    const {
      input_tokens,
      output_tokens,
      cache_creation_input_tokens: written,
      cache_read_input_tokens: read,
    } = this.#usage;
    const usage = {
      ...{ input_tokens: input_tokens + written + read, output_tokens },
      ...{
        cache_read_tokens: read,
        cache_write_tokens: written,
        cache_write_1h_tokens: Math.min(written, this.#hourly),
      },
    };
    const price = calcPrice(usage, model, { providerId: 'anthropic', timestamp: new Date(this.endedAt) });
    return price?.total_price ?? null;
  }
}

/** Texts as they are; of calls of tools only which: a span of its own has the rest. */
function shownBlock(block: Members): unknown {
  const { type, text, thinking, id, name } = block;
  if (type === 'text') return textOf(text) ?? '';
  if (type === 'thinking') return { type, thinking };
  if (type === 'tool_use') return { type, id, name };
  return { type };
}
