import { expect } from 'chai';
import { CONTRACT_ATTRIBUTES, MAPPING } from '../../src/otlp/genai/mapping.js';
import type { FieldRule } from '../../src/otlp/genai/source.js';
import { event, json, mapSpan, type Plain, type Values } from './requests.js';

describe('GenAI mapping: every source of every field', () => {
  const samples: Record<FieldRule['reads'], Plain> = {
    text: 'x1',
    provider: 'openai',
    count: 7,
    amount: 0.5,
    line: 3,
    payload: 'text',
    slug: 'support',
    uuid: '0199a1b2-0000-7000-8000-0000000000aa',
    version: 3,
    names: ['x1'],
    object: '{}',
  };

  for (const field of CONTRACT_ATTRIBUTES) {
    const rule: FieldRule = MAPPING[field];
    it(`${field}: each source alone is enough, and the earlier of two wins`, () => {
      const names = rule.sources.filter((source) => typeof source === 'string');
      for (const [i, name] of names.entries()) {
        expect(mapSpan({ [name]: samples[rule.reads] }).attributes[field], name).to.equal(samples[rule.reads]);
        const later = names[i + 1];
        if (later === undefined) continue;
        const second = rule.reads === 'count' ? 8 : 'other';
        expect(mapSpan({ [later]: second, [name]: samples[rule.reads] }).attributes[field], name).to.equal(
          samples[rule.reads],
        );
      }
    });
  }

  for (const [field, property] of [
    ['input', 'input_data'],
    ['output', 'output_data'],
  ] as const) {
    it(`${field}: each source alone is enough`, () => {
      const rule: FieldRule = MAPPING[field];
      for (const source of rule.sources) {
        if (typeof source === 'string') expect(mapSpan({ [source]: 'text' })[property], source).to.equal('text');
        else if ('json' in source) expect(mapSpan({ [source.json]: '"text"' })[property], source.json).to.equal('text');
        else if ('indexed' in source) {
          const span = mapSpan({ [`${source.indexed}.0.content`]: 'a', [`${source.indexed}.0.role`]: 'user' });
          expect(json(span[property]), source.indexed).to.deep.equal([{ content: 'a', role: 'user' }]);
        } else if ('event' in source) {
          expect(mapSpan({}, [event(source.event, { [source.attribute]: 'text' })])[property]).to.equal('text');
        } else if ('messages' in source) {
          for (const [name, role] of Object.entries(source.messages)) {
            expect(json(mapSpan({}, [event(name, { content: 'a' })])[property]), name).to.deep.equal([
              { role, content: 'a' },
            ]);
          }
        }
      }
    });
  }

  it('users: each source becomes the tag', () => {
    for (const source of MAPPING.user.sources) {
      const name = typeof source === 'string' ? source : source.json;
      expect(mapSpan({ [name]: 'ann' }).tags).to.deep.equal({ user: 'ann' });
    }
  });

  it('reads token counts that are text, and passes over what is no count', () => {
    expect(mapSpan({ 'gen_ai.usage.input_tokens': '12' }).attributes.inputTokens).to.equal(12);
    for (const bad of [-1, 1.5, 'many', '', ' ', true, null, ['1'], { n: 1 }, '1e999']) {
      const span = mapSpan({ 'gen_ai.usage.input_tokens': bad, 'llm.token_count.prompt': 4 });
      expect(span.attributes.inputTokens, JSON.stringify(bad)).to.equal(4);
      expect(span.attributes).to.deep.include({
        'gen_ai.usage.input_tokens': typeof bad === 'object' ? span.attributes['gen_ai.usage.input_tokens'] : bad,
      });
    }
  });

  it("never replaces an original attribute that has one of the interface's names", () => {
    const odd: Values = {
      model: { name: 'x' },
      inputTokens: ['7'],
      provider: '',
      'gen_ai.request.model': 'gpt-4o',
      'gen_ai.usage.input_tokens': 3,
    };
    const span = mapSpan({ ...odd, 'gen_ai.operation.name': 'chat' });
    expect(JSON.parse(JSON.stringify(span.attributes))).to.include.deep.keys('model', 'inputTokens');
    expect(JSON.stringify(span.attributes.model)).to.equal('{"name":"x"}');
    expect(span.attributes.inputTokens).to.deep.equal(['7']);
  });
});

