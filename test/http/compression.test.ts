import { request as httpRequest, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import * as zlib from 'node:zlib';
import { expect } from 'chai';
import { request as otlpRequest, otlpSpan, toProtobuf, TRACE_UUID } from '../otlp/requests.js';
import { bootServer, type TestServer } from '../harness/server.js';

const TRACE = '0197f3a0-0000-7000-8000-00000000c001';
/** The client of a proxy on this machine. */
const THROUGH_PROXY: Record<string, string> = { 'x-forwarded-for': '192.0.2.1' };
const unfolded = { gzip: zlib.gunzipSync, zstd: zlib.zstdDecompressSync, none: (bytes: Buffer) => bytes };

describe('compression', () => {
  let server: TestServer;

  before(async () => {
    server = await bootServer({ env: { MAX_BODY_MB: '1' } });
    const spans = Array.from({ length: 300 }, (_, index) => ({
      trace_id: TRACE,
      name: `step ${index}`,
      started_at: 1_770_000_000 + index,
      input_data: 'ü "quoted" '.repeat(20),
    }));
    expect((await server.request('POST', '/spans', { body: spans })).status).to.equal(200);
  });
  after(() => server.dispose());

  /** `fetch` would ask for compressed answers by itself, and unfold them. */
  async function ask(path: string, encoding: string | null, method = 'GET', more = THROUGH_PROXY, body?: Buffer) {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${server.key}`,
        ...(encoding === null ? {} : { 'accept-encoding': encoding }),
        ...more,
      };
      httpRequest(server.url + path, { method, headers }, resolve)
        .on('error', reject)
        .end(body);
    });
    return { headers: response.headers, bytes: await buffer(response) };
  }

  for (const list of ['/spans?limit=300', `/spans?trace_id=${TRACE}&limit=300&count=true`, '/openapi.json'])
    for (const [asked, expected] of [
      ['gzip', 'gzip'],
      ['zstd', 'zstd'],
      ['deflate, gzip;q=0.5, br', 'gzip'],
      ['gzip;q=0', 'none'],
      ['identity', 'none'],
      ['br', 'none'],
    ] as const)
      it(`of GET ${list.slice(0, 20)} for ${asked}: ${expected}`, async () => {
        const plain = await ask(list, null);
        expect(plain.headers).to.not.have.any.keys('content-encoding', 'vary');
        const { headers, bytes } = await ask(list, asked);
        expect(headers['content-encoding'] ?? 'none').to.equal(expected);
        expect(headers['x-total-count']).to.equal(plain.headers['x-total-count']);
        expect(unfolded[expected](bytes).equals(plain.bytes)).to.equal(true);
        if (expected === 'none') return;
        expect(bytes.length).to.be.below(plain.bytes.length / 2);
        expect(headers.vary).to.equal('Accept-Encoding');
        expect(headers).to.not.have.any.keys('content-length');
      });

  it('is not worth it for clients on the same machine', async () => {
    const { headers } = await ask('/spans?limit=300', 'gzip', 'GET', {});
    expect(headers).to.not.have.any.keys('content-encoding', 'vary');
  });

  it('of what is answered to a write follows its body', async () => {
    const spans = Array.from({ length: 50 }, (_, at) => ({
      trace_id: TRACE,
      name: `written ${at}`,
      started_at: 1_770_000_000,
      input_data: 'x'.repeat(200),
    }));
    const body = Buffer.from(JSON.stringify(spans));
    const json = { ...THROUGH_PROXY, 'content-type': 'application/json' };
    const plain = await ask('/spans', 'gzip', 'POST', json, body);
    expect(plain.headers).to.not.have.any.keys('content-encoding');
    expect(JSON.parse(plain.bytes.toString())).to.have.length(50);
    const folded = await ask('/spans', 'gzip', 'POST', { ...json, 'content-encoding': 'gzip' }, zlib.gzipSync(body));
    expect(folded.headers['content-encoding']).to.equal('gzip');
    expect(JSON.parse(zlib.gunzipSync(folded.bytes).toString())).to.have.length(50);
  });

  it('is not worth it for small answers, and none is sent to HEAD', async () => {
    for (const path of ['/spans?limit=1', '/traces', '/sessions']) {
      const { headers, bytes } = await ask(path, 'gzip, zstd');
      expect(headers).to.not.have.any.keys('content-encoding');
      expect(Array.isArray(JSON.parse(bytes.toString())), path).to.equal(true);
    }
    expect((await ask('/spans?limit=300', 'gzip', 'HEAD')).headers).to.not.have.any.keys('content-encoding');
  });

  it('of an error is none', async () => {
    const { headers } = await ask(`/spans?${'x'.repeat(3_000)}=1&limit=-1`, 'gzip');
    expect(headers['content-encoding']).to.equal(undefined);
    expect(headers['content-type']).to.equal('application/problem+json');
  });

  const post = (path: string, body: Buffer, type = 'application/json') =>
    server.request('POST', path, { body, headers: { 'content-type': type, 'content-encoding': 'zstd' } });

  it('of bodies may be zstd', async () => {
    const span = { trace_id: TRACE, name: 'zstd', started_at: 1 };
    const { status, json } = await post('/spans', zlib.zstdCompressSync(JSON.stringify([span])));
    expect([status, json[0]?.name]).to.deep.equal([200, 'zstd']);
    const otlp = zlib.zstdCompressSync(Buffer.from(toProtobuf(otlpRequest([otlpSpan()]))));
    expect((await post('/v1/traces', otlp, 'application/x-protobuf')).status).to.equal(200);
    expect((await server.request('GET', `/traces?id=${TRACE_UUID}`)).json).to.have.length(1);
  });

  it('is bounded by what a body unfolds to, and by the memory that unfolding takes', async () => {
    expect((await post('/spans', zlib.zstdCompressSync(Buffer.alloc(50_000_000, ' ')))).status).to.equal(413);
    const wide = zlib.createZstdCompress({ params: { [zlib.constants.ZSTD_c_windowLog]: 27 } });
    wide.write('[');
    wide.end(']');
    expect((await post('/spans', await buffer(wide))).status, 'a window of 128 MB').to.equal(400);
    expect((await post('/spans', Buffer.from('no zstd at all'))).status).to.equal(400);
    expect((await post('/spans', zlib.zstdCompressSync('[]').subarray(0, 8))).status).to.equal(400);
  });
});
