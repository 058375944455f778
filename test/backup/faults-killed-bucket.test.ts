import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { withBackups } from '../../src/compose/backup-run.js';
import { loadConfig } from '../../src/config/config.js';
import { backupId } from '../../src/features/backup/backup-id.js';
import { API_KEY, type Program } from '../harness/program.js';
import { Programs } from '../harness/programs.js';
import { bootServer } from '../harness/server.js';
import { until } from '../harness/until.js';
import { admin, spawnAdmin } from './admin.js';
import { Bucket, type BucketRequest } from './bucket.js';
import { manifestOf } from './manifests.js';
import { backupMetric } from './metrics.js';

const KILLS = Number(process.env['KILLS'] ?? 3);
const MEGABYTE = 1024 * 1024;
/** Enough that one file of it is uploaded in parts. */
const LARGE = 12;

/** Where a backup is killed, by turns. */
const MOMENTS: readonly { readonly name: string; readonly is: (request: BucketRequest, seen: number) => boolean }[] = [
  { name: 'in the middle of an upload in parts', is: ({ query }) => query['partNumber'] === '2' },
  { name: 'among its contents', is: ({ method, key }, seen) => method === 'PUT' && isContent(key) && seen > 10 },
  { name: 'when it is listed', is: ({ method, key }) => method === 'PUT' && key.includes('/backups/') },
  { name: 'when it begins', is: ({ method, key }) => method === 'PUT' && key.endsWith('unfinished.json') },
  { name: 'when an upload ends', is: ({ method, query }) => method === 'POST' && query['uploadId'] !== undefined },
];
const isContent = (key: string) => key.includes('/objects/');

