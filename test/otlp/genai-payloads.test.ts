import { expect } from 'chai';
import type { Span } from '../../src/engine/traces/model/span/span.js';
import { event, json, mapSpan, type Plain } from './requests.js';

describe('GenAI mapping: payloads of exporters', () => {
  it('OpenTelemetry today: messages, system instructions, cached and reasoning tokens', () => {
    const messages = [{ role: 'user', parts: [{ type: 'text', content: 'Weather in Paris?' }] }];
    const answer = [{ role: 'assistant', parts: [{ type: 'text', content: 'Rainy' }], finish_reason: 'stop' }];
    const span = mapSpan({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'anthropic',
      'gen_ai.request.model': 'claude-sonnet-4-5',
      'gen_ai.response.model': 'claude-sonnet-4-5-20250929',
      'gen_ai.usage.input_tokens': 1200,
      'gen_ai.usage.output_tokens': 80,
      'gen_ai.usage.cache_read.input_tokens': 1000,
      'gen_ai.usage.cache_creation.input_tokens': 100,
      'gen_ai.usage.reasoning.output_tokens': 30,
      'gen_ai.conversation.id': 'conv_5j66UpCpwteGg4YSxUnt7lPY',
      'gen_ai.system_instructions': '[{"type":"text","content":"Be brief"}]',
      'gen_ai.input.messages': JSON.stringify(messages),
      'gen_ai.output.messages': JSON.stringify(answer),
    });
    expect(span).to.include({ kind: 'llm', cost: null, session_name: 'conv_5j66UpCpwteGg4YSxUnt7lPY' });
    expect(span.attributes).to.include({
      provider: 'anthropic',
      model: 'claude-sonnet-4-5-20250929',
      inputTokens: 1200,
      outputTokens: 80,
      cacheReadTokens: 1000,
      cacheWriteTokens: 100,
      reasoningTokens: 30,
      'gen_ai.request.model': 'claude-sonnet-4-5',
      'gen_ai.usage.input_tokens': 1200,
    });
    expect(json(span.input_data)).to.deep.equal([
      { role: 'system', parts: [{ type: 'text', content: 'Be brief' }] },
      ...messages,
    ]);
    expect(json(span.output_data)).to.deep.equal(answer);
  });

  it('OpenTelemetry today: messages as structured values, or in the event of inference details', () => {
    const messages: Plain = [{ role: 'user', parts: [{ type: 'text', content: 'Hi' }] }];
    const structured = mapSpan({ 'gen_ai.input.messages': messages, 'gen_ai.output.messages': [] });
    expect(json(structured.input_data)).to.deep.equal(messages);
    expect(structured.output_data).to.equal(null);
    const details = {
      'gen_ai.input.messages': messages,
      'gen_ai.output.messages': messages,
      'gen_ai.system_instructions': 'Be kind',
    };
    const span = mapSpan({ 'gen_ai.operation.name': 'chat' }, [
      event('gen_ai.client.inference.operation.details', details),
    ]);
    expect(json(span.input_data)).to.deep.equal([
      { role: 'system', parts: [{ type: 'text', content: 'Be kind' }] },
      messages[0],
    ]);
    expect(json(span.output_data)).to.deep.equal(messages);
  });

  it('OpenTelemetry before: messages as span events, one each', () => {
    const calls = '[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{}"}}]';
    const span = mapSpan(
      { 'gen_ai.system': 'openai', 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'gpt-4o' },
      [
        event('gen_ai.system.message', { 'gen_ai.system': 'openai', content: 'Be brief' }),
        event('gen_ai.user.message', { 'gen_ai.system': 'openai', content: 'Weather?' }),
        event('gen_ai.assistant.message', { tool_calls: calls }),
        event('gen_ai.tool.message', { id: 'call_1', content: 'rainy' }),
        event('gen_ai.choice', {
          index: 0,
          finish_reason: 'stop',
          message: '{"role":"assistant","content":"It rains"}',
        }),
      ],
    );
    expect(json(span.input_data)).to.deep.equal([
      { role: 'system', content: 'Be brief' },
      { role: 'user', content: 'Weather?' },
      { role: 'assistant', tool_calls: calls },
      { role: 'tool', id: 'call_1', content: 'rainy' },
    ]);
    expect(json(span.output_data)).to.deep.equal([
      { role: 'assistant', index: 0, finish_reason: 'stop', content: 'It rains' },
    ]);
    expect(span.attributes).to.include({ provider: 'openai', model: 'gpt-4o' });
  });

  it('OpenTelemetry before: events of Azure AI, whose content is JSON, and events of prompt and completion', () => {
    const azure = mapSpan({}, [
      event('gen_ai.user.message', { 'gen_ai.system': 'az.ai.inference', 'gen_ai.event.content': '{"content":"Hi"}' }),
      event('gen_ai.choice', {
        'gen_ai.event.content': '{"message":{"content":"Hello"},"finish_reason":"stop","index":0}',
      }),
    ]);
    expect(json(azure.input_data)).to.deep.equal([{ role: 'user', content: 'Hi' }]);
    expect(json(azure.output_data)).to.deep.equal([
      { role: 'assistant', message: { content: 'Hello' }, finish_reason: 'stop', index: 0 },
    ]);
    const older = mapSpan({}, [
      event('gen_ai.content.prompt', { 'gen_ai.prompt': '[{"role":"user","content":"Hi"}]' }),
      event('gen_ai.content.completion', { 'gen_ai.completion': 'Hello' }),
    ]);
    expect(older).to.include({ input_data: '[{"role":"user","content":"Hi"}]', output_data: 'Hello' });
  });

  it('OpenInference: indexed messages with contents and tool calls', () => {
    const span = mapSpan({
      'openinference.span.kind': 'LLM',
      'llm.provider': 'openai',
      'llm.system': 'openai',
      'llm.model_name': 'gpt-4o-2024-08-06',
      'llm.token_count.prompt': 51,
      'llm.token_count.completion': 17,
      'llm.token_count.total': 68,
      'llm.token_count.prompt_details.cache_read': 0,
      'llm.token_count.completion_details.reasoning': 5,
      'llm.input_messages.0.message.role': 'system',
      'llm.input_messages.0.message.content': 'Be brief',
      'llm.input_messages.1.message.role': 'user',
      'llm.input_messages.1.message.contents.0.message_content.type': 'text',
      'llm.input_messages.1.message.contents.0.message_content.text': 'What is this?',
      'llm.input_messages.1.message.contents.1.message_content.type': 'image',
      'llm.input_messages.1.message.contents.1.message_content.image.image.url': 'https://example.org/cat.png',
      'llm.output_messages.0.message.role': 'assistant',
      'llm.output_messages.0.message.tool_calls.0.tool_call.id': 'call_9',
      'llm.output_messages.0.message.tool_calls.0.tool_call.function.name': 'look',
      'llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments': '{"at":"cat"}',
      'input.value': '{"messages":[]}',
      'input.mime_type': 'application/json',
      'output.value': '{"id":"chatcmpl-1"}',
      'session.id': 'thread-1',
      'user.id': 'ann',
    });
    expect(span).to.include({ kind: 'llm', session_name: 'thread-1' });
    expect(span.tags).to.deep.equal({ user: 'ann' });
    expect(span.attributes).to.include({
      provider: 'openai',
      model: 'gpt-4o-2024-08-06',
      inputTokens: 51,
      outputTokens: 17,
    });
    expect(span.attributes).to.include({ cacheReadTokens: 0, reasoningTokens: 5 });
    expect(json(span.input_data)).to.deep.equal([
      { role: 'system', content: 'Be brief' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image', image: { image: { url: 'https://example.org/cat.png' } } },
        ],
      },
    ]);
    expect(json(span.output_data)).to.deep.equal([
      { role: 'assistant', tool_calls: [{ id: 'call_9', function: { name: 'look', arguments: '{"at":"cat"}' } }] },
    ]);
  });

  it('OpenInference: chains, tools, retrievers and embeddings', () => {
    const chain = mapSpan({
      'openinference.span.kind': 'CHAIN',
      'input.value': 'What is love?',
      'output.value': 'No idea',
    });
    expect(chain).to.include({ kind: 'chain', input_data: 'What is love?', output_data: 'No idea' });
    const tool = mapSpan({
      'openinference.span.kind': 'TOOL',
      'tool.name': 'add',
      'tool.parameters': '{"a":1}',
      'input.value': 'add(1)',
      'output.value': '1',
    });
    expect(tool).to.include({ kind: 'tool', input_data: '{"a":1}', output_data: '1' });
    const embedding = mapSpan({
      'openinference.span.kind': 'EMBEDDING',
      'embedding.model_name': 'text-embedding-3-small',
      'llm.provider': 'openai',
      'llm.token_count.prompt': 8,
      'input.value': 'hello',
    });
    expect(embedding).to.include({ kind: 'embedding', input_data: 'hello' });
    expect(embedding.attributes).to.include({ model: 'text-embedding-3-small', inputTokens: 8, outputTokens: 0 });
  });

  it('OpenLLMetry: indexed prompts and completions', () => {
    const span = mapSpan({
      'gen_ai.system': 'OpenAI',
      'gen_ai.request.model': 'gpt-3.5-turbo',
      'gen_ai.response.model': 'gpt-3.5-turbo-0125',
      'llm.request.type': 'chat',
      'llm.is_streaming': false,
      'gen_ai.prompt.0.role': 'user',
      'gen_ai.prompt.0.content': 'Tell me a joke',
      'gen_ai.prompt.1.role': 'tool',
      'gen_ai.prompt.1.tool_call_id': 'call_2',
      'gen_ai.prompt.1.content': 'ha',
      'gen_ai.completion.0.finish_reason': 'tool_calls',
      'gen_ai.completion.0.role': 'assistant',
      'gen_ai.completion.0.tool_calls.0.id': 'call_3',
      'gen_ai.completion.0.tool_calls.0.name': 'laugh',
      'gen_ai.completion.0.tool_calls.0.arguments': '{"loud":true}',
      'gen_ai.usage.prompt_tokens': 15,
      'gen_ai.usage.completion_tokens': 22,
      'gen_ai.usage.cache_read_input_tokens': 4,
      'llm.usage.total_tokens': 37,
      'traceloop.association.properties.session_id': 's-1',
      'traceloop.association.properties.user_id': 'u-1',
    });
    expect(span).to.include({ kind: 'llm', session_name: 's-1' });
    expect(span.tags).to.deep.equal({ user: 'u-1' });
    expect(span.attributes).to.include({
      provider: 'OpenAI',
      model: 'gpt-3.5-turbo-0125',
      inputTokens: 15,
      outputTokens: 22,
    });
    expect(span.attributes).to.include({ cacheReadTokens: 4 });
    expect(json(span.input_data)).to.deep.equal([
      { role: 'user', content: 'Tell me a joke' },
      { role: 'tool', tool_call_id: 'call_2', content: 'ha' },
    ]);
    expect(json(span.output_data)).to.deep.equal([
      {
        finish_reason: 'tool_calls',
        role: 'assistant',
        tool_calls: [{ id: 'call_3', name: 'laugh', arguments: '{"loud":true}' }],
      },
    ]);
    const task = mapSpan({
      'traceloop.span.kind': 'workflow',
      'traceloop.entity.name': 'joke',
      'traceloop.entity.input': '{"args":[]}',
      'traceloop.entity.output': '"ha"',
    });
    expect(task).to.include({ kind: 'chain', input_data: '{"args":[]}', output_data: '"ha"' });
  });

  it('Vercel AI SDK: the outer call is a chain, the inner one the model call', () => {
    const shared = {
      'ai.model.provider': 'openai.chat',
      'ai.model.id': 'gpt-4o-mini',
      'ai.telemetry.metadata.userId': 'u-2',
      'ai.telemetry.metadata.sessionId': 'chat-7',
      'ai.usage.promptTokens': 21,
      'ai.usage.completionTokens': 9,
      'ai.response.text': 'Hello!',
      'ai.response.toolCalls': '[]',
    };
    const outer = mapSpan({
      ...shared,
      'operation.name': 'ai.generateText my-function',
      'ai.operationId': 'ai.generateText',
      'ai.prompt': '{"messages":[{"role":"user","content":"Hi"}]}',
    });
    expect(outer).to.include({
      kind: 'chain',
      input_data: '{"messages":[{"role":"user","content":"Hi"}]}',
      output_data: 'Hello!',
    });
    const inner = mapSpan({
      ...shared,
      'operation.name': 'ai.generateText.doGenerate my-function',
      'ai.operationId': 'ai.generateText.doGenerate',
      'ai.prompt.messages': '[{"role":"user","content":[{"type":"text","text":"Hi"}]}]',
      'ai.response.model': 'gpt-4o-mini-2024-07-18',
      'ai.usage.cachedInputTokens': 3,
      'ai.usage.reasoningTokens': 2,
      'gen_ai.system': 'openai.chat',
      'gen_ai.request.model': 'gpt-4o-mini',
      'gen_ai.usage.input_tokens': 21,
      'gen_ai.usage.output_tokens': 9,
    });
    expect(inner).to.include({ kind: 'llm', output_data: 'Hello!', session_name: 'chat-7' });
    expect(inner.input_data).to.equal('[{"role":"user","content":[{"type":"text","text":"Hi"}]}]');
    expect(inner.tags).to.deep.equal({ user: 'u-2' });
    expect(inner.attributes).to.include({ provider: 'openai', model: 'gpt-4o-mini', inputTokens: 21, outputTokens: 9 });
    expect(inner.attributes).to.include({ cacheReadTokens: 3, reasoningTokens: 2, 'gen_ai.system': 'openai.chat' });
  });

  it('Vercel AI SDK: tool calls, embeddings, and answers without text', () => {
    const tool = mapSpan({
      'ai.operationId': 'ai.toolCall',
      'ai.toolCall.name': 'w',
      'ai.toolCall.args': '{"c":1}',
      'ai.toolCall.result': '"ok"',
    });
    expect(tool).to.include({ kind: 'tool', input_data: '{"c":1}', output_data: '"ok"' });
    const embed = mapSpan({
      'operation.name': 'ai.embedMany.doEmbed',
      'ai.model.id': 'e',
      'ai.values': ['"a"', '"b"'],
      'ai.usage.tokens': 4,
    });
    expect(embed).to.include({ kind: 'embedding', input_data: '["\\"a\\"","\\"b\\""]' });
    expect(embed.attributes).to.include({ inputTokens: 4, outputTokens: 0 });
    const reranked = mapSpan({
      'operation.name': 'ai.rerank.doRerank',
      'ai.model.provider': 'cohere.reranking',
      'ai.model.id': 'rerank-v3.5',
      'ai.documents': ['"a"', '"b"'],
      'ai.ranking.type': 'text',
      'ai.ranking': ['{"index":1,"relevanceScore":0.9}'],
    });
    expect(reranked).to.include({ kind: 'reranker', input_data: '["\\"a\\"","\\"b\\""]' });
    expect(json(reranked.output_data)).to.deep.equal(['{"index":1,"relevanceScore":0.9}']);
    expect(reranked.attributes).to.include({ provider: 'cohere', model: 'rerank-v3.5' });
    const calls = mapSpan({ 'ai.response.text': '', 'ai.response.toolCalls': '[{"toolName":"w"}]' });
    expect(calls.output_data).to.equal('[{"toolName":"w"}]');
  });

  it('MLflow: the same figures as by attributes of OpenTelemetry', () => {
    const messages = '[{"role":"user","content":"Where?"}]';
    const plain = mapSpan({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.response.model': 'gpt-4o',
      'gen_ai.usage.input_tokens': 1000,
      'gen_ai.usage.output_tokens': 500,
      'gen_ai.usage.cache_read.input_tokens': 100,
      'gen_ai.input.messages': messages,
      'gen_ai.output.messages': 'Here.',
      'session.id': 'chat-42',
      'user.id': 'ann',
    });
    const span = mapSpan({
      'mlflow.traceRequestId': '"tr-5b8efff798038103d269b633813fc60c"',
      'mlflow.spanType': '"CHAT_MODEL"',
      'mlflow.spanInputs': messages,
      'mlflow.spanOutputs': '"Here."',
      'mlflow.llm.model': '"gpt-4o"',
      'mlflow.llm.provider': '"openai"',
      'mlflow.chat.tokenUsage':
        '{"input_tokens": 1000, "output_tokens": 500, "total_tokens": 1500, "cache_read_input_tokens": 100}',
      'session.id': '"chat-42"',
      'user.id': '"ann"',
    });
    expect(figuresOf(span)).to.deep.equal(figuresOf(plain));
    expect(span.attributes['mlflow.llm.model']).to.equal('"gpt-4o"');
    const kinds = { LLM: 'llm', WORKFLOW: 'chain', TOOL: 'tool', RETRIEVER: 'retriever', UNKNOWN: 'generic' };
    for (const [type, kind] of Object.entries(kinds))
      expect(mapSpan({ 'mlflow.spanType': JSON.stringify(type) }).kind, type).to.equal(kind);
    expect(mapSpan({ 'gen_ai.operation.name': 'RETRIEVER' }).kind).to.equal('retriever');
    const root = mapSpan({
      'mlflow.spanType': '"AGENT"',
      'mlflow.spanOutputs': 'null',
      'mlflow.llm.cost': '{"total_cost": 0.5}',
      'mlflow.trace.session': 'chat-42',
      'mlflow.trace.user': 'ann',
      'mlflow.traceTag.plan': 'pro',
    });
    expect(root).to.include({ kind: 'agent', output_data: null, cost: null, session_name: 'chat-42' });
    expect(root.trace_tags).to.deep.equal({ user: 'ann', plan: 'pro' });
    expect(mapSpan({ 'mlflow.spanType': '"LLM"', 'mlflow.llm.cost': '{"total_cost": 0.5}' }).cost).to.equal(0.5);
  });

  it('Laminar: the same figures as by attributes of OpenTelemetry', () => {
    const usage = {
      'gen_ai.system': 'openai',
      'gen_ai.request.model': 'gpt-4o',
      'gen_ai.usage.input_tokens': 1000,
      'gen_ai.usage.output_tokens': 500,
      'gen_ai.usage.cache_read_input_tokens': 100,
    };
    const plain = mapSpan({
      ...usage,
      'gen_ai.operation.name': 'chat',
      'gen_ai.input.messages': '{"question":"Where?"}',
      'gen_ai.output.messages': 'Here.',
      'session.id': 'chat-42',
      'user.id': 'ann',
    });
    const span = mapSpan({
      ...usage,
      'lmnr.span.type': 'LLM',
      'lmnr.span.path': ['answer'],
      'lmnr.span.input': '{"question":"Where?"}',
      'lmnr.span.output': '"Here."',
      'lmnr.association.properties.session_id': 'chat-42',
      'lmnr.association.properties.user_id': 'ann',
    });
    expect(figuresOf(span)).to.deep.equal(figuresOf(plain));
    const root = mapSpan({
      'lmnr.span.type': 'DEFAULT',
      'lmnr.association.properties.tags': ['beta'],
      'lmnr.association.properties.metadata.plan': 'pro',
      'lmnr.association.properties.trace_type': 'DEFAULT',
    });
    expect(root).to.include({ kind: 'chain' });
    expect(root.trace_tags).to.deep.equal({ beta: 'true', plan: 'pro' });
    // An answer from memory costs nothing.
    expect(mapSpan({ ...usage, 'lmnr.span.type': 'CACHED' }).kind).to.equal('chain');
  });
});

/** What lists, prices and judges read of a span. */
function figuresOf({ kind, input_data, output_data, session_id, tags, attributes, cost }: Span) {
  const { provider, model, inputTokens, outputTokens, cacheReadTokens } = attributes;
  return {
    kind,
    input_data,
    output_data,
    session_id,
    tags,
    cost,
    provider,
    model,
    inputTokens,
    outputTokens,
    cacheReadTokens,
  };
}
