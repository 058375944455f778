import { randomUUID } from 'node:crypto';
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { png } from '../attachments/images.js';
import { admin } from '../backup/admin.js';
import { removeDirectory } from '../harness/fresh-directory.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { contentsOf, imageFilesOf, onEngine, onSqlite, runCheck } from './scene.js';

const SESSION = randomUUID();
const span = (at: number, parts: object = {}) => ({
  id: randomUUID(),
  trace_id: randomUUID(),
  session_id: SESSION,
  name: `step ${at}`,
  started_at: Date.now() - at * 1_000,
  cost: 0.25,
  tags: { at: String(at) },
  input_data: `needle ${at}`,
  ...parts,
});
const withImage = (number: number) =>
  span(number, { attributes: { attachments: [{ type: 'screenshot', base64: png(number).toString('base64') }] } });

describe('npm run admin -- check', function () {
  this.timeout(120_000);
  let dataDir: string;
  const tried = { attributes: { 'spanhouse.experiment.id': randomUUID(), 'spanhouse.experiment.row_id': 'a' } };
  const spans = Array.from({ length: 30 }, (_, at) => span(at, at >= 15 && at < 18 ? tried : {}));

  async function fill(server: TestServer): Promise<void> {
    await send(server, 'POST', '/spans', [...spans, withImage(1), withImage(2), withImage(3)]);
    await send(
      server,
      'POST',
      '/spans',
      spans.slice(0, 5).map((each) => ({ ...each, cost: 1 })),
    );
    for (const { trace_id } of spans.slice(25)) await send(server, 'DELETE', `/traces/${trace_id}`);
    await send(server, 'POST', '/traces', [
      { id: randomUUID(), name: 'stated', session_id: SESSION, started_at: Date.now() },
    ]);
    await send(server, 'POST', '/v1/tasks/task/prompt/versions/ensure', { content: 'x' });
    await send(server, 'POST', '/v1/datasets', { name: 'set' });
    for (const rows of [
      [{ id: 'a', q: 1 }, { id: 'b' }],
      [{ id: 'b' }, { id: 'a', q: 2 }, { id: 'c', q: 'ä' }],
      [{ id: 'c' }],
    ])
      await send(server, 'POST', '/v1/datasets/set/versions', { rows });
    await send(server, 'POST', '/v1/datasets/set/tags/ci:pin', { version_number: 2 });
    const path = `/projects/${server.projectId}/experiments`;
    await send(server, 'POST', path, { name: 'tried', dataset: 'set', dataset_version: 2 });
  }

  async function send(server: TestServer, method: string, path: string, body?: unknown): Promise<void> {
    const { status, text } = await server.request(method, path, { ...(body === undefined ? {} : { body }) });
    expect(status, text).to.be.below(300);
  }

  before(async () => {
    const server = await bootServer();
    dataDir = server.dataDir;
    await fill(server);
    const running = await runCheck(dataDir);
    expect(running.found, running.stderr).to.deep.equal({});
    expect(running.code, running.stderr).to.equal(0);
    expect(running.report.running).to.equal(true);
    await server.stop();
  });
  after(() => removeDirectory(dataDir));

  it('finds nothing where nothing is wrong, and changes no byte', async () => {
    const before = await contentsOf(dataDir);
    const { code, report, stderr } = await runCheck(dataDir, '--all');
    expect(report, stderr).not.to.equal(null);
    expect(report.findings).to.deep.equal([]);
    expect(code).to.equal(0);
    const compared = Object.fromEntries(report.audits.map(({ title, checked }: any) => [title, checked]));
    expect(compared).to.include({ 'trace metrics': 34, 'session metrics': 1, images: 3 });
    expect(await contentsOf(dataDir)).to.deep.equal(before);
    expect(await readdir(join(dataDir, 'snapshot')).catch(() => [])).to.deep.equal([]);
  });

  it('finds each kind of damage, and mends what can be mended', async () => {
    const trace = (at: number) => `'${spans[at]?.trace_id}'`;
    const facts = 'INSERT INTO superseded SELECT project_id, ver, ver + 1 FROM facts WHERE row_type = 0 AND trace_id =';
    await onEngine(
      dataDir,
      `DELETE FROM traces WHERE id = ${trace(6)}`,
      `INSERT INTO traces SELECT * REPLACE (span_count + 7 AS span_count) FROM traces FINAL WHERE id = ${trace(7)}`,
      `INSERT INTO traces SELECT * REPLACE (ver + 1000 AS ver, cost * 2 AS cost) FROM traces FINAL WHERE id = ${trace(8)}`,
      `${facts} ${trace(9)}`,
      `DELETE FROM superseded WHERE next_ver IN (SELECT ver FROM facts WHERE trace_id = ${trace(1)})`,
      `DELETE FROM facts WHERE trace_id = ${trace(10)}`,
      `DELETE FROM spans WHERE trace_id = ${trace(11)}`,
      `ALTER TABLE facts UPDATE cost = 5 WHERE trace_id = ${trace(12)} SETTINGS mutations_sync = 1`,
      `DELETE FROM trace_starts WHERE id = ${trace(13)}`,
      `DELETE FROM session_traces WHERE trace_id = ${trace(14)}`,
      `DELETE FROM experiment_spans WHERE trace_id = ${trace(15)}`,
      `ALTER TABLE experiment_spans UPDATE cost = 5 WHERE trace_id = ${trace(16)} SETTINGS mutations_sync = 1`,
      `INSERT INTO experiment_spans SELECT * REPLACE ((SELECT min(ver) - 2 FROM spans) AS ver) FROM experiment_spans WHERE trace_id = ${trace(17)}`,
      'INSERT INTO sessions SELECT * REPLACE (99 AS trace_count) FROM sessions FINAL',
      'DELETE FROM session_starts WHERE 1',
      `INSERT INTO span_words (project_id, started_from, started_to, spans, indexed_to, complete)
       SELECT any(project_id), min(started_at), min(started_at), 1, max(ver), 0 FROM spans`,
      `INSERT INTO spans (ver, project_id, trace_id, id, name, started_at) SELECT min(ver) - 1, 'ghost', generateUUIDv4(), generateUUIDv4(), 'x', now() FROM spans`,
    );
    const [missing, damaged, unnamed] = await imageFilesOf(dataDir);
    await rm(missing ?? '');
    await writeFile(damaged ?? '', 'not what was sent');
    await cp(unnamed ?? '', (unnamed ?? '').replace(/[^/]{62}$/, 'f'.repeat(62)));
    await writeFile(join(dataDir, 'stray.txt'), 'x');
    onSqlite(dataDir, (database) => {
      database.prepare('DELETE FROM attachment_namings WHERE sha256 = ?').run(basename(unnamed ?? ''));
      database.exec(`INSERT INTO evaluations (id, project_id, judge_id, span_id, origin, evaluation_type, evaluation_result,
        evaluation_reason, created_at) SELECT '${randomUUID()}', id, '${randomUUID()}', '${randomUUID()}', 'automatic', 'binary', 1, '', 1 FROM projects`);
    });

    const { code, found, report, stderr } = await runCheck(dataDir, '--all');
    expect(
      report?.audits.filter(({ failure }: any) => failure !== null),
      stderr,
    ).to.deep.equal([]);
    expect(code).to.equal(1);
    const counts = Object.fromEntries(Object.entries(found).map(([flaw, { count }]) => [flaw, count]));
    expect(counts).to.deep.equal({
      file_unknown: 1,
      sqlite_reference: 1,
      project_unknown: 1,
      span_without_fact: 1,
      fact_without_span: 1,
      fact_differs: 1,
      span_without_result: 1,
      result_without_span: 1,
      result_differs: 1,
      trace_figures: 5,
      trace_empty: 1,
      trace_not_by_time: 1,
      span_hidden: 1,
      span_shown_replaced: 1,
      session_part: 3,
      session_figures: 1,
      session_not_by_time: 1,
      words_missing: 28,
      evaluation_without_span: 1,
      image_missing: 1,
      image_damaged: 1,
      image_unreferenced: 2,
    });

    const repaired = await runCheck(dataDir, '--repair');
    expect(repaired.code, repaired.stderr).to.equal(1);
    const unmended = (of: typeof found) =>
      Object.entries(of).flatMap(([flaw, { count, mended }]) => (count > mended ? [flaw] : []));
    const left = [
      ...['file_unknown', 'sqlite_reference', 'project_unknown', 'evaluation_without_span'],
      ...['image_missing', 'image_damaged'],
    ];
    expect(unmended(repaired.found)).to.have.members(left);
    const again = await runCheck(dataDir, '--all');
    expect(Object.keys(again.found)).to.have.members(left);
  });

  it('names damaged files, and what could not be compared', async () => {
    const [part] = await onEngine(
      dataDir,
      "SELECT path FROM system.parts WHERE active AND table = 'spans' AND database = currentDatabase() ORDER BY rows DESC LIMIT 1",
    );
    const names = await readdir(part.path);
    const file = join(part.path, names.find((name) => name === 'data.bin' || name === 'id.bin') ?? '');
    const bytes = await readFile(file);
    // In each column: which of them is read first is the audits' business.
    for (let at = 40; at < bytes.length; at += 64) bytes[at] = (bytes[at] ?? 0) ^ 0xff;
    await writeFile(file, bytes);
    const { code, found, report } = await runCheck(dataDir);
    expect(code).to.equal(1);
    expect(found['part_damaged']?.examples[0]?.id).to.match(/^spans\//);
    expect(report.audits.filter(({ failure }: any) => failure !== null)).not.to.deep.equal([]);
  });

  it('says why it does not check', async () => {
    const server = await bootServer();
    try {
      const repair = await runCheck(server.dataDir, '--repair');
      expect(repair).to.deep.include({ code: 2, found: {} });
      expect(repair.stderr).to.include('Stop it');
    } finally {
      await server.dispose();
    }
    expect(await runCheck(join(dataDir, 'nowhere'))).to.include({ code: 2 });
    expect((await runCheck(dataDir, '--sample', '-3')).stderr).to.include('--sample');
  });

  it('finds nothing wrong where what was replaced and deleted is purged', async () => {
    const server = await bootServer();
    try {
      await fill(server);
      // Of a trace that stays, the span that made it; the other one is replaced.
      const trace_id = randomUUID();
      const [first, second] = [span(40, { trace_id, session_id: randomUUID() }), span(41, { trace_id })];
      for (const each of [first, second, { ...second, cost: 2 }]) await send(server, 'POST', '/spans', [each]);
      await send(server, 'DELETE', `/spans/${first.id}`);
      await admin(server.dataDir, 'erase');
      const { found, stderr } = await runCheck(server.dataDir, '--all');
      expect(found, stderr).to.deep.equal({});
    } finally {
      await server.dispose();
    }
  });

  it('finds nothing wrong while clients write and delete', async () => {
    const server = await bootServer();
    let stopped = false;
    const trace_id = randomUUID();
    const writers = Array.from({ length: 2 }, async () => {
      while (!stopped) {
        const own = [span(1, { trace_id }), span(2), span(3)];
        await send(server, 'POST', '/spans', own);
        await send(
          server,
          'POST',
          '/spans',
          own.map((each) => ({ ...each, cost: 2 })),
        );
        await send(server, 'DELETE', `/traces/${own[2]?.trace_id}`);
        // The check needs the processor, too.
        await sleep(10);
      }
    });
    try {
      const { code, found, stderr } = await runCheck(server.dataDir, '--all');
      expect(found, stderr).to.deep.equal({});
      expect(code, stderr).to.equal(0);
    } finally {
      stopped = true;
      await Promise.all(writers);
      await server.dispose();
    }
  });
});