describe('backups to a bucket that are killed', function () {
  this.timeout(60_000 + KILLS * 60_000);
  let folder: string;
  let bucket: Bucket;
  let programs: Programs;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'spanhouse-s3-cut-'));
    bucket = await Bucket.start();
    programs = await Programs.make();
  });
  afterEach(async () => {
    await programs.dispose();
    await bucket.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Kills a backup at a moment. @returns whether the moment came */
  async function kill(is: (typeof MOMENTS)[number]['is'], ...more: string[]): Promise<boolean> {
    const child = spawnAdmin(programs.dataDir, 'backup', bucket.address, ...more);
    const ended = once(child, 'exit');
    let seen = 0;
    let isKilled = false;
    bucket.onRequest = async (request) => {
      if (isContent(request.key) && request.method === 'PUT') seen += 1;
      if (!isKilled && is(request, seen)) {
        isKilled = true;
        child.kill('SIGKILL');
        await ended;
        return 'lost';
      }
      return undefined;
    };
    await ended;
    bucket.onRequest = () => undefined;
    const held = ['clickhouse/shadow', 'snapshot'].map((name) => join(programs.dataDir, name));
    while (held.some((path) => existsSync(path))) await sleep(10);
    return isKilled;
  }

  it('are listed as cut off, gone on with, and leave nothing behind', async () => {
    const program = await programs.start();
    let spans = 0;
    const post = async () => {
      const output_data = () => randomBytes(MEGABYTE).toString('base64');
      const body = Array.from({ length: LARGE }, () => ({
        id: randomUUID(),
        trace_id: randomUUID(),
        name: 'large',
        started_at: Date.now(),
        output_data: output_data(),
      }));
      expect((await program.request('POST', '/spans', body)).status).to.equal(200);
      spans += LARGE;
    };
    for (let round = 0; round < KILLS; round += 1) {
      await post();
      const { name, is } = MOMENTS[round % MOMENTS.length]!;
      expect(await kill(is), name).to.equal(true);
      const rows: { id: string; problem?: string }[] = await admin(programs.dataDir, 'list-backups', bucket.address);
      expect(rows.at(-1)!.problem, name).to.contain('interrupted or in progress');
      if (name.includes('in parts')) expect(await bucket.uploads()).to.not.deep.equal([]);
      // What is listed otherwise is whole.
      for (const { id, problem } of rows.slice(0, -1)) {
        expect(problem).to.equal(undefined);
        await admin(programs.dataDir, 'verify-backup', bucket.address, '--backup', id);
      }
    }
    const made = await admin(programs.dataDir, 'backup', bucket.address);
    expect(made.spans).to.equal(spans);
    expect(made.note).to.contain('Reused what the interrupted backup');
    expect(made.new_mb).to.be.below(made.mb);
    expect(await bucket.uploads()).to.deep.equal([]);
    expect(['writer.json', 'unfinished.json'].filter((name) => bucket.has(name))).to.deep.equal([]);
    await admin(programs.dataDir, 'prune-backups', bucket.address, '--keep', '1');
    const dataDir = join(folder, 'restored');
    expect(await admin(dataDir, 'restore', bucket.address)).to.include({ id: made.id, spans });
    const copy = await bootServer({ dataDir });
    try {
      const { headers } = await copy.request('GET', '/spans?count=true&limit=1', { key: API_KEY });
      expect(Number(headers.get('x-total-count'))).to.equal(spans);
    } finally {
      await copy.stop();
    }
  });

  const sayings = ({ log }: Program) => log.map((line) => JSON.parse(line).event as string);
  const backup = async (...more: string[]) => {
    // A backup is named after its second.
    const second = Math.floor(Date.now() / 1000);
    while (Math.floor(Date.now() / 1000) === second) await sleep(20);
    return admin(programs.dataDir, 'backup', bucket.address, ...more);
  };

  it('are told as made when they are killed among older ones, which the next removes', async () => {
    const program = await programs.start();
    await backup();
    for (let round = 0; round < KILLS; round += 1) {
      // Something of its own for each backup, so that there are objects to be removed with the older ones.
      const span = { id: randomUUID(), trace_id: randomUUID(), name: 'small', started_at: Date.now() };
      expect((await program.request('POST', '/spans', [span])).status).to.equal(200);
      const { id } = await backup();
      const what = round % 2 === 0 ? '/backups/' : '/objects/';
      await until('the next second', () => !bucket.has(`backups/${backupId(new Date().toISOString())}.json`));
      const is = ({ method, key }: BucketRequest) => method === 'DELETE' && key.includes(what);
      expect(await kill(is, '--keep', '1'), what).to.equal(true);
      const rows: { id: string; problem?: string }[] = await admin(programs.dataDir, 'list-backups', bucket.address);
      expect(rows.flatMap(({ problem }) => problem ?? [])).to.deep.equal([]);
      expect(rows.at(-1)!.id > id, 'the backup whose maker was killed').to.equal(true);
    }
    const made = await backup('--keep', '1');
    expect(await admin(programs.dataDir, 'list-backups', bucket.address)).to.have.length(1);
    const { files } = await admin(programs.dataDir, 'verify-backup', bucket.address);
    const objects = await readdir(join(dirname(bucket.file('x')), 'objects'), { recursive: true });
    expect(objects.filter((name) => name.endsWith('_object'))).to.have.length(files);
    expect(made).to.not.have.property('note');
    // One at first, two in each round, and the last.
    expect(sayings(program).filter((event) => event === 'backupMade')).to.have.length(2 + 2 * KILLS);
  });

  it('are told as made by the server that had them made, too', async () => {
    const { s3 } = loadConfig(process.env).backup;
    await withBackups(bucket.address, s3, 'writing', (backups) => backups.finish(manifestOf('20200101T000000Z')));
    let killed = 0;
    bucket.onRequest = async ({ method, key }) => {
      if (method !== 'DELETE' || !key.includes('/backups/')) return undefined;
      for (const pid of await makers(server.pid)) {
        process.kill(pid, 'SIGKILL');
        killed += 1;
      }
      return 'lost';
    };
    const server = programs.spawn({ ...bucket.env, BACKUP_EVERY: '1d', BACKUP_TO: bucket.address, BACKUP_KEEP: '1' });
    await server.ready();
    await until('the server hears of it', () => sayings(server).includes('backupsNotPruned'));
    expect(killed).to.equal(1);
    expect(sayings(server).filter((event) => event.startsWith('backup'))).to.deep.equal([
      'backupMade',
      'backupsNotPruned',
    ]);
    expect(await backupMetric(server, 'last_success_timestamp_seconds')).to.be.above(0);
    expect(await backupMetric(server, 'last_failure_timestamp_seconds')).to.equal(0);
    expect(await backupMetric(server, 'last_prune_failure_timestamp_seconds')).to.be.above(0);
  });
});

/** The processes that make backups for a program. */
async function makers(program: number): Promise<number[]> {
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0);
  const read = (pid: number, what: string) => readFile(`/proc/${pid}/${what}`, 'utf8').catch(() => '');
  const are = await Promise.all(
    pids.map(async (pid) => {
      const isOfProgram = new RegExp(`^PPid:\\s${program}$`, 'm').test(await read(pid, 'status'));
      return isOfProgram && (await read(pid, 'cmdline')).includes('/src/backup.js');
    }),
  );
  return pids.filter((_, index) => are[index]);
}
