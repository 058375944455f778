import { expect } from 'chai';
import { encodeResponse, encodeStatus, RPC_CODE } from '../../src/otlp/response.js';
import { ResponseType, StatusType } from './requests.js';

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('utf8');
}

describe('OTLP answers', () => {
  it('says nothing when every span was accepted', () => {
    expect(encodeResponse('protobuf', null)).to.have.length(0);
    expect(text(encodeResponse('json', null))).to.equal('{}');
    expect(text(encodeResponse('json', { rejectedSpans: 0, errorMessage: '' }))).to.equal('{}');
  });

  it('says how many spans were refused, and why, as schema/otlp has it', () => {
    const partial = { rejectedSpans: 300, errorMessage: 'span 1: trace_id must be 16 bytes — ü' };
    const decoded = ResponseType.toObject(ResponseType.decode(encodeResponse('protobuf', partial)), { longs: Number });
    expect(decoded).to.deep.equal({ partialSuccess: partial });
    expect(JSON.parse(text(encodeResponse('json', partial)))).to.deep.equal({
      partialSuccess: { rejectedSpans: '300', errorMessage: partial.errorMessage },
    });
  });

  it('refuses a whole request with a google.rpc.Status', () => {
    const bytes = encodeStatus('protobuf', RPC_CODE.invalid_argument, 'no OTLP');
    expect(StatusType.toObject(StatusType.decode(bytes))).to.deep.equal({ code: 3, message: 'no OTLP' });
    expect(text(encodeStatus('json', RPC_CODE.unavailable, 'later'))).to.equal('{"code":14,"message":"later"}');
  });
});
