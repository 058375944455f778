import { expect } from 'chai';
import { CONTEXT_FIELDS, PROMPT_ATTRIBUTES } from '../../src/otlp/genai/context-fields.js';
import type { FieldRule } from '../../src/otlp/genai/source.js';
import { toSpans } from '../../src/otlp/span.js';
import { decodeJson } from '../../src/otlp/json.js';
import {
  attributes,
  json,
  mapRequest,
  mapSpan,
  otlpSpan,
  request,
  spanId,
  type Plain,
  type Values,
} from './requests.js';

const VERSION_ID = '0199a1b2-0000-7000-8000-0000000000aa';
const LLM: Values = { 'gen_ai.operation.name': 'chat' };

/** Attributes that say a value by one source alone. */
function saying(source: FieldRule['sources'][number], value: Plain): Values {
  if (typeof source === 'string') return { [source]: value };
  if ('each' in source) return { [`${source.each}.shop`]: value };
  if ('member' in source) return { [source.within]: JSON.stringify({ [source.member]: value }) };
  throw new Error('no such source among these');
}

describe('OTLP context: prompts', () => {
  const samples = {
    prompt_slug: 'support/answers',
    prompt_version_id: VERSION_ID,
    prompt_version: 3,
  } as const;
  for (const [name, value] of Object.entries(samples)) {
    it(`${name}: each source alone is enough`, () => {
      const rule: FieldRule = CONTEXT_FIELDS[PROMPT_ATTRIBUTES[name as keyof typeof samples]];
      for (const source of rule.sources) {
        expect(mapSpan({ ...LLM, ...saying(source, value) }).attributes[name], JSON.stringify(source)).to.equal(value);
        expect(mapSpan(saying(source, String(value))).attributes[name], JSON.stringify(source)).to.be.oneOf([
          value,
          String(value), // what was sent under the name itself stays as it was
        ]);
      }
    });
  }

  it('variables: as JSON, or each in an attribute of its own', () => {
    const told = (values: Values) => JSON.parse(JSON.stringify(mapSpan({ ...LLM, ...values }).attributes.variables));
    const variables = { shop: 'Tea & Co', items: 3 };
    expect(told({ 'llm.prompt_template.variables': JSON.stringify(variables) })).to.deep.equal(variables);
    expect(told({ 'traceloop.prompt.template_variables': JSON.stringify(variables) })).to.deep.equal(variables);
    for (const prefix of ['traceloop.prompt.template_variables', 'gen_ai.prompt.variable'])
      expect(told({ [`${prefix}.shop`]: 'Tea & Co', [`${prefix}.items`]: 3 })).to.deep.equal(variables);
  });

  it('link the call alone, and not the spans around it, which say the same', () => {
    const said: Values = { 'ai.telemetry.metadata.promptSlug': 'support', 'llm.prompt_template.variables': '{"a":1}' };
    for (const kind of [
      { 'ai.operationId': 'ai.generateText' },
      { 'ai.operationId': 'ai.toolCall' },
      { 'gen_ai.operation.name': 'embeddings' },
    ])
      expect(mapSpan({ ...said, ...kind }).attributes).not.to.have.any.keys('prompt_slug', 'variables');
    expect(mapSpan({ ...said, 'ai.operationId': 'ai.generateText.doGenerate' }).attributes).to.include({
      prompt_slug: 'support',
      'ai.telemetry.metadata.promptSlug': 'support',
    });
  });

  it('link the inner one of two spans that two instrumentations make of one call', () => {
    const call = { ...LLM, 'gen_ai.request.model': 'm', 'gen_ai.usage.input_tokens': 7, 'prompt.id': 'support' };
    const outer = otlpSpan({ spanId: spanId(1), attributes: attributes(call) });
    const inner = otlpSpan({ spanId: spanId(2), parentSpanId: spanId(1), attributes: attributes(call) });
    const { spans } = mapRequest(request([inner, outer]));
    expect(spans.map((span) => [span.kind, span.attributes['prompt_slug']])).to.deep.equal([
      ['llm', 'support'],
      ['chain', undefined],
    ]);
  });

  it('never replace what the span itself says', () => {
    const span = mapSpan({
      ...LLM,
      prompt_slug: 'own',
      'gen_ai.prompt.name': 'other',
      prompt_version: 'v1',
      task: 'x',
    });
    expect(span.attributes).to.include({ prompt_slug: 'own', prompt_version: 'v1' });
    expect(mapSpan({ ...LLM, task: 'own', 'gen_ai.prompt.name': 'other' }).attributes).to.include({
      prompt_slug: 'own',
    });
  });

  it('pass over what can be no slug, no id and no version', () => {
    for (const bad of ['', 's'.repeat(129), true, null, ['support'], { name: 'support' }])
      expect(mapSpan({ ...LLM, 'gen_ai.prompt.name': bad }).attributes).not.to.have.property('prompt_slug');
    for (const bad of ['3', 'v3', 3, [VERSION_ID], `${VERSION_ID}0`])
      expect(mapSpan({ ...LLM, 'ai.telemetry.metadata.promptVersionId': bad }).attributes).not.to.have.property(
        'prompt_version_id',
      );
    const versions: Plain[] = ['2.1', 'v3', '12345678901'];
    for (const named of versions)
      expect(mapSpan({ ...LLM, 'gen_ai.prompt.version': named }).attributes).to.include({ prompt_version: named });
    for (const bad of [
      'no JSON',
      '[]',
      '"text"',
      `{"a":${'['.repeat(100)}${']'.repeat(100)}}`,
      `{"a":"${'x'.repeat(70_000)}"}`,
    ])
      expect(mapSpan({ ...LLM, 'llm.prompt_template.variables': bad }).attributes).not.to.have.property('variables');
    const huge = { 'gen_ai.prompt.variable.a': 'x'.repeat(70_000), 'gen_ai.prompt.variable.b': 'y' };
    expect(mapSpan({ ...LLM, ...huge }).attributes).not.to.have.property('variables');
  });
});

