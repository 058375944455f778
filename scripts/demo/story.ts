import type { SpanInput } from '../../src/engine/traces/model/span/schema.js';
import { Random, seedOf } from '../random.js';
import { flawOf, written, type Flaw } from './answers.js';
import { CITIES, CONVERSATIONS, CUSTOMERS, PRODUCTS, type Conversation, type Turn } from './conversations.js';
import { PROMPTS, systemMessage, type Feature, type MadePrompts } from './prompts.js';
import { FAILURES } from './failures.js';
import type { Message } from './message.js';
import { MODELS } from './models.js';
import { tell, type Scene } from './ways.js';
import { TraceBuilder, type Shared } from './trace-builder.js';

const HOUR_MS = 3_600_000;
/** The last conversation begins this long before the hour ends, so that it ends in time. */
const LAST_START_MS = 5 * 60_000;
const FAILURE_RATE = 0.3;
const RESEND_RATE = 0.06;

/** An answer of the assistant, made with a version of a prompt. */
export interface Completion {
  readonly span_id: string;
  readonly prompt_slug: string;
  readonly answer: string;
  /** What is wrong with it; null: nothing. */
  readonly flaw: Flaw | null;
  /** What it should have been. */
  readonly better: string;
}

/** One request to the server: the spans of one trace, as an SDK flushes them. */
export interface DemoRequest {
  readonly spans: readonly SpanInput[];
  /** Sent a second time, as a client does that has not seen the answer. */
  readonly again: boolean;
  /** The answer among the spans; null: the customer got none. */
  readonly completion: Completion | null;
}

export interface StoryOptions {
  readonly seed: number;
  readonly sessions: number;
  /** End of the hour, in Unix milliseconds. */
  readonly until: number;
  /** Value of the tag `demo` that every span, trace and session of this run carries. */
  readonly run: string;
  /** What the assistant's prompts are on the server. */
  readonly prompts: MadePrompts;
}

/**
 * An hour of a shop's assistant. The same options give the same story, ids included. In the order in which an
 * application would have sent it.
 */
export function tellStory({ seed, sessions, until, run, prompts }: StoryOptions): DemoRequest[] {
  const traces = Array.from({ length: sessions }, (_none, session) => {
    const random = new Random(seedOf(seed, session));
    const part = (session + random.next()) / sessions;
    return sessionTraces(random, { part, startedAt: until - HOUR_MS + (HOUR_MS - LAST_START_MS) * part, run, prompts });
  }).flat();
  const order = new Random(seedOf(seed, sessions, 7));
  return traces
    .sort((a, b) => a.endedAt - b.endedAt)
    .map(({ spans, completion }) => ({ spans, completion, again: order.chance(RESEND_RATE) }));
}

interface ToldTrace {
  readonly spans: readonly SpanInput[];
  readonly completion: Completion | null;
  readonly endedAt: number;
}

interface SessionStart {
  /** How much of the hour is over, from 0 to 1. */
  readonly part: number;
  readonly startedAt: number;
  readonly run: string;
  readonly prompts: MadePrompts;
}

function sessionTraces(random: Random, { part, startedAt, run, prompts }: SessionStart): ToldTrace[] {
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
  const version = versionInUse(conversation.feature, environment, part);
  const { style = 'plain' } = PROMPTS[conversation.feature].versions[version] ?? {};
  const { slug: prompt_slug } = PROMPTS[conversation.feature];
  const prompt = naming(prompt_slug, prompts[conversation.feature][version]);
  const system = systemMessage(conversation.feature, version);
  const traces: ToldTrace[] = [];
  const history: Message[] = [];
  let now = startedAt;
  for (const turn of conversation.turns.map((each) => filledTurn(each, blanks))) {
    const builder = new TraceBuilder(shared(random, conversation, { session, user, environment, run }), now, random);
    const failure = random.chance(FAILURE_RATE) ? random.pick(FAILURES) : null;
    const flaw = flawOf(random, style);
    const said = { ...turn, answer: written(turn.answer, style, flaw) };
    const scene = { turn: said, system, prompt, history: [...history], ...blanks, user, model, failure };
    const span_id = tell(builder, random, scene);
    const { answer } = said;
    const completion = span_id === null ? null : { span_id, prompt_slug, answer, flaw, better: turn.answer };
    traces.push({ spans: builder.spans, completion, endedAt: builder.now });
    if (completion === null) break;
    history.push({ role: 'user', content: turn.question }, { role: 'assistant', content: answer });
    now = builder.now + random.around(35_000);
  }
  return traces;
}

/** Index of the version: production gets one after another in the course of the hour, staging has the newest. */
function versionInUse(feature: Feature, environment: string, part: number): number {
  const { length } = PROMPTS[feature].versions;
  return environment === 'staging' ? length - 1 : Math.floor(part * length);
}

function naming(prompt_slug: string, version: MadePrompts[Feature][number] | undefined): Scene['prompt'] {
  if (version === undefined) return { prompt_slug };
  return { prompt_slug, prompt_version: version.version, prompt_version_id: version.id };
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
