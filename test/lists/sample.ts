import { uuid, type CheckedApi, type Row } from '../harness/checked-api.js';

/** Traces have four spans each, sessions up to three traces. */
export const TRACES = 14;

const pick = <T>(values: readonly T[], number: number): T => values[number % values.length] as T;

/**
 * Spans with nulls, ties, neighbouring microseconds and every kind of awkward text in what lists filter and sort by.
 * They come in several requests, so that they were created at different times and lie in parts of their own.
 */
export async function storeSample(api: CheckedApi, count = TRACES): Promise<void> {
  for (let from = 0; from < count; from += 3) {
    const traces = Array.from({ length: Math.min(3, count - from) }, (_, index) => from + index);
    await api.post('spans', traces.flatMap(spansOf));
  }
  await api.post('traces', [
    { id: uuid(900), session_id: uuid(800), name: 'stated, no spans', started_at: '2026-01-31T10:00:00.000002Z' },
    {
      id: uuid(901),
      session_id: uuid(800),
      name: 'stated "costly"',
      started_at: '2026-01-31T09:00:00Z',
      cost: 2.5,
      duration_ms: 0,
    },
    {
      id: uuid(902),
      session_id: uuid(802),
      name: 'stated failed',
      started_at: '2026-01-31T09:00:00Z',
      status: 'error',
    },
  ]);
  await api.post('sessions', [
    { id: uuid(803), project_id: api.server.projectId, name: null },
    { id: uuid(804), project_id: api.server.projectId, name: 'only stated' },
  ]);
}

function spansOf(trace: number): Row[] {
  return [0, 1, 2, 3].map((index) => {
    const number = trace * 4 + index;
    const micros = pick([0, 1, 1, 999_999, 2], number);
    const started = `2026-01-31T10:00:0${trace % 3}.${String(micros).padStart(6, '0')}Z`;
    return {
      id: uuid(number + 1),
      trace_id: uuid(100 + trace),
      parent_span_id: index === 0 ? null : uuid(trace * 4 + 1),
      // Every fifth trace has no session.
      session_id: trace % 5 === 4 ? null : uuid(700 + Math.floor(trace / 3)),
      session_name: pick([null, 'session a', 'ünïcode, 🧪'], trace),
      name: pick(
        ['plain', 'a,b', "it's", 'back\\slash', '100%', '🧪 unicode', 'plain', '%2C', 'tab\tand\nline'],
        number,
      ),
      kind: pick(['llm', 'generic', 'tool', 'http'], number),
      status: pick([null, 'ok', 'unset', 'ok', null, 'error', 'ok'], number + (trace % 2 === 0 ? 0 : trace)),
      started_at: started,
      ended_at:
        number % 3 === 0
          ? null
          : started.replace(/\.\d+Z/, (fraction) => `.${String(Number(fraction.slice(1, 7))).padStart(6, '0')}Z`),
      duration_ms: pick([null, 0, 0.1, 0.3, 0.1 + 0.2, 12.5, 1e6, 12.5], number),
      attributes: pick(
        [
          {},
          { model: 'one, two', prompt_slug: 'a b', prompt_version: 2 },
          { model: 'acme/one', inputTokens: 5, task: 'other', prompt_version: '10' },
          { provider: 'a,c', model: "it's", inputTokens: 7, outputTokens: 1, prompt_slug: 'a b' },
          { provider: 'x', model: 'one, two', outputTokens: '10' },
        ],
        number,
      ),
      cost: pick([null, 0, 0.1, 1e-12, 0.000_000_000_002, 3, 0.1], trace % 4 === 3 ? 0 : number),
      error_code: pick([null, null, null, 'E,1', 'Value"Error', '', null, 'E1'], trace % 2 === 0 ? 0 : number + trace),
      error_message: pick(
        [null, '', null, null, null, 'broken', null, null, null, null, null],
        trace % 4 === 1 ? number : 0,
      ),
    };
  });
}
