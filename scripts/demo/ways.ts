import type { Random } from '../random.js';
import { reason, type Failure } from './failures.js';
import type { Message, ToolCall } from './message.js';
import { EMBEDDING, SMALL, UNPRICED_MODEL, type Model } from './models.js';
import { DOCUMENTS, type Turn, type Way } from './conversations.js';
import type { Step, TraceBuilder } from './trace-builder.js';

/** Everything a turn needs to be worked out. */
export interface Scene {
  readonly turn: Turn;
  readonly system: string;
  /** Attributes that name the version of the prompt that `system` comes from. */
  readonly prompt: Readonly<Record<string, unknown>>;
  /** Earlier messages of this conversation. */
  readonly history: readonly Message[];
  readonly order: string;
  readonly city: string;
  readonly user: string;
  readonly model: Model;
  /** The failure in this turn; null: none. */
  readonly failure: Failure | null;
}

/** Tells the trace of a turn into the builder. @returns the id of the span that answered the customer; null: none did */
export function tell(trace: TraceBuilder, random: Random, scene: Scene): string | null {
  let completion: string | null = null;
  trace.group(
    {
      name: 'answer_customer',
      kind: 'agent',
      input_data: scene.turn.question,
      attributes: { agent: 'assistant', way: scene.turn.way },
    },
    () => {
      const context = WAYS[scene.turn.way](trace, random, scene);
      if (context === null)
        return {
          ...(scene.failure === null ? {} : reason(scene.failure)),
          output_data: 'I am sorry, something went wrong on our side. A colleague will write to you today.',
        };
      const messages = [...prompt(scene), ...context];
      const [typicalMs, call] = modelCall(random, 'write_answer', scene.model, messages, scene.turn.answer);
      const answer = { ...call, attributes: { ...call.attributes, ...scene.prompt } };
      if (scene.failure?.where === 'model') {
        const { output_data: _never, ...asked } = answer;
        const { provider, model } = scene.model;
        trace.step(190, { ...asked, attributes: { provider, model, ...scene.prompt }, ...reason(scene.failure) });
        trace.wait(2100);
      }
      completion = trace.step(typicalMs, answer);
      trace.step(9, {
        name: 'save_message',
        kind: 'database',
        input_data: 'INSERT INTO messages (session_id, role, content) VALUES ($1, $2, $3)',
        attributes: { 'db.system': 'postgresql', rows: 1 },
      });
      return { output_data: scene.turn.answer };
    },
  );
  return completion;
}

type Worked = readonly Message[] | null;

type Tell = (trace: TraceBuilder, random: Random, scene: Scene) => Worked;

const WAYS: Readonly<Record<Way, Tell>> = {
  documents: (trace, random, scene) => retrieve(trace, random, scene.turn.question),
  order: (trace, random, scene) => {
    const call = toolCall(random, 'lookup_order', { order: scene.order });
    trace.step(...modelCall(random, 'choose_tool', SMALL, prompt(scene), JSON.stringify(asking(call))));
    return useTool(trace, scene, call, orderRecord(random, scene));
  },
  refund: (trace, random, scene) => {
    const lookup = toolCall(random, 'lookup_order', { order: scene.order });
    const found = useTool(trace, { ...scene, failure: null }, lookup, orderRecord(random, scene));
    const call = toolCall(random, 'start_refund', { order: scene.order, reason: 'customer request' });
    const messages = [...prompt(scene), ...(found ?? [])];
    trace.step(...modelCall(random, 'choose_tool', scene.model, messages, JSON.stringify(asking(call))));
    const refund = {
      refund: `RF-${random.whole(10_000, 99_999)}`,
      order: scene.order,
      amount: random.whole(29, 149),
      currency: 'EUR',
      state: 'started',
    };
    const started = useTool(trace, scene, call, refund);
    return started === null ? null : [...(found ?? []), ...started];
  },
  research: (trace, random, scene) => {
    const plan = ['compare warmth and weight', 'check test reports on rain', 'check prices and stock'];
    trace.step(...modelCall(random, 'plan_research', scene.model, prompt(scene), JSON.stringify(plan)));
    return plan.flatMap((task) => investigate(trace, random, task));
  },
};

function retrieve(trace: TraceBuilder, random: Random, question: string): Message[] {
  const from = random.whole(0, DOCUMENTS.length - 3);
  const found = DOCUMENTS.slice(from, from + 3).map((document, rank) => ({
    ...document,
    score: Number((0.91 - rank * 0.07 - random.next() * 0.03).toFixed(4)),
  }));
  trace.group({ name: 'find_documents', kind: 'retriever', input_data: question, attributes: { top_k: 3 } }, () => {
    trace.step(70, {
      name: 'embed_question',
      kind: 'embedding',
      input_data: question,
      attributes: { ...EMBEDDING, inputTokens: tokens(question), outputTokens: 0, dimensions: 1536 },
    });
    trace.step(24, {
      name: 'search help-pages',
      kind: 'vector_store',
      input_data: JSON.stringify({ collection: 'help-pages', top_k: 3 }),
      output_data: JSON.stringify(found),
      attributes: { 'db.system': 'qdrant', collection: 'help-pages', matches: found.length },
    });
    return { output_data: found.map(({ source }) => source).join(', ') };
  });
  return [
    { role: 'system', content: `Documents:\n${found.map(({ source, text }) => `[${source}] ${text}`).join('\n')}` },
  ];
}

