import { randomUUID } from 'node:crypto';
import { mkdtemp, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { mountSmallDisk, type SmallDisk } from '../durability/small-disk.js';
import { removeDirectory } from '../harness/fresh-directory.js';
import { Program } from '../harness/program.js';
import { Programs } from '../harness/programs.js';
import { until } from '../harness/until.js';
import { ModelEndpoint } from '../judges/model-endpoint.js';
import { hasPrometheus, MONITORING, Prometheus } from './prometheus.js';

/** A folder that contains something other than backups. */
const NO_PLACE = MONITORING;
const SENDERS = 12;
const MEGABYTE = 2 ** 20;
/** What a server keeps free of a small disk. */
const FREE_MB = 96;
/** Two of them are more than the queue takes of one project. */
const LARGE = 'x'.repeat(400 * 1024);

/** Minutes become seconds, so that a test need not wait for them. */
const sooner = (rules: string) => rules.replace(/\b(\d+)m\b/g, '$1s').replace(/(oldest_seconds\)) > 900/, '$1 > 5');

const span = (output: string) => ({
  trace_id: randomUUID(),
  name: 'answer',
  kind: 'llm',
  started_at: '2026-01-15T10:00:00Z',
  output_data: output,
});

describe('alerts by real faults', function () {
  this.timeout(180_000);
  let programs: Programs;
  let program: Program;
  let prometheus: Prometheus;
  let endpoint: ModelEndpoint;

  before(async function () {
    if (!hasPrometheus()) return this.skip();
    endpoint = await ModelEndpoint.start();
    programs = await Programs.make();
    program = await programs.start({
      QUEUE_MAX_MB: '1',
      JUDGE_LLM_BASE_URL: endpoint.url,
      JUDGE_LLM_MODEL: 'none',
      BACKUP_EVERY: '1d',
      BACKUP_TO: NO_PLACE,
    });
    prometheus = await Prometheus.start({ target: new URL(program.url).host, rules: sooner });
    const judge = { name: 'Polite', evaluation_type: 'binary', prompt: 'Is it polite?' };
    expect((await program.request('POST', `/projects/${program.projectId}/judges`, judge)).status).to.equal(201);
    await judgeSpans();
    await until('it is asked', () => endpoint.asked.length > 0);
    // From here on it is away.
    await endpoint.stop();
    await judgeSpans();
  });
  after(async () => {
    await prometheus?.stop();
    await programs?.dispose();
    await endpoint?.stop();
  });

  async function judgeSpans(): Promise<void> {
    const spans = Array.from({ length: 5 }, () => span('short'));
    expect((await program.request('POST', '/spans', spans)).status).to.equal(200);
  }

  it('fire when spans are refused', async () => {
    let fires = false;
    const send = async () => {
      while (!fires) await program.request('POST', '/spans', [span(LARGE)]);
    };
    const senders = Array.from({ length: SENDERS }, send);
    try {
      const { summary, description, runbook_url } = await prometheus.fires('SpanhouseIngestRefused');
      expect(summary).to.match(/ refuses spans: [\d.]+ requests a second$/);
      expect(description).to.include('requestRefused');
      expect(runbook_url).to.equal('http://127.0.0.1:4318/docs/monitoring');
    } finally {
      fires = true;
      await Promise.all(senders);
    }
  });

  it('fire when the model endpoint is away, until it is back', async () => {
    const { summary, description } = await prometheus.fires('SpanhouseModelEndpointFailing');
    expect(summary).to.match(/^Model calls of .* fail$/);
    expect(description).to.include('modelCallFailed');
    const [held] = await prometheus.query('spanhouse_model_breakers_open');
    expect(held?.value[1], 'held back, rather than tried all the time').to.equal('1');
    expect((await prometheus.fires('SpanhouseJudgeQueueOld')).summary).to.match(/ wait for \d+/);
    endpoint = await ModelEndpoint.start(Number(new URL(endpoint.url).port));
    for (const name of ['SpanhouseModelEndpointFailing', 'SpanhouseJudgeQueueOld']) await prometheus.ends(name);
  });

  it('fire when backups cannot be made', async () => {
    expect((await prometheus.fires('SpanhouseBackupFailed')).description).to.include('the backup destination');
  });

  it('fire when the engine is killed', async () => {
    const { enginePid } = program;
    const before = program.log.length;
    process.kill(enginePid, 'SIGKILL');
    await program.readyAfter(enginePid);
    await prometheus.fires('SpanhouseEngineRestarted');
    const since = program.log.slice(before).map((line) => JSON.parse(line));
    const lost = since.filter(({ event }) => event === 'engineLost');
    expect(lost, 'one line per event').to.have.lengthOf(1);
    expect(lost[0].reason).to.include('SIGKILL');
  });

  it('fire when the server is gone', async () => {
    program.signal('SIGTERM');
    await program.ended;
    await prometheus.fires('SpanhouseDown');
  });
});

describe('alerts by a disk that fills up', function () {
  this.timeout(180_000);
  let folder: string;
  let disk: SmallDisk;
  let program: Program;
  let prometheus: Prometheus;
  const undo: (() => unknown)[] = [];

  before(async function () {
    if (!hasPrometheus()) return this.skip();
    folder = await mkdtemp(join(tmpdir(), 'spanhouse-alerts-'));
    undo.unshift(() => removeDirectory(folder));
    const mounted = mountSmallDisk(join(folder, 'data'), 4 * FREE_MB);
    if (mounted === null) return this.skip();
    disk = mounted;
    undo.unshift(() => disk.unmount());
    program = Program.spawn(join(folder, 'data'), { MIN_FREE_DISK_MB: String(FREE_MB), DISK_RESERVE_MB: '8' });
    undo.unshift(() => program.destroy());
    await program.ready();
    prometheus = await Prometheus.start({ target: new URL(program.url).host, rules: sooner });
    undo.unshift(() => prometheus.stop());
  });
  after(async () => {
    for (const each of undo) await each();
  });

  const post = async () => (await program.request('POST', '/spans', [span('short')])).status;

  /** Writes a file that leaves so much of the disk, or is so large. */
  async function fill(
    name: string,
    { leave, bytes }: { readonly leave?: number; readonly bytes?: number },
  ): Promise<void> {
    const { bavail, bsize } = await statfs(join(folder, 'data'));
    await writeFile(join(folder, 'data', name), Buffer.alloc(bytes ?? bavail * bsize - (leave ?? 0)));
  }

  it('fire before spans are refused and while they are, and end when there is room', async () => {
    await fill('filler', { leave: 1.5 * FREE_MB * MEGABYTE });
    expect((await prometheus.fires('SpanhouseDiskLow')).summary).to.match(
      /^The disk data of .* has 1\d\d\.?\d*MiB left$/,
    );
    expect(await prometheus.isFiring('SpanhouseDiskFull')).to.equal(false);
    expect(await post()).to.equal(200);

    await fill('more', { bytes: FREE_MB * MEGABYTE });
    let sending = true;
    const send = async () => {
      while (sending) expect(await post()).to.be.oneOf([200, 503]);
    };
    const sent = send();
    const { summary } = await prometheus.fires('SpanhouseDiskFull');
    expect(summary).to.match(/^The disk data of .* is full: spans are refused$/);
    expect((await prometheus.fires('SpanhouseIngestRefused')).description).to.include('free space');
    sending = false;
    await sent;

    disk.free();
    for (const name of ['SpanhouseDiskFull', 'SpanhouseDiskLow', 'SpanhouseIngestRefused']) await prometheus.ends(name);
    expect(await post()).to.equal(200);
  });
});
