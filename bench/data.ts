import type { SpanInput } from '../src/engine/traces/model/span/schema.js';
import { personName, prose, question, reference, searchTerms } from './prose.js';
import { Random, seedOf } from '../scripts/random.js';

export const SPANS_PER_TRACE = 12;
const TRACES_PER_SESSION = 4;
/** Start of the generated time, in Unix milliseconds; traces begin at a steady pace from here. */
export const FIRST_START = Date.UTC(2026, 0, 5, 8);
export const MS_BETWEEN_TRACES = 240;
const ERROR_RATE = 0.02;
const USERS = 5_000;

/** A span as it is sent, always with what the generator gives every span. */
export type GeneratedSpan = SpanInput & Required<Pick<SpanInput, 'id' | 'trace_id'>> & { readonly id: string };

interface Model {
  readonly provider: string;
  readonly model: string;
}

const MODELS: readonly Model[] = [
  { provider: 'openai', model: 'gpt-4o' },
  { provider: 'openai', model: 'gpt-4o-mini' },
  { provider: 'anthropic', model: 'claude-sonnet-4-0' },
  { provider: 'openai', model: 'gpt-4.1' },
  { provider: 'anthropic', model: 'claude-3-5-haiku-latest' },
  { provider: 'gemini', model: 'gemini-2.5-flash' },
  { provider: 'mistral', model: 'mistral-large-latest' },
];
const FEATURES = ['support-chat', 'order-status', 'document-search', 'report-writer', 'email-drafts'];
const ENVIRONMENTS = ['production', 'production', 'production', 'staging'];
const RELEASES = ['2026.1.0', '2026.1.1', '2026.1.2', '2026.2.0'];

interface Failure {
  readonly code: string;
  readonly message: (random: Random) => string;
  readonly frames: readonly string[];
}

const FAILURES: readonly Failure[] = [
  {
    code: 'RateLimitError',
    message: (r) =>
      `Rate limit reached for requests per minute: limit 500, used 500. Try again in ${r.whole(1, 59)} s.`,
    frames: ['openai/_base_client.py:1061 in _request', 'agent/models.py:88 in complete', 'agent/loop.py:142 in step'],
  },
  {
    code: 'TimeoutError',
    message: (r) => `no answer from orders-api within ${r.whole(5, 30)} s (${reference(r)})`,
    frames: ['httpx/_transports/default.py:118 in map_exceptions', 'agent/tools/orders.py:47 in fetch'],
  },
  {
    code: 'ValidationError',
    message: (r) => `tool arguments do not match the schema: "${reference(r)}" is not of type integer`,
    frames: [
      'jsonschema/validators.py:451 in validate',
      'agent/tools/registry.py:63 in call',
      'agent/loop.py:171 in act',
    ],
  },
  {
    code: 'OperationalError',
    message: (r) =>
      `connection to server at "10.0.${r.whole(0, 12)}.${r.whole(2, 250)}" failed: too many clients already`,
    frames: ['psycopg/connection.py:728 in connect', 'agent/store.py:29 in session'],
  },
];

const SYSTEM_PROMPTS = systemPrompts();

const PASSAGES = 400;
const knowledge = new Map<string, readonly string[]>();

/** The passages that a feature's retriever can find: a fixed set, of which some are found far more often than others. */
function knowledgeBase(feature: string): readonly string[] {
  let passages = knowledge.get(feature);
  if (passages === undefined) {
    const random = new Random(seedOf(78, FEATURES.indexOf(feature)));
    passages = Array.from({ length: PASSAGES }, () => prose(random, 500));
    knowledge.set(feature, passages);
  }
  return passages;
}

/** One span of a trace's tree; parents are indexes into the tree. */
interface Step {
  readonly name: string;
  readonly kind: string;
  readonly parent: number | null;
}

const TREE: readonly Step[] = [
  { name: 'handle_request', kind: 'agent', parent: null },
  { name: 'classify_intent', kind: 'llm', parent: 0 },
  { name: 'retrieve_context', kind: 'retriever', parent: 0 },
  { name: 'embed_query', kind: 'embedding', parent: 2 },
  { name: 'search_documents', kind: 'vector_store', parent: 2 },
  { name: 'load_profile', kind: 'database', parent: 0 },
  { name: 'plan_steps', kind: 'llm', parent: 0 },
  { name: 'call_tool', kind: 'tool', parent: 0 },
  { name: 'POST /v2/lookup', kind: 'http', parent: 7 },
  { name: 'draft_answer', kind: 'llm', parent: 0 },
  { name: 'check_answer', kind: 'llm', parent: 0 },
  { name: 'save_conversation', kind: 'database', parent: 0 },
];

/** Everything that the spans of one trace have in common. */
interface Scene {
  readonly random: Random;
  readonly traceId: string;
  readonly sessionId: string;
  readonly user: string;
  readonly feature: string;
  readonly environment: string;
  readonly release: string;
  readonly customer: string;
  readonly system: string;
  readonly question: string;
  readonly passages: readonly string[];
  readonly answer: string;
  readonly startedAt: number;
}

