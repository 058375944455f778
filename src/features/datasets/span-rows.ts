import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { DomainError } from '../../engine/errors.js';
import type { Principal } from '../../engine/identity/identity.js';
import { spanList, type Filter } from '../../engine/traces/model/list/definitions.js';
import type { Lists, Page } from '../../engine/traces/model/list/lists.js';
import { defaultQuery, type ListQuery } from '../../engine/traces/model/list/query.js';
import { withTurns } from '../../engine/work/portions.js';
import type { ExpectedOutputs } from '../feedback/expected-outputs.js';
import type { Dataset, DatasetVersion, NewRow } from './dataset.js';
import type { DatasetService } from './dataset-service.js';
import { MAX_ROW_BYTES } from './dataset.js';
import { contentHash } from './files/row-set.js';

/** Most spans of which rows are chosen, and made, with one request. */
export const MAX_CANDIDATES = 10_000;
/** Spans whose texts are read together. */
const AT_ONCE = 100;
/** Rows that a look ahead shows. */
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
  /** Rows that say what another one says already. */
  readonly duplicates: number;
  /** The first rows, as JSON. */
  readonly preview: readonly string[];
  /** Null after a look ahead. */
  readonly version: DatasetVersion | null;
}

type SpanRow = Readonly<Record<string, unknown>> & { readonly id: string; readonly trace_id: string };

export interface SpanRowsParts {
  readonly datasets: Pick<DatasetService, 'find' | 'merge' | 'says'>;
  readonly lists: Pick<Lists, 'spans'>;
  readonly expected: ExpectedOutputs;
}

/** Makes rows of datasets of spans. The row has the id of the span, so that a span is in a dataset once. */
export class SpanRows {
  readonly #parts: SpanRowsParts;

  constructor(parts: SpanRowsParts) {
    this.#parts = parts;
  }

  /** @throws DomainError `not_found`, `invalid` where no span is found, `too_large`, and those of the stores */
  async add(by: Principal, name: string, request: SpanRowsRequest, signal: AbortSignal): Promise<SpanRowsOutcome> {
    const { datasets } = this.#parts;
    const dataset = datasets.find(by.project_id, name);
    const { chosen, matched } = await this.#choose(by.project_id, request, signal);
    const { rows, empty, duplicates } = await this.#rows(by.project_id, dataset, chosen, request, signal);
    const preview = rows.slice(0, SHOWN).map(({ content }) => content);
    const columns = Object.keys(request.mapping);
    const isMade = !request.dryRun && rows.length > 0;
    const version = isMade ? await datasets.merge(by, dataset, { rows, columns, message: request.message }) : null;
    return { matched, rows: rows.length, empty, duplicates, preview, version };
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
    const share = sample === null ? 1 : sample / Math.max(1, candidates.length);
    const chosen = [...strata.values()].flatMap((spans) => sampled(spans, seed, Math.ceil(spans.length * share)));
    return { chosen: sampled(chosen, seed, sample ?? chosen.length).map(({ id }) => id), matched: matched ?? 0 };
  }

  async #rows(
    projectId: string,
    dataset: Dataset,
    ids: readonly string[],
    { mapping }: SpanRowsRequest,
    signal: AbortSignal,
  ): Promise<{ readonly rows: NewRow[]; readonly empty: number; readonly duplicates: number }> {
    const fields = new Set(['id', 'trace_id']);
    for (const source of Object.values(mapping))
      if (source !== EXPECTED_OUTPUT) fields.add(MEMBER.exec(source)?.[1] ?? source);
    const rows: NewRow[] = [];
    const said = new Set<string>();
    let [empty, duplicates] = [0, 0];
    for (let from = 0; from < ids.length; from += AT_ONCE) {
      const portion = ids.slice(from, from + AT_ONCE);
      const expected = this.#parts.expected.of(projectId, portion);
      for await (const span of withTurns(await this.#spans(projectId, portion, [...fields], signal))) {
        const row = rowOf(span, mapping, expected.get(span.id));
        const key = row?.hash.toString('hex') ?? '';
        if (row === null) empty += 1;
        else if (said.has(key) || this.#parts.datasets.says(dataset, row)) duplicates += 1;
        else rows.push(row);
        said.add(key);
      }
    }
    return { rows, empty, duplicates };
  }

  /** Spans in the order of the ids that were chosen. */
  async #spans(
    projectId: string,
    ids: readonly string[],
    fields: readonly string[],
    signal: AbortSignal,
  ): Promise<SpanRow[]> {
    const query = { ...defaultQuery(spanList), internal: 'included', fields, limit: spanList.maxLimit } as const;
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

/** @returns null: there is nothing to say */
function rowOf(span: SpanRow, mapping: Readonly<Record<string, string>>, expected: string | undefined): NewRow | null {
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
  if (Buffer.byteLength(content) > MAX_ROW_BYTES)
    throw new DomainError(
      'too_large',
      `The row of span ${span.id} would have more than ${MAX_ROW_BYTES} bytes: leave a column out`,
    );
  const hash = contentHash(data);
  return { row_id: span.id, content, hash, source: { trace_id: span.trace_id, span_id: span.id } };
}
