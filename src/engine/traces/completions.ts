import { isCompletionOf, versionsNamedIn, type PromptIdentity } from './model/prompts/completion.js';
import {
  MAX_LISTED_TEXT,
  type Completion,
  type Completions,
  type RecordedCompletion,
} from './model/prompts/completion-store.js';
import type { ClickHouseClient } from './clickhouse/client/client.js';
import { excerpt } from './read/excerpt.js';
import { isSure, mayName, mayNameVersion, namesPrompt, numberNamed, VERSIONS_NAMED } from './read/prompt-names.js';
import { inProject, type ReadScope } from './read/scope.js';
import { beyond } from './read/times.js';
import { current } from './read/visibility.js';
import type { ReadsInProgress } from './read/reads-in-progress.js';
import { openReader, type ReadLimits, type ReadRows } from './read/row-reader.js';
import { sql, value, type Sql } from './clickhouse/client/sql.js';

/** Rows that one statement reads when some may turn out to be no completions. */
const CANDIDATES = 500;
const MAX_STATEMENTS = 20;

interface Candidate {
  readonly span: string;
  readonly trace: string;
  /** Microseconds. */
  readonly started: string;
  /** Whether the span names the prompt itself. */
  readonly named: 0 | 1;
  /** Ids of prompt versions that the span names. */
  readonly versions: readonly string[];
  /** Attributes that ClickHouse cannot read, since they hold half of a surrogate pair; else empty. */
  readonly unread: string;
}

/** The longest search: a prompt without completions would have every span looked at, and what takes longer to find is old. */
const SEARCH_SECONDS = 5;

const PARTIAL = { max_execution_time: SEARCH_SECONDS, timeout_overflow_mode: 'break' } as const;

/** Completions of prompts, found by what spans' attributes name. */
export class ClickHouseCompletions implements Completions {
  readonly #rows: ReadRows;
  readonly #reads: ReadsInProgress;

  constructor(client: ClickHouseClient, reads: ReadsInProgress, limits: ReadLimits) {
    this.#rows = openReader(client, limits).rows;
    this.#reads = reads;
  }

  newest(projectId: string, prompt: PromptIdentity, limit: number, signal?: AbortSignal): Promise<string[]> {
    return this.#reads.run(projectId, (upTo) => this.#newest({ projectId, upTo }, prompt, limit, signal));
  }

  async #newest(read: ReadScope, prompt: PromptIdentity, limit: number, signal?: AbortSignal): Promise<string[]> {
    const found = new Set<string>();
    const atOnce = isSure(prompt) ? limit : CANDIDATES;
    let last: Candidate | undefined;
    for (let statements = 0; statements < MAX_STATEMENTS; statements += 1) {
      const page: Candidate[] = await this.#rows(candidates(read, prompt, last, atOnce), {
        signal,
        settings: PARTIAL,
      });
      for (const candidate of page) if (isCompletion(candidate, prompt)) found.add(candidate.span);
      last = page.at(-1);
      if (found.size >= limit || page.length < atOnce) break;
    }
    return [...found].slice(0, limit);
  }

  async find(
    projectId: string,
    prompt: PromptIdentity | null,
    id: string,
    signal?: AbortSignal,
  ): Promise<Completion | undefined> {
    const rows = await this.#reads.run(projectId, (upTo) =>
      this.#rows<Omit<Completion, 'started_at' | 'attributes'> & { started: string; json: string }>(
        sql`SELECT toString(s.id) AS id, name, toString(toUnixTimestamp64Micro(started_at)) AS started, input_data, output_data,
  attributes AS json
FROM spans AS s WHERE ${inProject(projectId)} AND s.id = ${value(id, 'UUID')} AND ${current({ projectId, upTo })}
ORDER BY started_at DESC, trace_id DESC`,
        { signal },
      ),
    );
    return rows
      .map(({ started, json, ...span }): Completion => ({
        ...span,
        started_at: Number(started),
        attributes: JSON.parse(json) as Completion['attributes'],
      }))
      .find(({ attributes }) => prompt === null || isCompletionOf(attributes, prompt));
  }

  async versionsNamed(
    projectId: string,
    prompt: PromptIdentity,
    ids: readonly string[],
    signal?: AbortSignal,
  ): Promise<Map<string, number>> {
    const rows = await this.#reads.run(projectId, (upTo) =>
      this.#rows<NamedVersions>(
        sql`SELECT toString(id) AS span, ${VERSIONS_NAMED} AS versions, toString(${numberNamed(prompt)}) AS number, ${UNREAD} AS unread
${newestOf({ projectId, upTo }, ids)}`,
        { signal },
      ),
    );
    const numbers = new Set(prompt.versions.values());
    const named = bySpan(rows, ({ versions, number, unread }) => {
      const ids = unread === '' ? versions : versionsNamedIn(JSON.parse(unread) as Completion['attributes']);
      const known = ids.map((id) => prompt.versions.get(id)).find((each) => each !== undefined);
      return known ?? (numbers.has(Number(number)) ? Number(number) : undefined);
    });
    return new Map([...named].flatMap(([span, version]) => (version === undefined ? [] : [[span, version] as const])));
  }

  async stored(projectId: string, ids: readonly string[], signal?: AbortSignal): Promise<string[]> {
    const rows = await this.#reads.run(projectId, (upTo) =>
      this.#rows<{ span: string }>(
        sql`SELECT toString(id) AS span ${newestOf({ projectId, upTo }, ids)} LIMIT 1 BY id`,
        {
          signal,
        },
      ),
    );
    const there = new Set(rows.map(({ span }) => span));
    return ids.filter((id) => there.has(id));
  }

  async slugNamed(projectId: string, id: string, signal?: AbortSignal): Promise<string | null | undefined> {
    const [row] = await this.#reads.run(projectId, (upTo) =>
      this.#rows<{ slug: string }>(sql`SELECT prompt_slug AS slug ${newestOf({ projectId, upTo }, [id])} LIMIT 1`, {
        signal,
      }),
    );
    return row === undefined ? undefined : row.slug === '' ? null : row.slug;
  }

  async recorded(
    projectId: string,
    ids: readonly string[],
    signal?: AbortSignal,
  ): Promise<Map<string, RecordedCompletion>> {
    const rows = await this.#reads.run(projectId, (upTo) =>
      this.#rows<RecordedRow>(
        sql`SELECT toString(id) AS span, toString(s.trace_id) AS trace_id, name, toString(toUnixTimestamp64Micro(started_at)) AS started,
  ${excerpt(sql`s.input_data`, MAX_LISTED_TEXT)} AS input_data, ${excerpt(sql`s.output_data`, MAX_LISTED_TEXT)} AS output_data
${newestOf({ projectId, upTo }, ids)}`,
        { signal },
      ),
    );
    return bySpan(rows, ({ span: _span, started, ...completion }) => ({ ...completion, started_at: Number(started) }));
  }
}

