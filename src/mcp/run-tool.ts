import { createTwoFilesPatch } from 'diff';
import { nearName } from '../engine/validation/near-name.js';
import { apiCall, askedOf, type ApiCall, type AskedCall } from '../http/api-calls.js';
import type { ProblemDetails } from '../http/errors.js';
import { TAG_FILTERS, UNKNOWN_FIELDS } from '../http/names-header.js';
import { objectIn, partOf, rowsIn, type ToolResult } from './result.js';
import { CHARACTERS_OF_TOKEN, inputSchemaOf, offeredParameters, TOKENS } from './tool-schema.js';
import type { Tool } from './tools.js';

/** What the API answers a call: JSON with headers, or a problem. */
export type ApiAnswer =
  | { readonly text: string; readonly headers: Readonly<Record<string, string>> }
  | { readonly problem: Pick<ProblemDetails, 'status' | 'detail' | 'errors'> };

/** Calls of the API with the key of whoever uses the tools. */
export interface ApiCaller {
  call(call: ApiCall, asked: AskedCall, body: unknown): Promise<ApiAnswer>;
}

/** A tool cannot answer; the message says why, and what to do. */
export class ToolError extends Error {}

type Arguments = Readonly<Record<string, unknown>>;

/** Runs a tool. @param projectId that of the key @throws ToolError */
export async function runTool(tool: Tool, given: Arguments, caller: ApiCaller, projectId: string): Promise<ToolResult> {
  requireKnown(tool, given);
  const characters = charactersFor(given);
  const values: Arguments = { ...tool.defaults, ...withoutAbsent(given), project_id: projectId };
  const call = apiCall(tool.call);
  const answer = async (more: Arguments = {}) =>
    answered(await caller.call(call, askedOf(call, { ...values, ...more }), values['body']));
  switch (tool.as) {
    case 'text': {
      const { value } = await answer({ max_characters: characters });
      return { notes: [], data: (value as { readonly text: string }).text };
    }
    case 'span':
      return spanResult((await answer()).value as Arguments, values, characters);
    case 'versions': {
      const [from, to] = await Promise.all([
        answer({ version: values['from'] }),
        answer({ version: values['to'] ?? null }),
      ]);
      return versionsResult(from.value as PromptVersion, to.value as PromptVersion, characters);
    }
    default:
      return callResult(await answer(), values, characters);
  }
}

/** Names that the tool does not have: tags are filtered by under `tags`. */
function requireKnown(tool: Tool, given: Arguments): void {
  const known = Object.keys(inputSchemaOf(tool).properties ?? {});
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    const near = nearName(unknown, known);
    throw new ToolError(
      `${tool.name} has no argument ${unknown}; ${near === null ? `it has: ${known.join(', ')}` : `did you mean ${near}?`}`,
    );
  }
  for (const { name, required, schema } of offeredParameters(tool)) {
    if (required && given[name] === undefined) throw new ToolError(`${tool.name} needs the argument ${name}.`);
    const isObject = typeof given[name] === 'object' && given[name] !== null && !Array.isArray(given[name]);
    if (schema.type === 'object' && given[name] !== undefined && !isObject)
      throw new ToolError(`${name} must be an object, such as {"user": "ada"}.`);
  }
}

function charactersFor({ max_tokens: asked }: Arguments): number {
  const tokens = typeof asked === 'number' && Number.isFinite(asked) ? asked : TOKENS.default;
  return Math.floor(Math.min(TOKENS.maximum, Math.max(TOKENS.minimum, tokens))) * CHARACTERS_OF_TOKEN;
}

function withoutAbsent(given: Arguments): Arguments {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined && value !== null));
}

