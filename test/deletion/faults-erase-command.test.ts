import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { serverOf } from '../../src/compose/backup-run.js';
import type { ErasureProgress, ErasureStep } from '../../src/engine/traces/model/deletion/erasure.js';
import { giveUpMove, writeMoveMark } from '../../src/features/move/store/move-mark.js';
import { orderErasure } from '../../src/control/control-client.js';
import { admin, refused } from '../backup/admin.js';
import type { Program } from '../harness/program.js';
import { Programs } from '../harness/programs.js';
import { until } from '../harness/until.js';

/** How long ClickHouse keeps files that others stand in for, unless it is told otherwise. */
const KEPT_MS = 480_000;
/** Erasing comes by order alone. */
const NEVER = { ERASE_WITHIN_HOURS: '0' };

describe('npm run admin -- erase', function () {
  this.timeout(120_000);
  let programs: Programs;
  let program: Program;
  before(async () => {
    programs = await Programs.make();
    program = await programs.start(NEVER);
  });
  after(() => programs.dispose());

  const written = async (session: string) => {
    const span = () => ({
      trace_id: randomUUID(),
      session_id: session,
      name: 'deleted',
      started_at: '2026-01-15T10:00:00Z',
    });
    const spans = Array.from({ length: 20 }, span);
    await program.ask('POST', '/spans', spans);
  };
  const stopped = async () => {
    program.signal('SIGTERM');
    await program.ended;
  };

  it('rewrites what holds deleted texts, says what, and when they are gone', async () => {
    const going = randomUUID();
    for (const session of [going, randomUUID()]) await written(session);
    await program.ask('DELETE', `/sessions/${going}`);
    const before = Date.now();
    const erased = await admin(programs.dataDir, 'erase');
    expect(erased.rewritten).to.match(/\bspans \(1 partition, [\d.]+ MB\)/);
    expect(Date.parse(erased.gone_from_disk_at)).to.be.within(before + KEPT_MS, Date.now() + KEPT_MS);
    expect(await admin(programs.dataDir, 'erase'), 'when all is erased').to.include({
      rewritten: 'nothing: no table contained anything to erase',
    });
    await until(
      'both are told of',
      () => program.log.filter((line) => line.includes('"erasureFinished"')).length === 2,
    );
  });

  it('tells how far each of its steps is', async () => {
    const going = Array.from({ length: 3 }, () => randomUUID());
    for (const session of going) await written(session);
    for (const session of going) await program.ask('DELETE', `/sessions/${session}`);
    const told: ErasureProgress[] = [];
    await orderErasure(await serverOf(programs.dataDir), (progress) => told.push(progress));
    const of = (step: ErasureStep) => told.filter((progress) => progress.step === step);
    expect(told.map(({ step }) => step)).to.deep.equal(
      [...of('purging'), ...of('forgetting'), ...of('rewriting')].map(({ step }) => step),
    );
    const [spans, things] = [60, 63];
    expect(of('purging').map(({ done, total }) => [done, total])).to.deep.equal([
      [0, spans],
      [spans, spans],
    ]);
    expect(of('forgetting').at(0)).to.include({ done: 0, total: things });
    expect(of('forgetting').at(-1)).to.include({ done: things, total: things });
    const files = of('rewriting').at(-1);
    expect(files?.done).to.equal(files?.total).and.to.be.greaterThan(0);
  });

  it('may be run twice at once', async () => {
    const session = randomUUID();
    await written(session);
    await program.ask('DELETE', `/sessions/${session}`);
    const both = await Promise.all([admin(programs.dataDir, 'erase'), admin(programs.dataDir, 'erase')]);
    expect(both.map(({ rewritten }) => /\bspans\b/.test(rewritten)).sort()).to.deep.equal([false, true]);
  });

  it('says that nothing goes while spans are moved, or without a server', async () => {
    const { dataDir } = programs;
    const [from, to] = [
      { url: null, database: 'spanhouse' },
      { url: 'http://elsewhere:8123', database: 'spanhouse' },
    ];
    const mark = { id: randomUUID(), from, to, begun_at: new Date().toISOString(), done_at: null };
    writeMoveMark(dataDir, mark);
    expect(await refused(dataDir, 'erase')).to.match(/^The spans are being moved/);
    giveUpMove(dataDir, mark);
    expect(await admin(dataDir, 'erase')).to.include.keys('rewritten');
    await stopped();
    expect(await refused(dataDir, 'erase')).to.match(/^No server responds on this DATA_DIR\. Start it/);
  });
});
