import { Type, type Static } from '@sinclair/typebox';
import { DomainError } from '../../engine/errors.js';
import { optional } from '../../engine/schema/inputs.js';
import { orNull, uuid } from '../../engine/schema/parts.js';
import { parseTimestamp } from '../../engine/timestamp.js';
import { NIL_UUID } from '../../engine/schema/ids.js';
import { spanList, type Filter } from '../../engine/traces/model/list/definitions.js';
import { spanFields } from '../../engine/traces/model/list/fields.js';
import type { Lists } from '../../engine/traces/model/list/lists.js';
import { byIds, onlyTrace } from '../../engine/traces/model/list/one.js';
import {
  defaultQuery,
  namesObject,
  type AppliedFilter,
  type AskedOfSpan,
  type FilterValue,
  type ListQuery,
} from '../../engine/traces/model/list/query.js';
import { invalid } from '../../engine/validation/validation.js';
import { MAX_ANSWER_BYTES, TEXT_LIMIT, textOf } from '../../facade/answer.js';
import { defineRoute, jsonBody } from '../../http/route.js';
import { PROJECT_TAG, type TracingProjects } from '../projects/tracing-projects.js';
import { BASE, TAG } from '../tag.js';
import { MAX_FILTER, refused } from './filter-grammar.js';
import { PARTS, readRunFilter, ROOTS } from './run-filter.js';
import { RunRead, toRun, type ListedSpan } from './to-run.js';

export interface ReadParts {
  readonly lists: Pick<Lists, 'spans'>;
  readonly tracing: TracingProjects;
}

/** Most runs of a page, which clients ask for one after the other, and most of ids of one request. */
const MAX_RUNS = 100;
const MAX_IDS = 100;
const FIELDS = [...Object.keys(spanFields), 'scores'];

/** Runs, as clients of LangSmith read them. */
export function runReadRoutes(parts: ReadParts) {
  return [getRoute(parts), queryRoute(parts)];
}

function getRoute({ lists, tracing }: ReadParts) {
  return defineRoute({
    method: 'GET',
    path: `${BASE}/runs/:run_id`,
    operationId: 'getLangsmithRun',
    summary: 'Get a run (LangSmith)',
    description: 'Returns a span. An id that spans of several traces share is a conflict.',
    tag: TAG,
    access: 'key',
    bulk: 'gathered',
    params: Type.Object({ run_id: uuid('Id of the run.') }),
    responses: { 200: { description: 'The run.', schema: RunRead } },
    errors: ['not_found', 'conflict', 'too_large', 'unavailable'],
    async handle({ principal: { project_id: projectId }, params: { run_id: id }, signal }) {
      const query = { ...byIds(spanList, { id }, 2), fields: FIELDS };
      const { spans: found } = await readShortened(lists, projectId, query, signal);
      onlyTrace(found.map(({ trace_id }) => trace_id));
      return { status: 200, body: toRun(found[0] as ListedSpan, projectId, tracing) };
    },
  });
}

const ids = (description: string) => optional(Type.Array(uuid('An id.'), { maxItems: MAX_IDS, description }));
const filter = (description: string) => optional(Type.String({ maxLength: MAX_FILTER, description }));

const RunQuery = Type.Object(
  {
    session: ids('Only runs of one of these projects, or of this experiment.'),
    id: ids('Only these runs.'),
    trace: optional(uuid('Only runs of this trace.')),
    parent_run: optional(uuid('Only parts of this run.')),
    reference_example: ids('Only results of these examples; needs an experiment as `session`.'),
    run_type: optional(Type.String({ maxLength: 64, description: 'Only runs of this type.' })),
    is_root: optional(Type.Boolean({ description: 'Only runs that are part of no other, or only parts.' })),
    error: optional(Type.Boolean({ description: 'Only runs with an error, or only those without.' })),
    start_time: optional(Type.String({ maxLength: 64, description: 'Only runs that started then or later.' })),
    query: optional(
      Type.String({ maxLength: 1_000, description: 'Only runs with this text in inputs, outputs or error.' }),
    ),
    filter: filter(
      'Only runs that meet this, such as `and(eq(run_type, "llm"), gt(latency, 5))`. What cannot be applied is refused (400).',
    ),
    trace_filter: filter('Only runs of traces whose root run meets this; written as `filter`.'),
    tree_filter: filter('Only runs of traces in which any run meets this; written as `filter`.'),
    order: optional(Type.String({ description: '`asc`: oldest first. Default: newest first.' })),
    limit: optional(
      Type.Integer({ minimum: 1, description: `Most runs of the page; of more than ${MAX_RUNS}, so many.` }),
    ),
    cursor: optional(Type.String({ pattern: '^[0-9]{1,9}$', description: '`cursors.next` of the page before.' })),
    select: optional(Type.Array(Type.String(), { maxItems: 100, description: 'Without effect: runs are whole.' })),
  },
  { $id: 'LangsmithRunQuery', description: 'Which runs to read.' },
);
type RunQuery = Static<typeof RunQuery>;

