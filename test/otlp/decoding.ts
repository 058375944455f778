import { expect } from 'chai';
import { DomainError } from '../../src/engine/errors.js';
import { decodeJson } from '../../src/otlp/json.js';
import type { OtlpSpan, OtlpTraces } from '../../src/otlp/model.js';
import { decodeProtobuf } from '../../src/otlp/protobuf.js';
import { request, toProtobuf, type Json } from './requests.js';

/** What it refuses with. */
export function thrown(run: () => unknown): DomainError {
  try {
    run();
  } catch (error) {
    expect(error).to.be.instanceOf(DomainError);
    return error as DomainError;
  }
  throw new Error('nothing was thrown');
}

export function only(traces: OtlpTraces): OtlpSpan {
  expect(traces.spans).to.have.length(1);
  return traces.spans[0]!;
}

/** The one span of a request that must decode alike in both encodings. */
export function decodeBoth(span: Json): OtlpSpan {
  const fromJson = decodeJson(request([span]));
  expect(decodeProtobuf(toProtobuf(request([span])))).to.deep.equal(fromJson);
  return only(fromJson);
}

/** Wraps bytes in a length-delimited field, as often as asked. */
export function nested(field: number, inner: Uint8Array): Buffer {
  const length: number[] = [];
  let rest = inner.length;
  do {
    length.push((rest & 127) | (rest > 127 ? 128 : 0));
    rest >>>= 7;
  } while (rest > 0);
  return Buffer.concat([Buffer.from([(field << 3) | 2, ...length]), inner]);
}

/** A request of one span with this raw content. */
export function aroundSpan(span: Uint8Array): Buffer {
  return nested(1, nested(2, nested(2, span)));
}
