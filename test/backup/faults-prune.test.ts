import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Manifest } from '../../src/engine/traces/model/backup/manifest.js';
import { Backups } from '../../src/features/backup/store/backups.js';
import { copySnapshot } from '../../src/features/backup/store/copy-snapshot.js';
import { FolderPlace } from '../../src/features/backup/store/folder-place.js';
import { openSnapshot } from '../../src/control/control-client.js';
import { png } from '../attachments/images.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { sentSpan as span } from '../harness/span.js';
import { admin, PROGRAM, refused } from './admin.js';
import { manifestOf } from './manifests.js';
import { backupMetric } from './metrics.js';

/** Backups, images and memory for which all lists at once would be too much. */
const LISTS = 16;
const IMAGES = 20_000;
const MEMORY_MB = 72;

const run = promisify(execFile);

describe('backups of which many are there', function () {
  this.timeout(120_000);
  let folder: string;
  let backups: string;
  let server: TestServer;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'spanhouse-prune-'));
    backups = join(folder, 'backups');
    server = await bootServer();
  });
  after(async () => {
    await server.dispose();
    await rm(folder, { recursive: true, force: true });
  });

  async function backup(): Promise<string> {
    const { status, text } = await server.request('POST', '/spans', { body: [span('one more')] });
    expect(status, text).to.equal(200);
    await nextSecond();
    return (await admin(server.dataDir, 'backup', backups)).id;
  }

  /** A backup is named after its second. */
  async function nextSecond(): Promise<void> {
    const second = Math.floor(Date.now() / 1000);
    while (Math.floor(Date.now() / 1000) === second) await sleep(20);
  }

  const list = (id: string) => join(backups, 'backups', `${id}.json`);
  const files = async () => (await readdir(backups, { recursive: true })).sort();
  const prune = (...more: string[]) => ['prune-backups', backups, '--keep', '1', ...more] as const;

  it('stay all while it is not known what one of them holds', async () => {
    const ids = [await backup(), await backup(), await backup()];
    const [oldest = '', middle = '', newest = ''] = ids;
    const before = await files();
    const whole = await readFile(list(middle), 'utf8');

    await writeFile(list(middle), whole.slice(0, -10));
    const damaged = await refused(server.dataDir, ...prune());
    expect(damaged)
      .to.contain(
        `Nothing was removed, because the contents of backup ${middle} are unknown. ${list(middle)} is damaged`,
      )
      .and.contain(`remove ${list(middle)}, and run prune-backups`);
    expect(await files()).to.deep.equal(before);

    const { manifest } = JSON.parse(whole) as { manifest: Manifest };
    const newer = JSON.stringify({ ...manifest, format: manifest.format + 1 });
    const sha256 = createHash('sha256').update(newer).digest('hex');
    await writeFile(list(oldest), `{"sha256":"${sha256}","manifest":${newer}}\n`);
    await writeFile(list(middle), whole);
    expect(await refused(server.dataDir, ...prune()))
      .to.contain(`the contents of backup ${oldest}`)
      .and.contain('newer version of Spanhouse');
    expect(await files()).to.deep.equal(before);

    await rm(list(oldest));
    expect(await admin(server.dataDir, ...prune())).to.include({ backups: 1 });
    const verified = await admin(server.dataDir, 'verify-backup', backups);
    expect(verified).to.include({ id: newest, whole: true });
    const left = (await files()).filter((name) => /^objects\/..\/./.test(name));
    expect(left, 'contents of this backup alone').to.have.length(verified.files);
  });

  it('say so where they cannot go, which is no failure of the backup that was made', async () => {
    const oldest = await backup();
    await writeFile(list(oldest), 'damaged');
    await nextSecond();
    const success = await backupMetric(server, 'last_success_timestamp_seconds');
    const { cause } = (await admin(server.dataDir, 'backup', backups, '--keep', '1').catch(
      (error: unknown) => error,
    )) as {
      cause: { code: number; stdout: string; stderr: string };
    };
    expect(cause.code, cause.stderr).to.equal(2);
    const { id, note } = JSON.parse(cause.stdout);
    expect(note).to.contain('This backup is complete, but older ones were not removed. Nothing was removed');
    expect(cause.stderr).to.contain(`Backup ${id} is complete; removing the oldest beyond 1`);
    expect(await admin(server.dataDir, 'verify-backup', backups, '--backup', id)).to.include({ whole: true });
    expect(await backupMetric(server, 'last_success_timestamp_seconds')).to.be.above(success);
    expect(await backupMetric(server, 'last_failure_timestamp_seconds')).to.equal(0);
    expect(await backupMetric(server, 'last_prune_failure_timestamp_seconds')).to.be.above(success);
    await rm(list(oldest));
  });

  it('are read one at a time, however many are kept', async () => {
    const many = join(folder, 'many');
    const place = await Backups.forWriting(new FolderPlace(many));
    const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
    const project_id = randomUUID();
    const images = Array.from({ length: IMAGES }, (_, at) => ({ project_id, sha256: sha256(String(at)), bytes: 1 }));
    await mkdir(join(many, 'objects'));
    for (let day = 1; day <= LISTS; day += 1)
      await place.finish(manifestOf(`202001${String(day).padStart(2, '0')}T000000Z`, images));
    await place.close();
    const little = [`--max-old-space-size=${MEMORY_MB}`, PROGRAM, '--json', '--data-dir', folder];
    const asked = async (...args: string[]) => JSON.parse((await run(process.execPath, [...little, ...args])).stdout);
    expect(await asked('list-backups', many)).to.have.length(LISTS);
    expect(await asked('prune-backups', many, '--keep', String(LISTS - 1))).to.include({ backups: LISTS - 1 });
  });

  it('are refused with more images than one list takes, before anything is copied', async () => {
    const attachments = [7, 8].map((at) => ({ type: 'screenshot', base64: png(at).toString('base64') }));
    const { status, text } = await server.request('POST', '/spans', {
      body: [span('shown', { attributes: { attachments } })],
    });
    expect(status, text).to.equal(200);
    const held = await openSnapshot({ dataDir: server.dataDir, socketPath: join(server.dataDir, 'control.sock') });
    const few = await Backups.forWriting(new FolderPlace(join(folder, 'few')));
    const copy = (mostImages: number) =>
      copySnapshot(held.snapshot, few, {
        total: () => undefined,
        done: () => undefined,
        beforeFinish: async () => undefined,
        mostImages,
      });
    try {
      const refusal: unknown = await copy(1).catch((error: unknown) => error);
      expect(String(refusal)).to.contain('There are 2 images, and a backup can hold at most 1: delete old ones');
      expect(await readdir(join(folder, 'few'), { recursive: true })).to.have.members([
        'incoming',
        'lock',
        'spanhouse-backups.json',
      ]);
      expect((await copy(2)).manifest.images).to.have.length(2);
    } finally {
      await few.close();
      held.release();
    }
  });
});