/**
 * The spans of one trace: a request to an agent with retrieval, model calls, a tool and its database. Around 2.4 KB of
 * JSON each; trace `number` of a seed is always the same, whatever was generated before it.
 */
export function generateTrace(seed: number, number: number): GeneratedSpan[] {
  const scene = sceneOf(seed, number);
  const ids = TREE.map(() => scene.random.uuid());
  let clock = scene.startedAt + scene.random.whole(2, 9);
  const spans = TREE.map((step, index) => {
    const parent = step.parent === null ? null : (ids[step.parent] ?? null);
    const duration = Math.round(scene.random.around(typicalMs(step.kind)) * 1000) / 1000;
    const started = clock;
    if (!hasChildren(index)) clock += Math.ceil(duration);
    return spanOf(scene, step, { id: ids[index] ?? '', parent, started, duration });
  });
  return spans.map((span, index) => (hasChildren(index) ? enclosing(span, spans, index) : span));
}

function hasChildren(index: number): boolean {
  return TREE.some(({ parent }) => parent === index);
}

/** A parent ends when the last of its descendants has. */
function enclosing(span: GeneratedSpan, spans: readonly GeneratedSpan[], index: number): GeneratedSpan {
  const below = index === 0 ? spans.slice(1) : spans.filter((_span, at) => TREE[at]?.parent === index);
  const end = Math.max(...below.map(({ ended_at }) => Date.parse(String(ended_at)))) + 1;
  return { ...span, ended_at: iso(end), duration_ms: end - Date.parse(String(span.started_at)) };
}

function typicalMs(kind: string): number {
  return { llm: 1400, tool: 300, http: 180, database: 14, vector_store: 35, embedding: 90 }[kind] ?? 20;
}

function sceneOf(seed: number, number: number): Scene {
  const session = Math.floor(number / TRACES_PER_SESSION);
  const shared = new Random(seedOf(seed, 1, session));
  const sessionId = shared.uuid();
  const feature = shared.skewed(FEATURES);
  const user = `user-${String(Math.floor(shared.next() ** 2 * USERS)).padStart(5, '0')}`;
  const customer = `customer-${shared.whole(1, 400)}`;
  const environment = shared.pick(ENVIRONMENTS);
  const release = shared.skewed(RELEASES);
  const system = SYSTEM_PROMPTS[FEATURES.indexOf(feature)] ?? '';
  const random = new Random(seedOf(seed, 2, number));
  return {
    random,
    traceId: random.uuid(),
    sessionId,
    user,
    feature,
    environment,
    release,
    customer,
    system,
    question: question(random),
    passages: [0, 1, 2].map(() => random.skewed(knowledgeBase(feature))),
    answer: prose(random, 960),
    startedAt: FIRST_START + number * MS_BETWEEN_TRACES,
  };
}

interface Place {
  readonly id: string;
  readonly parent: string | null;
  readonly started: number;
  readonly duration: number;
}

function spanOf(scene: Scene, step: Step, { id, parent, started, duration }: Place): GeneratedSpan {
  const { random } = scene;
  const { input, output, attributes } = contentOf(scene, step);
  const failed = parent !== null && random.chance(ERROR_RATE);
  const root = parent === null;
  return {
    id,
    trace_id: scene.traceId,
    parent_span_id: parent,
    session_id: scene.sessionId,
    name: step.name,
    kind: step.kind,
    status: failed ? 'error' : 'ok',
    started_at: iso(started),
    ended_at: iso(started + duration),
    duration_ms: duration,
    input_data: input,
    output_data: failed ? null : output,
    attributes,
    tags: { environment: scene.environment, user: scene.user, feature: scene.feature, release: scene.release },
    ...(root
      ? { trace_tags: { customer: scene.customer, feature: scene.feature }, session_tags: { user: scene.user } }
      : {}),
    ...(failed ? failure(random) : {}),
    code_filepath: `/srv/assistant/agent/${step.name.split(/\W+/)[0]?.toLowerCase() ?? 'step'}.py`,
    code_lineno: 20 + step.name.length * 7,
  };
}

function failure(random: Random) {
  const { code, message, frames } = random.pick(FAILURES);
  const text = message(random);
  const stack = frames.map((frame) => `  File "/srv/assistant/.venv/lib/python3.12/site-packages/${frame}`).join('\n');
  return {
    error_code: code,
    error_message: text,
    error_stack: `Traceback (most recent call last):\n${stack}\n${code}: ${text}`,
  };
}