const RunPage = Type.Object(
  {
    runs: Type.Array(RunRead, { description: 'A page of runs.' }),
    cursors: Type.Object(
      { next: orNull(Type.String({ description: '`cursor` of the next page; null: this is the last one.' })) },
      { description: 'Where to go on.' },
    ),
  },
  { $id: 'LangsmithRuns', description: 'A page of runs, as clients of LangSmith read it.' },
);

function queryRoute({ lists, tracing }: ReadParts) {
  return defineRoute({
    method: 'POST',
    path: `${BASE}/runs/query`,
    operationId: 'queryLangsmithRuns',
    scopes: ['spans:read'],
    summary: 'List runs (LangSmith)',
    description: `Lists spans by the fields of the body, at most ${MAX_RUNS} in a page.`,
    tag: TAG,
    access: 'key',
    bulk: 'gathered',
    body: jsonBody(RunQuery, { lenient: true }),
    responses: { 200: { description: 'The runs.', schema: RunPage } },
    errors: ['invalid', 'too_large', 'unavailable'],
    async handle({ principal: { project_id: projectId }, body, signal }) {
      const query = toListQuery(body, projectId, tracing);
      const page = await readPage(lists, projectId, { query, ids: body.id ?? null }, signal);
      const fits = ({ attributes }: ListedSpan) =>
        body.reference_example == null ||
        body.reference_example.includes(String(attributes['spanhouse.experiment.row_id']));
      const runs = page.spans.filter(fits).map((span) => toRun(span, projectId, tracing));
      return { status: 200, body: { runs, cursors: { next: page.next === null ? null : String(page.next) } } };
    },
  });
}

function toListQuery(body: RunQuery, projectId: string, tracing: TracingProjects): ListQuery {
  const asked = readRunFilter(projectId, body.filter);
  const inTracesWith = ofTraces(body, projectId);
  const names = (body.session ?? []).map((id) => tracing.nameOf(projectId, id));
  const experiments = (body.session ?? []).filter((_id, index) => names[index] === null);
  const projects = names.filter((name) => name !== null);
  if (experiments.length > 1 || (experiments.length > 0 && projects.length > 0))
    throw invalid([
      { pointer: '/session', detail: 'must be projects that were read by their names, or one experiment' },
    ]);
  const [experiment = null] = experiments;
  const after = body.start_time == null ? null : parseTimestamp(body.start_time);
  if (after === undefined) throw invalid([{ pointer: '/start_time', detail: 'must be an ISO 8601 time' }]);
  const search = searchOf(body, asked);
  const filters = filtersOf({
    trace_id: body.trace,
    parent_span_id: body.parent_run ?? undefined,
    span_kind: body.run_type,
    has_error: body.error,
    started_after: after ?? undefined,
  });
  const roots = body.is_root == null ? [] : [body.is_root ? ROOTS : PARTS];
  const all = [...filters, ...roots, ...(asked?.filters ?? [])];
  const named =
    body.id != null ||
    body.parent_run != null ||
    [all, ...inTracesWith.map(({ filters }) => filters)].some(namesObject);
  return {
    ...defaultQuery(spanList),
    filters: all,
    tags: new Map([...(asked?.tags ?? []), ...(projects.length === 0 ? [] : [[PROJECT_TAG, projects] as const])]),
    scores: asked?.scores ?? new Map(),
    ...{ search, experiment, inTracesWith },
    experiments: experiment !== null || named ? 'included' : 'left out',
    descending: body.order !== 'asc',
    limit: Math.min(body.limit ?? MAX_RUNS, MAX_RUNS),
    offset: Number(body.cursor ?? 0),
    fields: FIELDS,
  };
}

