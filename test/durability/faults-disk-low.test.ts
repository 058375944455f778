import { randomBytes, randomUUID } from 'node:crypto';
import { readdir, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { png } from '../attachments/images.js';
import { request as otlpRequest, otlpSpan } from '../otlp/requests.js';
import { unhurried } from '../harness/program.js';
import type { TestResponse } from '../harness/server.js';
import { expectRefused, SmallDiskScene } from './small-disk-scene.js';

const MEGABYTE = 2 ** 20;
const MIN_FREE = 128 * MEGABYTE;
/** On a machine that is busy with other tests. */
const WELL_WITHIN_MS = 60_000;
const SENDERS = 6;
const REFUSALS_EACH = 4;
const PAUSE_MS = 100;
const REASON = /the disk of DATA_DIR has \d+ MB left and MIN_FREE_DISK_MB keeps 128 MB free/;

const span = (parts: object = {}) => ({
  id: randomUUID(),
  trace_id: randomUUID(),
  name: 'a',
  started_at: Date.now(),
  ...parts,
});
const SESSION = randomUUID();
const large = () =>
  span({ name: 'large', session_id: SESSION, cost: 1, input_data: randomBytes(700_000).toString('base64') });
const withImage = () => span({ attributes: { attachments: [{ base64: png(8).toString('base64') }] } });

/** What is said to be left is too little, or less than it takes until spans are taken again. */
function expectShortage({ text }: TestResponse): void {
  const [, left, again = '128'] = /has (\d+) MB left and .*? free(?:; writes resume at (\d+) MB)?/.exec(text) ?? [];
  expect(Number(left), text).to.be.below(Number(again));
}

/** Clients that write and read all the time, whatever becomes of the disk. */
class Load {
  readonly acknowledged: string[] = [];
  /** Of each sender. */
  readonly refused = Array.from({ length: SENDERS }, () => 0);
  reads = 0;
  readonly #scene: SmallDiskScene;
  readonly #ends: Promise<unknown>;
  #stopped = false;

  constructor(scene: SmallDiskScene) {
    this.#scene = scene;
    const senders = this.refused.map((_, index) => this.#send(index));
    const readers = ['/spans?fields=id&limit=100', '/traces?limit=100', '/sessions', '/spans:stats'];
    this.#ends = Promise.all([...senders, ...readers.map((path) => this.#read(path)), this.#watchReadiness()]);
    this.#ends.catch(() => (this.#stopped = true));
  }

  /** @throws what is not as it has to be, also while it was not waited for */
  async until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
    const end = Date.now() + unhurried(WELL_WITHIN_MS);
    while (!(await holds())) {
      if (this.#stopped) await this.#ends;
      if (Date.now() > end)
        throw new Error(
          `not within ${WELL_WITHIN_MS} ms: ${what}; ${this.acknowledged.length} acknowledged, refused: ${this.refused.join(' ')}`,
        );
      await sleep(PAUSE_MS);
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#ends;
  }

  async #send(index: number): Promise<void> {
    while (!this.#stopped) {
      const body = [large(), large()];
      const answer = await this.#scene.post('/spans', body);
      if (answer.status === 200) this.acknowledged.push(...body.map(({ id }) => id));
      else {
        expectRefused(answer, REASON);
        expectShortage(answer);
        this.refused[index]! += 1;
        await sleep(PAUSE_MS);
      }
    }
  }

  async #read(path: string): Promise<void> {
    while (!this.#stopped) {
      const { status, text } = await this.#scene.get(path);
      expect(status, `${path}: ${text.slice(0, 300)}`).to.equal(200);
      this.reads += 1;
      await sleep(PAUSE_MS);
    }
  }

  async #watchReadiness(): Promise<void> {
    while (!this.#stopped) {
      const { status, json } = await this.#scene.get('/readyz');
      expect([status, json.checks.clickhouse]).to.deep.equal([200, 'ok']);
      await sleep(PAUSE_MS);
    }
  }
}

