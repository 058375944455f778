import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect } from 'chai';
import { Program } from '../harness/program.js';
import { bootServer, send } from '../harness/server.js';
import { attributes as otlpAttributes, ResponseType, toProtobuf, type Plain } from '../otlp/requests.js';
import { AttachmentApi, download, spanWith, storedFiles } from './attachment-api.js';
import { base64, images, png, sha, svg } from './images.js';

describe('attachments over HTTP', () => {
  let api: AttachmentApi;

  before(async () => {
    api = await AttachmentApi.boot();
  });
  after(() => api.dispose());

  it('come back byte for byte with their type, and run nothing', async () => {
    const sent = { jpeg: images.jpeg, png: png(200), webp: images.webp, gif: images.gif };
    const attachments = Object.entries(sent).map(([label, bytes]) => ({ label, base64: base64(bytes) }));
    const listed = await api.list(await api.post({ attributes: { attachments } }));
    expect(listed.map(({ type, label }) => [type, label])).to.deep.equal(
      Object.keys(sent).map((name) => ['image', name]),
    );
    for (const [index, [name, bytes]] of Object.entries(sent).entries()) {
      const answer = await fetch(listed[index]!.url);
      const { headers } = answer;
      expect(Buffer.from(await answer.arrayBuffer()).equals(bytes), name).to.equal(true);
      expect(headers.get('content-type')).to.equal(`image/${name}`);
      expect(headers.get('content-length')).to.equal(String(bytes.length));
      expect(headers.get('x-content-type-options')).to.equal('nosniff');
      expect(headers.get('content-security-policy')).to.equal("default-src 'none'; sandbox");
      expect(headers.get('content-disposition')).to.match(/^inline; filename="[0-9a-f]{16}\.(jpg|png|webp|gif)"$/);
      expect(headers.get('cache-control')).to.match(/^private, max-age=3[56]\d\d/);
      expect(headers.get('cross-origin-resource-policy')).to.equal('cross-origin');
    }
  });

  it('are not in the span any more, in the answer and in the list', async () => {
    const bytes = png(100);
    const item = { type: 'screenshot', label: 'home', viewport: 'desktop', width: 1280, height: 720 };
    const span = spanWith({
      attributes: { attachments: [{ ...item, base64: base64(bytes) }] },
      output_data: [{ base64: base64(images.gif) }, { text: 'kept' }],
    });
    const posted = await api.server.request('POST', '/spans', { body: [span] });
    const [read] = (await api.server.request('GET', `/spans?id=${span.id}`)).json;
    expect(posted.json[0]).to.deep.equal(read);
    expect(JSON.stringify(read)).to.not.include(base64(bytes).slice(0, 60)).and.not.include(base64(images.gif));
    expect(read.attributes.attachments).to.deep.equal([
      { ...item, sha256: sha(bytes), media_type: 'image/png', bytes: bytes.length },
    ]);
    const [first, second] = await api.list(span.id);
    expect(first).to.deep.include(item);
    expect([second?.type, second?.label]).to.deep.equal(['image', null]);
    expect((await download(second!.url)).equals(images.gif)).to.equal(true);
  });

  it('are stored once, however often they come', async () => {
    const bytes = png(150);
    const before = (await api.files()).length;
    const metric = async () => {
      const text = (await api.server.request('GET', '/metrics')).text;
      return Number(/^spanhouse_attachments_stored_total (\d+)$/m.exec(text)?.[1]);
    };
    const stored = await metric();
    const attachments = [{ base64: base64(bytes) }, { base64: base64(bytes), label: 'again' }];
    const one = await api.post({ attributes: { attachments } });
    const two = await api.post({ output_data: JSON.stringify(attachments) });
    expect((await api.files()).length).to.equal(before + 1);
    expect(await metric()).to.equal(stored + 1);
    for (const id of [one, two]) expect(await api.list(id)).to.have.lengthOf(2);
  });

  it('survive that their span is read, changed and sent again', async () => {
    const id = await api.post({
      attributes: { attachments: [{ base64: base64(images.png), label: 'a' }] },
      output_data: [{ base64: base64(images.jpeg) }],
    });
    const [read] = (await api.server.request('GET', `/spans?id=${id}`)).json;
    const { created_at: _c, has_error: _h, project_id: _p, ...span } = read;
    expect((await api.server.request('POST', '/spans', { body: [{ ...span, name: 'renamed' }] })).status).to.equal(200);
    const listed = await api.list(id);
    expect(listed).to.have.lengthOf(2);
    expect((await download(listed[0]!.url)).equals(images.png)).to.equal(true);
    expect((await download(listed[1]!.url)).equals(images.jpeg)).to.equal(true);
  });

  it('of a URL whose host is not listed are returned as they are', async () => {
    const url = 'http://169.254.169.254/latest/meta-data/a.png?x=1';
    const id = await api.post({ attributes: { attachments: [{ url, label: 'far' }, { url: 'javascript:alert(1)' }] } });
    expect(await api.list(id)).to.deep.equal([{ type: 'image', label: 'far', url }]);
  });

  it('a span without them lists none; an unknown span and another project are 404', async () => {
    expect(await api.list(await api.post({ output_data: 'text' }))).to.deep.equal([]);
    expect((await api.server.request('GET', `/spans/${randomUUID()}/attachments`)).status).to.equal(404);
    const id = await api.post({ attributes: { attachments: [{ base64: base64(images.png) }] } });
    const other = api.anotherProject();
    expect((await send(`${api.server.url}/spans/${id}/attachments`, 'GET', { key: other.key })).status).to.equal(404);
    expect((await api.server.request('GET', `/spans/${id}/attachments`, { key: null })).status).to.equal(401);
    expect((await api.server.request('GET', '/spans/7/attachments')).status).to.equal(422);
  });

  it('of another project are not reached by naming their hash', async () => {
    const bytes = png(30);
    await api.post({ attributes: { attachments: [{ base64: base64(bytes) }] } });
    const { key } = api.anotherProject();
    const span = spanWith({ attributes: { attachments: [{ sha256: sha(bytes) }] } });
    expect((await send(`${api.server.url}/spans`, 'POST', { key, body: [span] })).status).to.equal(200);
    const listed = await send(`${api.server.url}/spans/${span.id}/attachments`, 'GET', { key });
    expect(listed.json).to.deep.equal({ attachments: [], count: 0 });
  });

  it('that break a rule refuse the request, with all reasons, and nothing is stored', async () => {
    const before = await api.files();
    const good = spanWith({ attributes: { attachments: [{ base64: base64(png(20)) }] } });
    const bad = spanWith({ attributes: { attachments: [{ base64: base64(svg) }, { base64: 'AAAA' }] } });
    const six = spanWith({ output_data: Array.from({ length: 6 }, () => ({ base64: base64(images.gif) })) });
    const answer = await api.server.request('POST', '/spans', { body: [good, bad, six] });
    expect(answer.status).to.equal(422);
    expect(answer.json.errors.map(({ pointer }: { pointer: string }) => pointer)).to.deep.equal([
      '/1/attributes/attachments/0/base64',
      '/1/attributes/attachments/1/base64',
      '/2/output_data/5',
    ]);
    expect((await api.server.request('GET', `/spans?id=${good.id}`)).json).to.deep.equal([]);
    expect(await api.files()).to.deep.equal(before);
  });

  it('too large refuse the request', async () => {
    const large = Buffer.concat([images.jpeg, Buffer.alloc(10 * 1024 * 1024)]);
    const span = spanWith({ attributes: { attachments: [{ base64: base64(large) }] } });
    const answer = await api.server.request('POST', '/spans', { body: [span] });
    expect([answer.status, answer.json.errors[0].detail]).to.deep.equal([422, 'must be at most 10 MB']);
  });

  it('are at most 500 in a request, sent, named or fetched; links that are not fetched do not count', async () => {
    const bytes = png(20);
    await api.post({ attributes: { attachments: [{ base64: base64(bytes) }] } });
    const spansOf = (count: number, item: object) =>
      Array.from({ length: count }, () => spanWith({ attributes: { attachments: Array(5).fill(item) } }));
    const named = await api.server.request('POST', '/spans', { body: spansOf(101, { sha256: sha(bytes) }) });
    expect(named.status).to.equal(422);
    expect(named.json.errors).to.deep.equal([
      { pointer: '/100/attributes/attachments/0', detail: 'exceeds the image limit: a request can have at most 500' },
    ]);
    const sent = await api.server.request('POST', '/spans', { body: spansOf(101, { base64: base64(images.gif) }) });
    expect(sent.status).to.equal(422);
    for (const item of [{ sha256: sha(bytes) }, { url: 'https://unlisted.example/a.png' }]) {
      const spans = spansOf('url' in item ? 200 : 100, item);
      expect((await api.server.request('POST', '/spans', { body: spans })).status).to.equal(200);
      expect(await api.list(spans.at(-1)!.id)).to.have.lengthOf(5);
    }
  });

  describe('by OTLP', () => {
    const traceId = 'a'.repeat(32);
    const uuid = (spanId: string) =>
      `${spanId.slice(0, 8)}-${spanId.slice(8, 12)}-${spanId.slice(12)}-0000-000000000000`;
    const otlpSpan = (spanId: string, attributes: Readonly<Record<string, Plain>>) => ({
      traceId,
      spanId,
      name: `span ${spanId}`,
      startTimeUnixNano: `${Date.now()}000000`,
      attributes: otlpAttributes(attributes),
    });
    const requestOf = (...spans: object[]) => ({ resourceSpans: [{ scopeSpans: [{ spans }] }] });

    it('come back the same, from objects, JSON text and outputs', async () => {
      const item = { base64: base64(images.webp), label: 'by otlp' };
      const request = requestOf(
        otlpSpan('000000000000a001', { attachments: [item] }),
        otlpSpan('000000000000a002', { attachments: JSON.stringify([item]) }),
        otlpSpan('000000000000a003', { 'output.value': JSON.stringify([{ type: 'text' }, item]) }),
      );
      expect((await api.server.request('POST', '/v1/traces', { body: request })).json).to.deep.equal({});
      for (const id of ['000000000000a001', '000000000000a002', '000000000000a003']) {
        const listed = await api.list(uuid(id));
        expect(
          listed.map(({ label }) => label),
          id,
        ).to.deep.equal(['by otlp']);
        const { pathname, search } = new URL(listed[0]!.url);
        const path = pathname.slice(pathname.indexOf('/attachments'));
        expect((await download(api.server.url + path + search)).equals(images.webp)).to.equal(true);
        const span = (await api.server.request('GET', `/spans?id=${uuid(id)}`)).text;
        expect(span, id).to.not.include(base64(images.webp));
      }
    });

    it('beyond those of one request refuse the spans that bring them', async () => {
      const attachments = Array.from({ length: 5 }, () => ({ base64: base64(images.gif) }));
      const ids = Array.from({ length: 102 }, (_, index) => (0xc000 + index).toString(16).padStart(16, '0'));
      const spans = [...ids.map((id) => otlpSpan(id, { attachments })), otlpSpan('000000000000cfff', {})];
      const answer = await api.server.request('POST', '/v1/traces', { body: requestOf(...spans) });
      expect([answer.status, answer.json.partialSuccess.rejectedSpans]).to.deep.equal([200, '2']);
      expect(answer.json.partialSuccess.errorMessage).to.include(
        'exceeds the image limit: a request can have at most 500',
      );
      expect(await api.list(uuid(ids[99]!))).to.have.lengthOf(5);
      expect(await api.list(uuid('000000000000cfff'))).to.deep.equal([]);
      for (const id of ids.slice(100))
        expect((await api.server.request('GET', `/spans/${uuid(id)}/attachments`)).status).to.equal(404);
    });

    it('that break a rule refuse their span alone, in both encodings', async () => {
      const spans = [
        otlpSpan('000000000000b001', { attachments: [{ base64: base64(svg) }] }),
        otlpSpan('000000000000b002', { attachments: [{ base64: base64(images.gif) }] }),
        otlpSpan('000000000000b003', {
          attachments: Array.from({ length: 6 }, () => ({ base64: base64(images.gif) })),
        }),
      ];
      const json = await api.server.request('POST', '/v1/traces', { body: requestOf(...spans) });
      expect([json.status, json.json.partialSuccess.rejectedSpans]).to.deep.equal([200, '2']);
      expect(json.json.partialSuccess.errorMessage)
        .to.include('span_id "000000000000b001"')
        .and.include('attributes/attachments/0/base64 must be a JPEG, PNG, WebP or GIF image')
        .and.include('span_id "000000000000b003"')
        .and.include('exceeds the image limit: a span has at most 5');
      expect(await api.list(uuid('000000000000b002'))).to.have.lengthOf(1);
      for (const id of ['000000000000b001', '000000000000b003'])
        expect((await api.server.request('GET', `/spans/${uuid(id)}/attachments`)).status).to.equal(404);

      const body = toProtobuf(requestOf(...spans));
      const answer = await fetch(`${api.server.url}/v1/traces`, {
        method: 'POST',
        body,
        headers: { authorization: `Bearer ${api.server.key}`, 'content-type': 'application/x-protobuf' },
      });
      const decoded = ResponseType.decode(Buffer.from(await answer.arrayBuffer())).toJSON();
      expect([answer.status, decoded['partialSuccess'].rejectedSpans]).to.deep.equal([200, '2']);
    });
  });

  it('are gone some time after their last span was deleted @slow', async () => {
    const bytes = png(70);
    const ids = [];
    for (let count = 0; count < 2; count += 1)
      ids.push(await api.post({ attributes: { attachments: [{ base64: base64(bytes) }] } }));
    const [listed] = await api.list(ids[0]!);
    for (const id of ids) expect((await api.server.request('DELETE', `/spans/${id}`)).status).to.equal(204);
    const until = Date.now() + 120_000;
    const isThere = async () => (await api.files()).some((name) => name.endsWith(sha(bytes)));
    while ((await isThere()) && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await isThere()).to.equal(false);
    expect((await fetch(listed!.url)).status).to.equal(404);
    expect((await api.server.request('GET', '/metrics')).text).to.match(/^spanhouse_attachments_removed_total [1-9]/m);
  }).timeout(150_000);

  it('acknowledged before kill -9 are all there afterwards', async () => {
    const dataDir = join(api.server.dataDir, 'killed');
    const program = await Program.start(dataDir);
    const { url, key } = program;
    const acknowledged = new Map<string, Buffer>();
    let killed = false;
    const client = async () => {
      while (!killed) {
        const bytes = png(50);
        const span = spanWith({ attributes: { attachments: [{ base64: base64(bytes) }] } });
        const answer = await send(`${url}/spans`, 'POST', { key, body: [span] }).catch(() => null);
        if (answer?.status === 200) acknowledged.set(span.id, bytes);
      }
    };
    const clients = Array.from({ length: 8 }, client);
    while (acknowledged.size < 16) await new Promise((resolve) => setTimeout(resolve, 5));
    program.signal('SIGKILL');
    killed = true;
    await Promise.all([program.ended, ...clients]);

    const again = await bootServer({ dataDir });
    try {
      for (const [id, bytes] of acknowledged) {
        const listed = await send(`${again.url}/spans/${id}/attachments`, 'GET', { key });
        expect(listed.json.count, id).to.equal(1);
        expect((await download(listed.json.attachments[0].url)).equals(bytes)).to.equal(true);
      }
      expect((await storedFiles(again.dataDir)).length).to.be.at.least(acknowledged.size);
    } finally {
      await again.stop();
    }
  });
});
