import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { AttachmentApi, spanWith } from '../attachments/attachment-api.js';
import { base64, png } from '../attachments/images.js';
import { attributes, otlpSpan, request, spanId, toProtobuf, type Json } from '../otlp/requests.js';
import type { MadeProject } from '../harness/projects.js';
import { bootServer, send, type TestServer } from '../harness/server.js';

const SECRET = 'what the first project sent';
const LEVELS = 4100;
const KIBIBYTE = 1024;
const MEBIBYTE = 1024 * 1024;

/** One valid image beside arrays nested deeper than can be written. */
const DEEP = `[{"base64":"${base64(png(20))}","label":"${SECRET}"},${'['.repeat(LEVELS)}${']'.repeat(LEVELS)}]`;

describe('what one project sends', () => {
  let api: AttachmentApi;
  let other: MadeProject;

  before(async () => {
    api = await AttachmentApi.boot();
    other = api.anotherProject();
  });
  after(() => api.dispose());

  const attempt = (parts: object) =>
    api.server.request('POST', '/spans', {
      body: [spanWith({ name: SECRET, input_data: SECRET }), spanWith({ name: SECRET, input_data: SECRET, ...parts })],
    });
  const attempts = () => [
    attempt({ attributes: { attachments: DEEP } }),
    attempt({ output_data: DEEP }),
    attempt({ attributes: { attachments: [`{"base64":"${base64(png(20))}","x":${DEEP}}`] } }),
  ];

  /** Writes a span of the other project. */
  async function write(name: string): Promise<object> {
    const span = spanWith({ name, input_data: `input of ${name}`, attributes: { name } });
    const answer = await send(`${api.server.url}/spans`, 'POST', { key: other.key, body: [span] });
    expect(answer.status, answer.text).to.equal(200);
    return { id: span.id, trace_id: span.trace_id, name, input_data: `input of ${name}`, attributes: { name } };
  }

  it('never stands in what another one writes, right after it or at the same time', async () => {
    const written: object[] = [];
    for (const refused of attempts()) {
      const { status, json } = await refused;
      expect(status).to.equal(422);
      expect(json.errors).to.have.length(1);
      written.push(await write(`after ${written.length}`));
    }
    const writes = Array.from({ length: 8 }, (_, n) => {
      const all = n % 2 === 0 ? attempts() : [];
      return { refused: Promise.all(all), write: write(`beside ${n}`) };
    });
    for (const { refused, write: stored } of writes) {
      for (const { status } of await refused) expect(status).to.equal(422);
      written.push(await stored);
    }
    const { text, json } = await send(
      `${api.server.url}/spans?fields=id,trace_id,name,input_data,attributes`,
      'GET',
      other,
    );
    expect(json).to.have.deep.members(written);
    expect(text).to.not.include(SECRET);
    expect((await api.server.request('GET', '/spans')).json, 'of the refused requests').to.deep.equal([]);
  });

  it('fails for its own span alone by OTLP', async () => {
    const spans = [
      otlpSpan({ spanId: spanId(1), attributes: attributes({ attachments: DEEP }) }),
      otlpSpan({ spanId: spanId(2), attributes: attributes({ 'output.value': DEEP }) }),
      otlpSpan({ spanId: spanId(3) }),
    ];
    const answer = await api.server.request('POST', '/v1/traces', { body: request(spans) });
    expect(answer.status).to.equal(200);
    expect(answer.json.partialSuccess).to.include({ rejectedSpans: '2' });
    expect(answer.json.partialSuccess.errorMessage).to.include('nested deeper');
    expect((await api.server.request('GET', '/spans')).json).to.have.length(1);
  });
});

describe('a small request that would write much', () => {
  let server: TestServer;

  before(async () => {
    server = await bootServer({ env: { MAX_BODY_MB: '8' }, limits: { encodedPerBody: 1 / 8, leastEncodedBytes: 0 } });
  });
  after(() => server.dispose());

  const post = async (path: string, body: unknown) => (await server.request('POST', path, { body })).status;
  const protobuf = async (body: Json) =>
    (
      await server.request('POST', '/v1/traces', {
        body: gzipSync(toProtobuf(body)),
        headers: { 'content-type': 'application/x-protobuf', 'content-encoding': 'gzip' },
      })
    ).status;
  const spans = (count: number, parts: Json = {}) =>
    Array.from({ length: count }, (_, n) => otlpSpan({ spanId: spanId(n + 1), ...parts }));

  /** What every request below is held against: as many characters, but of one byte each. */
  const CHARACTERS = 400 * KIBIBYTE;
  const WIDE = { control: '\u0001', 'multi-byte': '漢' };

  it('is 413 when its spans share a resource or scope', async () => {
    const shared = { text: 'x'.repeat(CHARACTERS / 100) };
    expect(await protobuf(request(spans(90), shared))).to.equal(200);
    expect(await protobuf(request(spans(1000), shared))).to.equal(413);
    expect(await protobuf(request(spans(1000), {}, { attributes: attributes(shared) }))).to.equal(413);
    // Tags of the span, its trace and its session.
    const tags = { 'service.name': 'x'.repeat(100 * KIBIBYTE), 'session.id': 's' };
    expect(await protobuf(request(spans(2), tags))).to.equal(200);
    expect(await protobuf(request(spans(3), tags))).to.equal(413);
  });

  for (const [name, character] of Object.entries(WIDE)) {
    it(`is 413 when its texts grow as they are written: ${name} characters`, async () => {
      const [plain, wide] = ['x'.repeat(CHARACTERS), character.repeat(CHARACTERS)];
      for (const [text, status] of [
        [plain, 200],
        [wide, 413],
      ] as const) {
        expect(await post('/spans', [spanWith({ attributes: { text } })]), 'span').to.equal(status);
        const trace = { ...spanWith({ attributes: { text } }), session_id: spanWith({}).id };
        expect(await post('/traces', [trace]), 'trace').to.equal(status);
        const session = { project_id: server.projectId, attributes: { text } };
        expect(await post('/sessions', [session]), 'session').to.equal(status);
        expect(await protobuf(request(spans(1, { attributes: attributes({ text }) }))), 'OTLP').to.equal(status);
        expect(await protobuf(request(spans(1), { text })), 'resource').to.equal(status);
      }
    });
  }

  it('is 413 when tags repeat in every span, and nothing of it is stored', async () => {
    const tags = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`tag ${n}`, 'x'.repeat(100)]));
    const many = (count: number, name: string) =>
      Array.from({ length: count }, () => spanWith({ name, tags, trace_tags: tags, session_tags: tags }));
    expect(await post('/spans', many(40, 'few'))).to.equal(200);
    expect(await post('/spans', many(80, 'many'))).to.equal(413);
    expect((await server.request('GET', '/spans?names=many')).json).to.deep.equal([]);
    expect((await server.request('GET', '/spans?names=few')).json).to.have.length(40);
  });

  it('takes no memory for what it is refused', async () => {
    const before = process.memoryUsage();
    const resource = { text: 'x'.repeat(MEBIBYTE / 2) };
    const statuses = await Promise.all(Array.from({ length: 4 }, () => protobuf(request(spans(10_000), resource))));
    expect(new Set(statuses)).to.deep.equal(new Set([413]));
    const { arrayBuffers, heapUsed } = process.memoryUsage();
    expect((arrayBuffers + heapUsed - before.arrayBuffers - before.heapUsed) / MEBIBYTE, 'MiB').to.be.below(300);
  });
});
