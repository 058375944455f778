import { expect } from 'chai';
import { unhurried } from '../harness/program.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { attributes, event, otlpSpan, request, spanId, toProtobuf, type Json } from './requests.js';

const SPANS = 10_000;
const CALLS_EVERY = 10;
const MAX_SECONDS = 5;
/** gpt-4o-mini: 100 tokens in at 0.15, 50 out at 0.60 dollars per million. */
const CALL_COST = (100 * 0.15 + 50 * 0.6) / 1e6;
const START = 1_767_225_600_000;
const nanos = (ms: number) => `${START + ms}000000`;

/** A tree of 20 branches at each span; model calls are leaves, since nested ones of the same usage would count once. */
function parentOf(n: number): number {
  const parent = Math.floor(n / 20);
  return parent > 0 && parent % CALLS_EVERY === 0 ? parent + 1 : parent;
}

/** One agent run: a root over 10 s, steps of 1 ms below it, every tenth a model call, every hundredth of these failed. */
function trace(traceId: string): Json[] {
  return Array.from({ length: SPANS }, (_, n) => {
    if (n === 0)
      return otlpSpan({
        traceId,
        spanId: spanId(1),
        name: 'run',
        startTimeUnixNano: nanos(0),
        endTimeUnixNano: nanos(SPANS),
      });
    const call = n % CALLS_EVERY === 0;
    const usage = {
      'gen_ai.request.model': 'gpt-4o-mini',
      'gen_ai.usage.input_tokens': 100,
      'gen_ai.usage.output_tokens': 50,
    };
    return otlpSpan({
      traceId,
      spanId: spanId(n + 1),
      parentSpanId: spanId(1 + parentOf(n)),
      name: call ? 'call' : 'step',
      startTimeUnixNano: nanos(n),
      endTimeUnixNano: nanos(n + 1),
      attributes: attributes(
        call
          ? { 'gen_ai.provider.name': 'openai', 'gen_ai.operation.name': 'chat', 'session.id': 'run-1', ...usage }
          : { step: n, text: 'x'.repeat(200) },
      ),
      ...(n % 1000 === 0 ? { status: { code: 2 }, events: [event('exception', { 'exception.type': 'Timeout' })] } : {}),
    });
  });
}

const uuidOf = (hex: string) => hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');

describe('OTLP: a trace of 10,000 spans @slow', function () {
  this.timeout(180_000);
  let server: TestServer;
  before(async () => {
    server = await bootServer();
  });
  after(() => server.dispose());

  /** No request may take longer than {@link MAX_SECONDS}. */
  async function timely<T>(run: () => Promise<T>): Promise<T> {
    const since = performance.now();
    const result = await run();
    expect((performance.now() - since) / 1000).to.be.below(unhurried(MAX_SECONDS));
    return result;
  }

  async function post(spans: readonly Json[]): Promise<void> {
    const body = Buffer.from(toProtobuf(request(spans, { 'service.name': 'agent' })));
    const headers = { 'content-type': 'application/x-protobuf' };
    const { status, text } = await timely(() => server.request('POST', '/v1/traces', { body, headers }));
    expect({ status, text }).to.deep.equal({ status: 200, text: '' });
  }

  async function expectExact(traceId: string): Promise<void> {
    const id = uuidOf(traceId);
    const traces = await timely(() => server.request('GET', `/traces?id=${id}`));
    expect(traces.json).to.have.length(1);
    expect(traces.json[0]).to.include({
      name: 'run',
      span_count: SPANS,
      status: 'error',
      duration_ms: SPANS,
      root_span_input: null,
    });
    expect(traces.json[0].cost).to.be.closeTo((SPANS / CALLS_EVERY - 1) * CALL_COST, 1e-12);
    const sessions = await timely(() => server.request('GET', '/sessions?names=run-1'));
    expect(sessions.json[0]).to.include({ error_count: (SPANS / 1000 - 1) * sessions.json[0].trace_count });

    const spans = await timely(() =>
      server.request('GET', `/spans?trace_id=${id}&limit=10000&sort_by=started_at&sort_order=asc`),
    );
    const ids = new Set((spans.json as { id: string }[]).map((span) => span.id));
    expect(ids.size).to.equal(SPANS);
    const calls = await timely(() => server.request('GET', `/spans?trace_id=${id}&span_kind=llm&limit=10000`));
    expect(calls.json).to.have.length(SPANS / CALLS_EVERY - 1);
  }

  it('in one request, sent three times', async () => {
    const traceId = 'a'.repeat(32);
    const spans = trace(traceId);
    for (let time = 0; time < 3; time += 1) await post(spans);
    await expectExact(traceId);
  });

  it('in 1,000 requests, children before their parents, eight at a time', async () => {
    const traceId = 'b'.repeat(32);
    const spans = trace(traceId).reverse();
    const batches = Array.from({ length: 1000 }, (_, n) => spans.slice(n * 10, n * 10 + 10));
    const sender = async () => {
      for (let batch = batches.shift(); batch !== undefined; batch = batches.shift()) await post(batch);
    };
    await Promise.all(Array.from({ length: 8 }, sender));
    await expectExact(traceId);
  });
});