interface Answered {
  readonly value: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

/** @throws ToolError for a problem */
function answered(answer: ApiAnswer): Answered {
  if ('problem' in answer) throw new ToolError(problemText(answer.problem));
  const headers = Object.entries(answer.headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return {
    value: answer.text === '' ? {} : (JSON.parse(answer.text) as unknown),
    headers: Object.fromEntries(headers),
  };
}

function problemText({
  status,
  detail,
  errors = [],
}: Extract<ApiAnswer, { readonly problem: unknown }>['problem']): string {
  const rules = errors.map(({ pointer, detail: rule }) => `${pointer.replace(/^\?|[{}]/g, '')} ${rule}`);
  const next =
    status === 404
      ? ' Find the id or name with a tool that lists or searches.'
      : status === 429 || status === 503
        ? ' Try again in a moment.'
        : '';
  return `${rules.length === 0 ? detail : rules.join('; ')}${next}`;
}

function callResult({ value, headers }: Answered, values: Arguments, characters: number): ToolResult {
  const total = headers['x-total-count'];
  const notes = [
    ...(headers[TAG_FILTERS.toLowerCase()] === undefined
      ? []
      : [`Taken as filters by tag: ${headers[TAG_FILTERS.toLowerCase()] ?? ''}.`]),
    ...(headers[UNKNOWN_FIELDS.toLowerCase()] === undefined
      ? []
      : [`Unknown, and ignored: ${headers[UNKNOWN_FIELDS.toLowerCase()] ?? ''}.`]),
  ];
  const rows = listIn(value);
  if (rows === null) {
    const { notes: cut, data } = objectIn(value, characters);
    return { notes: [...notes, ...cut], data };
  }
  const { notes: cut, data, shown } = rowsIn(rows, characters);
  const { next_offset: next } = value as { readonly next_offset?: number | null };
  const page = { rows: rows.length, shown, next, total };
  return { notes: [...notes, pageNote(page, values), ...cut], data };
}

/** The rows of an answer by pages; null: it is something else. */
function listIn(value: unknown): readonly unknown[] | null {
  if (Array.isArray(value)) return value as readonly unknown[];
  const members = Object.values(value as Readonly<Record<string, unknown>>);
  const isPage = 'limit' in (value as object) && 'offset' in (value as object);
  const lists = members.filter((member): member is readonly unknown[] => Array.isArray(member));
  return isPage && lists.length === 1 ? (lists[0] ?? null) : null;
}

interface PageShown {
  readonly rows: number;
  readonly shown: number;
  /** Where the next page begins; null: there is none; undefined: the call does not say. */
  readonly next: number | null | undefined;
  readonly total: string | undefined;
}

function pageNote({ rows, shown, next, total }: PageShown, { limit, offset }: Arguments): string {
  const from = typeof offset === 'number' ? offset : 0;
  const known = total === undefined ? '' : ` of ${total}`;
  const isEnd = next === undefined ? typeof limit !== 'number' || rows < limit : next === null;
  if (shown === rows && isEnd) return `${shown} rows${known}; there are no more.`;
  return `${shown} rows${known}. For more, use offset=${shown === rows ? (next ?? from + shown) : from + shown}.`;
}

function spanResult(span: Arguments, { field, offset }: Arguments, characters: number): ToolResult {
  if (field === undefined) {
    const { notes, data } = objectIn(span, characters);
    return {
      notes: notes.length === 0 ? [] : [...notes, 'With field and offset, this tool reads a field whole.'],
      data,
    };
  }
  if (typeof field !== 'string' || !Object.hasOwn(span, field))
    throw new ToolError(`field must be one of ${Object.keys(span).join(', ')}`);
  const value = span[field];
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? null);
  const from = typeof offset === 'number' && Number.isSafeInteger(offset) && offset > 0 ? offset : 0;
  return partOf(text, from, characters);
}

interface PromptVersion {
  readonly version: number;
  readonly content: string;
  readonly messages?: readonly unknown[];
  readonly config?: object;
}

/** How long versions are compared, in the one thread of the server, and how many lines around a change are shown. */
const DIFF = { context: 3, timeout: 50 };
const MAX_COMPARED = 400_000;

function versionsResult(from: PromptVersion, to: PromptVersion, characters: number): ToolResult {
  const [before, after] = [written(from), written(to)];
  const names = [`version ${from.version}`, `version ${to.version}`] as const;
  const patch =
    before.length + after.length > MAX_COMPARED
      ? undefined
      : createTwoFilesPatch(...names, before, after, '', '', DIFF);
  if (patch === undefined) throw new ToolError('The versions are too large to compare: read each with read_prompt.');
  const { notes, data } = partOf(patch, 0, characters);
  const isWhole = patch.length <= characters;
  return { notes: isWhole ? [] : [...notes, 'Raise max_tokens, or read each version with read_prompt.'], data };
}

/** Everything of a version that a change may concern, as lines. */
function written({ content, messages, config }: PromptVersion): string {
  const more = [messages, config].filter((part) => part !== undefined && Object.keys(part).length > 0);
  return [content, ...more.map((part) => JSON.stringify(part, null, 2)), ''].join('\n');
}
