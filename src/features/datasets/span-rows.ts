import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { DomainError } from '../../engine/errors.js';
import type { Principal } from '../../engine/identity/identity.js';
import { spanList, type Filter } from '../../engine/traces/model/list/definitions.js';
import type { Lists, Page } from '../../engine/traces/model/list/lists.js';
import { defaultQuery, type ListQuery } from '../../engine/traces/model/list/query.js';
import type { DeletionScope, WorkUnderWay } from '../../engine/work/work-under-way.js';
import { withTurns } from '../../engine/work/portions.js';
import type { ExpectedOutputs } from '../feedback/expected-outputs.js';
import type { Dataset, DatasetVersion, NewRow } from './dataset.js';
import type { DatasetService } from './dataset-service.js';
import { MAX_ROW_BYTES } from './dataset.js';
import { contentHash } from './files/row-set.js';

/** Most spans of which rows are chosen, and made, with one request. */
export const MAX_CANDIDATES = 10_000;
/** Spans whose texts are read together. */
const AT_ONCE = 20;
/** Most bytes of the rows of one request. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Rows that a preview shows. */
const SHOWN = 5;
const BY_IDS: Filter = { parameter: 'ids', field: 'id', comparison: 'anyOf', description: 'Spans by their ids.' };

/** Where a column comes from: a field of the span, one of its attributes or tags, or what a person expected. */
export const EXPECTED_OUTPUT = 'feedback.expected_output';
const MEMBER = /^(attributes|tags)\.(.+)$/;

export interface SpanRowsRequest {
  /** The spans to choose from; null: only those named. */
  readonly query: ListQuery | null;
  readonly spanIds: readonly string[];
  /** Source by column. */
  readonly mapping: Readonly<Record<string, string>>;
  /** How many spans to take; null: all. */
  readonly sample: number | null;
  /** The same seed chooses the same spans. */
  readonly seed: string;
  /** A field of spans: of each value, as large a share is taken; null: no matter. */
  readonly stratifyBy: string | null;
  /** Whether rows that are there are replaced. */
  readonly overwrite: boolean;
  readonly dryRun: boolean;
  readonly message: string;
}

export interface SpanRowsOutcome {
  /** Spans that the query finds. */
  readonly matched: number;
  /** Rows that were chosen. */
  readonly rows: number;
  /** Spans that give no row, as each of their columns would be empty. */
  readonly empty: number;
  /** Rows with the content of another one. */
  readonly duplicates: number;
  /** Rows that the dataset has already. */
  readonly existing: number;
  /** Rows beyond the limit of one. */
  readonly too_large: number;
  /** The first rows, as JSON. */
  readonly preview: readonly string[];
  /** Null after a preview, and where nothing was added. */
  readonly version: DatasetVersion | null;
}

type SpanRow = Readonly<Record<string, unknown>> & { readonly id: string; readonly trace_id: string };

export interface SpanRowsParts {
  readonly datasets: Pick<DatasetService, 'find' | 'merge' | 'holds'>;
  readonly lists: Pick<Lists, 'spans'>;
  readonly expected: ExpectedOutputs;
  /** The number of the deletion that was ordered last. */
  readonly lastDeletion: () => number;
}

/** A call in progress. */
interface Adding {
  readonly projectId: string;
  readonly controller: AbortController;
  readonly done: Promise<unknown>;
}

/** Makes rows of datasets of spans. The row has the id of the span, so that a span is in a dataset once. */
export class SpanRows implements WorkUnderWay {
  readonly #parts: SpanRowsParts;
  readonly #adding = new Set<Adding>();

  constructor(parts: SpanRowsParts) {
    this.#parts = parts;
  }

  /** @throws DomainError `not_found`, `too_large`, `conflict` where spans are deleted meanwhile, and those of the stores */
  async add(by: Principal, name: string, request: SpanRowsRequest, signal: AbortSignal): Promise<SpanRowsOutcome> {
    const controller = new AbortController();
    const done = this.#add(by, name, request, AbortSignal.any([signal, controller.signal]));
    const adding = { projectId: by.project_id, controller, done: done.catch(() => undefined) };
    this.#adding.add(adding);
    try {
      return await done;
    } finally {
      this.#adding.delete(adding);
    }
  }

