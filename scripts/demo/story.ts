import type { SpanInput } from '../../src/domain/span/schema.js';
import { Random, seedOf } from '../random.js';
import {
  CITIES,
  CONVERSATIONS,
  CUSTOMERS,
  PRODUCTS,
  SYSTEM_PROMPTS,
  type Conversation,
  type Turn,
} from './conversations.js';
import { FAILURES, MODELS, tell, type Message } from './ways.js';
import { TraceBuilder, type Shared } from './trace-builder.js';

const HOUR_MS = 3_600_000;
/** The last conversation begins this long before the hour ends, so that it ends in time. */
const LAST_START_MS = 5 * 60_000;
const FAILURE_RATE = 0.3;
const RESEND_RATE = 0.06;

/** One request to the server: the spans of one trace, as an SDK flushes them. */
export interface DemoRequest {
  readonly spans: readonly SpanInput[];
  /** Sent a second time, as a client does that has not seen the answer. */
  readonly again: boolean;
}

export interface StoryOptions {
  readonly seed: number;
  readonly sessions: number;
  /** End of the hour, in Unix milliseconds. */
  readonly until: number;
  /** Value of the tag `demo` that every span, trace and session of this run carries. */
  readonly run: string;
}

/**
 * An hour of a shop's assistant. The same options give the same story, ids included. In the order in which an
 * application would have sent it.
 */
export function tellStory({ seed, sessions, until, run }: StoryOptions): DemoRequest[] {
  const traces = Array.from({ length: sessions }, (_none, session) => {
    const random = new Random(seedOf(seed, session));
    const startedAt = until - HOUR_MS + ((HOUR_MS - LAST_START_MS) * (session + random.next())) / sessions;
    return sessionTraces(random, startedAt, run);
  }).flat();
  const order = new Random(seedOf(seed, sessions, 7));
  return traces.sort((a, b) => a.endedAt - b.endedAt).map(({ spans }) => ({ spans, again: order.chance(RESEND_RATE) }));
}

interface ToldTrace {
  readonly spans: readonly SpanInput[];
  readonly endedAt: number;
}

function sessionTraces(random: Random, startedAt: number, run: string): ToldTrace[] {
  const conversation = random.pick(CONVERSATIONS);
  const blanks = {
    order: `NW-${random.whole(100_000, 999_999)}`,
    product: random.pick(PRODUCTS),
    city: random.pick(CITIES),
  };
  const user = random.skewed(CUSTOMERS);
  const model = random.skewed(MODELS);
  const environment = random.chance(0.85) ? 'production' : 'staging';
  const session = { id: random.uuid(), name: filled(conversation.title, blanks) };
  const traces: ToldTrace[] = [];
  const history: Message[] = [];
  let now = startedAt;
  for (const turn of conversation.turns.map((each) => filledTurn(each, blanks))) {
    const builder = new TraceBuilder(shared(random, conversation, { session, user, environment, run }), now, random);
    const failure = random.chance(FAILURE_RATE) ? random.pick(FAILURES) : null;
    const system = SYSTEM_PROMPTS[conversation.feature] ?? '';
    const answered = tell(builder, random, { turn, system, history: [...history], ...blanks, user, model, failure });
    traces.push({ spans: builder.spans, endedAt: builder.now });
    if (!answered) break;
    history.push({ role: 'user', content: turn.question }, { role: 'assistant', content: turn.answer });
    now = builder.now + random.around(35_000);
  }
  return traces;
}

interface Who {
  readonly session: Shared['session'];
  readonly user: string;
  readonly environment: string;
  readonly run: string;
}

function shared(random: Random, { feature }: Conversation, { session, user, environment, run }: Who): Shared {
  return {
    trace_id: random.uuid(),
    session,
    tags: { environment, user, feature, demo: run },
    trace_tags: { environment, user, feature, demo: run },
    session_tags: { user, feature, demo: run },
  };
}

function filledTurn(turn: Turn, blanks: Readonly<Record<string, string>>): Turn {
  return { ...turn, question: filled(turn.question, blanks), answer: filled(turn.answer, blanks) };
}

function filled(text: string, blanks: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (blank, name: string) => blanks[name] ?? blank);
}
