import { UUID } from '../../../schema/ids.js';
import { SLUG } from '../../../schema/slug.js';
import type { SpanCall } from '../list/fields.js';
import { firstTextAt, numberAt, PROMPT_PATHS, VERSION_NUMBER_PATHS, VERSION_PATHS } from './prompt-attributes.js';

/** The prompt that a span was answered with, as fields of the span. */
export type NamedPrompt = Pick<SpanCall, 'prompt_slug' | 'prompt_version' | 'prompt_version_id'>;

/** Finds what the ids in spans stand for. Each throws DomainError `unavailable`. */
export interface PromptNames {
  /** The slug and the number of a version of the project's. @param id lower-case UUID */
  versionNamed(projectId: string, id: string): { readonly slug: string; readonly version: number } | undefined;
  /** The slug of a prompt of the project's. @param id lower-case UUID */
  slugNamed(projectId: string, id: string): string | undefined;
}

const isSlug = (text: string) => SLUG.test(text);
const isId = (text: string) => UUID.test(text.toLowerCase());

/**
 * The prompt that attributes name; null: none. What a version's id says comes first: clients that send it got it with the
 * prompt. Else it is the first of {@link PROMPT_PATHS} that can be one's slug, whether there is such a prompt yet or not.
 */
export function promptNamedIn(
  attributes: Readonly<Record<string, unknown>>,
  projectId: string,
  prompts: PromptNames,
): NamedPrompt | null {
  const id = firstTextAt(attributes, VERSION_PATHS, isId)?.toLowerCase() ?? null;
  const known = id === null ? undefined : prompts.versionNamed(projectId, id);
  if (known !== undefined) return { prompt_slug: known.slug, prompt_version: known.version, prompt_version_id: id };
  const text = firstTextAt(attributes, PROMPT_PATHS, isSlug);
  if (text === undefined)
    return id === null ? null : { prompt_slug: null, prompt_version: null, prompt_version_id: id };
  const slug = isId(text) ? prompts.slugNamed(projectId, text.toLowerCase()) : undefined;
  return {
    prompt_slug: slug ?? text,
    prompt_version: numberAt(attributes, VERSION_NUMBER_PATHS),
    prompt_version_id: id,
  };
}