/** What is asked of the root run of a trace, and of any of its runs. @throws DomainError `malformed` */
function ofTraces({ trace_filter, tree_filter }: RunQuery, projectId: string): AskedOfSpan[] {
  const root = readRunFilter(projectId, trace_filter, 'trace_filter');
  const any = readRunFilter(projectId, tree_filter, 'tree_filter');
  return [...(root === null ? [] : [{ ...root, filters: [...root.filters, ROOTS] }]), ...(any === null ? [] : [any])];
}

/** @throws DomainError `malformed`: one text can be searched for */
function searchOf({ query }: RunQuery, asked: AskedOfSpan | null): string | null {
  const [said, filtered] = [query ?? null, asked?.search ?? null];
  if (said !== null && filtered !== null && said !== filtered) throw refused('searches for another text than `query`');
  return said ?? filtered;
}

/** @param values by the names of parameters; undefined, and null where the parameter takes none: not asked for */
function filtersOf(values: Readonly<Record<string, FilterValue | undefined>>): AppliedFilter[] {
  return spanList.filters.flatMap((filter) => {
    const value = values[filter.parameter];
    const isAsked = value !== undefined && (value !== null || filter.comparison === 'isOrNull');
    return isAsked ? [{ filter, values: [value] }] : [];
  });
}

interface ReadSpans {
  readonly spans: readonly ListedSpan[];
  /** Offset of the next page; null: there is none. */
  readonly next: number | null;
}

async function readPage(
  lists: Pick<Lists, 'spans'>,
  projectId: string,
  { query, ids }: { readonly query: ListQuery; readonly ids: readonly string[] | null },
  signal: AbortSignal,
): Promise<ReadSpans> {
  if (ids !== null) {
    const spans: ListedSpan[] = [];
    let next = query.offset;
    let bytes = 0;
    for (const id of ids.slice(query.offset, query.offset + query.limit)) {
      const asked = await oneOf(lists, projectId, { ...query, limit: 1, offset: 0 }, id, signal);
      const found = await readShortened(lists, projectId, asked, signal);
      spans.push(...found.spans);
      next += 1;
      bytes += found.bytes;
      if (bytes > MAX_ANSWER_BYTES) break;
    }
    return { spans, next: next < ids.length ? next : null };
  }
  // A page of large runs has fewer.
  for (let limit = query.limit; ; limit = Math.ceil(limit / 4))
    try {
      const { spans } = await (limit === 1 ? readShortened : read)(lists, projectId, { ...query, limit }, signal);
      return { spans, next: spans.length < limit ? null : query.offset + limit };
    } catch (error) {
      if (!isTooLarge(error) || limit === 1) throw error;
    }
}

/** Most traces that one id is looked for in. */
const MAX_TRACES = 100;

/** The query of one run by its id. What is asked of the other runs of its trace is looked for there alone. */
async function oneOf(
  lists: Pick<Lists, 'spans'>,
  projectId: string,
  query: ListQuery,
  id: string,
  signal: AbortSignal,
): Promise<ListQuery> {
  const byId = { ...query, filters: [...query.filters, ...filtersOf({ id })] };
  if ((query.inTracesWith ?? []).length === 0) return byId;
  const anywhere = { ...byId, inTracesWith: [], fields: ['trace_id'], limit: MAX_TRACES };
  const { spans } = await read(lists, projectId, anywhere, signal);
  const ofTraces: Filter = { parameter: 'trace_id', field: 'trace_id', comparison: 'anyOf', description: '' };
  const traces = [...new Set(spans.map(({ trace_id }) => trace_id)), NIL_UUID];
  return { ...byId, filters: [...byId.filters, { filter: ofTraces, values: traces }] };
}

const isTooLarge = (error: unknown) => error instanceof DomainError && error.kind === 'too_large';

interface Found {
  readonly spans: ListedSpan[];
  readonly bytes: number;
}

/** @throws DomainError `too_large` */
async function read(
  lists: Pick<Lists, 'spans'>,
  projectId: string,
  query: ListQuery,
  signal: AbortSignal,
): Promise<Found> {
  const json = await textOf(await lists.spans(projectId, query, signal));
  return { spans: JSON.parse(json) as ListedSpan[], bytes: Buffer.byteLength(json) };
}

/** As {@link read}; where that is too large, without the middle of long texts: one large run must not end a list. */
async function readShortened(...[lists, projectId, query, signal]: Parameters<typeof read>): Promise<Found> {
  try {
    return await read(lists, projectId, query, signal);
  } catch (error) {
    if (!isTooLarge(error)) throw error;
    return read(lists, projectId, { ...query, textLimit: TEXT_LIMIT }, signal);
  }
}