describe('OTLP context: tags', () => {
  it('lists of names become tags of the value true, as a list, as JSON or as one name', () => {
    for (const source of CONTEXT_FIELDS.tags.sources) {
      for (const value of [['beta', 'shop'], '["beta","shop"]'])
        expect(mapSpan({ [source]: value }).tags, source).to.deep.equal({ beta: 'true', shop: 'true' });
      expect(mapSpan({ [source]: 'beta' }).tags, source).to.deep.equal({ beta: 'true' });
    }
    expect(mapSpan({ 'tag.tags': ['ok', '', null, ['x'], { a: 'b' }, 7] }).tags).to.deep.equal({
      ok: 'true',
      7: 'true',
    });
    for (const none of ['', [], null, {}, '[broken', true])
      expect(mapSpan({ 'tag.tags': none }).tags, JSON.stringify(none)).to.deep.equal(
        none === '[broken' ? { '[broken': 'true' } : {},
      );
  });

  it('metadata becomes tags, but for what has a meaning of its own', () => {
    for (const prefix of ['ai.telemetry.metadata', 'ai.settings.context', 'traceloop.association.properties']) {
      const span = mapSpan({
        [`${prefix}.plan`]: 'pro',
        [`${prefix}.attempt`]: 2,
        [`${prefix}.trial`]: false,
        [`${prefix}.nested`]: { a: 'b' },
        [`${prefix}.`]: 'no name',
        [`${prefix}.${prefix.startsWith('ai') ? 'userId' : 'user_id'}`]: 'ann',
        [`${prefix}.prompt_slug`]: 'support',
      });
      const tags = { user: 'ann', plan: 'pro', attempt: '2', trial: 'false' };
      expect(span.tags, prefix).to.deep.equal(tags);
      expect(span.trace_tags, prefix).to.deep.equal(tags);
    }
    expect(mapSpan({ 'langfuse.trace.metadata.plan': 'pro' }).trace_tags).to.deep.equal({ plan: 'pro' });
    // The server's own tags would hide the trace.
    expect(
      mapSpan({ 'langfuse.trace.metadata.spanhouse.judge': 'x', metadata: '{"spanhouse.judge":"y"}' }),
    ).to.deep.include({
      tags: {},
      trace_tags: {},
    });
  });

  it('metadata of one span alone is no tag of its trace and session', () => {
    for (const said of [
      { metadata: '{"step":3,"plan":"pro","nested":{"a":1}}' },
      { metadata: { step: 3, plan: 'pro', nested: { a: 1 } } },
      { 'langfuse.observation.metadata.step': '3', 'langfuse.observation.metadata': '{"plan":"pro"}' },
    ]) {
      const span = mapSpan({ ...said, 'user.id': 'ann', 'session.id': 's' });
      expect(span.tags).to.deep.equal({ user: 'ann', step: '3', plan: 'pro' });
      expect(span.trace_tags).to.deep.equal({ user: 'ann' });
      expect(span.session_tags).to.deep.equal({ user: 'ann' });
    }
  });

  it('tags of the span stand before those of the resource, and both before metadata', () => {
    const resource = { 'service.name': 'api', 'langfuse.environment': 'staging', 'langfuse.release': 'r1' };
    const values = {
      'langfuse.environment': 'production',
      'ai.telemetry.metadata.service': 'other',
      'langfuse.version': '2',
    };
    const { spans } = mapRequest(request([otlpSpan({ attributes: attributes(values) })], resource));
    expect(spans[0]!.tags).to.deep.equal({ service: 'api', environment: 'production', release: 'r1', version: '2' });
    const inherited = mapRequest(request([otlpSpan()], { metadata: '{"a":"b"}', 'tag.tags': ['x'] }));
    expect(inherited.spans[0]!.tags, 'what a resource says of itself is repeated in none').to.deep.equal({});
  });

  it('metadata that is long, or much, never makes a span unusable', () => {
    const much = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`k${n}`, 'v']));
    const prefixed = Object.fromEntries(
      Object.entries(much).map(([key, value]) => [`ai.settings.context.${key}`, value]),
    );
    for (const said of [
      { metadata: much },
      { metadata: JSON.stringify(much).slice(0, 60_000) },
      prefixed,
      { 'tag.tags': Object.keys(much) },
    ])
      expect(Object.keys(mapSpan(said).tags).length).to.be.at.most(64);
    const long: Values = {
      'tag.tags': ['t'.repeat(257)],
      'ai.settings.context.long': 'x'.repeat(257),
      'langfuse.release': 'r'.repeat(300),
    };
    expect(mapSpan(long).tags).to.deep.equal({});
    const full = request([
      otlpSpan({ attributes: attributes({ 'user.id': 'u'.repeat(1006), 'tag.tags': ['ab', 'cd', 'ef'] }) }),
    ]);
    const { spans } = toSpans(decodeJson(full), { sharedBytes: 1e6, tagBytes: 1024 });
    expect(Object.keys(spans[0]!.tags)).to.deep.equal(['user', 'ab', 'cd']);
  });

  it('names that objects have are tags like others', () => {
    const { tags } = mapSpan({ 'tag.tags': ['__proto__', 'constructor'] });
    expect(Object.entries(tags)).to.deep.equal([
      ['__proto__', 'true'],
      ['constructor', 'true'],
    ]);
  });
});

