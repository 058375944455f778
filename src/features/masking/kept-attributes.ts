import { OWN_CALL_TAGS } from '../../engine/schema/own-calls.js';
import { UUID } from '../../engine/schema/ids.js';
import { SLUG } from '../../engine/schema/slug.js';
import { MARK_ATTRIBUTES, MARK_PARENTS } from '../../engine/traces/model/experiment/mark.js';
import { STAMPS } from '../../engine/traces/model/partial/stamps.js';
import { KEEP_TAG } from '../../engine/traces/model/retention/keep-tag.js';
import { PROMPT_PATHS, VERSION_NUMBER_PATHS, VERSION_PATHS } from '../../engine/traces/model/span/prompt-attributes.js';
import { USAGE_ATTRIBUTES } from '../../engine/traces/model/span/usage.js';

/*
 * What no rule changes: what says of a span which call it is and what it cost, which prompt it used, which experiment it belongs to,
 * and how long it is kept. Figures are the same, whatever is masked.
 */

const paths = [...PROMPT_PATHS, ...VERSION_PATHS, ...VERSION_NUMBER_PATHS];
/** Where a span names its prompt. Of anything else that stands there, texts are masked. */
const PROMPTS: ReadonlySet<string> = new Set(paths.flatMap(({ parent, name }) => (parent === null ? [name] : [])));
const MEMBERS = new Map<string, Set<string>>();
for (const { parent, name } of paths)
  if (parent !== null) MEMBERS.set(parent, (MEMBERS.get(parent) ?? new Set()).add(name));

/** Attributes that no rule changes, whatever they say. */
export const KEPT_ATTRIBUTES: ReadonlySet<string> = new Set<string>([...USAGE_ATTRIBUTES, STAMPS]);

/** Tags that no rule changes. */
export const KEPT_TAGS: ReadonlySet<string> = new Set<string>([KEEP_TAG, ...OWN_CALL_TAGS]);

/** Whether no rule changes an attribute. @param parent the attribute that it is a member of, by its dotted name */
export function isKept(parent: string | null, name: string, value: unknown): boolean {
  if (parent === null)
    return KEPT_ATTRIBUTES.has(name) || isMark(name, value) || (PROMPTS.has(name) && namesPrompt(value));
  if (isMark(`${parent}.${name}`, value)) return true;
  return MEMBERS.get(parent)?.has(name) === true && namesPrompt(value);
}

/** The dotted name of an attribute among whose members some may be kept; undefined: it has none. */
export function keptWithin(parent: string | null, name: string): string | undefined {
  const path = parent === null ? name : `${parent}.${name}`;
  return MEMBERS.has(path) || MARK_PARENTS.has(path) ? path : undefined;
}

/** Whether an attribute says which result of an experiment a span is. Objects say nothing. */
function isMark(path: string, value: unknown): boolean {
  return MARK_ATTRIBUTES.has(path) && typeof value !== 'object';
}

function namesPrompt(value: unknown): boolean {
  return typeof value === 'string' && (SLUG.test(value) || UUID.test(value.toLowerCase()) || /^\d{1,15}$/.test(value));
}
