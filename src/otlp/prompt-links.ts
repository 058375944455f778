import { PROMPT_ATTRIBUTES } from './genai/context-fields.js';
import type { Evidence } from './genai/evidence.js';
import { DEFAULT_KIND, USAGE_KIND } from './genai/kind.js';
import type { Attributes, AttributeValue } from './model.js';
import type { MutableSpan } from './usage.js';

/**
 * Spans that may be completions of a prompt. Chains and tools only repeat what the calls in them say, so that a prompt would
 * have each completion twice; agents do, too, except for those of the AI SDK 7, which says it there alone.
 */
const PROMPTED_KINDS: ReadonlySet<string> = new Set([USAGE_KIND, 'agent', DEFAULT_KIND]);

type Name = keyof typeof PROMPT_ATTRIBUTES;
const NAMES = Object.keys(PROMPT_ATTRIBUTES) as Name[];

interface Found {
  readonly span: MutableSpan;
  readonly attributes: Attributes;
  readonly values: readonly (readonly [Name, AttributeValue])[];
}

/** What links the spans of one request to prompts, kept until it is known of what kind each of them is. */
export class PromptLinks {
  readonly #found: Found[] = [];

  read(span: MutableSpan, attributes: Attributes, evidence: Evidence): void {
    const values = NAMES.map((name) => [name, evidence.value(PROMPT_ATTRIBUTES[name])] as const).filter(
      ([name, value]) => value !== null && attributes[name] === undefined,
    );
    if (values.length > 0) this.#found.push({ span, attributes, values });
  }

  write(): void {
    for (const { span, attributes, values } of this.#found) {
      if (!PROMPTED_KINDS.has(span.kind)) continue;
      for (const [name, value] of values) attributes[name] = value;
    }
  }
}
