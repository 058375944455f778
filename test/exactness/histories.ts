import { createHash } from 'node:crypto';
import fc, { type Arbitrary } from 'fast-check';
import { iso } from './units.js';
import type { Post, SentScore, SentSession, SentSpan, SentTags, SentTrace, Step } from './sent.js';

/*
 * Random histories over few ids, so that writes meet: the same span again, in another trace, with another parent, month,
 * session or price. All histories use the same ids, each in a project of its own.
 */

const UNIVERSE = { traces: 4, sessions: 3, spans: 8 };

const ids = (what: string, count: number) =>
  Array.from({ length: count }, (_, index) => {
    const hex = createHash('sha256').update(`${what} ${index}`).digest('hex');
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-');
  });
const traceIds = ids('trace', UNIVERSE.traces);
const sessionIds = ids('session', UNIVERSE.sessions);
const spanIds = ids('span', UNIVERSE.spans);
/** Placeholders: every player puts the ids of experiments of its own project in their place. */
export const EXPERIMENTS = ids('experiment', 2) as [string, string];

/** The first ones often, the others now and then; shrinks to the first. */
const oneOf = (all: readonly string[]): Arbitrary<string> =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...all.slice(0, 2)) },
    { weight: 1, arbitrary: fc.constantFrom(...all) },
  );

const NEW_YEAR = Date.UTC(2026, 0, 1) * 1000;
const FEBRUARY = Date.UTC(2026, 1, 1) * 1000;
const starts = [
  NEW_YEAR,
  NEW_YEAR + 1,
  NEW_YEAR + 1_500_000,
  FEBRUARY - 1,
  FEBRUARY,
  FEBRUARY + 123_456,
  0,
  Date.UTC(2031, 6) * 1000,
];
const lengths = [0, 1, 999, 1_500_000, 3 * 86_400e6, 40 * 86_400e6];
const costs = [0, 1e-12, 0.1, 0.2, 0.3, 0.000000123457, 1.1, 19.99, 12345.67, 100000.1];
const durations = [0, 0.1, 0.2, 12.345678, 1500, 1e9 + 0.001];

/** Often left out, now and then an explicit null. */
const maybe = <T>(arbitrary: Arbitrary<T>, weight = 2): Arbitrary<T | null | undefined> =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constant(null) },
    { weight: weight * 2, arbitrary },
  );

const tags: Arbitrary<SentTags> = fc.dictionary(
  fc.constantFrom('env', 'user', 'a.b', `it's "q"\\`),
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.constantFrom<string | number | boolean>('prod', 'test', '', 'ü%,"\'\\', 1, 0.5, true, false),
    },
    { weight: 1, arbitrary: fc.constant(null) },
  ),
  { maxKeys: 3, noNullPrototype: true },
);

const attributes = fc.constantFrom<Readonly<Record<string, unknown>>>(
  {},
  { provider: 'openai', model: 'gpt-4o', inputTokens: 1000, outputTokens: 77 },
  { provider: 'openai', model: 'gpt-4o', inputTokens: 3, outputTokens: 0 },
  { provider: 'nobody', model: 'unheard-of', inputTokens: 5, outputTokens: 5 },
  { inputTokens: 8, prompt_slug: 'greeting', prompt_version: 2 },
  { 'spanhouse.experiment.id': EXPERIMENTS[0], 'spanhouse.experiment.row_id': 'a' },
  { 'spanhouse.experiment.id': EXPERIMENTS[0], 'spanhouse.experiment.row_id': 'b', inputTokens: 9 },
  {
    'spanhouse.experiment.id': EXPERIMENTS[0],
    'spanhouse.experiment.row_id': 'a',
    'spanhouse.experiment.repetition': 2,
  },
  { spanhouse: { experiment: { id: EXPERIMENTS[1], row_id: 'a', trace_id: traceIds[1] } } },
  { 'spanhouse.experiment.id': 'malformed', 'spanhouse.experiment.trace_id': traceIds[0] },
  { nested: { list: [1, null, 'x'], root_span_input: null }, text: 'line\nbreak "quoted" \\' },
);
const status = fc.constantFrom('unset', 'ok', 'error');
const name = fc.constantFrom('chat', 'tool', 'plan, "b"', "it's \\ ünï 🚀");
const text = fc.constantFrom<unknown>('hello', '', 'a\u0000b "c"', '$& $1', { role: 'user', content: ['hi'] }, [1, 2]);

/** Start, end and duration that fit together. */
const times = fc
  .record({
    start: fc.constantFrom(...starts),
    length: maybe(fc.constantFrom(...lengths), 4),
    duration_ms: maybe(fc.constantFrom(...durations), 1),
  })
  .map(({ start, length, duration_ms }) => ({
    started_at: iso(start),
    ended_at: length == null ? length : iso(start + length),
    duration_ms,
  }));

/** The ways to name a session, its name and its tags. */
const session = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  { weight: 3, arbitrary: fc.record({ session_id: oneOf(sessionIds), session_tags: maybe(tags) }) },
  {
    weight: 1,
    arbitrary: fc.record({ session_id: oneOf(sessionIds).map((id) => id.toUpperCase()), session_name: name }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ session: fc.record({ id: oneOf(sessionIds), name: maybe(name), tags: maybe(tags) }) }),
  },
  // Names no session: meant for its trace's.
  { weight: 1, arbitrary: fc.record({ session_name: maybe(fc.oneof(name, fc.constant(''))), session_tags: tags }) },
);

