import { sessionList, spanList, traceList } from '../src/engine/traces/model/list/definitions.js';
import { FIRST_START, MS_BETWEEN_TRACES, SPANS_PER_TRACE } from './data.js';

export type ListName = 'spans' | 'traces' | 'sessions';

/** How much a query may slow down from a million spans to ten million. */
export type Growth = 'steady' | 'bounded';

export interface ListQueryCase {
  readonly name: string;
  readonly list: ListName;
  /** The query string, without `?`. */
  readonly search: string;
  readonly growth: Growth;
}

/** Objects in the middle of the data, to ask for by id. */
export interface Samples {
  readonly spanId: string;
  readonly traceId: string;
  readonly sessionId: string;
  readonly user: string;
}

const definitions = { spans: spanList, traces: traceList, sessions: sessionList };

/** Every list with every filter and sort; pages of 50 unless it says otherwise. */
export function listQueries(spans: number, samples: Samples): ListQueryCase[] {
  const lastMoment = FIRST_START + (spans / SPANS_PER_TRACE) * MS_BETWEEN_TRACES;
  const moment = (share: number) => new Date(FIRST_START + (lastMoment - FIRST_START) * share).toISOString();
  const ofSpans: readonly [string, string, Growth?][] = [
    ['newest 50', 'limit=50', 'steady'],
    ['newest 5,000', '', 'steady'],
    ['of a trace', `trace_id=${samples.traceId}`, 'steady'],
    ['by id', `id=${samples.spanId}`],
    ['of a session', `session_id=${samples.sessionId}`],
    ['children of a span', `parent_span_id=${samples.spanId}`],
    ['roots', 'parent_span_id=null&limit=50'],
    ['span_kind', 'span_kind=llm&limit=50'],
    ['error_codes', 'error_codes=TimeoutError,ValidationError&limit=50'],
    ['status', 'status=error&limit=50'],
  ];
  const ofTraces: readonly [string, string, Growth?][] = [
    ['newest 50', '', 'steady'],
    ['by id', `id=${samples.traceId}`],
    ['of a session', `session_id=${samples.sessionId}`],
    ['status', 'status=error'],
    ['page 20', 'offset=950'],
    ['page 200', 'offset=9950'],
  ];
  const ofSessions: readonly [string, string, Growth?][] = [
    ['newest 50', '', 'steady'],
    ['by id', `id=${samples.sessionId}`],
    ['page 20', 'offset=950'],
  ];
  const particular = { spans: ofSpans, traces: ofTraces, sessions: ofSessions };
  return (['spans', 'traces', 'sessions'] as const).flatMap((list) => {
    const cases = [...particular[list], ...shared(list, samples, moment), ...sorts(list)];
    return cases.map(([name, search, growth = 'bounded']) => ({ name: `${list}: ${name}`, list, search, growth }));
  });
}

function shared(list: ListName, { user }: Samples, moment: (share: number) => string): [string, string][] {
  const limit = list === 'spans' ? '&limit=50' : '';
  const names = { spans: 'draft_answer,call_tool', traces: 'handle_request', sessions: 'nobody,nothing' };
  // Sessions are tagged with their user; their other figures grow with their traces.
  const common =
    list === 'sessions'
      ? []
      : [[`tag that many have`, list === 'spans' ? 'environment=production' : 'feature=support-chat']];
  const rare = list === 'traces' ? 'customer=customer-7' : `user=${user}`;
  // Traces and sessions are found by what their spans and traces have, too.
  const inside: Record<ListName, [string, string][]> = {
    spans: [],
    traces: [
      ['tag of spans that many have', 'environment=production'],
      ['tag of spans that few have', `user=${user}`],
    ],
    sessions: [
      ['tag of spans that many have', 'environment=production'],
      ['tag of traces that few have', 'customer=customer-7'],
      ['tags of spans and traces', 'environment=production&customer=customer-7'],
    ],
  };
  const scale = { spans: 1, traces: 4, sessions: 16 }[list];
  return [
    ...common.map(([name, search]): [string, string] => [name ?? '', `${search ?? ''}${limit}`]),
    ['tag that few have', `${rare}${limit}`],
    ...inside[list],
    ['names', `names=${names[list]}${limit}`],
    ['has_error=true', `has_error=true${limit}`],
    ['has_error=false', `has_error=false${limit}`],
    ['cost bounds', `cost_min=${0.002 * scale}&cost_max=${0.01 * scale}${limit}`],
    ['duration bounds', `duration_min=${2000 * scale}&duration_max=${5000 * scale}${limit}`],
    ['started, last hundredth', `started_after=${moment(0.99)}${limit}`],
    ['started, a tenth in the middle', `started_after=${moment(0.45)}&started_before=${moment(0.55)}${limit}`],
    ['started, last nine tenths, errors', `started_after=${moment(0.1)}&has_error=true${limit}`],
    ['created, last hundredth', `created_after=${moment(0.99)}${limit}`],
    ['created, a tenth in the middle', `created_after=${moment(0.45)}&created_before=${moment(0.55)}${limit}`],
    ['errors, most expensive first', `has_error=true&sort_by=cost${limit}`],
    ['q, found often', `q=overdue%20invoice${limit}`],
    ['q, found nowhere', `q=xylophone%20quartz${limit}`],
    ['count=true', `count=true${limit}`],
    ['count=true, errors', `count=true&has_error=true${limit}`],
    ['fields=id,name', `fields=id,name${limit}`],
  ];
}

function sorts(list: ListName): [string, string][] {
  const limit = list === 'spans' ? '&limit=50' : '';
  return definitions[list].sorts.flatMap((sort) =>
    ['asc', 'desc'].map((order): [string, string] => [
      `by ${sort} ${order}`,
      `sort_by=${sort}&sort_order=${order}${limit}`,
    ]),
  );
}