interface NamedVersions extends Pick<Candidate, 'span' | 'versions' | 'unread'> {
  /** Of the version that the span names by number. */
  readonly number: string;
}

interface RecordedRow extends Omit<RecordedCompletion, 'started_at'> {
  readonly span: string;
  readonly started: string;
}

/** Some spans, the newest of each id first. */
function newestOf(read: ReadScope, ids: readonly string[]): Sql {
  return sql`FROM spans AS s WHERE ${inProject(read.projectId)} AND s.id IN ${value(ids, 'Array(UUID)')} AND ${current(read)} ORDER BY ver DESC`;
}

/** The first row of each span. */
function bySpan<R extends { readonly span: string }, T>(rows: readonly R[], to: (row: R) => T): Map<string, T> {
  const found = new Map<string, T>();
  for (const row of rows) if (!found.has(row.span)) found.set(row.span, to(row));
  return found;
}

function isCompletion({ named, versions, unread }: Candidate, prompt: PromptIdentity): boolean {
  if (unread !== '') return isCompletionOf(JSON.parse(unread) as Completion['attributes'], prompt);
  return named === 1 || versions.some((version) => prompt.versions.has(version));
}

const UNREAD = sql`if(isValidJSON(attributes), '', attributes)`;

/** Spans that may be completions, in the order of the table's own key, so that reading stops with the page. */
function candidates(read: ReadScope, prompt: PromptIdentity, last: Candidate | undefined, limit: number): Sql {
  const named = namesPrompt(prompt);
  return sql`SELECT toString(id) AS span, toString(trace_id) AS trace, toString(toUnixTimestamp64Micro(started_at)) AS started,
  toUInt8(${named}) AS named, ${VERSIONS_NAMED} AS versions, ${UNREAD} AS unread
FROM spans
WHERE ${inProject(read.projectId)} AND ${mayName(prompt)} AND (${named} OR ${mayNameVersion(prompt)} OR NOT isValidJSON(attributes))${behind(last)} AND ${current(read)}
ORDER BY project_id DESC, started_at DESC, trace_id DESC, id DESC LIMIT ${value(limit, 'UInt64')}`;
}

function behind(last: Candidate | undefined): Sql {
  if (last === undefined) return sql``;
  return sql` AND ${beyond({ started_at: last.started, trace_id: last.trace, id: last.span }, true)}`;
}
