import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { png } from '../attachments/images.js';
import { makeProject, type MadeProject } from '../harness/projects.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { sentSpan as span } from '../harness/span.js';
import { until } from '../harness/until.js';
import { runCheck } from '../check/scene.js';
import { PROGRAM_ENV } from '../harness/program-files.js';
import { admin, PROGRAM, refused } from './admin.js';
import { answersOf, rowsOf } from './answers.js';

/** Spans of each trace that is written while a backup is made. */
const TOGETHER = 5;
/** Writers leave the processor to the backup, which else takes long. */
const WRITE_PAUSE_MS = 10;
const IMAGE = png(7);
/** In so many steps ClickHouse merges the few parts that there are. */
const MOST_MERGES = 8;

const run = promisify(execFile);

/** What the command says of a backup. */
interface Backup {
  readonly id: string;
  readonly spans: number;
  readonly mb: number;
  readonly new_mb: number;
}

describe('backups of a running server', function () {
  this.timeout(120_000);
  let folder: string;
  let backups: string;
  let server: TestServer;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'spanhouse-backup-'));
    backups = join(folder, 'backups');
    server = await bootServer();
    await fill();
  });
  after(async () => {
    await server.dispose();
    await rm(folder, { recursive: true, force: true });
  });

  /** Spans of all fates: written, replaced, deleted, of sessions, with images; and what SQLite holds. */
  async function fill(): Promise<void> {
    const session = randomUUID();
    const spans = Array.from({ length: 40 }, (_, at) =>
      span(`step ${at}`, { session_id: session, tags: { at: String(at) }, input_data: `needle ${at}` }),
    );
    const large = span('large', { output_data: randomBytes(1_500_000).toString('base64') });
    const image = { attachments: [{ type: 'screenshot', base64: IMAGE.toString('base64') }] };
    await post([...spans, large, span('shown', { attributes: image })]);
    await post(spans.slice(0, 10).map((each) => ({ ...each, cost: 1, name: 'replaced' })));
    for (const { trace_id } of spans.slice(20, 25)) await send('DELETE', `/traces/${trace_id}`);
    await send('POST', '/traces', [{ id: randomUUID(), name: 'stated', session_id: session, started_at: Date.now() }]);
  }

  async function post(spans: readonly object[], key = server.key): Promise<void> {
    const { status, text } = await server.request('POST', '/spans', { body: spans, key });
    expect(status, text).to.equal(200);
  }

  async function send(method: string, path: string, body?: unknown): Promise<void> {
    const { status, text } = await server.request(method, path, { ...(body === undefined ? {} : { body }) });
    expect(status, text).to.be.below(300);
  }

  it('holds one moment of all stores while others write, and restores to the same answers', async () => {
    const expected = await answersOf(server);
    const busy = makeProject(server.dataDir);
    let acknowledged = 0;
    let stopped = false;
    const writers = Array.from({ length: 4 }, async () => {
      while (!stopped) {
        const trace_id = randomUUID();
        await post(
          Array.from({ length: TOGETHER }, () => span('busy', { trace_id })),
          busy.key,
        );
        acknowledged += 1;
        await sleep(WRITE_PAUSE_MS);
      }
    });
    // By turns in either store: whoever has seen one of them has seen all before it.
    const pairs = makeProject(server.dataDir);
    writers.push(
      (async () => {
        while (!stopped) {
          await post([span('pair')], pairs.key);
          await makeKey(pairs);
          await sleep(WRITE_PAUSE_MS);
        }
      })(),
    );
    const before = acknowledged;
    const made = await admin(server.dataDir, 'backup', backups).finally(() => (stopped = true));
    const after = acknowledged;
    await Promise.all(writers);
    expect(after, 'traces written meanwhile').to.be.above(before);
    // The server lets go when it hears that the command has ended.
    await until('the server lets go', () => !existsSync(join(server.dataDir, 'clickhouse', 'shadow')));

    const dataDir = join(folder, 'restored');
    // The volume of a container, which holds data of a newer version.
    for (const there of ['lost+found', 'clickhouse']) await mkdir(join(dataDir, there), { recursive: true });
    const restored = await restoredIntoVolume(dataDir, backups);
    expect(await readdir(join(dataDir, 'newer'))).to.deep.equal(['clickhouse']);
    await rm(join(dataDir, 'newer'), { recursive: true });
    expect(restored).to.include({ id: made.id, spans: made.spans, projects: 3 });
    const audited = await runCheck(dataDir, '--all');
    expect(audited.found, audited.stderr).to.deep.equal({});
    expect(audited.code, audited.stderr).to.equal(0);
    const copy = await bootServer({ dataDir });
    try {
      expect(await answersOf(copy)).to.deep.equal(expected);
      const [shown] = (await copy.request('GET', '/spans?names=shown')).json;
      const { json } = await copy.request('GET', `/spans/${shown.id}/attachments`);
      const [{ url }] = json.attachments;
      const image = await fetch(url.replace(/^https?:\/\/[^/]+/, copy.url));
      expect(Buffer.from(await image.arrayBuffer()).equals(IMAGE)).to.equal(true);
      const traces = await rowsOf(copy, 'traces', busy.key);
      expect(traces.length).to.be.within(before, after + writers.length);
      expect(traces.filter(({ span_count }) => span_count !== TOGETHER)).to.deep.equal([]);
      expect(await rowsOf(copy, 'spans', busy.key)).to.have.length(TOGETHER * traces.length);
      const pairSpans = (await rowsOf(copy, 'spans', pairs.key)).length;
      const keys = (await copy.request('GET', `/projects/${pairs.projectId}/api-keys`, { key: pairs.key })).json;
      // The first key is the project's own.
      expect(pairSpans - (keys.length - 1), 'spans without their key').to.be.within(0, 1);
      expect(pairSpans).to.be.above(0);
      // It is written to as any other.
      await expectWritable(copy);
    } finally {
      await copy.stop();
    }
  });

  /** By the script for containers, whose rest the server finds as any restore leaves it. */
  async function restoredIntoVolume(dataDir: string, from: string): Promise<Backup> {
    const script = join(import.meta.dirname, '../../../scripts/deploy/restore.sh');
    const env = { ...PROGRAM_ENV, DATA_DIR: dataDir, SPANHOUSE_ADMIN: PROGRAM, PORT: '1' };
    const { stdout } = await run('sh', [script, from, '--json'], { env });
    return JSON.parse(stdout) as Backup;
  }

  async function makeKey({ projectId, key }: MadeProject): Promise<void> {
    const path = `/projects/${projectId}/api-keys`;
    const { status, text } = await server.request('POST', path, { body: { name: 'pair' }, key });
    expect(status, text).to.equal(201);
  }

  async function expectWritable(copy: TestServer): Promise<void> {
    const late = span('late');
    expect((await copy.request('POST', '/spans', { body: [late] })).status).to.equal(200);
    expect((await copy.request('GET', `/spans?trace_id=${late.trace_id}`)).json).to.have.length(1);
  }

  it('copies only what is new since the last one', async () => {
    const twice = async () => {
      const first: Backup = await admin(server.dataDir, 'backup', backups);
      const before = await readdir(join(backups, 'objects'), { recursive: true });
      await post([span('one more')]);
      const next: Backup = await admin(server.dataDir, 'backup', backups);
      return { first, before, next };
    };
    let { first, before, next } = await twice();
    // What ClickHouse has merged in between is new, and is copied: there is an end of what it can merge.
    for (let tries = 0; tries < MOST_MERGES && next.new_mb >= 1; tries += 1) ({ first, before, next } = await twice());
    // SQLite's file is one content; what is large here is not in it.
    expect(next.mb).to.be.above(1.5);
    expect(next.new_mb).to.be.below(1);
    expect(next.spans).to.equal(first.spans + 1);
    expect((await readdir(join(backups, 'objects'), { recursive: true })).length).to.be.above(before.length);
    const listed = await admin(server.dataDir, 'list-backups', backups);
    expect(listed.map(({ id }: { id: string }) => id)).to.include.members([first.id, next.id]);
    expect(await admin(server.dataDir, 'verify-backup', backups)).to.include({ id: next.id, whole: true });
  });

  it('finds a damaged file, and lets no server start on half of a restore', async () => {
    const objects = await readdir(join(backups, 'objects'), { recursive: true, withFileTypes: true });
    const sizes = await Promise.all(
      objects
        .filter((entry) => entry.isFile())
        .map(async ({ parentPath, name }) => ({
          path: join(parentPath, name),
          size: (await stat(join(parentPath, name))).size,
        })),
    );
    const { path } = sizes.reduce((most, each) => (each.size > most.size ? each : most));
    const whole = await readFile(path);
    const damaged = Buffer.from(whole);
    damaged[whole.length >> 1]! ^= 1;
    await writeFile(path, damaged);
    const dataDir = join(folder, 'half');
    expect(await refused(server.dataDir, 'verify-backup', backups))
      .to.contain('cannot be restored')
      .and.contain(path);
    expect(await refused(dataDir, 'restore', backups)).to.contain(`${path} is damaged`);
    const started = await bootServer({ dataDir }).catch((error: unknown) => error);
    expect(String(started)).to.contain('was interrupted: run it again');

    await writeFile(path, whole);
    expect((await admin(dataDir, 'restore', backups)).note).to.contain('started from the beginning');
    const copy = await bootServer({ dataDir });
    await copy.stop();
  });

  it('keeps as many as are wanted, and their contents', async () => {
    const { id } = await admin(server.dataDir, 'backup', backups, '--keep', '1');
    expect((await admin(server.dataDir, 'list-backups', backups)).map((each: { id: string }) => each.id)).to.deep.equal(
      [id],
    );
    expect(await admin(server.dataDir, 'verify-backup', backups)).to.include({ whole: true });
  });

  it('refuses what would do harm, and says what to do', async () => {
    const { dataDir } = server;
    expect(await refused(dataDir, 'backup', join(dataDir, 'own'))).to.contain('is inside DATA_DIR');
    expect(await refused(dataDir, 'backup', folder)).to.contain('contains something other than backups');
    expect(await refused(dataDir, 'restore', folder)).to.contain('is not a backup folder');
    expect(await refused(dataDir, 'restore', backups)).to.contain('in use by another Spanhouse process');
    expect(await refused(folder, 'restore', backups)).to.contain('is not empty');
    expect(await refused(join(folder, 'x'), 'restore', backups, '--backup', 'no')).to.contain('no complete backup no');
    expect(await refused(join(folder, 'none'), 'backup', backups)).to.contain('No server responds on this DATA_DIR');
    expect(existsSync(join(folder, 'none'))).to.equal(false);
    expect(await refused(dataDir, 'backup', backups, '--keep', '0')).to.contain('whole number from 1');
  });

  it('makes them by itself, and tells metrics', async () => {
    const to = join(folder, 'scheduled');
    let scheduled = await bootServer({ env: { BACKUP_EVERY: '1d', BACKUP_TO: to, BACKUP_KEEP: '2' } });
    const metric = async (name: string) => {
      const { text } = await scheduled.request('GET', '/metrics');
      return Number(new RegExp(`^spanhouse_backup_${name} (.*)$`, 'm').exec(text)?.[1]);
    };
    try {
      while ((await metric('last_success_timestamp_seconds')) === 0) await new Promise((wake) => setTimeout(wake, 50));
      expect(await metric('interval_seconds')).to.equal(86_400);
      expect(await metric('last_failure_timestamp_seconds')).to.equal(0);
      expect(await admin(scheduled.dataDir, 'list-backups', to)).to.have.length(1);
      await scheduled.stop();
      // The next one is due tomorrow.
      scheduled = await bootServer({ dataDir: scheduled.dataDir, env: { BACKUP_EVERY: '1d', BACKUP_TO: to } });
      expect(await metric('last_success_timestamp_seconds')).to.be.above(0);
      await scheduled.stop();
      expect(await admin(scheduled.dataDir, 'list-backups', to)).to.have.length(1);
      // Where none can be made, it says so.
      scheduled = await bootServer({ dataDir: scheduled.dataDir, env: { BACKUP_EVERY: '1d', BACKUP_TO: folder } });
      while ((await metric('last_failure_timestamp_seconds')) === 0) await new Promise((wake) => setTimeout(wake, 50));
    } finally {
      await scheduled.dispose();
    }
  });
});
