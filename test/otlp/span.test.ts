import { expect } from 'chai';
import { DomainError } from '../../src/engine/errors.js';
import { decodeJson } from '../../src/otlp/json.js';
import { toSpans } from '../../src/otlp/span.js';
import {
  attributes,
  event,
  mapRequest,
  mapSpan,
  otlpSpan,
  request,
  spanId,
  spanUuid,
  TRACE,
  TRACE_UUID,
  type Json,
} from './requests.js';

function mapOne(parts: Json): ReturnType<typeof mapSpan> {
  const { spans, rejected } = mapRequest(request([otlpSpan(parts)]));
  expect(rejected.messages).to.deep.equal([]);
  return spans[0]!;
}

describe('OTLP spans: ids, times and status', () => {
  it('makes UUIDs of ids: the trace id as it is, a span id with 16 zeros behind', () => {
    const span = mapOne({ spanId: 'EEE19B7EC3C1B174', parentSpanId: '00f067aa0ba902b7' });
    expect(span.trace_id).to.equal(TRACE_UUID);
    expect(span.id).to.equal('eee19b7e-c3c1-b174-0000-000000000000');
    expect(span.parent_span_id).to.equal('00f067aa-0ba9-02b7-0000-000000000000');
  });

  it('takes a span without parent, or whose parent is all zero, as a root', () => {
    expect(mapOne({}).parent_span_id).to.equal(null);
    expect(mapOne({ parentSpanId: '' }).parent_span_id).to.equal(null);
    expect(mapOne({ parentSpanId: '0000000000000000' }).parent_span_id).to.equal(null);
  });

  it('keeps times in microseconds and the duration in milliseconds', () => {
    const span = mapOne({ startTimeUnixNano: '1767225600000000400', endTimeUnixNano: '1767225600001234567' });
    expect(span).to.include({ started_at: 1_767_225_600_000_000, ended_at: 1_767_225_600_001_235, duration_ms: 1.235 });
  });

  it('leaves the end open when there is none, and starts where it ends when only that is known', () => {
    expect(mapOne({ endTimeUnixNano: '0' })).to.include({ ended_at: null, duration_ms: null });
    expect(mapOne({ startTimeUnixNano: '0' })).to.include({ started_at: 1_767_225_601_500_000, duration_ms: 0 });
  });

  it('maps the status codes', () => {
    const statuses = [0, 1, 2, 7].map((code) => mapOne({ status: { code } }).status);
    expect(statuses).to.deep.equal(['unset', 'ok', 'error', 'unset']);
  });

  it('refuses unusable spans one by one, names the first of them and keeps the rest', () => {
    const unusable: readonly (readonly [Json, string])[] = [
      [{ traceId: '' }, 'trace_id must be 16 bytes'],
      [{ traceId: TRACE.slice(2) }, 'trace_id must be 16 bytes'],
      [{ traceId: '0'.repeat(32) }, 'trace_id must not be all zero'],
      [{ spanId: 'ab' }, 'span_id must be 8 bytes'],
      [{ spanId: '0'.repeat(16) }, 'span_id must not be all zero'],
      [{ spanId: TRACE }, 'span_id must be 8 bytes'],
      [{ parentSpanId: spanId(1) }, 'parent_span_id must not be the span itself'],
      [{ name: 'n'.repeat(4097) }, 'name is longer than 4096 characters'],
      [{ attributes: attributes({ 'session.id': 's'.repeat(4097) }) }, 'its session id is longer'],
      [{ parentSpanId: 'abcd' }, 'parent_span_id must be 8 bytes or empty'],
      [{ name: '', startTimeUnixNano: '0', endTimeUnixNano: '0' }, 'start_time_unix_nano is missing'],
      [{ endTimeUnixNano: '1767225599000000000' }, 'end_time_unix_nano is before start_time_unix_nano'],
      [{ endTimeUnixNano: '18446744073709551615' }, 'a time is later than the year 2255'],
    ];
    for (const [parts, message] of unusable) {
      const { spans, rejected } = mapRequest(request([otlpSpan(parts), otlpSpan({ spanId: spanId(2) })]));
      expect(spans.map((span) => span.id)).to.deep.equal([spanUuid(2)]);
      expect(rejected.count).to.equal(1);
      expect(rejected.messages[0])
        .to.match(/^span 0 \(trace_id "/)
        .and.contain(message);
    }
    const all = mapRequest(request(unusable.map(([parts]) => otlpSpan(parts))));
    expect(all.spans).to.deep.equal([]);
    expect(all.rejected.count).to.equal(unusable.length);
    expect(all.rejected.messages).to.have.length(5);
  });

  it('refuses an id that is no hex, and does not repeat a huge one', () => {
    const { rejected } = toSpans(decodeJson(request([otlpSpan({ traceId: 'xyz'.repeat(100_000) })])));
    expect(rejected.count).to.equal(1);
    expect(rejected.messages[0]!.length).to.be.below(300);
  });

  it('names a span without name «unknown», as OpenTelemetry means it', () => {
    expect(mapOne({ name: '' }).name).to.equal('unknown');
  });

  it('refuses a resource so large that its spans would write without bound', () => {
    const spans = Array.from({ length: 3000 }, (_, i) => otlpSpan({ spanId: spanId(i + 1) }));
    const map = () => toSpans(decodeJson(request(spans, { big: 'x'.repeat(100_000) })));
    expect(map).to.throw(DomainError, 'smaller batches').with.property('kind', 'too_large');
  });
});

describe('OTLP spans: errors', () => {
  const exception = {
    'exception.type': 'RateLimitError',
    'exception.message': '429: slow down',
    'exception.stacktrace': 'RateLimitError: 429\n  at call',
  };

  it('takes code, message and stack from the last exception event, and keeps all events', () => {
    const span = mapSpan({}, [event('exception', { 'exception.type': 'First' }), event('exception', exception)]);
    expect(span).to.include({ error_code: 'RateLimitError', error_message: '429: slow down' });
    expect(span.error_stack).to.equal(exception['exception.stacktrace']);
    expect(span.attributes['otel.events']).to.deep.equal([
      {
        name: 'exception',
        time: '2026-01-01T00:00:00.250001Z',
        attributes: nullPrototype({ 'exception.type': 'First' }),
      },
      { name: 'exception', time: '2026-01-01T00:00:00.250001Z', attributes: nullPrototype(exception) },
    ]);
  });

  it('takes message and error.type of a failed span without exception', () => {
    const span = mapOne({
      status: { code: 2, message: 'timed out' },
      attributes: attributes({ 'error.type': 'timeout' }),
    });
    expect(span).to.include({ status: 'error', error_code: 'timeout', error_message: 'timed out', error_stack: null });
    expect(span.attributes).not.to.have.property('otel.status_message');
  });

  it('makes no error of error.type or a status message alone', () => {
    const span = mapOne({ status: { code: 1, message: 'fine' }, attributes: attributes({ 'error.type': 'x' }) });
    expect(span).to.include({ status: 'ok', error_code: null, error_message: null });
    expect(span.attributes).to.include({ 'otel.status_message': 'fine' });
  });
});

describe('OTLP spans: attributes, resource, session and tags', () => {
  it('keeps every attribute with its name and type, and what OpenTelemetry knows besides under otel.*', () => {
    const sent = { s: 'x', n: 1, f: 1.5, b: true, list: ['a', 1], map: { inner: { deep: null } }, '': 'no name' };
    const { spans } = mapRequest({
      resourceSpans: [
        {
          resource: { attributes: attributes({ 'service.name': 'api' }), droppedAttributesCount: 2 },
          schemaUrl: 'https://example.org/resource',
          scopeSpans: [
            {
              scope: { name: 'lib', version: '1.0', attributes: attributes({ a: 1 }) },
              spans: [
                otlpSpan({
                  kind: 4,
                  traceState: 'vendor=1',
                  attributes: attributes(sent),
                  links: [
                    { traceId: TRACE, spanId: spanId(9), traceState: 'x=y', attributes: attributes({ why: 'retry' }) },
                  ],
                  droppedAttributesCount: 1,
                  droppedEventsCount: 2,
                  droppedLinksCount: 3,
                }),
              ],
            },
          ],
        },
      ],
    });
    expect(JSON.parse(JSON.stringify(spans[0]!.attributes))).to.deep.equal({
      ...sent,
      'otel.kind': 'producer',
      'otel.trace_state': 'vendor=1',
      'otel.links': [{ trace_id: TRACE_UUID, span_id: spanUuid(9), trace_state: 'x=y', attributes: { why: 'retry' } }],
      'otel.resource': {
        attributes: { 'service.name': 'api' },
        dropped_attributes_count: 2,
        schema_url: 'https://example.org/resource',
      },
      'otel.scope': { name: 'lib', version: '1.0', attributes: { a: 1 } },
      'otel.dropped_attributes_count': 1,
      'otel.dropped_events_count': 2,
      'otel.dropped_links_count': 3,
    });
  });

  it('tags spans with service, environment and user', () => {
    const resource = { 'service.name': 'api', 'deployment.environment': 'staging' };
    const spans = [otlpSpan(), otlpSpan({ spanId: spanId(2), attributes: attributes({ 'enduser.id': 7 }) })];
    const [first, second] = mapRequest(request(spans, resource)).spans;
    expect(first!.tags).to.deep.equal({ service: 'api', environment: 'staging' });
    expect(second!.tags).to.deep.equal({ service: 'api', environment: 'staging', user: '7' });
    const newer = request([otlpSpan()], { ...resource, 'deployment.environment.name': 'production' });
    expect(mapRequest(newer).spans[0]!.tags).to.include({ environment: 'production' });
  });

  it('takes the session from the first attribute that names one', () => {
    const order = [
      'zeroeval.session.id',
      'session.id',
      'gen_ai.conversation.id',
      'langfuse.session.id',
      'traceloop.association.properties.session_id',
      'ai.telemetry.metadata.sessionId',
      'ai.settings.context.sessionId',
    ];
    const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
    for (const [first, name] of order.entries()) {
      const rest = order.slice(first).map((attribute, i) => [attribute, uuid(first + i)] as const);
      const span = mapSpan(Object.fromEntries([[name, uuid(first)], ...rest.reverse()]));
      expect(span).to.include({ session_id: uuid(first), session_name: null });
    }
    expect(mapSpan({ 'session.id': '', 'langfuse.session.id': uuid(3) }).session_id).to.equal(uuid(3));
  });

  it('takes a session of hex digits for the UUID that it is elsewhere', () => {
    const hex = 'abcdefabcdef4abcabcdabcdefabcdef';
    expect(mapSpan({ 'session.id': hex.toUpperCase() })).to.include({
      session_id: 'abcdefab-cdef-4abc-abcd-abcdefabcdef',
      session_name: null,
    });
  });

  it('makes a UUIDv5 of a session that is no UUID, and its name', () => {
    // python: uuid.uuid5(uuid.NAMESPACE_DNS, 'chat-42')
    const span = mapSpan({ 'session.id': 'chat-42' });
    expect(span).to.include({ session_id: CHAT_42, session_name: 'chat-42' });
    expect(mapSpan({ 'session.id': 'chat-42', 'session.name': 'Returns' })).to.include({
      session_id: CHAT_42,
      session_name: 'Returns',
    });
    expect(mapSpan({ 'session.id': '00000000-0000-0000-0000-000000000000' }).session_id).to.equal(null);
    const upper = mapSpan({ 'session.id': TRACE_UUID.toUpperCase(), 'zeroeval.session.name': 'A' });
    expect(upper).to.include({ session_id: TRACE_UUID, session_name: 'A' });
  });

  it('takes session and user of the resource when the span names none', () => {
    const resource = { 'session.id': 'batch', 'user.id': 'ann' };
    const spans = [otlpSpan(), otlpSpan({ attributes: attributes({ 'session.id': 'own', 'user.id': 'bob' }) })];
    const [first, second] = mapRequest(request(spans, resource)).spans;
    expect(first).to.include({ session_name: 'batch' });
    expect(first!.tags).to.deep.equal({ user: 'ann' });
    expect(second).to.include({ session_name: 'own' });
    expect(second!.tags).to.deep.equal({ user: 'bob' });
  });

  it('takes the place in the source', () => {
    expect(mapSpan({ 'code.file.path': '/a.ts', 'code.line.number': 7 })).to.include({
      code_filepath: '/a.ts',
      code_lineno: 7,
    });
    expect(mapSpan({ 'code.filepath': '/b.py', 'code.lineno': '8' })).to.include({
      code_filepath: '/b.py',
      code_lineno: 8,
    });
  });
});

const CHAT_42 = 'd5b82663-4051-5a4c-9808-616c909bbbc5';

function nullPrototype(values: Json): Json {
  return Object.assign(Object.create(null) as Json, values);
}
