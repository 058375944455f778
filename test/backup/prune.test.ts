import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Manifest } from '../../src/domain/backup/manifest.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { sentSpan as span } from '../harness/span.js';
import { admin, refused } from './admin.js';

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
      .to.contain(`Nothing is removed, as it is not known what backup ${middle} holds. ${list(middle)} is damaged`)
      .and.contain(`remove ${list(middle)}, and run prune-backups`);
    expect(await files()).to.deep.equal(before);

    const { manifest } = JSON.parse(whole) as { manifest: Manifest };
    const newer = JSON.stringify({ ...manifest, format: manifest.format + 1 });
    const sha256 = createHash('sha256').update(newer).digest('hex');
    await writeFile(list(oldest), `{"sha256":"${sha256}","manifest":${newer}}\n`);
    await writeFile(list(middle), whole);
    expect(await refused(server.dataDir, ...prune()))
      .to.contain(`what backup ${oldest} holds`)
      .and.contain('newer version of Spanhouse');
    expect(await files()).to.deep.equal(before);

    await rm(list(oldest));
    expect(await admin(server.dataDir, ...prune())).to.include({ backups: 1 });
    const verified = await admin(server.dataDir, 'verify-backup', backups);
    expect(verified).to.include({ id: newest, whole: true });
    const left = (await files()).filter((name) => /^objects\/..\/./.test(name));
    expect(left, 'contents of this backup alone').to.have.length(verified.files);
  });
});
