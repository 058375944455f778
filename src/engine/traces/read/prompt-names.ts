import type { PromptIdentity } from '../model/prompts/completion.js';
import { PROMPT_PATHS, VERSION_PATHS, type AttributePath } from '../model/span/prompt-attributes.js';
import { join, literal, sql, value, type Sql } from '../clickhouse/client/sql.js';

/*
 * By what spans name prompts, as `isCompletionOf` says. Attributes that hold half of a surrogate pair name
 * nothing here: ClickHouse cannot read them.
 */

/** The most prompt versions that one statement names; with more, the ids that spans name are looked up by the caller. */
const MAX_NAMED_VERSIONS = 300;

/** Whether a span names the prompt itself, by slug or id. */
export function namesPrompt({ slug, id }: PromptIdentity): Sql {
  return sql`(hasAny([${texts(PROMPT_PATHS)}], [${value(slug, 'String')}]) OR hasAny(arrayMap(x -> lower(x), [${texts(PROMPT_PATHS)}]), [${value(id, 'String')}]))`;
}

/** Ids of prompt versions that a span names, as `versionsNamedIn` says. */
export const VERSIONS_NAMED = sql`arrayFilter(x -> x != '', arrayMap(x -> lower(x), [${texts(VERSION_PATHS)}]))`;

/** Whether a statement names each version of the prompt, so that {@link mayNameVersion} is sure. */
export function isSure({ versions }: PromptIdentity): boolean {
  return versions.size <= MAX_NAMED_VERSIONS;
}

/** Whether a span names a version of the prompt; where there are too many to tell, whether it names any version. */
export function mayNameVersion(prompt: PromptIdentity): Sql {
  return isSure(prompt) ? sql`hasAny(${VERSIONS_NAMED}, ${versionsOf(prompt).ids})` : sql`notEmpty(${VERSIONS_NAMED})`;
}

/** Whether a span may name the prompt: cheap, and false for most, whose attributes then need not be read as JSON. */
export function mayName({ slug, id }: PromptIdentity): Sql {
  return sql`(position(attributes, ${value(slug, 'String')}) > 0 OR positionCaseInsensitive(attributes, ${value(id, 'String')}) > 0
  OR position(attributes, 'prompt_version_id') > 0)`;
}

/** Whether a span is a completion of the prompt, each of whose versions is named: a few thousand at most. */
export function completionOf(prompt: PromptIdentity): Sql {
  return sql`${mayName(prompt)} AND (${namesPrompt(prompt)} OR hasAny(${VERSIONS_NAMED}, ${versionsOf(prompt).ids}))`;
}

/**
 * The number of the prompt's version by which a span names it, as its columns have it, whether there is such a version or
 * not; 0: none. Lists show and filter by the same columns.
 */
export function numberNamed({ slug, id }: PromptIdentity): Sql {
  const ofPrompt = sql`(prompt_slug = ${value(slug, 'String')} OR lower(prompt_slug) = ${value(id, 'String')})`;
  return sql`if(${ofPrompt}, ifNull(prompt_version, 0), 0)`;
}

/**
 * The id of the version of the prompt that a span names: the first by its id, else the one by its number; empty: it names
 * none of them.
 */
export function versionNamed(prompt: PromptIdentity): Sql {
  const { ids, numbers } = versionsOf(prompt);
  const byId = sql`arrayFirst(x -> has(${ids}, x), ${VERSIONS_NAMED})`;
  return sql`ifNull(nullIf(${byId}, ''), transform(${numberNamed(prompt)}, ${numbers}, ${ids}, ''))`;
}

/** The versions of a prompt, made once: each list is one parameter of a statement, wherever it stands in it. */
const versions = new WeakMap<PromptIdentity, { readonly ids: Sql; readonly numbers: Sql }>();

function versionsOf(prompt: PromptIdentity) {
  const known = versions.get(prompt) ?? {
    ids: sql`${value([...prompt.versions.keys()], 'Array(String)')}`,
    numbers: sql`${value([...prompt.versions.values()], 'Array(UInt64)')}`,
  };
  versions.set(prompt, known);
  return known;
}

function texts(paths: readonly AttributePath[]): Sql {
  return join(
    paths.map(({ parent, name }) => {
      const path = [...(parent === null ? [] : [parent]), name].map(literal);
      return sql`JSONExtractString(attributes, ${join(path, ', ')})`;
    }),
    ', ',
  );
}
