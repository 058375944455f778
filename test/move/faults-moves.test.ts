import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { admin } from '../backup/admin.js';
import { answersOf, rowsOf } from '../backup/answers.js';
import { addressed, type TestEngine } from '../engine/contract/engines.js';
import { makeProject, type MadeProject } from '../harness/projects.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { sentSpan as span } from '../harness/span.js';
import { startStatementProxy } from '../harness/statement-proxy.js';
import { move, refused, settingsFor } from './command.js';

const DATABASE = 'moved_house';
const embedded = { CLICKHOUSE_DATABASE: DATABASE };
/** Spans of each trace that is written while spans are moved. */
const TOGETHER = 5;
const MOVED = 'The spans were moved, and this server is about to restart. Retry.';
const REFUSALS = ['The last spans are being moved to another place. Retry.', MOVED];

describe('a move of the spans', function () {
  this.timeout(300_000);
  let engine: TestEngine;
  let server: TestServer;
  let settings: Record<string, string>;

  before(async () => {
    engine = await addressed();
    settings = settingsFor(engine, DATABASE);
    server = await bootServer();
    await fill();
  });
  after(async () => {
    await server.dispose();
    await engine.stop();
  });

  /** Spans of all fates: written, replaced, deleted, of sessions, stated; with texts of many bytes. */
  async function fill(): Promise<void> {
    const session = randomUUID();
    const spans = Array.from({ length: 60 }, (_, at) =>
      span(`step ${at}`, {
        session_id: session,
        tags: { at: String(at) },
        input_data: `needle ${at}`,
        attributes: { model: 'gpt-4o', usage: { input_tokens: at, output_tokens: 2 * at } },
      }),
    );
    const trace_id = randomUUID();
    const tree = Array.from({ length: 20 }, (_, at) => span(`leaf ${at}`, { trace_id, error: { message: 'no' } }));
    await post([...spans, ...tree, span('large', { output_data: randomBytes(1_500_000).toString('base64') })]);
    await post(spans.slice(0, 10).map((each) => ({ ...each, cost: 1, name: 'replaced' })));
    for (const each of spans.slice(20, 25)) await send('DELETE', `/traces/${each.trace_id}`);
    await send('DELETE', `/spans/${tree[3]?.id}`);
    await send('POST', '/traces', [{ id: randomUUID(), name: 'stated', session_id: session, started_at: Date.now() }]);
    await send('POST', '/sessions', [
      { id: session, project_id: server.projectId, name: 'a session', tags: { kept: 'yes' } },
    ]);
  }

  async function post(spans: readonly object[], key = server.key): Promise<void> {
    const { status, text } = await server.request('POST', '/spans', { body: spans, key });
    expect(status, text).to.equal(200);
  }

  async function send(method: string, path: string, body?: unknown): Promise<void> {
    const { status, text } = await server.request(method, path, { ...(body === undefined ? {} : { body }) });
    expect(status, `${method} ${path}: ${text}`).to.be.below(300);
  }

  /** Writes whole traces, and reads, until it is told to stop. */
  function busy({ key }: MadeProject) {
    const seen = { acknowledged: 0, refused: 0, reads: 0, stopped: false };
    const writer = async () => {
      while (!seen.stopped) {
        const trace_id = randomUUID();
        const body = Array.from({ length: TOGETHER }, (_, at) => span(`busy ${at}`, { trace_id }));
        const answer = await server.request('POST', '/spans', { body, key });
        // The figures of some hundred traces say as much as those of thousands.
        await sleep(40);
        if (answer.status === 200) seen.acknowledged += 1;
        else {
          expect(answer.status, answer.text).to.equal(503);
          expect(REFUSALS).to.include(answer.json.detail);
          expect(Number(answer.headers.get('retry-after'))).to.be.within(1, 60);
          seen.refused += 1;
        }
      }
    };
    const reader = async () => {
      while (!seen.stopped) {
        const { status, text } = await server.request('GET', '/traces?limit=5', { key });
        expect(status, text).to.equal(200);
        seen.reads += 1;
        await sleep(40);
      }
    };
    const all = Promise.all([writer(), reader()]);
    all.catch(() => (seen.stopped = true));
    return {
      seen,
      async stop() {
        seen.stopped = true;
        await all;
      },
    };
  }

  /** Moves while others write. @returns what the command answers */
  async function moveBusy(to: string, project: MadeProject) {
    const { seen, stop } = busy(project);
    const begun = seen.acknowledged;
    // As in the environment of a server that makes backups.
    const answer = await move(server.dataDir, to, { ...settings, BACKUP_EVERY: '1d', BACKUP_TO: '/mnt/backups' });
    await stop();
    expect(seen.acknowledged, 'traces written meanwhile').to.be.above(begun);
    expect(seen.reads).to.be.above(0);
    return { answer, acknowledged: seen.acknowledged };
  }

  async function restart(env: Readonly<Record<string, string>>): Promise<void> {
    await server.stop();
    server = await bootServer({ dataDir: server.dataDir, env });
  }

  const url = () => settings['CLICKHOUSE_URL'] ?? '';
  const refusedStart = async (env: Readonly<Record<string, string>>) =>
    String(await bootServer({ dataDir: server.dataDir, env }).catch((error: unknown) => error));

  it('goes there and back with all that is written meanwhile', async () => {
    const expected = await answersOf(server);
    const project = makeProject(server.dataDir);
    const { answer, acknowledged } = await moveBusy(url(), project);
    expect(answer.start_with).to.contain(`CLICKHOUSE_DATABASE=${DATABASE}`).and.not.contain(engine.endpoint.password);
    expect(answer.start_with).to.contain('without BACKUP_EVERY and BACKUP_TO');
    expect(answer.note).to.contain('with its own BACKUP statement');

    // It writes no more, and is read as before.
    const late = await server.request('POST', '/spans', { body: [span('late')] });
    expect([late.status, late.json.detail]).to.deep.equal([503, MOVED]);
    expect((await server.request('DELETE', `/traces/${randomUUID()}`)).status).to.equal(503);
    const ready = await server.request('GET', '/readyz', { key: null });
    expect([ready.status, ready.json.status]).to.deep.equal([200, 'degraded']);
    expect(ready.json.checks.move).to.contain('spans are rejected');
    expect(await answersOf(server)).to.deep.equal(expected);
    await server.stop();
    expect(await refusedStart({}))
      .to.contain('not where the settings say')
      .and.contain('CLICKHOUSE_URL=');
    server = await bootServer({ dataDir: server.dataDir, env: settings });
    expect(await answersOf(server)).to.deep.equal(expected);
    expect(await rowsOf(server, 'traces', project.key)).to.have.length(acknowledged);
    expect(await rowsOf(server, 'spans', project.key)).to.have.length(TOGETHER * acknowledged);

    // What goes there is deleted and replaced as anything else.
    await post([span('there')]);
    const [deleted] = (await server.request('GET', '/spans?names=there')).json;
    await send('DELETE', `/spans/${deleted.id}`);
    expect(await answersOf(server)).to.deep.equal(expected);

    expect(await refused(server.dataDir, 'embedded', settings)).to.contain(
      'The target already contains Spanhouse data',
    );
    await rm(join(server.dataDir, 'clickhouse'), { recursive: true });
    const back = await moveBusy('embedded', project);
    expect(back.answer.start_with).to.equal(`CLICKHOUSE_URL unset and CLICKHOUSE_DATABASE=${DATABASE}`);
    expect(back.answer.note).to.not.contain('BACKUP');
    await server.stop();
    expect(await refusedStart(settings)).to.contain('are in the embedded engine');
    expect(await refusedStart({}), 'another database').to.contain(`CLICKHOUSE_DATABASE=${DATABASE}`);
    server = await bootServer({ dataDir: server.dataDir, env: embedded });
    expect(await answersOf(server)).to.deep.equal(expected);
    const all = acknowledged + back.acknowledged;
    expect(await rowsOf(server, 'traces', project.key)).to.have.length(all);
    expect(await rowsOf(server, 'spans', project.key)).to.have.length(TOGETHER * all);
    await post([span('there again')]);
  });

  it('goes to no place that holds something, and says what is wrong with others', async () => {
    const { dataDir } = server;
    expect(await refused(dataDir, url(), settings)).to.contain('The target already contains Spanhouse data');
    expect(await refused(dataDir, 'embedded', settings)).to.contain('The target already contains Spanhouse data');
    expect(await refused(dataDir, url(), { ...settings, CLICKHOUSE_PASSWORD: 'not this' }))
      .to.contain('rejects `reader of lists`')
      .and.not.contain('not this');
    expect(await refused(dataDir, 'http://127.0.0.1:1', settings)).to.contain('ClickHouse does not respond');
    expect(await refused(dataDir, 'somewhere', settings)).to.contain('http:// or https:// URL');
    expect(await refused(dataDir, 'cancel', {})).to.contain('No move of the spans');
    expect(await refused(join(dataDir, 'none'), url(), { ...settings, CLICKHOUSE_DATABASE: 'free' })).to.contain(
      'No server responds on this DATA_DIR',
    );
    // None of these began anything.
    await restart(embedded);
  });

  it('goes on after the place was away, unless it is given up', async () => {
    const proxy = await startStatementProxy(url());
    const other = { ...settings, CLICKHOUSE_DATABASE: 'given_up' };
    try {
      proxy.reply = (statement) =>
        statement.startsWith('INSERT INTO `facts`') ? { code: 1002, text: 'No space left on device' } : undefined;
      expect(await refused(server.dataDir, proxy.url, other))
        .to.contain('the disk of ClickHouse is full')
        .and.contain('run the same command again');
      await post([span('taken as before')]);
      expect(await refused(server.dataDir, proxy.url, { ...other, CLICKHOUSE_DATABASE: 'elsewhere' })).to.contain(
        'is unfinished',
      );
      await server.stop();
      expect(await refusedStart({ ...other, CLICKHOUSE_URL: proxy.url })).to.contain('is unfinished');
      const stranger = await bootServer({ env: { ...other, CLICKHOUSE_URL: proxy.url } }).catch(
        (error: unknown) => error,
      );
      expect(String(stranger)).to.contain('is the target of an unfinished move');
      server = await bootServer({ dataDir: server.dataDir, env: embedded });
      expect(await move(server.dataDir, 'cancel', {})).to.have.property('given_up');
      expect(await refused(server.dataDir, proxy.url, other)).to.contain('is the target of an unfinished move');
    } finally {
      await proxy.stop();
    }
  });

  it('lets a backup be made meanwhile and afterwards, of all that is there', async () => {
    await restart(embedded);
    const expected = await answersOf(server);
    const folder = await mkdtemp(join(tmpdir(), 'spanhouse-moved-'));
    const backups = join(folder, 'backups');
    const backup = () => admin(server.dataDir, 'backup', backups);
    const proxy = await startStatementProxy(url());
    try {
      let made: Promise<unknown> | undefined;
      proxy.hold = async (statement) => {
        if (statement.startsWith('INSERT INTO `spans`')) await (made ??= backup());
      };
      await move(server.dataDir, proxy.url, { ...settings, CLICKHOUSE_DATABASE: 'beside_a_backup' });
      expect(await made, 'made while spans were being moved').to.have.property('id');
      expect(await backup(), 'made of the place that they were moved from').to.have.property('id');
      for (const { id } of await admin(server.dataDir, 'list-backups', backups)) {
        const dataDir = join(folder, id);
        await admin(dataDir, 'restore', backups, '--backup', id);
        const restored = await bootServer({ dataDir });
        try {
          expect(await answersOf(restored), `restored: ${id}`).to.deep.equal(expected);
        } finally {
          await restored.stop();
        }
      }
    } finally {
      await proxy.stop();
      await rm(folder, { recursive: true, force: true });
    }
  });
});