  /** Which spans a call has read is not known before it ends: all of the project's are given up. */
  async giveUp({ projectId }: DeletionScope): Promise<void> {
    const given = [...this.#adding].filter((adding) => adding.projectId === projectId);
    for (const { controller } of given)
      controller.abort(new DomainError('conflict', 'Spans of the project were deleted in the meantime. Retry.'));
    await Promise.all(given.map(({ done }) => done));
  }

  async #add(by: Principal, name: string, request: SpanRowsRequest, signal: AbortSignal): Promise<SpanRowsOutcome> {
    const { datasets, lastDeletion } = this.#parts;
    const dataset = datasets.find(by.project_id, name);
    // Before anything is read: a deletion that is ordered from now on means the rows, too.
    const deletion = lastDeletion();
    const { chosen, matched } = await this.#choose(by.project_id, request, signal);
    const { rows, ...counts } = await this.#rows(by.project_id, dataset, chosen, request, { deletion, signal });
    const preview = rows.slice(0, SHOWN).map(({ content }) => content);
    const columns = Object.keys(request.mapping);
    const isMade = !request.dryRun && rows.length > 0;
    const version = isMade
      ? await datasets.merge(by, dataset, { rows, columns, message: request.message }, signal)
      : null;
    return { matched, rows: rows.length, ...counts, preview, version };
  }

  async #choose(
    projectId: string,
    { query, spanIds, sample, seed, stratifyBy }: SpanRowsRequest,
    signal: AbortSignal,
  ): Promise<{ readonly chosen: readonly string[]; readonly matched: number }> {
    if (query === null) return { chosen: spanIds, matched: spanIds.length };
    const fields = ['id', ...(stratifyBy === null ? [] : [stratifyBy])];
    const candidates: SpanRow[] = [];
    const { maxLimit } = spanList;
    let matched: number | null = null;
    for (let offset = 0; offset < MAX_CANDIDATES; offset += maxLimit) {
      const page = { ...query, fields, limit: maxLimit, offset, count: matched === null };
      const answer = await this.#parts.lists.spans(projectId, page, signal);
      matched ??= answer.total;
      const spans = await rowsOf(answer);
      candidates.push(...spans);
      if (spans.length < maxLimit) break;
    }
    const strata = new Map<string, SpanRow[]>();
    for (const span of candidates) {
      const value = stratifyBy === null ? '' : JSON.stringify(span[stratifyBy]);
      const stratum = strata.get(value);
      if (stratum === undefined) strata.set(value, [span]);
      else stratum.push(span);
    }
    const count = Math.min(sample ?? candidates.length, candidates.length);
    const taken = new Set<string>();
    for (const [spans, share] of shares([...strata.values()], count))
      for (const { id } of sampled(spans, seed, share)) taken.add(id);
    return { chosen: candidates.map(({ id }) => id).filter((id) => taken.has(id)), matched: matched ?? 0 };
  }

  async #rows(
    projectId: string,
    dataset: Dataset,
    ids: readonly string[],
    { mapping, overwrite }: SpanRowsRequest,
    { deletion, signal }: { readonly deletion: number; readonly signal: AbortSignal },
  ): Promise<{ readonly rows: NewRow[] } & Record<'empty' | 'duplicates' | 'existing' | 'too_large', number>> {
    const fields = new Set(['id', 'trace_id']);
    for (const source of Object.values(mapping))
      if (source !== EXPECTED_OUTPUT) fields.add(MEMBER.exec(source)?.[1] ?? source);
    const rows: NewRow[] = [];
    const counts = { empty: 0, duplicates: 0, existing: 0, too_large: 0 };
    const said = new Set<string>();
    let bytes = 0;
    for (let from = 0; from < ids.length; from += AT_ONCE) {
      const portion = ids.slice(from, from + AT_ONCE);
      const expected = this.#parts.expected.of(projectId, portion);
      for await (const span of withTurns(await this.#spans(projectId, portion, [...fields], signal))) {
        const row = rowOf(span, mapping, expected.get(span.id), deletion);
        const left = row === null ? 'empty' : this.#leftOut(dataset, row, { said, overwrite });
        if (row === null || left !== null) {
          counts[left ?? 'empty'] += 1;
          continue;
        }
        rows.push(row);
        said.add(row.hash.toString('hex'));
        bytes += row.bytes;
        if (bytes > MAX_BYTES)
          throw new DomainError('too_large', `The rows have more than ${MAX_BYTES} bytes: take a smaller sample`);
      }
    }
    return { rows, ...counts };
  }

  /** Why a row is left out; null: it is not. */
  #leftOut(
    dataset: Dataset,
    row: NewRow,
    { said, overwrite }: { readonly said: ReadonlySet<string>; readonly overwrite: boolean },
  ): 'duplicates' | 'existing' | 'too_large' | null {
    if (row.bytes > MAX_ROW_BYTES) return 'too_large';
    if (said.has(row.hash.toString('hex'))) return 'duplicates';
    const held = this.#parts.datasets.holds(dataset, row);
    if (held === 'id') return overwrite ? null : 'existing';
    return held === 'content' ? 'duplicates' : null;
  }

  /** Spans in the order of the ids that were chosen. */
  async #spans(
    projectId: string,
    ids: readonly string[],
    fields: readonly string[],
    signal: AbortSignal,
  ): Promise<SpanRow[]> {
    const all = { internal: 'included', experiments: 'included' } as const;
    const query = { ...defaultQuery(spanList), ...all, fields, limit: spanList.maxLimit };
    const filters = [{ filter: BY_IDS, values: ids }];
    const spans = await rowsOf(await this.#parts.lists.spans(projectId, { ...query, filters }, signal));
    // Newest first: of spans with one id in several traces, the newest.
    const byId = new Map(spans.reverse().map((span) => [span.id, span]));
    return ids.flatMap((id) => byId.get(id) ?? []);
  }
}