function investigate(trace: TraceBuilder, random: Random, task: string): Message[] {
  let note = '';
  trace.group({ name: 'investigate', kind: 'agent', input_data: task, attributes: { agent: 'researcher' } }, () => {
    const pages = retrieve(trace, random, task);
    trace.step(310, {
      name: 'GET test-reports',
      kind: 'http',
      input_data: `GET https://reports.northwind.internal/search?q=${encodeURIComponent(task)}`,
      output_data: JSON.stringify({ hits: random.whole(2, 9) }),
      attributes: { 'http.request.method': 'GET', 'http.response.status_code': 200 },
    });
    note = `${task}: the Fjell 3 leads by a small margin, see catalog/fjell-3.md and ${random.whole(2, 6)} reports.`;
    trace.step(
      ...modelCall(
        random,
        'summarise_findings',
        { ...UNPRICED_MODEL, pace: 4 },
        [{ role: 'user', content: `Summarise for: ${task}` }, ...pages],
        note,
      ),
    );
    return { output_data: note };
  });
  return [{ role: 'system', content: `Findings:\n${note}` }];
}

function toolCall(random: Random, name: string, args: object): ToolCall {
  const id = `call_${random.uuid().slice(0, 8)}`;
  return { id, type: 'function', function: { name, arguments: JSON.stringify(args) } };
}

/** What a model says that wants a tool called. */
function asking(call: ToolCall): Message {
  return { role: 'assistant', content: null, tool_calls: [call] };
}

/** A tool with the request and the query behind it; tried twice when that helps. @returns the call and its result */
function useTool(trace: TraceBuilder, scene: Scene, call: ToolCall, result: object): Worked {
  const failure = scene.failure?.where === 'tool' ? scene.failure : null;
  const attempts = failure?.retryable === true ? 2 : 1;
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const failed = failure !== null && (attempt < attempts || !failure.retryable);
    const problem = failed ? reason(failure) : {};
    trace.group(
      {
        name: call.function.name,
        kind: 'tool',
        input_data: call.function.arguments,
        attributes: { attempt, tool_call_id: call.id },
        ...problem,
      },
      () => {
        const status = failed ? 503 : 200;
        trace.step(failed ? 2400 : 160, {
          name: 'GET orders-api',
          kind: 'http',
          input_data: `GET https://orders.northwind.internal/v2/orders/${scene.order}`,
          ...(failed ? {} : { output_data: JSON.stringify(result) }),
          attributes: { 'http.request.method': 'GET', 'http.response.status_code': status },
          ...problem,
        });
        if (!failed)
          trace.step(12, {
            name: 'SELECT orders',
            kind: 'database',
            input_data: 'SELECT id, state, carrier, address FROM orders WHERE id = $1',
            attributes: { 'db.system': 'postgresql', rows: 1 },
          });
        return failed ? undefined : { output_data: JSON.stringify(result) };
      },
    );
    if (!failed) return [asking(call), { role: 'tool', tool_call_id: call.id, content: JSON.stringify(result) }];
    trace.wait(400 * attempt);
  }
  return null;
}

function orderRecord(random: Random, { order, city, user }: Scene): object {
  return {
    order,
    customer: user,
    state: random.pick(['packed', 'shipped', 'out for delivery']),
    carrier: random.pick(['DHL', 'GLS', 'PostNord']),
    city,
    items: random.whole(1, 4),
    total: random.whole(39, 420),
    currency: 'EUR',
  };
}

function prompt({ system, history, turn }: Scene): Message[] {
  return [{ role: 'system', content: system }, ...history, { role: 'user', content: turn.question }];
}

function modelCall(
  random: Random,
  name: string,
  { provider, model, pace }: Model,
  messages: readonly Message[],
  output: string,
): [number, Step] {
  const input = JSON.stringify(messages);
  const outputTokens = tokens(output);
  const attributes = {
    provider,
    model,
    inputTokens: tokens(input),
    outputTokens,
    temperature: 0.2,
    finish_reason: 'stop',
    request_id: `req_${random.uuid().slice(0, 13)}`,
  };
  return [
    280 + outputTokens * pace,
    {
      name,
      kind: 'llm',
      input_data: input,
      output_data: output,
      attributes,
      code_filepath: '/srv/assistant/agent/llm.py',
      code_lineno: 44,
    },
  ];
}

function tokens(text: string): number {
  return Math.max(1, Math.ceil(text.length / 4));
}
