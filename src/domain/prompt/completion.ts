/**
 * Tells which spans are completions of a prompt. Clients name the prompt in a span's attributes, under several names and
 * either as an object `zeroeval` or, as OpenTelemetry does, with dotted names.
 */

/** Everything that a span may name a prompt by. */
export interface PromptIdentity {
  /** Lower-case UUID. */
  readonly id: string;
  readonly slug: string;
  /** Ids of all versions of the prompt, lower case. */
  readonly version_ids: ReadonlySet<string>;
}

/** A place in attributes: the name, and the name of the object it lies in, if any. */
export interface AttributePath {
  readonly parent: string | null;
  readonly name: string;
}

const VENDOR = 'zeroeval';
const plain = (name: string): AttributePath => ({ parent: null, name });
const ofVendor = (name: string): AttributePath[] => [{ parent: VENDOR, name }, plain(`${VENDOR}.${name}`)];

/** Attributes that may hold the slug or the id of a prompt. */
export const PROMPT_PATHS: readonly AttributePath[] = [
  ...ofVendor('prompt_slug'),
  ...ofVendor('task'),
  plain('task'),
  plain('prompt_slug'),
];

/** Attributes that may hold the id of one of a prompt's versions. */
export const VERSION_PATHS: readonly AttributePath[] = [...ofVendor('prompt_version_id'), plain('prompt_version_id')];

/** Whether a span with these attributes is a completion of the prompt. Ids match in either case, slugs exactly. */
export function isCompletionOf(attributes: Readonly<Record<string, unknown>>, prompt: PromptIdentity): boolean {
  return (
    textsAt(attributes, PROMPT_PATHS).some((text) => text === prompt.slug || text.toLowerCase() === prompt.id) ||
    versionsNamedIn(attributes).some((version) => prompt.version_ids.has(version))
  );
}

/** Ids of prompt versions that attributes name, lower case, in the order of {@link VERSION_PATHS}. */
export function versionsNamedIn(attributes: Readonly<Record<string, unknown>>): string[] {
  return textsAt(attributes, VERSION_PATHS).map((text) => text.toLowerCase());
}

function textsAt(attributes: Readonly<Record<string, unknown>>, paths: readonly AttributePath[]): string[] {
  return paths.flatMap(({ parent, name }) => {
    const holder = parent === null ? attributes : attributes[parent];
    if (typeof holder !== 'object' || holder === null || Array.isArray(holder)) return [];
    const found = (holder as Readonly<Record<string, unknown>>)[name];
    return typeof found === 'string' ? [found] : [];
  });
}

/** Finds prompts with all that they may be named by. Each throws DomainError `unavailable`. */
export interface PromptIdentities {
  /** The prompt's id alone, for callers that need no versions. */
  idOf(projectId: string, slug: string): string | undefined;
  ofSlug(projectId: string, slug: string): PromptIdentity | undefined;
  ofId(projectId: string, id: string): PromptIdentity | undefined;
  /** Numbers of a prompt's versions by their ids. */
  versionNumbers(promptId: string): ReadonlyMap<string, number>;
}
