import { expect } from 'chai';
import { attributes, mapRequest, mapSpan, otlpSpan, request, spanId, type Plain, type Values } from './requests.js';

describe('GenAI mapping: cost', () => {
  const usage = { 'gen_ai.request.model': 'm', 'gen_ai.usage.input_tokens': 10, 'gen_ai.usage.output_tokens': 5 };

  /** Maps a chain of spans, each within the one before. */
  function nest(...spans: readonly Values[]) {
    const sent = spans.map((values, i) =>
      otlpSpan({ spanId: spanId(i + 1), parentSpanId: i === 0 ? '' : spanId(i), attributes: attributes(values) }),
    );
    const forwards = mapRequest(request(sent)).spans.map(({ kind, cost }) => ({ kind, cost }));
    const backwards = mapRequest(request(sent.toReversed())).spans.map(({ kind, cost }) => ({ kind, cost }));
    expect(backwards.toReversed()).to.deep.equal(forwards);
    return forwards;
  }

  it('takes a given cost, but not of wrappers, which repeat it', () => {
    const cost = (kind: string, value: Plain) =>
      mapSpan({ 'openinference.span.kind': kind, 'llm.cost.total': value }).cost;
    expect(cost('LLM', 0.0125)).to.equal(0.0125);
    expect(cost('LLM', '0.5')).to.equal(0.5);
    expect(cost('LLM', 0)).to.equal(0);
    expect(cost('LLM', -1)).to.equal(null);
    expect(cost('LLM', 'cheap')).to.equal(null);
    expect(['AGENT', 'CHAIN', 'TOOL'].map((kind) => cost(kind, 1))).to.deep.equal([null, null, null]);
  });

  it('counts two nested spans of the same usage once: the outer one becomes a chain', () => {
    const llm = { ...usage, 'gen_ai.operation.name': 'chat' };
    expect(nest(llm, llm).map(({ kind }) => kind)).to.deep.equal(['chain', 'llm']);
    expect(nest(llm, llm, llm).map(({ kind }) => kind)).to.deep.equal(['chain', 'chain', 'llm']);
    expect(nest(llm, { 'http.method': 'POST' }, llm).map(({ kind }) => kind)).to.deep.equal(['chain', 'http', 'llm']);
    const embedding = {
      'gen_ai.operation.name': 'embeddings',
      'gen_ai.request.model': 'e',
      'gen_ai.usage.input_tokens': 3,
    };
    expect(nest(embedding, embedding).map(({ kind }) => kind)).to.deep.equal(['chain', 'embedding']);
  });

  it('counts nested spans of other usage, siblings of the same usage, and spans that used nothing, each', () => {
    const llm = { ...usage, 'gen_ai.operation.name': 'chat' };
    expect(nest(llm, { ...llm, 'gen_ai.usage.output_tokens': 6 }).map(({ kind }) => kind)).to.deep.equal([
      'llm',
      'llm',
    ]);
    const none = { ...llm, 'gen_ai.usage.input_tokens': 0, 'gen_ai.usage.output_tokens': 0 };
    expect(nest(none, none).map(({ kind }) => kind)).to.deep.equal(['llm', 'llm']);
    const siblings = [1, 2].map((n) =>
      otlpSpan({ spanId: spanId(n), parentSpanId: spanId(9), attributes: attributes(llm) }),
    );
    expect(mapRequest(request(siblings)).spans.map(({ kind }) => kind)).to.deep.equal(['llm', 'llm']);
  });

  it('counts nested spans of the same cached tokens once, also when these were counted apart and are all there is', () => {
    const cached = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'm',
      'gen_ai.usage.input_tokens': 0,
      'gen_ai.usage.output_tokens': 0,
      'gen_ai.usage.cache_read.input_tokens': 400,
    };
    expect(nest(cached, cached).map(({ kind }) => kind)).to.deep.equal(['chain', 'llm']);
  });

  it('keeps a cost that only the outer one was given', () => {
    const llm = { ...usage, 'gen_ai.operation.name': 'chat' };
    const outer = { ...llm, 'gen_ai.usage.cost': 0.25 };
    expect(nest(outer, llm)).to.deep.equal([
      { kind: 'chain', cost: null },
      { kind: 'llm', cost: 0.25 },
    ]);
    expect(nest(outer, { ...llm, 'gen_ai.usage.cost': 0.2 })).to.deep.equal([
      { kind: 'chain', cost: null },
      { kind: 'llm', cost: 0.2 },
    ]);
  });

  it('ends with spans that are parents of each other', () => {
    const llm = attributes({ ...usage, 'gen_ai.operation.name': 'chat' });
    const spans = [
      otlpSpan({ spanId: spanId(1), parentSpanId: spanId(2), attributes: llm }),
      otlpSpan({ spanId: spanId(2), parentSpanId: spanId(1), attributes: llm }),
    ];
    expect(mapRequest(request(spans)).spans.map(({ kind }) => kind)).to.have.members(['llm', 'chain']);
  });
});
