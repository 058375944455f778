import type { PromptIdentity } from '../../../domain/prompt/completion.js';
import { PROMPT_PATHS, VERSION_PATHS, type AttributePath } from '../../../domain/span/prompt-attributes.js';
import { join, literal, sql, value, type Sql } from '../client/sql.js';

/*
 * By what spans name prompts, as `isCompletionOf` of the domain says. Attributes that hold half of a surrogate pair name
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
export function isSure({ version_ids }: PromptIdentity): boolean {
  return version_ids.size <= MAX_NAMED_VERSIONS;
}

/** Whether a span names a version of the prompt; where there are too many to tell, whether it names any version. */
export function mayNameVersion(prompt: PromptIdentity): Sql {
  return isSure(prompt) ? sql`hasAny(${VERSIONS_NAMED}, ${idsOf(prompt)})` : sql`notEmpty(${VERSIONS_NAMED})`;
}

/** Whether a span may name the prompt: cheap, and false for most, whose attributes then need not be read as JSON. */
export function mayName({ slug, id }: PromptIdentity): Sql {
  return sql`(position(attributes, ${value(slug, 'String')}) > 0 OR positionCaseInsensitive(attributes, ${value(id, 'String')}) > 0
  OR position(attributes, 'prompt_version_id') > 0)`;
}

/** Whether a span is a completion of the prompt, each of whose versions is named: a few thousand at most. */
export function completionOf(prompt: PromptIdentity): Sql {
  return sql`${mayName(prompt)} AND (${namesPrompt(prompt)} OR hasAny(${VERSIONS_NAMED}, ${idsOf(prompt)}))`;
}

/** The id of the first version of the prompt that a span names; empty: it names none of them. */
export function versionNamed(prompt: PromptIdentity): Sql {
  return sql`arrayFirst(x -> has(${idsOf(prompt)}, x), ${VERSIONS_NAMED})`;
}

/** The ids of a prompt's versions, made once: they are one parameter of a statement, wherever they stand in it. */
const versionIds = new WeakMap<PromptIdentity, Sql>();

function idsOf(prompt: PromptIdentity): Sql {
  const known = versionIds.get(prompt) ?? sql`${value([...prompt.version_ids], 'Array(String)')}`;
  versionIds.set(prompt, known);
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
