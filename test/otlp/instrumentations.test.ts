import { createRequire } from 'node:module';
import { createOpenAI } from '@ai-sdk/openai';
import { LegacyOpenTelemetry, OpenTelemetry } from '@ai-sdk/otel';
import { OpenAIInstrumentation as OpenInference } from '@arizeai/openinference-instrumentation-openai';
import type * as openInferenceCore from '@arizeai/openinference-core';
import { context } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { OpenAIInstrumentation as OpenLLMetry } from '@traceloop/instrumentation-openai';
import { embed, generateText, rerank, streamText, type RerankingModel } from 'ai';
import { expect } from 'chai';
import * as openaiAsModule from 'openai';
import { eventually } from '../http/app-harness.js';
import { feedbackApi } from '../feedback/feedback-api.js';
import { bootServer, send, type TestServer } from '../harness/server.js';
import { shown } from '../review/linked-prompt.js';
import { ANSWER, MODEL, SNAPSHOT, startOpenAiStandIn, type OpenAiStandIn } from './openai-stand-in.js';
import { startTelemetry, uuidOfTrace, type Telemetry } from './telemetry.js';

/** The package once more, as `require` loads it: each instrumentation patches one of the two. */
const openaiAsCommonJs = createRequire(import.meta.url)('openai') as typeof openaiAsModule;

/** What instrumentations of OpenInference take from the context, from the package that this one depends on. */
const { setMetadata, setPromptTemplate, setSession, setTags, setUser } = createRequire(
  import.meta.resolve('@arizeai/openinference-instrumentation-openai'),
)('@arizeai/openinference-core') as typeof openInferenceCore;

const QUESTION = 'What is a span?';
const messages = [{ role: 'user' as const, content: QUESTION }];
const PROMPT = 'support';

/** List prices of gpt-4o-mini for what the stand-in charges: dollars per million of fresh input, cached input, output. */
const COST_WITH_CACHE = (600 * 0.15 + 400 * 0.075 + 500 * 0.6) / 1e6;
const COST_WITHOUT_CACHE = (1000 * 0.15 + 500 * 0.6) / 1e6;

/** Attributes of a call as the stand-in answers it. */
const CALL = {
  provider: 'openai',
  model: SNAPSHOT,
  inputTokens: 1000,
  outputTokens: 500,
  cacheReadTokens: 400,
  reasoningTokens: 100,
};

/** OpenAI has none, so this one answers by itself. */
const RERANKER = {
  specificationVersion: 'v4',
  provider: 'cohere.reranking',
  modelId: 'rerank-v3.5',
  doRerank: () => Promise.resolve({ ranking: [{ index: 1, relevanceScore: 0.9 }] }),
} as const satisfies RerankingModel;

