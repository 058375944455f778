import { isCompletionOf, type PromptIdentity } from '../../engine/traces/model/prompts/completion.js';
import type { JudgeFilters } from '../../engine/traces/model/judged/filters.js';
import { ownCaller, type OwnCaller } from '../../engine/schema/own-calls.js';
import type { SpanTraits } from '../../engine/traces/model/judged/span-reader.js';

/** Finds everything that spans may name a prompt by; undefined when there is no such prompt. */
export type IdentifyPrompt = (projectId: string, slug: string) => PromptIdentity | undefined;

/** A filter that a span does not match: the value it asks for, and the span's. */
export interface Mismatch {
  readonly filter: string;
  readonly wanted: string;
  readonly found: string;
}

/** Why no judge evaluates a span: the server made the call itself. Null: judges may. */
export function neverEvaluated({ tags }: Pick<SpanTraits, 'tags'>): { caller: OwnCaller; detail: string } | null {
  const caller = ownCaller(tags);
  return caller && { caller, detail: `is a call of ${caller}; such spans are never evaluated` };
}

/** Whether kind and name of a span are among those that the filters list. */
export function matchesListed({ kind, name }: Pick<SpanTraits, 'kind' | 'name'>, filters: JudgeFilters): boolean {
  const isAmong = (listed: readonly string[], found: string) => listed.length === 0 || listed.includes(found);
  return isAmong(filters.kinds, kind) && isAmong(filters.names, name);
}

/** Every filter that the span does not match. */
export function mismatches(
  span: Pick<SpanTraits, 'name' | 'kind' | 'tags' | 'attributes' | 'experiment_id'>,
  filters: JudgeFilters,
  prompt: PromptIdentity | undefined,
): Mismatch[] {
  const found: Mismatch[] = [];
  const oneOf = (filter: string, wanted: readonly string[], has: string) => {
    if (wanted.length > 0 && !wanted.includes(has)) found.push({ filter, wanted: wanted.join(', '), found: has });
  };
  oneOf('kinds', filters.kinds, span.kind);
  oneOf('names', filters.names, span.name);
  for (const [key, wanted] of Object.entries(filters.tags)) {
    const has = Object.hasOwn(span.tags, key) ? span.tags[key] : undefined;
    if (has !== wanted) found.push({ filter: `tags.${key}`, wanted, found: has ?? 'no such tag' });
  }
  // Spans of experiments are no production traffic: only who names one means them.
  const { prompt_slug: slug, experiment_id: experiment = null } = filters;
  if (span.experiment_id !== experiment)
    found.push({ filter: 'experiment_id', wanted: experiment ?? 'none', found: span.experiment_id ?? 'none' });
  if (slug !== null && (prompt === undefined || !isCompletionOf(span.attributes, prompt)))
    found.push({
      filter: 'prompt_slug',
      wanted: slug,
      found: prompt === undefined ? 'there is no such prompt' : 'its attributes do not name this prompt',
    });
  return found;
}