async function rowsOf({ json }: Page): Promise<SpanRow[]> {
  const bytes = Buffer.isBuffer(json) ? json : await buffer(json);
  return JSON.parse(bytes.toString()) as SpanRow[];
}

/** So many of some spans, the same ones each time. */
function sampled(spans: readonly SpanRow[], seed: string, count: number): SpanRow[] {
  if (count >= spans.length) return [...spans];
  const keys = new Map(spans.map(({ id }) => [id, createHash('sha256').update(`${seed}/${id}`).digest('hex')]));
  const keyOf = ({ id }: SpanRow) => keys.get(id) ?? '';
  return [...spans].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)).slice(0, count);
}

/** How many spans of each stratum make up a sample: its share, by the largest remainders. */
function shares(strata: readonly (readonly SpanRow[])[], count: number): [readonly SpanRow[], number][] {
  const all = strata.reduce((sum, { length }) => sum + length, 0);
  const exact = strata.map((spans) => ({ spans, share: all === 0 ? 0 : (spans.length * count) / all }));
  const counts = exact.map(({ spans, share }) => ({
    spans,
    count: Math.floor(share),
    rest: share - Math.floor(share),
  }));
  let left = count - counts.reduce((sum, each) => sum + each.count, 0);
  const byRest = [...counts].sort((a, b) => b.rest - a.rest);
  for (const each of byRest) {
    if (left <= 0) break;
    each.count += 1;
    left -= 1;
  }
  return counts.map((each) => [each.spans, each.count]);
}

/** @returns null: it would be empty */
function rowOf(
  span: SpanRow,
  mapping: Readonly<Record<string, string>>,
  expected: string | undefined,
  after_deletion: number,
): NewRow | null {
  const values = Object.entries(mapping).map(([column, source]) => {
    if (source === EXPECTED_OUTPUT) return [column, expected ?? null] as const;
    const [, object, key] = MEMBER.exec(source) ?? [];
    if (object === undefined || key === undefined) return [column, span[source] ?? null] as const;
    const members = span[object] as Readonly<Record<string, unknown>> | undefined;
    return [column, members?.[key] ?? null] as const;
  });
  if (values.every(([, value]) => value === null)) return null;
  const data = Object.fromEntries(values);
  const content = JSON.stringify(data);
  const source = { trace_id: span.trace_id, span_id: span.id, after_deletion };
  return { row_id: span.id, content, bytes: Buffer.byteLength(content), hash: contentHash(data), source };
}
