import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { StoredBytes } from '../../src/engine/disk/disk.js';
import { openMetadataStore } from '../../src/compose/metadata-store.js';
import { base64, png } from '../attachments/images.js';
import { ApiDocument } from '../harness/api-document.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { secondProject } from '../prompts/prompt-api.js';
import { programFile } from '../harness/program-files.js';

describe('a project', () => {
  let server: TestServer;
  let document: ApiDocument;
  let other: { projectId: string; key: string };
  before(async () => {
    server = await bootServer();
    document = await ApiDocument.of(server);
    other = secondProject(server);
  });
  after(() => server.dispose());

  async function call(
    method: string,
    what = '',
    body?: unknown,
    of = { projectId: server.projectId, key: server.key },
  ) {
    const path = `/projects/${of.projectId}${what}`;
    const response = await server.request(method, path, { key: of.key, ...(body === undefined ? {} : { body }) });
    document.check(method, path, response);
    return response;
  }

  it('is read and renamed by its own keys alone', async () => {
    const { json } = await call('GET');
    expect(json).to.deep.include({ id: server.projectId, name: 'Default project' });
    const renamed = await call('PATCH', '', { name: '  Läden & Söhne 💡 ' });
    expect(renamed.json).to.deep.equal({ ...json, name: 'Läden & Söhne 💡' });
    expect((await call('GET')).json).to.deep.equal(renamed.json);
    expect((await server.request('GET', '/whoami')).json.project.name).to.equal('Läden & Söhne 💡');
    const foreign = { projectId: server.projectId, key: other.key };
    for (const [method, what, body] of [
      ['GET', ''],
      ['PATCH', '', { name: 'x' }],
      ['GET', '/storage'],
    ] as const)
      expect((await call(method, what, body, foreign)).status).to.equal(403);
    expect((await call('GET', '', undefined, other)).json.name).to.equal('Second');
    const asked = { body: { name: 'reader', access: 'read' } };
    const keys = await server.request('POST', `/projects/${server.projectId}/api-keys`, asked);
    const reader = { projectId: server.projectId, key: keys.json.key };
    expect((await call('PATCH', '', { name: 'x' }, reader)).status).to.equal(403);
    expect((await call('GET', '/storage', undefined, reader)).status).to.equal(200);
  });

  it('keeps its name where another is none', async () => {
    for (const body of [
      {},
      { name: '' },
      { name: '  ' },
      { name: 'a\nb' },
      { name: 7 },
      { name: 'x'.repeat(201) },
      { name: 'x', retention: 1 },
    ])
      expect((await call('PATCH', '', body)).status, JSON.stringify(body)).to.equal(422);
    expect((await call('GET')).json.name).to.equal('Läden & Söhne 💡');
  });

  it('says what it stores, and nothing of another', async () => {
    const empty = (await call('GET', '/storage', undefined, other)).json;
    expect(empty).to.deep.include({
      spans: { count: 0, oldest_started_at: null, estimated_bytes: 0 },
      traces: { count: 0 },
      sessions: { count: 0 },
      attachments: { count: 0, bytes: 0 },
    });
    const [one, two, session_id] = [randomUUID(), randomUUID(), randomUUID()];
    const image = png(3);
    const attached = { type: 'image', base64: base64(image), label: 'x' };
    const span = (trace_id: string, started_at: string, more: object = {}) => ({
      trace_id,
      name: 'a',
      started_at,
      session_id,
      ...more,
    });
    const spans = [
      span(one, '2026-01-02T00:00:00Z', { attributes: { attachments: [attached] } }),
      span(one, '2026-01-01T00:00:00Z', { attributes: { attachments: [attached] } }),
      span(two, '2026-01-03T00:00:00Z', { tags: { 'spanhouse.judge': 'x' } }),
    ];
    expect((await server.request('POST', '/spans', { body: spans })).status).to.equal(200);
    const { json } = await call('GET', '/storage');
    expect(json).to.deep.include({
      traces: { count: 2 },
      sessions: { count: 1 },
      attachments: { count: 1, bytes: image.length },
    });
    expect(json.spans).to.deep.include({ count: 3, oldest_started_at: '2026-01-01T00:00:00.000000Z' });
    expect(json.spans.estimated_bytes).to.be.within(1, json.server.database_bytes);
    expect(json.server).to.include({ embedded: true });
    expect(json.server.sqlite_bytes).to.be.greaterThan(10_000);
    expect(json.server.disk.free_bytes).to.be.within(1, json.server.disk.total_bytes);
    const { stored_bytes, disks, database_bytes, disk } = json.server;
    const { spans: texts, rollups, words } = stored_bytes as StoredBytes;
    expect(texts + rollups + words).to.equal(database_bytes);
    expect(stored_bytes.attachments).to.be.within(0, image.length);
    const kinds = disks.flatMap(({ holds }: { holds: string[] }) => holds);
    expect(kinds.sort()).to.deep.equal(['attachments', 'rollups', 'spans', 'sqlite', 'words']);
    expect(disks[0]).to.include({ name: 'data', min_free_bytes: 0, grows_bytes_per_day: null, days_left: null });
    expect(disks[0].total_bytes).to.equal(disk.total_bytes);
    expect((await call('GET', '/storage', undefined, other)).json.spans).to.deep.equal(empty.spans);
  });

  it('says how fast its disks fill, as the admin program does without a server', async () => {
    const metadata = openMetadataStore(server.dataDir);
    try {
      // The server's own comes some seconds after its start, and the next one minutes later.
      while (metadata.measurements.latest() === undefined) await sleep(50);
      const { stored_bytes, disks } = (await call('GET', '/storage')).json.server;
      const at = (Date.now() - 12 * 3_600_000) * 1000;
      const before = { ...stored_bytes, spans: stored_bytes.spans - 1_000_000 };
      const seen = disks.map(({ name, holds }: { name: string; holds: string[] }) => {
        return { name, holds, free: 50_000_000, total: 90_000_000, minFree: 10_000_000 };
      });
      metadata.measurements.add({ at, stored: before, disks: seen }, 0);
      const [disk] = (await call('GET', '/storage')).json.server.disks;
      expect(disk.grows_bytes_per_day).to.be.closeTo(2_000_000, 500_000);
      expect(disk.days_left).to.equal(Math.floor(disk.free_bytes / disk.grows_bytes_per_day));

      // Later than any of the server's own.
      metadata.measurements.add({ at: at + 24 * 3_600_000_000, stored: stored_bytes, disks: seen }, 0);
      const program = programFile('admin');
      const args = [program, '--data-dir', server.dataDir];
      const { stdout } = await promisify(execFile)(process.execPath, [...args, '--json', 'storage']);
      const report = JSON.parse(stdout) as { stored_bytes: object; disks: object[] };
      expect(report.stored_bytes).to.deep.equal(stored_bytes);
      expect(report.disks[0]).to.deep.include({ grows_bytes_per_day: 1_000_000, days_left: 40 });
      const { stdout: table } = await promisify(execFile)(process.execPath, [...args, 'storage']);
      // What came of a clock that was ahead goes with the next measurement.
      metadata.measurements.add({ at: at + 13 * 3_600_000_000, stored: stored_bytes, disks: seen }, 0);
      expect(metadata.measurements.latest()?.at).to.equal(at + 13 * 3_600_000_000);
      expect(table).to.match(/^disk data +50 MB free of 90 MB.*grows by 1 MB a day: spans are refused in 40 days$/m);
    } finally {
      metadata.close();
    }
  }).timeout(30_000);
});
