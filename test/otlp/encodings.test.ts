import { SpanKind, SpanStatusCode, context, trace } from '@opentelemetry/api';
import { JsonTraceSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { expect } from 'chai';
import fc from 'fast-check';
import { MAX_DEPTH, MAX_PARTS, PARTS } from '../../src/otlp/budget.js';
import { decodeJson } from '../../src/otlp/json.js';
import { decodeProtobuf } from '../../src/otlp/protobuf.js';
import { toSpans } from '../../src/otlp/span.js';
import { aroundSpan, nested, only, thrown } from './decoding.js';
import { attributes, event, otlpSpan, request, toProtobuf, type Json } from './requests.js';

describe('OTLP encodings: what the OpenTelemetry SDK sends', () => {
  it('gives the same spans in JSON and in protobuf, with every part of them', async () => {
    const exporter = new InMemorySpanExporter();
    const resource = resourceFromAttributes({ 'service.name': 'shop', 'process.pid': 42 });
    const provider = new TracerProvider({ resource, spanProcessors: [new SimpleSpanProcessor({ exporter })] });
    const tracer = provider.getTracer('agents', '1.2.3', { schemaUrl: 'https://opentelemetry.io/schemas/1.36.0' });
    const root = tracer.startSpan('plan — ünïcode 🙂', { kind: SpanKind.SERVER });
    const inner = trace.setSpan(context.active(), root);
    const links = [{ context: root.spanContext(), attributes: { why: 'retry' } }];
    const child = tracer.startSpan(
      'chat',
      { kind: SpanKind.CLIENT, links, startTime: [1_767_225_600, 123_456_789] },
      inner,
    );
    const values = { yes: true, no: false, whole: 7, negative: -7, fraction: 0.25, list: ['x', 'y'] };
    child.setAttributes({ text: 'a', ...values, ints: [1, 2] });
    child.addEvent('token', { n: 1 }, [1_767_225_600, 200_000_000]);
    child.recordException(new TypeError('no such tool'));
    child.setStatus({ code: SpanStatusCode.ERROR, message: 'failed' });
    child.end([1_767_225_601, 999_999_600]);
    root.end();
    await provider.forceFlush();
    const finished = exporter.getFinishedSpans();
    const bytes = ProtobufTraceSerializer.serializeRequest(finished)!;
    const json = JSON.parse(Buffer.from(JsonTraceSerializer.serializeRequest(finished)!).toString()) as unknown;

    expect(decodeProtobuf(bytes)).to.deep.equal(decodeJson(json));
    const mapped = toSpans(decodeProtobuf(bytes));
    expect(mapped).to.deep.equal(toSpans(decodeJson(json)));
    const [chat, plan] = mapped.spans;
    expect(plan).to.include({ name: 'plan — ünïcode 🙂', parent_span_id: null, status: 'unset' });
    expect(chat).to.include({
      trace_id: plan!.trace_id,
      parent_span_id: plan!.id,
      started_at: 1_767_225_600_123_457,
      ended_at: 1_767_225_602_000_000,
      status: 'error',
      error_code: 'TypeError',
      error_message: 'no such tool',
    });
    expect(chat!.error_stack).to.match(/^TypeError: no such tool\n\s+at /);
    expect(chat!.attributes).to.deep.include(values);
    expect(chat!.attributes).to.deep.include({
      'otel.kind': 'client',
      'otel.status_message': 'failed',
      'otel.links': [{ trace_id: plan!.trace_id, span_id: plan!.id, attributes: links[0]!.attributes }],
      'otel.resource': { attributes: { 'service.name': 'shop', 'process.pid': 42 } },
      'otel.scope': { name: 'agents', version: '1.2.3', schema_url: 'https://opentelemetry.io/schemas/1.36.0' },
    });
    const events = chat!.attributes['otel.events'] as Json[];
    expect(events[0]).to.deep.equal({ name: 'token', time: '2026-01-01T00:00:00.200000Z', attributes: { n: 1 } });
    expect(events[1]).to.include({ name: 'exception' });
  });
});

describe('OTLP protobuf: held against schema/otlp', () => {
  it('decodes any request that the schema can encode as JSON decodes it', () => {
    const name = fc.string({ unit: 'binary', maxLength: 60 });
    const { value } = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4, withCrossShrink: true },
        fc.constant({}),
        name.map((stringValue) => ({ stringValue })),
        fc.string({ unit: 'binary', minLength: 100, maxLength: 300 }).map((stringValue) => ({ stringValue })),
        fc.boolean().map((boolValue) => ({ boolValue })),
        fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((int) => ({ intValue: int.toString() })),
        fc.double().map((double) => ({ doubleValue: Number.isFinite(double) ? double : String(double) })),
        fc.uint8Array({ maxLength: 40 }).map((bytes) => ({ bytesValue: Buffer.from(bytes).toString('base64') })),
        fc.array(tie('value'), { maxLength: 4 }).map((values) => ({ arrayValue: { values } })),
        fc
          .array(fc.record({ key: name, value: tie('value') }), { maxLength: 4 })
          .map((values) => ({ kvlistValue: { values } })),
      ),
    }));
    const list = fc.array(fc.record({ key: name, value }), { maxLength: 6 });
    const nanos = fc.bigInt({ min: 0n, max: 9_007_199_254_740_991_000n }).map(String);
    const hex = (bytes: number) =>
      fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((id) => Buffer.from(id).toString('hex'));
    const uint32 = fc.nat(0xffff_ffff);
    const otlpEvent = fc.record({ timeUnixNano: nanos, name, attributes: list, droppedAttributesCount: uint32 });
    const link = fc.record({ traceId: hex(16), spanId: hex(8), traceState: name, attributes: list, flags: uint32 });
    const span = fc.record({
      traceId: hex(16),
      spanId: hex(8),
      parentSpanId: fc.oneof(hex(8), fc.constant('')),
      traceState: name,
      flags: uint32,
      name,
      kind: fc.integer({ min: 0, max: 5 }),
      startTimeUnixNano: nanos,
      endTimeUnixNano: nanos,
      attributes: list,
      droppedAttributesCount: uint32,
      events: fc.array(otlpEvent, { maxLength: 3 }),
      droppedEventsCount: uint32,
      links: fc.array(link, { maxLength: 3 }),
      droppedLinksCount: uint32,
      status: fc.record({ message: name, code: fc.integer({ min: 0, max: 2 }) }),
    });
    const scope = fc.record({ name, version: name, attributes: list, droppedAttributesCount: uint32 });
    const scopeSpans = fc.record({ scope, spans: fc.array(span, { maxLength: 3 }), schemaUrl: name });
    const resourceSpans = fc.record({
      resource: fc.record({ attributes: list, droppedAttributesCount: uint32 }),
      scopeSpans: fc.array(scopeSpans, { maxLength: 2 }),
      schemaUrl: name,
    });
    fc.assert(
      fc.property(fc.array(resourceSpans, { maxLength: 2 }), (parts) => {
        const sent = JSON.parse(JSON.stringify({ resourceSpans: parts })) as Json;
        expect(decodeProtobuf(toProtobuf(sent))).to.deep.equal(decodeJson(sent));
      }),
      { numRuns: 200, seed: 20_260_101 },
    );
  });

  it('skips fields it does not know and fields of another wire type', () => {
    const known = toProtobuf(request([otlpSpan()])).subarray(0);
    const unknown = Buffer.concat([
      nested(99, Buffer.from('later')),
      Buffer.from([((100 << 3) & 127) | 128, 100 >> 4, 0x05]), // varint field 100
      Buffer.from([0x0d, 1, 2, 3, 4]), // field 1, but fixed32
      Buffer.from([0x2b, 0x08, 0x01, 0x2c]), // a group
    ]);
    expect(decodeProtobuf(Buffer.concat([unknown, known, unknown]))).to.deep.equal(decodeProtobuf(known));
  });

  it('takes fields in any order: a resource after its spans still is theirs', () => {
    const resource = nested(
      1,
      nested(1, Buffer.concat([nested(1, Buffer.from('k')), nested(2, nested(1, Buffer.from('v')))])),
    );
    const spans = nested(2, nested(2, Buffer.alloc(0)));
    const [span] = decodeProtobuf(nested(1, Buffer.concat([spans, resource]))).spans;
    expect(span!.resource.attributes).to.deep.equal(Object.assign(Object.create(null) as Json, { k: 'v' }));
  });

  it('refuses truncated bodies, lengths beyond the body and other bytes as malformed', () => {
    const body = toProtobuf(
      request([otlpSpan({ attributes: attributes({ a: 'text', b: [1, 2.5] }), events: [event('e')] })]),
    );
    for (let length = 1; length < body.length; length++) {
      const error = thrown(() => decodeProtobuf(body.subarray(0, length)));
      expect(error.kind).to.equal('malformed');
    }
    const hostile = [
      Buffer.from('{"resourceSpans":[]}'),
      Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x07]),
      Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]),
      aroundSpan(Buffer.from([0x2a, 0xfe, 0xff, 0xff, 0x07, 0x61])),
      aroundSpan(nested(9, nested(2, Buffer.from([0x18, ...Array<number>(11).fill(0xff)])))),
      Buffer.alloc(1000, 0xff),
    ];
    for (const bytes of hostile) expect(thrown(() => decodeProtobuf(bytes)).kind).to.equal('malformed');
  });

  it('takes an empty request and a request without spans', () => {
    expect(decodeProtobuf(new Uint8Array())).to.deep.equal({ spans: [] });
    expect(decodeProtobuf(nested(1, Buffer.alloc(0)))).to.deep.equal({ spans: [] });
  });

  it('does not keep text that another text of the same hash stood for', () => {
    const names = Array.from({ length: 5000 }, (_, i) => `name-${i.toString(36)}`);
    const spans = decodeProtobuf(toProtobuf(request(names.map((name) => otlpSpan({ name }))))).spans;
    expect(spans.map((span) => span.name)).to.deep.equal(names);
  });
});

