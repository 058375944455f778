import { randomBytes, randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { download, storedFiles } from '../attachments/attachment-api.js';
import { png, sha } from '../attachments/images.js';
import { ApiDocument } from '../harness/api-document.js';
import { makeProject } from '../harness/projects.js';
import type { TestServer } from '../harness/server.js';
import { sharedServer } from '../harness/shared-server.js';
import { at, langfuse } from './langfuse-client.js';

const mediaIdOf = (bytes: Buffer) => Buffer.from(sha(bytes), 'hex').toString('base64url').slice(0, 22);
const referenceTo = (bytes: Buffer, type = 'image/png') =>
  `@@@langfuseMedia:type=${type}|id=${mediaIdOf(bytes)}|source=base64_data_uri@@@`;

describe('media of clients of Langfuse', function () {
  this.timeout(60_000);
  let server: TestServer;
  let client: ReturnType<typeof langfuse>;
  let document: ApiDocument;
  before(async () => {
    server = await sharedServer();
    client = langfuse(server);
    document = await ApiDocument.of(server);
  });
  after(() => server.dispose());

  const call = (method: string, path: string, body?: unknown, headers = client.headers) =>
    server.request(method, `/api/public/media${path}`, { key: null, headers, ...(body !== undefined && { body }) });

  const announced = (bytes: Buffer, more: object = {}) => ({
    ...{ traceId: randomUUID(), observationId: randomUUID(), field: 'input', contentType: 'image/png' },
    ...{ contentLength: bytes.length, sha256Hash: Buffer.from(sha(bytes), 'hex').toString('base64'), ...more },
  });

  async function announce(bytes: Buffer, more: object = {}): Promise<{ uploadUrl: string; mediaId: string }> {
    const answer = await call('POST', '', announced(bytes, more));
    expect(answer.status, answer.text).to.equal(201);
    document.check('POST', '/api/public/media', answer);
    expect(answer.json.mediaId).to.equal(mediaIdOf(bytes));
    return answer.json;
  }

  const put = (url: string, bytes: Buffer, type = 'image/png') =>
    fetch(url, { method: 'PUT', headers: { 'content-type': type, 'x-ms-blob-type': 'BlockBlob' }, body: bytes });

  async function upload(bytes: Buffer, more: object = {}): Promise<void> {
    const { uploadUrl, mediaId } = await announce(bytes, more);
    const sent = await put(uploadUrl, bytes);
    expect(sent.status, await sent.text()).to.equal(200);
    const report = { uploadedAt: at(0), uploadHttpStatus: 200, uploadHttpError: null, uploadTimeMs: 3 };
    expect((await call('PATCH', `/${mediaId}`, report)).status).to.equal(200);
  }

  /** A span whose input, or another text, refers to images. */
  async function span(ids: { traceId: string; observationId: string }, parts: object): Promise<void> {
    const { traceId: trace_id, observationId: id } = ids;
    const body = [{ id, trace_id, name: 's', started_at: at(0), ...parts }];
    const answer = await server.request('POST', '/spans', { body });
    expect(answer.status, answer.text).to.equal(200);
  }
  const shown = async (id: string) => (await server.request('GET', `/spans/${id}/attachments`)).json.attachments;
  const newIds = () => ({ traceId: randomUUID(), observationId: randomUUID() });

  it('are images of the span that refers to them, whichever comes first, and can be read back', async () => {
    const [early, late, inMetadata] = [png(10), png(10), png(10)];
    const ids = newIds();
    await upload(early, ids);
    const { uploadUrl } = await announce(late, ids);
    await span(ids, {
      input_data: JSON.stringify([{ image_url: { url: referenceTo(early) } }, referenceTo(early)]),
      output_data: `see ${referenceTo(late)}`,
      attributes: { 'langfuse.observation.metadata.shot': { seen: referenceTo(inMetadata) } },
    });
    await upload(inMetadata, { ...ids, field: 'metadata' });
    expect(await shown(ids.observationId)).to.have.length(2);
    expect((await call('GET', `/${mediaIdOf(late)}`)).status).to.equal(404);
    expect((await put(uploadUrl, late)).status).to.equal(200);
    const images = await shown(ids.observationId);
    const bytes = await Promise.all(images.map(({ url }: { url: string }) => download(url)));
    expect(bytes.map(sha)).to.deep.equal([early, late, inMetadata].map(sha));
    const read = await call('GET', `/${mediaIdOf(early)}`);
    document.check('GET', '/api/public/media/{media_id}', read);
    expect(read.json).to.include({ contentType: 'image/png', contentLength: early.length });
    expect(sha(await download(read.json.url))).to.equal(sha(early));
    expect(Date.parse(read.json.uploadedAt)).to.be.closeTo(Date.now(), 600_000);
    // What is stored is not sent again, and each content is stored once.
    expect((await announce(early)).uploadUrl).to.equal(null);
  });

  it('of the events of older clients belong to the span that stands for the trace', async () => {
    const bytes = png(10);
    const traceId = randomUUID();
    const answer = await call('POST', '', { ...announced(bytes), traceId, observationId: null });
    expect((await put(answer.json.uploadUrl, bytes)).status).to.equal(200);
    const body = { id: traceId, name: 'shot', timestamp: at(0), input: { image: referenceTo(bytes) } };
    const sent = await client.send([{ id: randomUUID(), type: 'trace-create', timestamp: at(0), body }]);
    expect(sent.json.errors).to.deep.equal([]);
    const [root] = (await server.request('GET', `/spans?trace_id=${traceId}`)).json;
    expect(await shown(root.id)).to.have.length(1);
    expect(root.input_data).to.include(referenceTo(bytes));
  });

  it('are refused where they are not what was announced, and said so', async () => {
    const bytes = png(10);
    const { uploadUrl } = await announce(bytes);
    const another = Buffer.from(bytes);
    another[another.length - 1] = (another.at(-1) ?? 0) ^ 1;
    expect((await put(uploadUrl, another)).status, 'another hash').to.equal(422);
    expect((await put(uploadUrl, Buffer.concat([bytes, bytes]))).status, 'another size').to.equal(422);
    expect((await put(uploadUrl, bytes, 'image/jpeg')).status, 'another type').to.equal(415);
    expect((await put(uploadUrl, bytes, 'text/html')).status, 'no image').to.equal(415);
    const text = Buffer.from('no image at all');
    expect((await put((await announce(text)).uploadUrl, text)).status, 'text').to.equal(422);
    for (const url of [`${uploadUrl.slice(0, -2)}AA`, uploadUrl.replace(/uploads\/./, 'uploads/X'), `${uploadUrl}.x`])
      expect([url, (await put(url, bytes)).status >= 400]).to.deep.equal([url, !url.endsWith('.x')]);
    expect((await call('GET', `/${mediaIdOf(bytes)}`)).status).to.equal(200);
  });

  it('that are no images are files of the span, to be downloaded and never shown in a page', async () => {
    const wav = Buffer.concat([Buffer.from('RIFF\x24\0\0\0WAVEfmt ', 'latin1'), randomBytes(32)]);
    const pdf = Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(32)]);
    const text = Buffer.from(`<script>alert(1)</script> ${randomUUID()}`);
    const ids = newIds();
    const files = [
      [wav, 'audio/x-wav', 'audio/wav', 'wav', 'audio'],
      [pdf, 'application/pdf', 'application/pdf', 'pdf', 'file'],
      [text, 'text/plain', 'text/plain; charset=utf-8', 'txt', 'file'],
    ] as const;
    for (const [bytes, contentType] of files) {
      const { uploadUrl } = await announce(bytes, { ...ids, contentType });
      const sent = await put(uploadUrl, bytes, contentType);
      expect(sent.status, await sent.text()).to.equal(200);
    }
    await span(ids, { input_data: files.map(([bytes, type]) => referenceTo(bytes, type)).join(' ') });
    const listed = await server.request('GET', `/spans/${ids.observationId}/attachments`);
    document.check('GET', '/spans/{span_id}/attachments', listed);
    expect(listed.json.count).to.equal(files.length);
    for (const [index, [bytes, , served, end, kind]] of files.entries()) {
      const { url, type, media_type } = listed.json.attachments[index];
      expect([type, media_type]).to.deep.equal([kind, served.split(';')[0]]);
      const answer = await fetch(url);
      expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).to.equal(true);
      const headers = ['content-type', 'content-disposition', 'x-content-type-options', 'content-security-policy'];
      expect(headers.map((name) => answer.headers.get(name))).to.deep.equal([
        ...[served, `attachment; filename="${sha(bytes).slice(0, 16)}.${end}"`, 'nosniff'],
        "default-src 'none'; sandbox",
      ]);
    }
    // What is sent has to be what was announced, whatever it is called.
    for (const [bytes, type] of [
      [Buffer.concat([text, randomBytes(1), Buffer.from([0])]), 'text/plain'],
      [Buffer.from(`%!PS ${randomUUID()}`), 'application/pdf'],
      [Buffer.concat([pdf, randomBytes(1)]), 'audio/mpeg'],
    ] as const) {
      const { uploadUrl } = await announce(bytes, { contentType: type });
      expect((await put(uploadUrl, bytes, type)).status, type).to.equal(422);
    }
  });

  it('of other kinds, and of more than 10 MB, are not stored, and said so', async () => {
    const bytes = png(10);
    const large = await call('POST', '', announced(bytes, { contentLength: 100 * 1024 * 1024 }));
    expect([large.status, large.json.message]).to.deep.equal([413, large.json.detail]);
    expect(large.json.detail).to.include('10 MB');
    for (const contentType of ['video/mp4', 'text/html', 'image/svg+xml', 'application/octet-stream']) {
      const answer = await call('POST', '', announced(bytes, { contentType }));
      expect([answer.status, answer.json.errors[0].pointer]).to.deep.equal([422, '/contentType']);
    }
    const ofDataset = await call('POST', '', { ...announced(bytes), traceId: null, datasetId: randomUUID() });
    expect([ofDataset.status, ofDataset.json.errors[0].detail]).to.deep.equal([
      422,
      'is required: media of dataset items is not stored',
    ]);
    for (const sha256Hash of ['', 'x', sha(bytes), `${'A'.repeat(43)}=AA`])
      expect((await call('POST', '', announced(bytes, { sha256Hash }))).status).to.equal(422);
  });

  it('of another project are never reached, nor known', async () => {
    const bytes = png(10);
    const ids = newIds();
    await upload(bytes, ids);
    const theirs = makeProject(server.dataDir);
    const { headers } = langfuse({ ...server, ...theirs });
    for (const [method, body] of [['GET'], ['PATCH', {}]] as const)
      expect((await call(method, `/${mediaIdOf(bytes)}`, body, headers)).status).to.equal(404);
    const own = randomUUID();
    const span = { id: own, trace_id: randomUUID(), name: 's', started_at: at(0), input_data: referenceTo(bytes) };
    await server.request('POST', '/spans', { key: theirs.key, body: [span] });
    expect((await server.request('GET', `/spans/${own}/attachments`, { key: theirs.key })).json.count).to.equal(0);
    // They send the bytes themselves.
    const answer = await call('POST', '', { ...announced(bytes), traceId: span.trace_id, observationId: own }, headers);
    expect((await put(answer.json.uploadUrl, bytes)).status).to.equal(200);
    expect((await server.request('GET', `/spans/${own}/attachments`, { key: theirs.key })).json.count).to.equal(1);
  });

  it('go with the span that refers to them, also before it is known that it does', async () => {
    const [before, behind] = [png(10), png(10)];
    const ids = newIds();
    await upload(before, ids);
    await span(ids, { input_data: referenceTo(before), output_data: referenceTo(behind) });
    await upload(behind, ids);
    const kept = (bytes: Buffer) =>
      storedFiles(server.dataDir).then((names) => names.some((name) => name.endsWith(sha(bytes))));
    expect([await kept(before), await kept(behind)]).to.deep.equal([true, true]);
    const removed = await server.request('DELETE', `/spans/${ids.observationId}`);
    expect(removed.status, removed.text).to.be.lessThan(300);
    expect([await kept(before), await kept(behind)]).to.deep.equal([false, false]);
    for (const bytes of [before, behind]) expect((await call('GET', `/${mediaIdOf(bytes)}`)).status).to.equal(404);
  });
});
