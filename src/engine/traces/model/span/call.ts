import type { NamedPrompt } from './named-prompt.js';

/** Fields of a span that its attributes say: of the call of a model that it is, and of its prompt. */
export interface SpanCall extends NamedPrompt {
  readonly provider: string | null;
  /** Without the name of its provider in front. */
  readonly model: string | null;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly cache_read_tokens: number | null;
  readonly cache_write_tokens: number | null;
}