describe('OTLP context: names', () => {
  const mapped = (name: string, values: Values, parent = '') => {
    const { spans } = mapRequest(request([otlpSpan({ name, parentSpanId: parent, attributes: attributes(values) })]));
    return { name: spans[0]!.name, sent: spans[0]!.attributes['otel.name'] };
  };

  it('operations of the AI SDK are called as their function, the calls within as they were', () => {
    for (const operation of ['ai.generateText', 'ai.streamText', 'ai.generateObject', 'ai.streamObject', 'ai.embed'])
      for (const parent of ['', spanId(9)])
        expect(
          mapped(operation, { 'ai.operationId': operation, 'ai.telemetry.functionId': 'ask' }, parent),
        ).to.deep.equal({ name: 'ask', sent: operation });
    for (const call of ['ai.generateText.doGenerate', 'ai.streamText.doStream', 'ai.toolCall', 'ai.embed.doEmbed'])
      expect(mapped(call, { 'ai.operationId': call, 'ai.telemetry.functionId': 'ask' })).to.deep.equal({
        name: call,
        sent: undefined,
      });
    expect(mapped('ai.generateText', { 'ai.operationId': 'ai.generateText' }).name).to.equal('ai.generateText');
  });

  it('so are those of its version 7, which are called as their model; agents that are named keep their names', () => {
    const agent = {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.request.model': 'gpt-4o',
      'gen_ai.agent.name': 'ask',
    };
    expect(mapped('invoke_agent gpt-4o', agent)).to.deep.equal({ name: 'ask', sent: 'invoke_agent gpt-4o' });
    expect(mapped('invoke_agent ask', agent).name).to.equal('invoke_agent ask');
    expect(mapped('chat gpt-4o', { ...agent, 'gen_ai.operation.name': 'chat' }).name).to.equal('chat gpt-4o');
  });

  it("Langfuse's name of the trace is that of its root span", () => {
    const values = { 'langfuse.trace.name': 'checkout' };
    expect(mapped('handler', values)).to.deep.equal({ name: 'checkout', sent: 'handler' });
    expect(mapped('handler', values, spanId(9))).to.deep.equal({ name: 'handler', sent: undefined });
  });

  it('a name that is too long, or none, leaves the span its own', () => {
    for (const bad of ['', 'n'.repeat(4097), true, ['a'], null])
      expect(
        mapped('ai.generateText', { 'ai.operationId': 'ai.generateText', 'ai.telemetry.functionId': bad }).name,
      ).to.equal('ai.generateText');
  });
});

