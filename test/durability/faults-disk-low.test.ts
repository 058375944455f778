import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, mkdir, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { png } from '../attachments/images.js';
import { bootServer, type TestResponse, type TestServer } from '../harness/server.js';
import { request as otlpRequest, otlpSpan } from '../otlp/requests.js';
import { mountSmallDisk, type SmallDisk } from './small-disk.js';

const MEGABYTE = 2 ** 20;
const MIN_FREE = 128 * MEGABYTE;
const WELL_WITHIN_MS = 20_000;
const SENDERS = 6;
const REFUSALS_EACH = 4;

const span = (parts: object = {}) => ({
  id: randomUUID(),
  trace_id: randomUUID(),
  name: 'a',
  started_at: Date.now(),
  ...parts,
});
const large = () => span({ name: 'large', input_data: randomBytes(700_000).toString('base64') });
const withImage = () => span({ attributes: { attachments: [{ base64: png(8).toString('base64') }] } });

describe('a disk that fills up', function () {
  this.timeout(180_000);
  let folder: string;
  let dataDir: string;
  let server: TestServer | undefined;
  let disk: SmallDisk | null = null;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'spanhouse-low-'));
    dataDir = join(folder, 'data');
    await mkdir(dataDir);
  });
  afterEach(async () => {
    await server?.stop();
    disk?.unmount();
    [server, disk] = [undefined, null];
    await rm(folder, { recursive: true, force: true });
  });

  function call(method: string, path: string, body?: unknown): Promise<TestResponse> {
    if (server === undefined) throw new Error('no server');
    return server.request(method, path, body === undefined ? {} : { body });
  }

  async function freeBytes(): Promise<number> {
    const { bavail, bsize } = await statfs(dataDir);
    return bavail * bsize;
  }

  function expectRefused({ status, text, headers }: TestResponse): void {
    expect(status, text).to.equal(503);
    expect(text).to.match(/the disk of DATA_DIR has \d+ MB left and MIN_FREE_DISK_MB keeps 128 MB free/);
    expect(Number(headers.get('retry-after'))).to.be.at.least(1);
  }

  /** Sends until each of several clients has been refused some times. @returns ids of what was acknowledged */
  async function fillUp(): Promise<string[]> {
    const acknowledged: string[] = [];
    const send = async () => {
      for (let refused = 0; refused < REFUSALS_EACH;) {
        const body = [large(), large()];
        const answer = await call('POST', '/spans', body);
        if (answer.status === 200) acknowledged.push(...body.map(({ id }) => id));
        else {
          expectRefused(answer);
          refused += 1;
          await sleep(100);
        }
      }
    };
    await Promise.all(Array.from({ length: SENDERS }, () => send()));
    return acknowledged;
  }

  async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
    const end = Date.now() + WELL_WITHIN_MS;
    while (!(await holds())) {
      if (Date.now() > end) throw new Error(`not within ${WELL_WITHIN_MS} ms: ${what}`);
      await sleep(100);
    }
  }

  it('refuses spans while it keeps room, serves all else, and takes them again by itself', async function () {
    disk = mountSmallDisk(dataDir, 420);
    if (disk === null) this.skip();
    server = await bootServer({
      dataDir,
      env: { MIN_FREE_DISK_MB: String(MIN_FREE / MEGABYTE), DISK_RESERVE_MB: '8' },
    });
    const deleted = span({ name: 'deleted' });
    expect((await call('POST', '/spans', [deleted])).status).to.equal(200);
    expect((await call('GET', '/readyz')).json).to.deep.include({ status: 'ready' });
    await writeFile(join(dataDir, 'filler'), Buffer.alloc(150 * MEGABYTE));

    const acknowledged = await fillUp();
    expect(acknowledged).to.have.length.above(10);
    // Merges take room for a while, half of what is left at most.
    expect(await freeBytes()).to.be.above(MIN_FREE / 3);
    // What others wrote comes on top: from here on, nothing is left above the mark.
    await writeFile(join(dataDir, 'more'), Buffer.alloc(Math.max(0, (await freeBytes()) - MIN_FREE + 8 * MEGABYTE)));
    await until('readiness says so', async () => (await call('GET', '/readyz')).json.status === 'degraded');
    const ready = await call('GET', '/readyz');
    expect([ready.status, ready.json.checks.clickhouse]).to.deep.equal([200, 'ok']);
    expect(ready.json.checks.disk).to.match(/^Spans are refused, as the disk of DATA_DIR has/);

    const sent = await call('POST', '/v1/traces', otlpRequest([otlpSpan()]));
    expectRefused(sent);
    for (const [path, body] of [
      ['/spans', [withImage()]],
      ['/traces', [{ session_id: randomUUID(), name: 'a', started_at: Date.now() }]],
      ['/sessions', [{ project_id: server.projectId }]],
    ] as const)
      expectRefused(await call('POST', path, body));
    const { text } = await call('GET', '/metrics');
    expect(text).to.match(/spanhouse_spans_rejected_total\{source="rest",reason="disk_low"\} \d/);
    expect(text).to.match(/spanhouse_spans_rejected_total\{source="otlp",reason="disk_low"\} 1/);
    expect(text).to.include(`spanhouse_disk_min_free_bytes{disk="data"} ${MIN_FREE}`);

    const found = await call('GET', '/spans?fields=id&limit=10000&names=large');
    expect((found.json as { id: string }[]).map(({ id }) => id).sort()).to.deep.equal(acknowledged.sort());
    expect((await call('DELETE', `/spans/${deleted.id}`)).status).to.equal(204);
    expect((await call('GET', `/spans/${deleted.id}`)).status).to.equal(404);
    expect((await call('POST', '/v1/tasks/greeting/prompt/versions/ensure', { content: 'x' })).status).to.equal(200);
    const [shown] = (await call('GET', `/projects/${server.projectId}/storage`)).json.server.disks;
    expect(shown.free_bytes).to.be.below(shown.min_free_bytes);

    disk.free();
    await until('spans are taken again', async () => (await call('POST', '/spans', [withImage()])).status === 200);
    expect((await call('GET', '/readyz')).json).to.deep.include({ status: 'ready' });
  });
});