interface Content {
  readonly input: string;
  readonly output: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

function contentOf(scene: Scene, step: Step): Content {
  const { random, passages } = scene;
  switch (step.kind) {
    case 'llm':
      return modelCall(scene, step.name);
    case 'agent':
      return {
        input: scene.question,
        output: scene.answer,
        attributes: { 'service.name': 'assistant', turn: random.whole(1, 9) },
      };
    case 'retriever':
      return {
        input: scene.question,
        output: JSON.stringify(passages.map((text, rank) => ({ rank, text }))),
        attributes: { top_k: 3, index: `kb-${scene.feature}` },
      };
    case 'vector_store':
      return {
        input: JSON.stringify({ index: `kb-${scene.feature}`, top_k: 3, filter: { customer: scene.customer } }),
        output: JSON.stringify(
          passages.map((text) => ({
            id: random.uuid(),
            score: Number(random.next().toFixed(6)),
            text,
            source: `${searchTerms(random)}.md`,
          })),
        ),
        attributes: { 'db.system': 'qdrant', collection: `kb-${scene.feature}`, dimensions: 1536 },
      };
    case 'embedding':
      return {
        input: scene.question,
        output: JSON.stringify(Array.from({ length: 16 }, () => Number((random.next() * 2 - 1).toFixed(7)))),
        attributes: {
          provider: 'openai',
          model: 'text-embedding-3-small',
          inputTokens: Math.ceil(scene.question.length / 4),
          outputTokens: 0,
        },
      };
    default:
      return toolCall(scene, step);
  }
}

function modelCall(scene: Scene, name: string): Content {
  const { random } = scene;
  const { provider, model } = random.skewed(MODELS);
  const messages: { role: string; content: string }[] = [{ role: 'system', content: scene.system }];
  if (name === 'draft_answer')
    messages.push({ role: 'system', content: `Context:\n${scene.passages.join('\n---\n')}` });
  messages.push({ role: 'user', content: scene.question });
  if (name === 'check_answer') messages.push({ role: 'assistant', content: scene.answer });
  const output = outputOf(scene, name);
  const input = JSON.stringify(messages);
  return {
    input,
    output,
    attributes: {
      provider,
      model,
      inputTokens: Math.ceil(input.length / 4.2),
      outputTokens: Math.ceil(output.length / 4.2),
      temperature: 0.2,
      max_tokens: 1024,
      finish_reason: 'stop',
      request_id: `req_${random.uuid().replaceAll('-', '')}`,
      ttft_ms: Math.round(random.around(320)),
    },
  };
}

function outputOf(scene: Scene, name: string): string {
  const { random } = scene;
  if (name === 'draft_answer') return scene.answer;
  if (name === 'classify_intent')
    return JSON.stringify({
      intent: scene.feature,
      confidence: Number(random.next().toFixed(3)),
      language: 'en',
      summary: prose(random, 90),
    });
  if (name === 'plan_steps')
    return JSON.stringify(
      [1, 2, 3].map((step) => ({
        step,
        tool: random.pick(['lookup', 'search', 'answer']),
        reason: prose(random, 110),
      })),
    );
  return JSON.stringify({ grounded: true, tone: 'polite', notes: prose(random, 260) });
}

function toolCall(scene: Scene, { name, kind }: Step): Content {
  const { random } = scene;
  const number = reference(random);
  const record = () => ({
    id: reference(random),
    status: random.pick(['open', 'shipped', 'paid', 'returned']),
    owner: personName(random),
    total: Number(random.around(80).toFixed(2)),
    updated_at: iso(scene.startedAt - random.whole(60_000, 9_000_000)),
    note: prose(random, 130),
  });
  if (kind === 'database') {
    const table = name === 'load_profile' ? 'profiles' : 'conversations';
    return {
      input: `SELECT id, status, owner, total, updated_at, note FROM ${table} WHERE tenant = $1 AND user_key = $2 ORDER BY updated_at DESC LIMIT 20 -- ${scene.user}`,
      output: JSON.stringify(Array.from({ length: 4 }, record)),
      attributes: { 'db.system': 'postgresql', 'db.name': 'assistant', rows: random.whole(0, 20), pool: 'primary' },
    };
  }
  return {
    input: JSON.stringify({
      reference: number,
      customer: scene.customer,
      query: searchTerms(random),
      reason: prose(random, 200),
    }),
    output: JSON.stringify({
      reference: number,
      found: true,
      items: Array.from({ length: 4 }, record),
      request: random.uuid(),
    }),
    attributes:
      kind === 'http'
        ? {
            'http.method': 'POST',
            'http.url': 'https://orders.internal/v2/lookup',
            'http.status_code': 200,
            bytes: random.whole(300, 9000),
          }
        : { tool: 'lookup', arguments_valid: true, attempt: random.chance(0.05) ? 2 : 1 },
  };
}

/** One long instruction per feature; every model call of the feature carries it, as in real applications. */
function systemPrompts(): string[] {
  return FEATURES.map((feature, index) => {
    const random = new Random(seedOf(77, index));
    const rules = [1, 2, 3, 4, 5].map((rule) => `${rule}. ${prose(random, 70)}`);
    return `You are the ${feature} assistant. Answer in the language of the user and never invent figures.\n${rules.join('\n')}`;
  });
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