describe('GenAI mapping: kind', () => {
  const cases: readonly (readonly [Values, string])[] = [
    ...['LLM', 'EMBEDDING', 'CHAIN', 'RETRIEVER', 'RERANKER', 'TOOL', 'AGENT', 'GUARDRAIL', 'EVALUATOR', 'PROMPT'].map(
      (kind) => [{ 'openinference.span.kind': kind, 'gen_ai.operation.name': 'chat' }, kind.toLowerCase()] as const,
    ),
    ...Object.entries({
      chat: 'llm',
      generate_content: 'llm',
      text_completion: 'llm',
      completion: 'llm',
      generate: 'llm',
      embeddings: 'embedding',
      retrieval: 'retriever',
      search_memory: 'retriever',
      rerank: 'reranker',
      execute_tool: 'tool',
      create_memory: 'tool',
      update_memory: 'tool',
      upsert_memory: 'tool',
      delete_memory: 'tool',
      create_memory_store: 'tool',
      delete_memory_store: 'tool',
      create_agent: 'agent',
      invoke_agent: 'agent',
      invoke_workflow: 'chain',
      plan: 'chain',
      agent_step: 'chain',
    }).map(([name, kind]) => [{ 'gen_ai.operation.name': name, 'traceloop.span.kind': 'agent' }, kind] as const),
    [{ 'traceloop.span.kind': 'workflow', 'llm.request.type': 'chat' }, 'chain'],
    [{ 'traceloop.span.kind': 'task' }, 'chain'],
    [{ 'traceloop.span.kind': 'agent' }, 'agent'],
    [{ 'traceloop.span.kind': 'tool' }, 'tool'],
    [{ 'llm.request.type': 'chat' }, 'llm'],
    [{ 'llm.request.type': 'completion' }, 'llm'],
    [{ 'llm.request.type': 'embedding' }, 'embedding'],
    [{ 'llm.request.type': 'rerank' }, 'reranker'],
    ...['generateText.doGenerate', 'generateObject.doGenerate', 'streamText.doStream', 'streamObject.doStream'].map(
      (operation) => [{ 'ai.operationId': `ai.${operation}` }, 'llm'] as const,
    ),
    [{ 'ai.operationId': 'ai.embed.doEmbed' }, 'embedding'],
    [{ 'ai.operationId': 'ai.embedMany.doEmbed' }, 'embedding'],
    [{ 'ai.operationId': 'ai.rerank.doRerank' }, 'reranker'],
    [{ 'ai.operationId': 'ai.toolCall' }, 'tool'],
    [{ 'ai.operationId': 'ai.streamText', 'gen_ai.request.model': 'm', 'gen_ai.usage.input_tokens': 1 }, 'chain'],
    [{ 'operation.name': 'ai.streamText.doStream chat-route' }, 'llm'],
    [{ 'operation.name': 'checkout' }, 'generic'],
    [{ 'gen_ai.tool.name': 'add' }, 'tool'],
    [{ 'gen_ai.tool.call.id': 'c1', 'http.method': 'GET' }, 'tool'],
    [{ 'gen_ai.request.model': 'm', 'gen_ai.usage.output_tokens': 1, 'http.request.method': 'POST' }, 'llm'],
    [{ 'gen_ai.request.model': 'm' }, 'generic'],
    [{ 'gen_ai.usage.input_tokens': 5 }, 'generic'],
    [{ 'db.system': 'postgresql', 'http.method': 'GET' }, 'database'],
    [{ 'db.system.name': 'clickhouse' }, 'database'],
    [{ 'http.request.method': 'GET' }, 'http'],
    [{ 'http.method': 'GET' }, 'http'],
    [{ 'openinference.span.kind': 'UNKNOWN', 'gen_ai.operation.name': 'something_new', 'db.system': 'x' }, 'database'],
    [{}, 'generic'],
  ];

  for (const [values, kind] of cases) {
    it(`${JSON.stringify(values)} → ${kind}`, () => {
      expect(mapSpan(values).kind).to.equal(kind);
    });
  }
});

describe('GenAI mapping: messages from indexes', () => {
  it('orders messages by index, not by arrival, and closes gaps', () => {
    const span = mapSpan({
      'gen_ai.prompt.10.content': 'last',
      'gen_ai.prompt.2.content': 'middle',
      'gen_ai.prompt.0.content': 'first',
    });
    expect(json(span.input_data)).to.deep.equal([{ content: 'first' }, { content: 'middle' }, { content: 'last' }]);
  });

  it('takes hostile indexes and paths without cost', () => {
    const before = process.memoryUsage().heapUsed;
    const span = mapSpan({
      'gen_ai.prompt.999999999.content': 'far',
      'gen_ai.prompt.0.tool_calls.999999999.name': 'x',
      'gen_ai.prompt.0.content': 'near',
      'gen_ai.prompt.99999999999999999999.content': 'no index',
      'gen_ai.prompt.-1.content': 'no index',
      'gen_ai.prompt.1.__proto__.polluted': 'yes',
      [`gen_ai.prompt.2.${'a.'.repeat(10_000)}b`]: 'deep',
    });
    expect(process.memoryUsage().heapUsed - before).to.be.below(50 * 1024 * 1024);
    const messages = json(span.input_data) as Record<string, unknown>[];
    expect(messages).to.have.length(4);
    expect(messages[0]).to.deep.equal({ tool_calls: [{ name: 'x' }], content: 'near' });
    expect(messages[3]).to.deep.equal({ content: 'far' });
    expect(({} as Record<string, unknown>).polluted).to.equal(undefined);
  });

  it('makes no message of roles and finish reasons alone, as instrumentations send with content capture off', () => {
    const span = mapSpan({
      'gen_ai.prompt.0.role': 'user',
      'gen_ai.completion.0.finish_reason': 'stop',
      'traceloop.entity.output': 'x',
    });
    expect(span).to.include({ input_data: null, output_data: 'x' });
  });

  it('leaves the values an exporter sent as they are', () => {
    const span = mapSpan({ 'gen_ai.prompt.0.content': { 0: 'a' } });
    expect(json(span.input_data)).to.deep.equal([{ content: { 0: 'a' } }]);
    expect(JSON.stringify(span.attributes['gen_ai.prompt.0.content'])).to.equal('{"0":"a"}');
  });

  it('keeps a message event whose JSON nests too deep as text', () => {
    const deep = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    const span = mapSpan({}, [event('gen_ai.choice', { message: deep })]);
    expect(json(span.output_data)).to.deep.equal([{ role: 'assistant', content: deep }]);
  });

  it('leaves truncated messages alone instead of setting instructions before them', () => {
    const span = mapSpan({ 'gen_ai.input.messages': '[{"role":"us', 'gen_ai.system_instructions': 'Be brief' });
    expect(span.input_data).to.equal('[{"role":"us');
  });
});
