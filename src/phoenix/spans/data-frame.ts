import { DomainError } from '../../engine/errors.js';
import type { ListedPosition } from '../../engine/traces/model/list/query.js';
import { toSpan, type ListedSpan, type SpanRead } from './presented.js';
import { lastOf, type SpanWindow } from './span-query.js';

/* A table of spans as pandas reads it: a part of a multipart body, whose columns have a number before their names. */

/** Spans that are read together. */
const AT_ONCE = 100;
/** More different attributes than this have no columns. */
const MAX_COLUMNS = 2_000;

const INDEX = 'context.span_id';
const TIMES = new Set(['start_time', 'end_time']);

export interface Frame {
  /** Stands before and behind the part: no text of a span has it. */
  readonly boundary: string;
  /** How many spans at most. */
  readonly most: number;
}

/** A page of spans. */
type ReadSpans = (window: SpanWindow) => Promise<readonly ListedSpan[]>;

export async function* frameText(read: ReadSpans, { boundary, most }: Frame): AsyncIterable<string> {
  const columns = new Set<string>();
  let next = `--${boundary}\r\nContent-Type: application/json\r\n\r\n{"data":[`;
  const seen = new Set<string>();
  let behind: ListedPosition | null = null;
  for (let count = 0; count < most;) {
    const { found, limit } = await readFitting(read, { limit: Math.min(AT_ONCE, most - count), behind });
    for (const span of found) {
      // One whose start is changed meanwhile is there already, or comes further on.
      if (seen.has(`${span.trace_id}${span.id}`)) continue;
      seen.add(`${span.trace_id}${span.id}`);
      yield next + JSON.stringify(numbered(cellsOf(toSpan(span)), columns));
      next = ',';
    }
    if (found.length < limit) break;
    count += found.length;
    behind = lastOf(found);
  }
  const end = `],"schema":${JSON.stringify(schemaOf(columns))}}\r\n--${boundary}--\r\n`;
  yield next === ',' ? end : next + end;
}

/** A page, which has fewer spans where these are large. */
async function readFitting(read: ReadSpans, { limit, behind }: SpanWindow) {
  for (let fitting = limit; ; fitting = Math.ceil(fitting / 4))
    try {
      return { found: await read({ limit: fitting, behind }), limit: fitting };
    } catch (error) {
      if (!(error instanceof DomainError) || error.kind !== 'too_large' || fitting === 1) throw error;
    }
}

function cellsOf({ context, attributes, ...span }: SpanRead): Record<string, unknown> {
  const own = Object.entries(attributes).map(([name, value]) => [`attributes.${name}`, value] as const);
  const { trace_id, span_id } = context;
  return { [INDEX]: span_id, ...span, 'context.trace_id': trace_id, ...Object.fromEntries<unknown>(own) };
}

/** Cells by the names of the columns that there are, and of those that there is room for. */
function numbered(cells: Readonly<Record<string, unknown>>, columns: Set<string>): Record<string, unknown> {
  const shown = Object.entries(cells).filter(([name]) => {
    if (columns.size < MAX_COLUMNS) columns.add(name);
    return columns.has(name);
  });
  return Object.fromEntries(shown.map(([name, value]) => [`0_${name}`, value]));
}

function schemaOf(columns: ReadonlySet<string>) {
  const names = columns.has(INDEX) ? [...columns] : [INDEX, ...columns];
  const fields = names.map((name) => ({
    name: `0_${name}`,
    ...(TIMES.has(name) ? { type: 'datetime', tz: 'UTC' } : { type: 'any' }),
  }));
  return { fields, primaryKey: [`0_${INDEX}`], pandas_version: '1.4.0' };
}