describe('OTLP: nesting and amplification', () => {
  /** A value nested so deep, in lists and objects by turns, and the same in protobuf (protobufjs itself goes less deep). */
  function deep(levels: number): { json: Json; bytes: Buffer } {
    let value: Json = { stringValue: 'end' };
    let bytes = nested(1, Buffer.from('end'));
    for (let i = 1; i < levels; i++) {
      const isList = i % 2 === 0;
      value = isList ? { arrayValue: { values: [value] } } : { kvlistValue: { values: [{ key: 'k', value }] } };
      const held = nested(2, bytes);
      bytes = isList
        ? nested(5, nested(1, bytes))
        : nested(6, nested(1, Buffer.concat([nested(1, Buffer.from('k')), held])));
    }
    return {
      json: { resourceSpans: [{ scopeSpans: [{ spans: [{ attributes: [{ key: 'deep', value }] }] }] }] },
      bytes: aroundSpan(nested(9, Buffer.concat([nested(1, Buffer.from('deep')), nested(2, bytes)]))),
    };
  }

  it(`takes values nested ${MAX_DEPTH} deep, and refuses deeper ones as malformed`, () => {
    const most = deep(MAX_DEPTH);
    expect(decodeProtobuf(most.bytes)).to.deep.equal(decodeJson(most.json));
    expect(JSON.stringify(only(decodeProtobuf(most.bytes)).attributes)).to.contain('"end"');
    const tooDeep = deep(MAX_DEPTH + 1);
    expect(thrown(() => decodeJson(tooDeep.json)).kind).to.equal('malformed');
    expect(thrown(() => decodeProtobuf(tooDeep.bytes)).kind).to.equal('malformed');
  });

  it('refuses a hundred thousand levels without exhausting the stack', () => {
    let value = nested(1, Buffer.from('end'));
    for (let i = 0; i < 5_000; i++) value = nested(5, nested(1, value));
    expect(thrown(() => decodeProtobuf(aroundSpan(nested(9, nested(2, value))))).kind).to.equal('malformed');
    const text = `{"resourceSpans":[{"scopeSpans":[{"spans":[{"attributes":[{"key":"k","value":${'{"arrayValue":{"values":['.repeat(100_000)}${']}}'.repeat(100_000)}}]}]}]}]}`;
    expect(thrown(() => decodeJson(JSON.parse(text))).kind).to.equal('malformed');
    const groups = Buffer.alloc(100_000, 0x2b);
    expect(thrown(() => decodeProtobuf(groups)).kind).to.equal('malformed');
  });

  it('refuses more parts than a request may hold, however small they are, before they fill the memory', () => {
    const many = (tag: number): Buffer => Buffer.alloc(16 * 1024 * 1024).fill(Buffer.from([tag, 0]));
    const bodies = {
      groups: many(0x0a),
      scopes: nested(1, many(0x12)),
      spans: nested(1, nested(2, many(0x12))),
      events: aroundSpan(many(0x5a)),
      links: aroundSpan(many(0x6a)),
      attributes: aroundSpan(many(0x4a)),
      elements: aroundSpan(nested(9, nested(2, nested(5, many(0x0a))))),
    };
    for (const [what, body] of Object.entries(bodies)) {
      const before = process.memoryUsage().heapUsed;
      const error = thrown(() => decodeProtobuf(body));
      expect(error.kind, what).to.equal('too_large');
      expect(error.message, what).to.contain('smaller batches');
      expect(process.memoryUsage().heapUsed - before, what).to.be.below(400 * 1024 * 1024);
    }
    const spans = Array.from({ length: MAX_PARTS / PARTS.span + 1 }, () => ({}));
    expect(thrown(() => decodeJson(request(spans))).kind).to.equal('too_large');
  });
});