describe('OTLP context: payloads of exporters', () => {
  it('Langfuse: a generation with its prompt, usage, cost, tags, level and environment', () => {
    const span = mapSpan({
      'langfuse.observation.type': 'generation',
      'langfuse.observation.model.name': 'gpt-4o-mini',
      'langfuse.observation.input': '[{"role":"user","content":"Hi"}]',
      'langfuse.observation.output': '{"role":"assistant","content":"Hello"}',
      'langfuse.observation.usage_details':
        '{"input":600,"input_cached_tokens":400,"output":450,"output_reasoning_tokens":50,"total":1500}',
      'langfuse.observation.cost_details': '{"input":0.001,"output":0.002}',
      'langfuse.observation.prompt.name': 'support',
      'langfuse.observation.prompt.version': 4,
      'langfuse.observation.metadata.step': '2',
      'langfuse.observation.level': 'ERROR',
      'langfuse.observation.status_message': 'cut off',
      'langfuse.environment': 'production',
      'langfuse.release': 'v1.2',
      'langfuse.trace.tags': ['beta'],
      'langfuse.trace.metadata.plan': 'pro',
      'user.id': 'ann',
      'session.id': 'chat-1',
    });
    expect(span).to.include({
      kind: 'llm',
      status: 'error',
      error_message: 'cut off',
      cost: 0.003,
      session_name: 'chat-1',
      input_data: '[{"role":"user","content":"Hi"}]',
      output_data: '{"role":"assistant","content":"Hello"}',
    });
    expect(span.attributes).to.include({
      model: 'gpt-4o-mini',
      inputTokens: 1000,
      outputTokens: 500,
      cacheReadTokens: 400,
      reasoningTokens: 50,
      prompt_slug: 'support',
      prompt_version: 4,
    });
    const ofTrace = { user: 'ann', environment: 'production', release: 'v1.2', beta: 'true', plan: 'pro' };
    expect(span.trace_tags).to.deep.equal(ofTrace);
    expect(span.tags).to.deep.equal({ ...ofTrace, step: '2' });
  });

  it('Langfuse: usage as OpenAI and Anthropic state it, a stated total, and what is no usage', () => {
    const usage = (details: Plain, cost: Plain = '{}') => {
      const { attributes: found, cost: total } = mapSpan({
        'langfuse.observation.type': 'generation',
        'langfuse.observation.usage_details': details,
        'langfuse.observation.cost_details': cost,
      });
      return [found.inputTokens, found.outputTokens, found.cacheReadTokens, total];
    };
    const openai = {
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 15,
      prompt_tokens_details: { cached_tokens: 4 },
    };
    expect(usage(JSON.stringify(openai), '{"total":0.5,"input":9}')).to.deep.equal([10, 5, 4, 0.5]);
    const anthropic = { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 4 };
    expect(usage(anthropic)).to.deep.equal([14, 5, 4, null]);
    for (const bad of ['', '{', '[]', 'null', '{"input":"7","output":null}', { input: -1, output: -0.5 }, 7])
      expect(usage(bad, bad), JSON.stringify(bad)).to.deep.equal([undefined, undefined, undefined, null]);
  });

  it('Langfuse: kinds of observations, and levels that are no error', () => {
    const kinds = [
      'generation',
      'embedding',
      'agent',
      'tool',
      'chain',
      'retriever',
      'evaluator',
      'guardrail',
      'span',
      'event',
    ];
    expect(kinds.map((type) => mapSpan({ 'langfuse.observation.type': type }).kind)).to.deep.equal([
      'llm',
      ...kinds.slice(1, 8),
      'generic',
      'generic',
    ]);
    expect(
      mapSpan({ 'langfuse.observation.level': 'WARNING', 'langfuse.observation.status_message': 'slow' }),
    ).to.include({
      status: 'unset',
      error_message: null,
    });
  });

  it("Langfuse's prompt in the AI SDK", () => {
    const span = mapSpan({
      'ai.operationId': 'ai.generateText.doGenerate',
      'ai.telemetry.metadata.langfusePrompt': '{"name":"support","version":2,"type":"text"}',
    });
    expect(span.attributes).to.include({ prompt_slug: 'support', prompt_version: 2 });
    expect(span.tags).to.deep.equal({});
  });

  it('OpenLLMetry: a managed prompt, and properties of an association', () => {
    const span = mapSpan({
      'llm.request.type': 'chat',
      'traceloop.prompt.key': 'support',
      'traceloop.prompt.version': 3,
      'traceloop.prompt.version_name': 'friendlier',
      'traceloop.prompt.version_hash': 'abc',
      'traceloop.prompt.template_variables.shop': 'Tea & Co',
      'traceloop.association.properties.user_id': 'ann',
      'traceloop.association.properties.chat_id': 'c-1',
    });
    expect(span.attributes).to.include({ prompt_slug: 'support', prompt_version: 3 });
    expect(json(JSON.stringify(span.attributes.variables))).to.deep.equal({ shop: 'Tea & Co' });
    expect(span.tags).to.deep.equal({ user: 'ann', chat_id: 'c-1' });
  });

  it('OpenTelemetry today: name, version and variables of the prompt', () => {
    const span = mapSpan({
      ...LLM,
      'gen_ai.prompt.name': 'support',
      'gen_ai.prompt.version': '7',
      'gen_ai.prompt.variable.shop': 'Tea & Co',
    });
    expect(span.attributes).to.include({ prompt_slug: 'support', prompt_version: 7 });
    expect(json(JSON.stringify(span.attributes.variables))).to.deep.equal({ shop: 'Tea & Co' });
  });
});
