import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { JsonTraceSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { expect } from 'chai';
import { bootServer, type TestServer } from '../harness/server.js';
import { attributes, otlpSpan, request, spanId, StatusType, toProtobuf, TRACE_UUID, type Json } from './requests.js';

/** Processes that this one started, `ps` itself aside. */
function childrenOf(parent: number): number[] {
  const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,comm='], { encoding: 'utf8' }).trim().split('\n');
  const processes = table.map((line) => line.trim().split(/\s+/));
  return processes.filter(([, of, name]) => Number(of) === parent && name !== 'ps').map(([pid]) => Number(pid));
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  /** The google.rpc.Status, decoded from the encoding the answer names. */
  readonly rpc: { readonly code: number; readonly message: string };
  /** The answer as the exporters of OpenTelemetry read it. */
  readonly response: ReturnType<typeof JsonTraceSerializer.deserializeResponse>;
}

const encodings = {
  JSON: {
    contentType: 'application/json',
    encode: (value: Json) => Buffer.from(JSON.stringify(value)),
    serializer: JsonTraceSerializer,
  },
  protobuf: {
    contentType: 'application/x-protobuf',
    encode: (value: Json) => Buffer.from(toProtobuf(value)),
    serializer: ProtobufTraceSerializer,
  },
} as const;

for (const [name, { contentType, encode, serializer }] of Object.entries(encodings)) {
  describe(`OTLP over HTTP: answers in ${name}`, () => {
    let server: TestServer;
    before(async () => {
      server = await bootServer({ env: { MAX_BODY_MB: '1' } });
    });
    after(() => server.dispose());

    async function post(body: Buffer, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
      const response = await fetch(`${server.url}/v1/traces`, {
        method: 'POST',
        headers: { authorization: `Bearer ${server.key}`, 'content-type': contentType, ...headers },
        body,
      });
      const bytes = Buffer.from(await response.arrayBuffer());
      expect(response.headers.get('content-type')).to.equal(contentType);
      return {
        status: response.status,
        headers: response.headers,
        bytes,
        get rpc() {
          const status = contentType === 'application/json' ? JSON.parse(bytes.toString()) : StatusType.decode(bytes);
          return status as Answer['rpc'];
        },
        get response() {
          return serializer.deserializeResponse(bytes);
        },
      };
    }

    it('says nothing where every span was stored, however the body was compressed', async () => {
      const body = encode(request([otlpSpan()], { 'service.name': 'api' }));
      const compressed = { gzip: gzipSync(body), deflate: deflateSync(body), 'x-gzip': gzipSync(body) };
      for (const [encoding, bytes] of [
        ['identity', body],
        ...Object.entries(compressed),
        ['deflate', deflateRawSync(body)],
      ] as const) {
        const answer = await post(bytes, { 'content-encoding': encoding });
        expect(answer.status, encoding).to.equal(200);
        expect(answer.response.partialSuccess ?? null, encoding).to.equal(null);
      }
    });

    it('takes a request without spans', async () => {
      const { status, response } = await post(encode({}));
      expect(status).to.equal(200);
      expect(response.partialSuccess ?? null).to.equal(null);
      expect((await post(encode(request([])))).status).to.equal(200);
    });

    it('stores the usable spans of a request, counts the others and names them', async () => {
      const good = spanId(77);
      const spans = [
        otlpSpan({ spanId: good }),
        otlpSpan({ spanId: spanId(0) }),
        otlpSpan({ traceId: '0'.repeat(32) }),
      ];
      const { status, response } = await post(encode(request(spans)));
      expect(status).to.equal(200);
      expect(Number(response.partialSuccess?.rejectedSpans)).to.equal(2);
      expect(response.partialSuccess?.errorMessage).to.match(
        /span 1 .*span_id must not be all zero.*span 2 .*trace_id/,
      );
      const { json } = await server.request(
        'GET',
        `/spans?trace_id=${TRACE_UUID}&id=${good.slice(0, 8)}-${good.slice(8, 12)}-${good.slice(12)}-0000-000000000000`,
      );
      expect(json).to.have.length(1);
    });

    it('counts accepted and rejected spans by source', async () => {
      const figures = async () => {
        const { text } = await server.request('GET', '/metrics', { key: null });
        const figure = (pattern: RegExp) => Number(pattern.exec(text)?.[1] ?? 0);
        return {
          accepted: figure(/^spanhouse_spans_accepted_total\{source="otlp"\} (\d+)/m),
          rejected: figure(/^spanhouse_spans_rejected_total\{source="otlp",reason="invalid"\} (\d+)/m),
        };
      };
      const before = await figures();
      await post(encode(request([otlpSpan(), otlpSpan({ spanId: spanId(2) }), otlpSpan({ spanId: spanId(0) })])));
      const { accepted, rejected } = await figures();
      expect({ accepted: accepted - before.accepted, rejected: rejected - before.rejected }).to.deep.equal({
        accepted: 2,
        rejected: 1,
      });
    });

    it('refuses what is no OTLP, no gzip, too large or without a key with a google.rpc.Status', async () => {
      const body = encode(request([otlpSpan()]));
      const large = encode(request([otlpSpan({ attributes: attributes({ text: 'x'.repeat(2 * 1024 * 1024) }) })]));
      const cases: readonly (readonly [Promise<Answer>, number, number, RegExp])[] = [
        [post(Buffer.from('no OTLP at all')), 400, 3, /the body is no(t| OTLP)/i],
        [post(body.subarray(0, body.length - 5)), 400, 3, /body/],
        [post(body, { 'content-encoding': 'gzip' }), 400, 3, /gzip/],
        [post(body, { 'content-encoding': 'br' }), 415, 3, /Content-Encoding/],
        [post(large), 413, 8, /1048576 bytes/],
        [post(gzipSync(large), { 'content-encoding': 'gzip' }), 413, 8, /1048576 bytes/],
        [post(body, { authorization: 'Bearer sk_sh_unknown' }), 401, 16, /key/],
        [post(body, { authorization: '' }), 401, 16, /Authorization/],
      ];
      for (const [asked, status, code, message] of cases) {
        const answer = await asked;
        expect(answer.status).to.equal(status);
        expect(answer.rpc.code).to.equal(code);
        expect(answer.rpc.message).to.match(message);
        expect(answer.headers.get('x-request-id')).to.be.a('string');
        expect(answer.headers.has('retry-after'), 'these are final').to.equal(false);
      }
    });

    it('keeps nothing of a request that it refuses', async () => {
      const lost = 'aaaaaaaabbbbccccddddeeeeeeeeeeee';
      const body = encode(request([otlpSpan({ traceId: lost })]));
      expect((await post(Buffer.concat([body, Buffer.from('x')]))).status).to.equal(400);
      const { json } = await server.request('GET', '/spans?trace_id=aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee');
      expect(json).to.deep.equal([]);
    });
  });
}

describe('OTLP over HTTP: other requests', () => {
  let server: TestServer;
  before(async () => {
    server = await bootServer({ env: { QUEUE_MAX_MB: '1' } });
  });
  after(() => server.dispose());

  it('answers in JSON where the request was in neither encoding', async () => {
    const { status, json, headers } = await server.request('POST', '/v1/traces', {
      body: 'text',
      headers: { 'content-type': 'text/plain' },
    });
    expect({ status, code: json.code, type: headers.get('content-type') }).to.deep.equal({
      status: 415,
      code: 3,
      type: 'application/json',
    });
    const get = await server.request('GET', '/v1/traces');
    expect({ status: get.status, code: get.json.code, allow: get.headers.get('allow') }).to.deep.equal({
      status: 405,
      code: 12,
      allow: 'POST',
    });
  });

  it('answers 429 with Retry-After when more is waiting than the queue holds, and the rest is stored', async () => {
    const bodies = Array.from({ length: 24 }, (_, n) => {
      const large = attributes({ text: 'x'.repeat(300_000) });
      return Buffer.from(toProtobuf(request([otlpSpan({ spanId: spanId(n + 1), attributes: large })])));
    });
    const answers = await Promise.all(
      bodies.map((body) =>
        fetch(`${server.url}/v1/traces`, {
          method: 'POST',
          headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/x-protobuf' },
          body,
        }),
      ),
    );
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused).to.not.have.length(0);
    for (const answer of refused) {
      expect(answer.status).to.equal(429);
      expect(Number(answer.headers.get('retry-after'))).to.be.at.least(1);
      expect(StatusType.decode(Buffer.from(await answer.arrayBuffer()))).to.include({ code: 8 });
    }
    const { json } = await server.request('GET', `/spans?trace_id=${TRACE_UUID}`);
    expect(json).to.have.length(answers.length - refused.length);
  });

  it('takes requests while the engine is away, and shows what it took once it is back', async () => {
    const others = childrenOf(process.pid);
    const alone = await bootServer();
    try {
      const engines = childrenOf(process.pid).filter((pid) => !others.includes(pid));
      expect(engines).to.have.length(1);
      process.kill(engines[0]!, 'SIGKILL');
      const taken = await alone.request('POST', '/v1/traces', { body: request([otlpSpan()]) });
      expect(taken.status, taken.text).to.equal(200);
      const read = () => alone.request('GET', `/traces?id=${TRACE_UUID}`);
      let { status, json } = await read();
      while (status !== 200) {
        expect(status).to.equal(503);
        await new Promise((resolve) => setTimeout(resolve, 100));
        ({ status, json } = await read());
      }
      expect(json[0]).to.include({ span_count: 1 });
    } finally {
      await alone.dispose();
    }
  });

  it('lets go of a client that leaves within its body', async () => {
    const socket = connect(server.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(
      `POST /v1/traces HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.key}\r\n` +
        'Content-Type: application/x-protobuf\r\nContent-Length: 1000\r\n\r\nhalf',
    );
    socket.destroy();
    const { status } = await server.request('POST', '/v1/traces', { body: {} });
    expect(status).to.equal(200);
  });
});
