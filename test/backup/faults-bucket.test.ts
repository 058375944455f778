import { randomBytes, randomUUID } from 'node:crypto';
import { cp, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { loadConfig } from '../../src/config/config.js';
import { withBackups } from '../../src/compose/backup-run.js';
import type { Manifest } from '../../src/engine/traces/model/backup/manifest.js';
import type { Backups } from '../../src/features/backup/store/backups.js';
import { png } from '../attachments/images.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { admin, refused } from './admin.js';
import { answersOf } from './answers.js';
import { Bucket, type BucketRequest } from './bucket.js';

const span = (name: string, parts: object = {}) => ({
  id: randomUUID(),
  trace_id: randomUUID(),
  name,
  started_at: Date.now(),
  cost: 0.25,
  ...parts,
});
const MEGABYTE = 1024 * 1024;

describe('backups in a bucket', function () {
  this.timeout(240_000);
  let folder: string;
  let bucket: Bucket;
  let server: TestServer;
  let dataDir: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'spanhouse-s3-backup-'));
    bucket = await Bucket.start();
    server = await bootServer();
    ({ dataDir } = server);
    const image = { attachments: [{ type: 'screenshot', base64: png(7).toString('base64') }] };
    await post(Array.from({ length: 30 }, (_, at) => span(`step ${at}`, { input_data: `needle ${at}` })));
    // More than goes in one request to a bucket.
    await post([
      ...Array.from({ length: 12 }, () => span('large', { output_data: randomBytes(MEGABYTE).toString('base64') })),
      span('shown', { attributes: image }),
    ]);
  });
  afterEach(() => {
    bucket.onRequest = () => undefined;
  });
  after(async () => {
    await server.dispose();
    await bucket.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function post(body: readonly object[]): Promise<void> {
    const { status, text } = await server.request('POST', '/spans', { body });
    expect(status, text).to.equal(200);
  }

  /** The largest content, which was uploaded in parts. */
  async function largest(): Promise<{ readonly name: string; readonly size: number }> {
    const root = dirname(dirname(bucket.file('objects/x')));
    const names = (await readdir(join(root, 'objects'), { recursive: true })).filter((name) =>
      name.endsWith('_object'),
    );
    const sizes = await Promise.all(
      names.map(async (name) => ({
        name: `objects/${name.slice(0, -'._S3rver_object'.length)}`,
        size: (await stat(join(root, 'objects', name))).size,
      })),
    );
    return sizes.reduce((most, each) => (each.size > most.size ? each : most));
  }

  it('are made, added to, listed, verified, restored and removed as those in a folder', async () => {
    const expected = await answersOf(server);
    const seen: BucketRequest[] = [];
    bucket.onRequest = (request) => void seen.push(request);
    const first: { id: string; spans: number } = await admin(dataDir, 'backup', bucket.address);
    expect(
      seen.some(({ query }) => query['partNumber'] === '2'),
      'an upload in parts',
    ).to.equal(true);
    expect(bucket.unsigned).to.equal(0);
    expect((await largest()).size).to.be.above(8 * MEGABYTE);
    expect(await bucket.uploads()).to.deep.equal([]);
    expect(['writer.json', 'unfinished.json'].filter((name) => bucket.has(name))).to.deep.equal([]);

    await post([span('one more')]);
    // A bucket that is too busy now and then is asked again.
    let requests = 0;
    bucket.onRequest = () => ((requests += 1) % 5 === 0 ? 'slow down' : undefined);
    const next = await admin(dataDir, 'backup', bucket.address);
    bucket.onRequest = () => undefined;
    expect(next.spans).to.equal(first.spans + 1);
    expect(next.mb).to.be.above(8);
    expect(next.new_mb).to.be.below(2);
    const listed = await admin(dataDir, 'list-backups', bucket.address);
    expect(listed.map(({ id }: { id: string }) => id)).to.deep.equal([first.id, next.id]);

    const to = join(folder, 'restored');
    // Answers that break off in the middle are read on from there.
    let broken = 0;
    bucket.onRequest = ({ method, key }) => {
      if (method !== 'GET' || !key.includes('/objects/') || broken === 5) return undefined;
      broken += 1;
      return 'break off';
    };
    expect(await admin(to, 'restore', bucket.address, '--backup', first.id)).to.include({ id: first.id });
    expect(broken).to.equal(5);
    const copy = await bootServer({ dataDir: to });
    try {
      expect(await answersOf(copy)).to.deep.equal(expected);
    } finally {
      await copy.stop();
    }
    expect(await admin(dataDir, 'prune-backups', bucket.address, '--keep', '1')).to.include({ backups: 1 });
    expect(await admin(dataDir, 'verify-backup', bucket.address)).to.include({ id: next.id, whole: true });
  });

  it('are found damaged or missing', async () => {
    const { name, size } = await largest();
    const whole = await readFile(bucket.file(name));
    const damaged = Buffer.from(whole);
    damaged[size >> 1]! ^= 1;
    await writeFile(bucket.file(name), damaged);
    expect(await refused(dataDir, 'verify-backup', bucket.address)).to.contain(`damaged: ${bucket.address}/${name}`);
    const half = join(folder, 'half');
    expect(await refused(half, 'restore', bucket.address)).to.contain(`${bucket.address}/${name} is damaged`);
    await rm(bucket.file(name));
    expect(await refused(dataDir, 'verify-backup', bucket.address)).to.contain(`${bucket.address}/${name} is missing`);
    // The next backup has it again.
    await admin(dataDir, 'backup', bucket.address);
    expect((await readFile(bucket.file(name))).equals(whole)).to.equal(true);
  });

  /** Opens what an address names as a command does. */
  const opened = <T>(
    purpose: 'reading' | 'writing',
    work: (backups: Backups) => Promise<T>,
    address = bucket.address,
  ) => withBackups(address, loadConfig(process.env).backup.s3, purpose, work);
  const refusal = (purpose: 'reading' | 'writing', address?: string) =>
    opened(purpose, async () => undefined, address).then(
      () => 'nothing',
      (error: unknown) => (error as Error).message,
    );

  it('are written by one process at a time', async () => {
    await opened('writing', async () => {
      expect(await refusal('writing')).to.contain(`is being written to ${bucket.address} by process ${process.pid}`);
    });
    // Of two that begin in the same moment, one writes first.
    const holder = { id: 'x', machine: 'another', host: 'elsewhere', pid: 1, since: 'today' };
    bucket.onRequest = async ({ method, key }) => {
      if (method === 'PUT' && key.endsWith('/writer.json'))
        await writeFile(bucket.file('writer.json'), JSON.stringify(holder));
      return undefined;
    };
    expect(await refusal('writing')).to.contain('Another backup is being written');
    bucket.onRequest = () => undefined;
    // A process of another machine is known to live by its last writing alone.
    expect(await refusal('writing')).to.contain('by process 1 on elsewhere, since today');
    const before = new Date(Date.now() - 100_000);
    await utimes(bucket.file('writer.json'), before, before);
    await opened('writing', async (backups) => {
      await backups.begin();
      // One that was taken for dead and is not finds out before it makes a backup.
      await writeFile(bucket.file('writer.json'), JSON.stringify({ ...holder, id: 'y' }));
      const made = await backups.finish({} as Manifest).catch((error: unknown) => (error as Error).message);
      expect(made).to.contain('Another backup started in');
    });
    expect(bucket.has('writer.json'), 'the lock of another').to.equal(true);
    await rm(bucket.file('writer.json'));
    const listed = await admin(dataDir, 'list-backups', bucket.address);
    expect(listed.at(-1).problem).to.contain('interrupted or in progress');
    await opened('writing', (backups) => backups.prune(10));
    expect(bucket.has('unfinished.json')).to.equal(false);
  });

  it('are refused in words that say what to do, and name no secret', async () => {
    const { BACKUP_S3_ENDPOINT, BACKUP_S3_SECRET_ACCESS_KEY } = bucket.env;
    try {
      expect(await refusal('writing', 's3://no-such-bucket/x')).to.contain('There is no bucket no-such-bucket');
      expect(await refusal('reading', 's3://spanhouse-backups/none')).to.contain('not a backup folder');
      expect(await refusal('writing', 's3://spanhouse-backups')).to.contain('something other than backups');
      expect(await refused(dataDir, 'backup', 'gs://bucket/x')).to.contain('is not a valid backup location');
      expect(await refusal('writing', 's3://bucket/../x')).to.contain('is not a valid backup location');
      process.env['BACKUP_S3_SECRET_ACCESS_KEY'] = 'a-wrong-secret';
      const wrong = await refused(dataDir, 'backup', bucket.address);
      expect(wrong).to.contain('check the keys').and.not.contain('a-wrong-secret');
      process.env['BACKUP_S3_SECRET_ACCESS_KEY'] = BACKUP_S3_SECRET_ACCESS_KEY;
      process.env['BACKUP_S3_ENDPOINT'] = 'http://127.0.0.1:9';
      expect(await refusal('reading'))
        .to.contain('Request to ')
        .and.contain('ECONN');
    } finally {
      Object.assign(process.env, { BACKUP_S3_ENDPOINT, BACKUP_S3_SECRET_ACCESS_KEY });
    }
  });

  it('are made by the server itself, which tells metrics, also while the bucket is away', async () => {
    const env = { ...bucket.env, BACKUP_EVERY: '1d', BACKUP_TO: 's3://spanhouse-backups/of/itself' };
    const scheduled = await bootServer({ env });
    const metric = async (name: string) => {
      const { text } = await scheduled.request('GET', '/metrics');
      return Number(new RegExp(`^spanhouse_backup_${name}_timestamp_seconds (.*)$`, 'm').exec(text)?.[1]);
    };
    try {
      while ((await metric('last_success')) === 0) await new Promise((wake) => setTimeout(wake, 50));
      expect(await metric('last_failure')).to.equal(0);
      expect(await admin(scheduled.dataDir, 'list-backups', env.BACKUP_TO)).to.have.length(1);
    } finally {
      await scheduled.dispose();
    }
    const away = await bootServer({ env: { ...env, BACKUP_S3_ENDPOINT: 'http://127.0.0.1:9' } });
    try {
      for (;;) {
        const { text } = await away.request('GET', '/metrics');
        if (!/^spanhouse_backup_last_failure_timestamp_seconds 0$/m.test(text)) break;
        await new Promise((wake) => setTimeout(wake, 50));
      }
    } finally {
      await away.dispose();
    }
  });

  it('are of the server that serves DATA_DIR, not of the one that a copy of it names', async () => {
    const copy = join(folder, 'copy');
    await cp(dataDir, copy, { recursive: true, filter: (source) => !source.endsWith('.sock') });
    expect(await refused(copy, 'backup', join(folder, 'of-copy'))).to.contain('it is a copy');
  });
});
