import { DomainError } from '../../../errors.js';
import { PROMPT_PATHS, textsAt, VERSION_PATHS } from '../span/prompt-attributes.js';

/** Everything that a span may name a prompt by. */
export interface PromptIdentity {
  /** Lower-case UUID. */
  readonly id: string;
  readonly slug: string;
  /** Numbers of all versions of the prompt, by their ids in lower case. */
  readonly versions: ReadonlyMap<string, number>;
}

/** Most versions of a prompt that one statement can tell apart. */
const MAX_TOLD_APART = 5_000;

/** Whether one statement can tell apart the completions of a prompt. */
export function isCountable({ versions }: PromptIdentity): boolean {
  return versions.size <= MAX_TOLD_APART;
}

/** @throws DomainError `conflict` for a prompt whose completions cannot be counted */
export function requireCountable(prompt: PromptIdentity): void {
  if (!isCountable(prompt))
    throw new DomainError(
      'conflict',
      `The prompt has more than ${MAX_TOLD_APART} versions: completions cannot be assigned to versions`,
    );
}

/** Whether a span with these attributes is a completion of the prompt. Ids match in either case, slugs exactly. */
export function isCompletionOf(attributes: Readonly<Record<string, unknown>>, prompt: PromptIdentity): boolean {
  return (
    textsAt(attributes, PROMPT_PATHS).some((text) => text === prompt.slug || text.toLowerCase() === prompt.id) ||
    versionsNamedIn(attributes).some((version) => prompt.versions.has(version))
  );
}

/** Ids of prompt versions that attributes name, lower case, in the order of {@link VERSION_PATHS}. */
export function versionsNamedIn(attributes: Readonly<Record<string, unknown>>): string[] {
  return textsAt(attributes, VERSION_PATHS).map((text) => text.toLowerCase());
}

/** Finds prompts with all that they may be named by. Each throws DomainError `unavailable`. */
export interface PromptIdentities {
  /** The prompt's id alone, for callers that need no versions. */
  idOf(projectId: string, slug: string): string | undefined;
  ofSlug(projectId: string, slug: string): PromptIdentity | undefined;
  ofId(projectId: string, id: string): PromptIdentity | undefined;
}