interface StoredSpan {
  readonly id: string;
  readonly name: string;
  readonly parent_span_id: string | null;
  readonly session_id: string | null;
  readonly kind: string;
  readonly cost: number | null;
  readonly input_data: string;
  readonly output_data: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

describe('OTLP: real instrumentations of LLM clients', () => {
  let server: TestServer;
  let openai: OpenAiStandIn;
  let telemetry: Telemetry;

  before(async () => {
    server = await bootServer();
    openai = await startOpenAiStandIn();
    // As the SDK for Node does it: without one, nested spans would not know their parents.
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  });
  after(async () => {
    context.disable();
    await openai.stop();
    await server.dispose();
  });
  beforeEach(() => {
    const headers = { authorization: `Bearer ${server.key}` };
    telemetry = startTelemetry(new OTLPTraceExporter({ url: `${server.url}/v1/traces`, headers }));
  });
  afterEach(() => telemetry.shutdown());

  /** What came back of the one trace that was recorded, the root first: clocks of milliseconds do not tell. */
  async function storedSpans(count: number): Promise<StoredSpan[]> {
    // A streaming client has its last word before the span around it ends.
    await eventually(() => telemetry.finished().length === count, `${count} spans end`);
    await telemetry.flush();
    const traces = new Set(telemetry.finished().map((span) => span.spanContext().traceId));
    expect(traces.size).to.equal(1);
    const [trace] = traces;
    const { json } = await server.request('GET', `/spans?trace_id=${uuidOfTrace(trace!)}`);
    const isRoot = (span: StoredSpan) => Number(span.parent_span_id === null);
    return (json as StoredSpan[]).sort((one, other) => isRoot(other) - isRoot(one));
  }

  /** What somebody who follows a new link to the prompt is shown first. */
  async function newestCompletion(): Promise<string | undefined> {
    const api = feedbackApi(server);
    await api.ensure(PROMPT);
    const { json: link } = await api.link({ prompt_slug: PROMPT, link_type: 'prompt_completion' });
    return shown(await send((link as { url: string }).url, 'GET', { key: null }));
  }

  function client({ OpenAI }: typeof openaiAsModule): openaiAsModule.OpenAI {
    return new OpenAI({ baseURL: openai.url, apiKey: 'none', maxRetries: 0 });
  }

  const inputText = (span: StoredSpan) => JSON.parse(span.input_data) as unknown;

  describe('OpenInference for openai', () => {
    let instrumentation: OpenInference;
    beforeEach(() => {
      instrumentation = new OpenInference({ tracerProvider: telemetry.provider });
      instrumentation.manuallyInstrument(openaiAsModule.default);
    });
    afterEach(() => instrumentation.disable());

    it('a chat: llm with provider, model, tokens, cost, input and output', async () => {
      await client(openaiAsModule).chat.completions.create({ model: MODEL, messages });
      const [span, ...others] = await storedSpans(1);
      expect(others).to.deep.equal([]);
      expect(span).to.include({ kind: 'llm', status: 'ok', cost: COST_WITH_CACHE });
      expect(span!.attributes).to.include(CALL);
      expect(inputText(span!)).to.deep.equal([{ role: 'user', content: QUESTION }]);
      expect(JSON.parse(span!.output_data)).to.deep.equal([{ role: 'assistant', content: ANSWER }]);
    });

    it('a streamed chat: llm with input and output; it states no tokens, so there is no cost', async () => {
      const stream = await client(openaiAsModule).chat.completions.create({ model: MODEL, messages, stream: true });
      for await (const part of stream) expect(part.model).to.equal(SNAPSHOT);
      const [span] = await storedSpans(1);
      expect(span).to.include({ kind: 'llm', cost: null });
      expect(span!.attributes).to.include({ provider: 'openai', model: MODEL });
      expect(JSON.parse(span!.output_data)).to.deep.equal([{ role: 'assistant', content: ANSWER }]);
    });

    it('a chat in the context of a prompt, a session, a user, tags and metadata: is a completion of the prompt', async () => {
      const variables = { shop: 'Tea & Co' };
      let around = setPromptTemplate(context.active(), { template: 'Help at {shop}.', variables, version: 'v2' });
      around = setMetadata(setTags(around, ['beta', 'shop']), { promptSlug: PROMPT, plan: 'pro' });
      around = setUser(setSession(around, { sessionId: 'chat-1' }), { userId: 'bob' });
      await context.with(around, () => client(openaiAsModule).chat.completions.create({ model: MODEL, messages }));
      const [span] = await storedSpans(1);
      expect(span).to.include({ session_name: 'chat-1' });
      expect(span!.attributes).to.deep.include({ prompt_slug: PROMPT, prompt_version: 'v2', variables });
      expect(await newestCompletion()).to.equal(span!.id);
      const { json } = await server.request('GET', `/spans?user=bob&beta=true&shop=true&plan=pro&id=${span!.id}`);
      expect(json).to.have.length(1);
    });

    it('an embedding: its kind, provider, model and input', async () => {
      await client(openaiAsModule).embeddings.create({ model: 'text-embedding-3-small', input: 'a text' });
      const [span] = await storedSpans(1);
      expect(span).to.include({ kind: 'embedding', input_data: 'a text' });
      expect(span!.attributes).to.include({ provider: 'openai', model: 'text-embedding-3-small' });
    });
  });

  describe('OpenLLMetry for openai', () => {
    beforeEach(() => {
      const instrumentation = new OpenLLMetry();
      instrumentation.setTracerProvider(telemetry.provider);
      instrumentation.manuallyInstrument(openaiAsCommonJs.default);
    });

    it('a chat: llm with provider, model, tokens, cost, input and output', async () => {
      await client(openaiAsCommonJs).chat.completions.create({ model: MODEL, messages });
      const [span, ...others] = await storedSpans(1);
      expect(others).to.deep.equal([]);
      expect(span).to.include({ kind: 'llm', cost: COST_WITHOUT_CACHE });
      expect(span!.attributes).to.include({
        provider: 'openai',
        model: SNAPSHOT,
        inputTokens: 1000,
        outputTokens: 500,
      });
      expect(inputText(span!)).to.deep.equal([{ role: 'user', parts: [{ type: 'text', content: QUESTION }] }]);
      expect(JSON.parse(span!.output_data)).to.deep.equal([
        { role: 'assistant', finish_reason: 'stop', parts: [{ type: 'text', content: ANSWER }] },
      ]);
    });
  });

  /** The two integrations of the SDK: its own names, as in versions before 7, and those of OpenTelemetry. */
  const conventions = {
    'its own convention': {
      integration: () => new LegacyOpenTelemetry({ tracer: telemetry.tracer }),
      completion: 'call',
      kinds: { text: ['chain', 'llm'], embedding: ['chain', 'embedding'], reranking: ['chain', 'reranker'] },
      input: [{ role: 'user', content: [{ type: 'text', text: QUESTION }] }],
      output: ANSWER,
    },
    "OpenTelemetry's convention": {
      integration: () =>
        new OpenTelemetry({ tracer: telemetry.tracer, runtimeContext: true, usage: true, reranking: true }),
      completion: 'outer',
      kinds: {
        text: ['agent', 'chain', 'llm'],
        embedding: ['embedding', 'embedding'],
        reranking: ['reranker', 'reranker'],
      },
      input: [{ role: 'user', parts: [{ type: 'text', content: QUESTION }] }],
      output: JSON.stringify([
        { role: 'assistant', parts: [{ type: 'text', content: ANSWER }], finish_reason: 'stop' },
      ]),
    },
  };
  for (const [convention, { integration, completion, kinds, input, output }] of Object.entries(conventions)) {
    describe(`Vercel AI SDK, ${convention}`, () => {
      const settings = () => ({
        runtimeContext: { sessionId: 'chat-9', userId: 'ann', promptSlug: PROMPT, tags: ['beta'], plan: 'pro' },
        telemetry: {
          integrations: integration(),
          functionId: 'ask',
          includeRuntimeContext: { sessionId: true, userId: true, promptSlug: true, tags: true, plan: true },
        },
      });
      const provider = () => createOpenAI({ baseURL: openai.url, apiKey: 'none' });

      /** What came back, from the outermost span to the innermost. */
      async function nestedSpans(expected: readonly string[]): Promise<readonly [StoredSpan, StoredSpan]> {
        const spans = await storedSpans(expected.length);
        const depth = (span: StoredSpan): number => {
          const parent = spans.find(({ id }) => id === span.parent_span_id);
          return parent === undefined ? 0 : 1 + depth(parent);
        };
        const sorted = spans.sort((one, other) => depth(one) - depth(other));
        expect(sorted.map(({ kind }) => kind)).to.deep.equal(expected);
        return [sorted[0]!, sorted.at(-1)!];
      }

      const runs = {
        generateText: () => generateText({ model: provider().chat(MODEL), prompt: QUESTION, ...settings() }),
        streamText: async () => {
          const { text } = streamText({ model: provider().chat(MODEL), prompt: QUESTION, ...settings() });
          expect(await text).to.equal(ANSWER);
        },
      };
      for (const name of ['generateText', 'streamText'] as const) {
        it(`${name}: the call is llm and paid for once, the spans around it are not`, async () => {
          await runs[name]();
          const [outer, call] = await nestedSpans(kinds.text);
          expect(outer).to.include({ name: 'ask', cost: null, output_data: output, session_name: 'chat-9' });
          expect(call).to.include({ cost: COST_WITH_CACHE, output_data: output });
          expect(call.attributes).to.include(CALL);
          expect(inputText(call)).to.deep.equal(input);

          const [linked, other] = completion === 'call' ? [call, outer] : [outer, call];
          expect(other.attributes).not.to.have.property('prompt_slug');
          expect(linked.attributes).to.include({ prompt_slug: PROMPT });
          expect(await newestCompletion()).to.equal(linked.id);
          const { json: traces } = await server.request('GET', '/traces?user=ann&beta=true&plan=pro&limit=1');
          expect(traces[0]).to.include({
            name: 'ask',
            span_count: kinds.text.length,
            cost: COST_WITH_CACHE,
            session_id: outer.session_id,
          });
          const { json: sessions } = await server.request('GET', '/sessions?user=ann&service=shop');
          expect(sessions).to.have.length(1);
          expect(sessions[0]).to.include({ name: 'chat-9' });
        });
      }

      it('embed: the call is an embedding and paid for once', async () => {
        const model = provider().embedding('text-embedding-3-small');
        await embed({ model, value: 'a text', ...settings() });
        const [outer, call] = await nestedSpans(kinds.embedding);
        expect(outer).to.include({ cost: null });
        expect(call).to.include({ cost: (1000 * 0.02) / 1e6 });
      });

      it('rerank: the call is a reranker with documents and ranking', async () => {
        await rerank({ model: RERANKER, documents: ['noise', 'spans'], query: QUESTION, ...settings() });
        const [, call] = await nestedSpans(kinds.reranking);
        expect(call.attributes).to.include({ provider: 'cohere', model: RERANKER.modelId });
        expect(inputText(call)).to.deep.equal(['"noise"', '"spans"']);
        expect(JSON.parse(call.output_data)).to.deep.equal(['{"index":1,"relevanceScore":0.9}']);
      });

      it('a failed call: an error with its message, and no cost', async () => {
        const model = provider().chat('no-such-model');
        const failed = await generateText({ model, prompt: QUESTION, maxRetries: 0, ...settings() }).catch(
          (error: unknown) => error,
        );
        expect(failed).to.be.instanceOf(Error);
        const [, call] = await nestedSpans(kinds.text);
        expect(call).to.include({
          status: 'error',
          has_error: true,
          error_message: 'The model does not exist',
          cost: null,
        });
      });
    });
  }
});