const span: Arbitrary<SentSpan> = fc
  .record({
    id: oneOf(spanIds),
    trace_id: oneOf(traceIds),
    parent_span_id: maybe(oneOf(spanIds)),
    name,
    times,
    session,
    kind: maybe(fc.constantFrom('llm', 'http', 'retriever')),
    status: maybe(status),
    cost: maybe(fc.constantFrom(...costs)),
    attributes: maybe(attributes),
    trace_tags: maybe(tags),
    tags: maybe(tags, 1),
    input_data: maybe(text),
    output_data: maybe(text),
    error_code: maybe(fc.constantFrom('Timeout', ''), 1),
    error_message: maybe(fc.constantFrom('it broke', ''), 1),
    error_stack: maybe(fc.constant('at line 1'), 1),
    code: maybe(fc.record({ code_filepath: fc.constant('src/a.ts'), code_lineno: fc.constantFrom(0, 2 ** 40) }), 1),
  })
  .map(({ times, session, code, parent_span_id, ...rest }) =>
    compact({
      ...rest,
      ...times,
      ...session,
      ...code,
      // A span that is its own parent is refused.
      parent_span_id: parent_span_id === rest.id ? undefined : parent_span_id,
    }),
  );

const trace: Arbitrary<SentTrace> = fc
  .record({
    id: oneOf(traceIds),
    session_id: oneOf(sessionIds),
    name,
    times,
    status: maybe(status),
    cost: maybe(fc.constantFrom(...costs)),
    attributes: maybe(attributes, 1),
    tags: maybe(tags),
  })
  .map(({ times, ...rest }) => compact({ ...rest, ...times }));

const postedSession: Arbitrary<SentSession> = fc
  .record({ id: oneOf(sessionIds), name: maybe(name), attributes: maybe(attributes, 1), tags: maybe(tags) })
  .map(compact);

const score: Arbitrary<SentScore> = fc
  .tuple(
    fc.oneof(
      fc.record({ entity_type: fc.constant('span' as const), entity_id: oneOf(spanIds) }),
      fc.record({ entity_type: fc.constant('trace' as const), entity_id: oneOf(traceIds) }),
      fc.record({ entity_type: fc.constant('session' as const), entity_id: oneOf(sessionIds) }),
    ),
    fc.oneof(
      { weight: 2, arbitrary: fc.record({ name: fc.constant('quality'), value: fc.constantFrom(0, 0.5, -1, 1e-9) }) },
      { weight: 1, arbitrary: fc.record({ name: fc.constant('ok'), value: fc.boolean() }) },
      { weight: 1, arbitrary: fc.record({ name: fc.constant('tone'), value: fc.constantFrom('calm', `it's "q"\\`) }) },
    ),
    fc.constantFrom('', 'somebody'),
  )
  .map(([entity, value, author]) => ({ ...entity, ...value, author }));

const post: Arbitrary<Post> = fc.oneof(
  { weight: 6, arbitrary: spansPost() },
  {
    weight: 3,
    arbitrary: fc.record({ to: fc.constant('scores' as const), body: fc.array(score, { minLength: 1, maxLength: 4 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ to: fc.constant('traces' as const), body: fc.array(trace, { minLength: 1, maxLength: 2 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      to: fc.constant('sessions' as const),
      body: fc.array(postedSession, { minLength: 1, maxLength: 2 }),
    }),
  },
);

function spansPost(): Arbitrary<Post> {
  return fc.record({ to: fc.constant('spans' as const), body: fc.array(span, { minLength: 1, maxLength: 3 }) });
}

const deletion = fc.oneof(
  fc.record({ what: fc.constant('span' as const), id: oneOf(spanIds) }),
  fc.record({ what: fc.constant('trace' as const), id: oneOf(traceIds) }),
  fc.record({ what: fc.constant('session' as const), id: oneOf(sessionIds) }),
);

const step: Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: post.map((sent) => ({ do: 'post' as const, ...sent })) },
  { weight: 2, arbitrary: fc.nat({ max: 3 }).map((nth) => ({ do: 'retry' as const, nth })) },
  { weight: 3, arbitrary: together().map((posts) => ({ do: 'together' as const, posts })) },
  { weight: 3, arbitrary: deletion.map((deleted) => ({ do: 'delete' as const, ...deleted })) },
  { weight: 1, arbitrary: fc.nat({ max: 3 }).map((nth) => ({ do: 'unscore' as const, nth })) },
  {
    weight: 3,
    arbitrary: fc.constantFrom('spans', 'traces', 'sessions').map((list) => ({ do: 'read' as const, list })),
  },
);

/** Of spans, the answers tell in which order they were taken in; of posted traces and sessions there may be one request among them. */
function together(): Arbitrary<Post[]> {
  return fc.tuple(fc.array(spansPost(), { minLength: 1, maxLength: 2 }), post).map(([spans, one]) => [...spans, one]);
}

export const history: Arbitrary<Step[]> = fc.array(step, { minLength: 3, maxLength: 14, size: 'max' });

/** Without what is undefined, so that a failing history prints no more than what was sent. */
function compact<T extends object>(object: T): T {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;
}
