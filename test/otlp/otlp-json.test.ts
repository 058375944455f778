import { expect } from 'chai';
import fc from 'fast-check';
import { decodeJson } from '../../src/otlp/json.js';
import { decodeProtobuf } from '../../src/otlp/protobuf.js';
import { aroundSpan, decodeBoth, nested, only, thrown } from './decoding.js';
import { otlpSpan, request, spanId, TRACE } from './requests.js';

describe('OTLP/JSON: as its specification says', () => {
  it('takes ids in any case and keeps them in lower case', () => {
    const span = decodeBoth(
      otlpSpan({ traceId: TRACE.toUpperCase(), spanId: 'ABCDEF0123456789', parentSpanId: 'FEDCBA9876543210' }),
    );
    expect(span).to.include({ traceId: TRACE, spanId: 'abcdef0123456789', parentSpanId: 'fedcba9876543210' });
  });

  it('takes enums as numbers and as names; a name of a later version is «unspecified»', () => {
    const status = (code: unknown) => only(decodeJson(request([otlpSpan({ status: { code } })]))).statusCode;
    const kind = (value: unknown) => only(decodeJson(request([otlpSpan({ kind: value })]))).kind;
    expect(['STATUS_CODE_ERROR', 2, 'STATUS_CODE_OK', 1, 0, null, 'STATUS_CODE_MAYBE'].map(status)).to.deep.equal([
      2, 2, 1, 1, 0, 0, 0,
    ]);
    expect(['SPAN_KIND_CONSUMER', 5, 'SPAN_KIND_INTERNAL', '3'].map(kind)).to.deep.equal([5, 5, 1, 3]);
  });

  it('takes 64-bit numbers as text and as numbers, and keeps those beyond 2^53 exactly as text', () => {
    const values = ['9007199254740993', '-9223372036854775808', '42', 42, -1, '9007199254740991'];
    const span = only(
      decodeJson(
        request([otlpSpan({ attributes: values.map((intValue, i) => ({ key: `k${i}`, value: { intValue } })) })]),
      ),
    );
    expect(Object.values(span.attributes)).to.deep.equal([
      '9007199254740993',
      '-9223372036854775808',
      42,
      42,
      -1,
      9007199254740991,
    ]);
  });

  it('rounds nanoseconds to microseconds exactly, half up, alike in both encodings', () => {
    const micros = (nanos: string) => decodeBoth(otlpSpan({ startTimeUnixNano: nanos })).start;
    expect(micros('1767225600123456499')).to.equal(1_767_225_600_123_456);
    expect(micros('1767225600123456500')).to.equal(1_767_225_600_123_457);
    expect(micros('1767225599999999999')).to.equal(1_767_225_600_000_000);
    expect(micros('499')).to.equal(0);
    expect(micros('4294967295')).to.equal(4_294_967);
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 9_007_199_254_740_991_000n }), (nanos) => {
        expect(micros(String(nanos))).to.equal(Number((nanos + 500n) / 1000n));
      }),
      { seed: 7 },
    );
    expect(only(decodeJson(request([otlpSpan({ startTimeUnixNano: 1_767_225_600_123_456_789 })]))).start).to.equal(
      1_767_225_600_123_457,
    );
  });

  it('takes the names of the .proto files, null for what is absent, and ignores what it does not know', () => {
    const snake = {
      resource_spans: [
        {
          resource: null,
          scope_spans: [
            {
              later: { x: 1 },
              spans: [
                {
                  trace_id: TRACE,
                  span_id: spanId(7),
                  parent_span_id: null,
                  name: 'n',
                  start_time_unix_nano: '1000',
                  end_time_unix_nano: 2000,
                  attributes: [
                    { key: 'a', value: { string_value: 'x' } },
                    { key: 'b', value: null },
                    { key: 'c', value: { laterValue: 1, bool_value: true } },
                  ],
                  dropped_attributes_count: '3',
                  events: null,
                },
              ],
            },
          ],
        },
      ],
    };
    const span = only(decodeJson(snake));
    expect(span).to.include({
      traceId: TRACE,
      spanId: spanId(7),
      parentSpanId: '',
      start: 1,
      end: 2,
      droppedAttributesCount: 3,
    });
    expect({ ...span.attributes }).to.deep.equal({ a: 'x', b: null, c: true });
  });

  it('keeps bytes as base64, doubles JSON has no number for as text, and no name is special', () => {
    const list = [
      { key: 'bytes', value: { bytesValue: '_-8' } },
      { key: 'nan', value: { doubleValue: 'NaN' } },
      { key: 'inf', value: { doubleValue: '-Infinity' } },
      { key: '__proto__', value: { stringValue: 'mine' } },
      { key: 'constructor', value: { kvlistValue: { values: [{ key: '__proto__', value: { intValue: 1 } }] } } },
    ];
    const { attributes: kept } = only(decodeJson(request([otlpSpan({ attributes: list })])));
    expect(JSON.stringify(kept)).to.equal(
      '{"bytes":"/+8=","nan":"NaN","inf":"-Infinity","__proto__":"mine","constructor":{"__proto__":1}}',
    );
    expect(Object.getPrototypeOf(kept)).to.equal(null);
    const bytes = Buffer.concat([
      nested(1, Buffer.from('nan')),
      nested(2, Buffer.from([0x21, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f])),
    ]);
    expect(only(decodeProtobuf(aroundSpan(nested(9, bytes)))).attributes.nan).to.equal('NaN');
  });

  it('shares resource and scope among their spans', () => {
    const [first, second] = decodeJson(request([otlpSpan(), otlpSpan({ spanId: spanId(2) })])).spans;
    expect(first!.resource).to.equal(second!.resource);
    expect(first!.scope).to.equal(second!.scope);
  });

  it('says what is wrong and where', () => {
    const wrong: readonly [unknown, string][] = [
      [[], 'the body must be an object'],
      ['x', 'the body must be an object'],
      [null, 'the body must be an object'],
      [{ resourceSpans: {} }, 'resourceSpans must be an array'],
      [request([otlpSpan({ name: 7 })]), 'name must be a string (at resourceSpans[0].scopeSpans[0].spans[0])'],
      [request([otlpSpan(), otlpSpan({ startTimeUnixNano: 'soon' })]), 'startTimeUnixNano must be nanoseconds'],
      [request([otlpSpan(), otlpSpan({ startTimeUnixNano: 'soon' })]), 'spans[1]'],
      [request([otlpSpan({ startTimeUnixNano: -1 })]), 'startTimeUnixNano must be nanoseconds'],
      [
        request([otlpSpan({ attributes: [{ key: 'a', value: { intValue: '1.5' } }] })]),
        'intValue must be a 64-bit integer',
      ],
      [
        request([otlpSpan({ attributes: [{ key: 'a', value: { intValue: '9223372036854775808' } }] })]),
        'intValue must be a 64-bit integer',
      ],
      [
        request([otlpSpan({ attributes: [{ key: 'a', value: { intValue: 1e300 } }] })]),
        'intValue must be a 64-bit integer',
      ],
      [
        request([otlpSpan({ attributes: [{ key: 'a', value: { boolValue: 'yes' } }] })]),
        'boolValue must be true or false',
      ],
      [request([otlpSpan({ attributes: [{ key: 'a', value: { bytesValue: '%%' } }] })]), 'bytesValue must be base64'],
      [request([otlpSpan({ attributes: { a: 1 } })]), 'attributes must be an array'],
      [request([otlpSpan({ events: [1] })]), 'an event must be an object'],
    ];
    for (const [value, message] of wrong) {
      const error = thrown(() => decodeJson(value));
      expect(error.kind).to.equal('malformed');
      expect(error.message).to.contain(message);
    }
  });
});