describe('a disk that fills up', function () {
  this.timeout(180_000);
  const scene = SmallDiskScene.forEachTest();

  async function freeBytes(): Promise<number> {
    const { bavail, bsize } = await statfs(scene.dataDir);
    return bavail * bsize;
  }

  const readiness = async () => (await scene.get('/readyz')).json;

  it('refuses spans under load while it keeps room, serves all else, and takes them again by itself', async function () {
    const disk = scene.mount(this, 420);
    const env = { MIN_FREE_DISK_MB: String(MIN_FREE / MEGABYTE), DISK_RESERVE_MB: '8' };
    const { projectId } = await scene.boot(env);
    const deleted = span({ name: 'deleted' });
    expect((await scene.post('/spans', [deleted])).status).to.equal(200);
    expect(await readiness()).to.deep.include({ status: 'ready' });
    await writeFile(join(scene.dataDir, 'filler'), Buffer.alloc(200 * MEGABYTE));

    const load = new Load(scene);
    await load.until('all senders are refused', () => load.refused.every((count) => count >= REFUSALS_EACH));
    expect(load.acknowledged).to.have.length.above(10);
    // Merges take room for a while, half of what is left at most.
    expect(await freeBytes()).to.be.above(MIN_FREE / 3);
    // The log gives its room back as soon as ClickHouse has what it held.
    await load.until('the log is empty', async () => (await readdir(join(scene.dataDir, 'log'))).length === 0);
    // What others wrote comes on top: from here on, nothing is left above the mark.
    await writeFile(
      join(scene.dataDir, 'more'),
      Buffer.alloc(Math.max(0, (await freeBytes()) - MIN_FREE + 8 * MEGABYTE)),
    );
    await load.until('readiness says so', async () => (await readiness()).status === 'degraded');
    expect((await readiness()).checks.disk).to.match(/^Insufficient disk space: the disk of DATA_DIR has/);
    await expectAllElse(deleted.id, projectId);

    const [acknowledged, reads] = [load.acknowledged.length, load.reads];
    disk.free();
    await load.until('spans are taken again', () => load.acknowledged.length >= acknowledged + 2);
    await load.stop();
    expect(load.reads).to.be.above(reads);
    await expectAll(load.acknowledged);
    expect((await scene.post('/spans', [withImage()])).status).to.equal(200);
    expect(await readiness()).to.deep.include({ status: 'ready' });
  });

  /** What holds while spans are refused, besides what the load sees. */
  async function expectAllElse(deleted: string, projectId: string): Promise<void> {
    const refused: readonly (readonly [string, unknown])[] = [
      ['/v1/traces', otlpRequest([otlpSpan()])],
      ['/spans', [withImage()]],
      ['/traces', [{ session_id: randomUUID(), name: 'a', started_at: Date.now() }]],
      ['/sessions', [{ project_id: projectId }]],
    ];
    for (const [path, body] of refused) expectRefused(await scene.post(path, body), REASON);
    const { text } = await scene.get('/metrics');
    expect(text).to.match(/spanhouse_spans_rejected_total\{source="rest",reason="disk_low"\} \d/);
    expect(text).to.match(/spanhouse_spans_rejected_total\{source="otlp",reason="disk_low"\} 1/);
    expect(text).to.include(`spanhouse_disk_min_free_bytes{disk="data"} ${MIN_FREE}`);
    expect((await scene.call('DELETE', `/spans/${deleted}`)).status).to.equal(204);
    expect((await scene.get(`/spans/${deleted}`)).status).to.equal(404);
    expect((await scene.post('/v1/tasks/greeting/prompt/versions/ensure', { content: 'x' })).status).to.equal(200);
    const [shown] = (await scene.get(`/projects/${projectId}/storage`)).json.server.disks;
    expect(shown.free_bytes).to.be.below(shown.min_free_bytes);
  }

  /** Every list shows exactly these, and their figures. */
  async function expectAll(ids: readonly string[]): Promise<void> {
    const found: TestResponse = await scene.get('/spans?fields=id&limit=10000&names=large');
    expect((found.json as { id: string }[]).map(({ id }) => id).sort()).to.deep.equal([...ids].sort());
    const [session] = (await scene.get(`/sessions?id=${SESSION}`)).json;
    expect(session).to.include({ trace_count: ids.length, cost: ids.length });
  }
});
