import { LONGEST_FILTER_VALUE, MAX_FILTERS, type JudgeFilters } from '../model/judged/filters.js';
import { OWN_CALL_TAGS } from '../../schema/own-calls.js';
import { MAX_TAG_KEY } from '../../schema/inputs.js';
import type { SpanTraits } from '../model/judged/span-reader.js';
import type { WholeFilters } from '../model/judged/whole-reader.js';
import { PROMPT_PATHS, VERSION_PATHS, type AttributePath } from '../model/span/prompt-attributes.js';
import { versionTime } from '../write/version-clock.js';
import { join, literal, sql, value, type Sql } from '../clickhouse/client/sql.js';
import { completionOf } from '../read/prompt-names.js';
import { inProject } from '../read/scope.js';
import { isOwnCall, tagged } from '../read/tags.js';
import { written } from '../read/visibility.js';

/** Conditions by which a span is finished, or has content, without reading its texts. */
const FINISHED = sql`(NOT ended_at.null OR NOT duration_ms.null OR NOT no_output OR has_error)`;
const HAS_CONTENT = sql`(NOT input_bytes.null OR NOT no_output)`;

const PATHS: readonly AttributePath[] = [...PROMPT_PATHS, ...VERSION_PATHS];
const PATH_ENDS = [...new Set(PATHS.map(({ name }) => name.slice(name.lastIndexOf('.') + 1)))];

/** Leaves out spans that no judge evaluates by itself: unfinished ones, empty ones, calls of the server itself. */
export const JUDGEABLE = sql`${FINISHED} AND ${HAS_CONTENT} AND NOT ${isOwnCall}`;

/** A judge's filters as conditions; for a prompt, only that attributes may name one, so that others need no parsing. */
export function filterConditions({ kinds, names, tags, prompt_slug, experiment_id = null }: JudgeFilters): Sql[] {
  return [
    experiment_id === null ? sql`isNull(experiment_id)` : sql`experiment_id = ${value(experiment_id, 'UUID')}`,
    ...(kinds.length === 0 ? [] : [sql`kind IN ${value(kinds, 'Array(String)')}`]),
    ...(names.length === 0 ? [] : [sql`name IN ${value(names, 'Array(String)')}`]),
    ...Object.entries(tags).map(([key, wanted]) => tagged(key, [wanted])),
    ...(prompt_slug === null ? [] : [sql`multiSearchAny(attributes, [${join(PATH_ENDS.map(literal), ', ')}])`]),
  ];
}

/** Conditions by which spans of a project are judgeable and match filters, also those by a prompt. */
export function matches(projectId: string, { filters, prompt }: WholeFilters): Sql[] {
  return [
    inProject(projectId),
    JUDGEABLE,
    ...filterConditions(filters),
    ...(prompt === null ? [] : [completionOf(prompt)]),
  ];
}

/** What is wrong where filters are not bounded, and have to be. */
export const TOO_LONG = {
  pointer: '/filters',
  detail: `must have at most ${MAX_FILTERS} characters in total for a search by them`,
};
/**
 * The largest tag that is read, in bytes of key and value together; a character of either takes up to four. Larger ones
 * match no filter, and a span may have many megabytes of them.
 */
const LARGEST_TAG = 4 * (MAX_TAG_KEY + LONGEST_FILTER_VALUE);
/** The most characters of an attribute that may name a prompt: longer values name none. */
const LONGEST_PROMPT_TEXT = 1_000;

/** Which tags of a span are wanted. */
export type WantedTags =
  /** Tags that one of these filters asks for, and those by which calls of the server itself are known. */
  | { readonly askedBy: readonly JudgeFilters[] }
  /** All tags, unless they take more bytes together: then none. */
  | { readonly upTo: number };

function wantedTags(wanted: WantedTags): Sql {
  const isSmall = sql`length(tag) + length(said) <= ${value(LARGEST_TAG, 'UInt64')}`;
  if ('upTo' in wanted) {
    const size = (parts: Sql) => sql`arraySum(arrayMap(part -> length(part), ${parts}))`;
    const fits = sql`${size(sql`mapKeys(tags)`)} + ${size(sql`mapValues(tags)`)} <= ${value(wanted.upTo, 'UInt64')}`;
    return sql`mapFilter((tag, said) -> ${isSmall} AND ${fits}, tags)`;
  }
  const keys = [...new Set([...OWN_CALL_TAGS, ...wanted.askedBy.flatMap(({ tags }) => Object.keys(tags))])];
  const isAsked = keys.join('').length <= MAX_FILTERS ? sql`has(${value(keys, 'Array(String)')}, tag)` : sql`1`;
  return sql`mapFilter((tag, said) -> ${isSmall} AND ${isAsked}, tags)`;
}

/** The columns of `TraitRow`. @param withPrompt whether attributes that may name a prompt are wanted */
export function traitColumns(withPrompt: boolean, tags: WantedTags): Sql {
  return sql`project_id AS project, toString(id) AS span, toString(trace_id) AS trace, name, kind, toString(experiment_id) AS experiment, experiment_row,
  ${wantedTags(tags)} AS wanted_tags,
  toString(toUnixTimestamp64Micro(started_at)) AS started, toString(${written}) AS version,
  ${FINISHED} AS is_finished, ${HAS_CONTENT} AS with_content, ${withPrompt ? promptTexts : sql`CAST([], 'Array(String)')`} AS prompt_texts`;
}

/** The trace that a result names whose output it shows, as it has none of its own; null: none. */
export const namedTrace = sql`if(experiment_row != '' AND no_output AND NOT has_error AND experiment_trace != trace_id, toString(experiment_trace), NULL)`;

const promptTexts = sql`[${join(PATHS.map(extract), ', ')}]`;

function extract({ parent, name }: AttributePath): Sql {
  const path = parent === null ? literal(name) : sql`${literal(parent)}, ${literal(name)}`;
  return sql`leftUTF8(JSONExtractString(attributes, ${path}), ${value(LONGEST_PROMPT_TEXT, 'UInt64')})`;
}

export interface TraitRow {
  readonly project: string;
  readonly span: string;
  readonly trace: string;
  readonly name: string;
  readonly kind: string;
  readonly experiment: string | null;
  /** Empty: none. */
  readonly experiment_row: string;
  readonly wanted_tags: Readonly<Record<string, string>>;
  readonly started: string;
  readonly version: string;
  readonly is_finished: number;
  readonly with_content: number;
  /** Texts of attributes that may name a prompt, by path; empty where there is none. */
  readonly prompt_texts: readonly string[];
}

export function toTraits(row: TraitRow): SpanTraits {
  return {
    id: row.span,
    trace_id: row.trace,
    name: row.name,
    kind: row.kind,
    started_at: Number(row.started),
    arrived_at: versionTime(Number(row.version)),
    tags: row.wanted_tags,
    experiment_id: row.experiment,
    row_id: row.experiment_row === '' ? null : row.experiment_row,
    attributes: attributesOf(row.prompt_texts),
    finished: Boolean(row.is_finished),
    has_content: Boolean(row.with_content),
  };
}

function attributesOf(texts: readonly string[]): Record<string, unknown> {
  const attributes: Record<string, unknown> = {};
  for (const [index, { parent, name }] of PATHS.entries()) {
    const text = texts[index] ?? '';
    if (text === '') continue;
    if (parent === null) attributes[name] = text;
    else attributes[parent] = { ...(attributes[parent] as object | undefined), [name]: text };
  }
  return attributes;
}
