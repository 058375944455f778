import { expect } from 'chai';
import { generateTrace } from '../../bench/data.js';
import { otlpRequest } from '../../bench/otlp-requests.js';
import { storedOtlpSpans, storedSpans } from '../../bench/rows.js';
import { decodeJson } from '../../src/otlp/json.js';
import { decodeProtobuf } from '../../src/otlp/protobuf.js';
import { toSpans } from '../../src/otlp/span.js';

describe('the OTLP requests of the bench', () => {
  const sent = Array.from({ length: 50 }, (_none, number) => generateTrace(1, number)).flat();

  it('say the same in both encodings, and every span is usable', () => {
    const fromProtobuf = toSpans(decodeProtobuf(otlpRequest(sent, 'protobuf')));
    const fromJson = toSpans(decodeJson(JSON.parse(otlpRequest(sent, 'JSON').toString('utf8'))));
    expect(fromJson).to.deep.equal(fromProtobuf);
    expect(fromProtobuf.rejected.count).to.equal(0);
    expect(fromProtobuf.spans).to.have.lengthOf(sent.length);
  });

  it('become the spans that the bench sends over REST: kind, cost, status, session and error', () => {
    const stored = storedOtlpSpans(otlpRequest(sent, 'protobuf'));
    const shape = (span: (typeof stored)[number]) => {
      const { name, kind, cost, status, session_id, error_code, error_message } = span;
      return { name, kind, cost, status, session_id, error_code, error_message };
    };
    // The conventions have no word for these kinds, or another one.
    const known = (span: (typeof stored)[number]) => !['vector_store', 'database', 'http'].includes(span.kind);
    const overRest = storedSpans(sent);
    overRest.forEach((span, index) => {
      if (known(span)) expect(shape(stored[index]!)).to.deep.equal(shape(span));
    });
    expect(stored.filter(({ cost }) => cost !== null)).to.not.have.lengthOf(0);
  });
});
