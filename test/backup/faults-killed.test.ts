import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Random } from '../../scripts/random.js';
import { MortalServer } from '../durability/mortal-server.js';
import { audit } from '../durability/recount.js';
import { Deaths, KILLS } from '../harness/kills.js';
import { Program } from '../harness/program.js';
import { seedOf } from '../harness/seed.js';
import { bootServer } from '../harness/server.js';
import { changes, until } from '../harness/until.js';
import { admin, killAdmin } from './admin.js';

const SEED = seedOf('KILL_SEED');
/** Of spans that are large enough for a kill to come in the middle of copying them. */
const LARGE_BYTES = 250_000;
/** The first kill comes within this time, each later one may come as much later. */
const STEP_MS = 100;
/** Kills of a restore come within this share of the time that one takes: it takes less when files are in memory. */
const LATEST = 0.7;

describe(`backups that are killed ${KILLS} times each, KILL_SEED=${SEED}`, function () {
  this.timeout(120_000 + KILLS * 30_000);
  const dice = new Random(SEED);
  let folder: string;
  let backups: string;
  let server: MortalServer;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'spanhouse-killed-'));
    backups = join(folder, 'backups');
    server = await MortalServer.start({ seed: SEED });
  });
  afterEach(function () {
    if (this.currentTest?.isFailed()) console.log(server?.program.complaints());
  });
  after(async () => {
    await server?.dispose();
    await rm(folder, { recursive: true, force: true });
  });

  const unfinished = () => join(backups, 'unfinished.json');
  /** Whether one was begun that did not become a backup. */
  const isUnfinished = () => existsSync(unfinished());
  /** What a server holds for a backup. */
  const isHeld = () => ['clickhouse/shadow', 'snapshot'].some((what) => existsSync(join(server.dataDir, what)));

  const writeLarge = () =>
    server.write(Array.from({ length: 6 }, () => ({ input_data: randomBytes(LARGE_BYTES).toString('base64') })));

  async function killBackup(afterMs: number): Promise<void> {
    await killAdmin({ begun: changes(unfinished()), afterMs }, server.dataDir, 'backup', backups);
    await until('the server lets go', () => !isHeld());
  }

  async function killServer(afterMs: number): Promise<void> {
    const begun = changes(unfinished());
    const ending = admin(server.dataDir, 'backup', backups).catch((error: unknown) => error);
    await until('a backup begins', begun);
    await sleep(afterMs);
    await server.kill();
    const said: unknown = await ending;
    if (said instanceof Error) expect(said.message).to.match(/run the backup again|No server responds/);
    await server.restart();
    expect(isHeld(), 'what the dead server held').to.equal(false);
  }

  for (const what of ['backup', 'incremental backup'])
    it(`go on with what was copied: ${what}`, async () => {
      const deaths = new Deaths(what);
      for (let kill = 1; kill <= KILLS; kill += 1) {
        await writeLarge();
        const afterMs = dice.whole(0, kill * STEP_MS);
        await (kill % 3 === 0 ? killServer(afterMs) : killBackup(afterMs));
        deaths.add(isUnfinished());
      }
      const wentOn = isUnfinished();
      if (wentOn)
        expect((await admin(server.dataDir, 'list-backups', backups)).at(-1)).to.include({
          id: 'unfinished',
          problem: 'interrupted or in progress: backup reuses what was copied, prune-backups removes it',
        });
      const made = await admin(server.dataDir, 'backup', backups);
      if (wentOn) expect(made.note).to.match(/^Reused what the interrupted backup of \S+ had copied\.$/);
      expect(made.new_mb).to.be.at.most(made.mb);
      expect(isUnfinished()).to.equal(false);
      expect(await readdir(join(backups, 'incoming'))).to.deep.equal([]);
      expect(await admin(server.dataDir, 'verify-backup', backups)).to.include({ id: made.id, whole: true });
      deaths.report();
    });

  it('hold everything once: restored, whenever restores are killed, they show what was acknowledged', async () => {
    await server.expectExact();
    await admin(server.dataDir, 'backup', backups);
    const measured = join(folder, 'measured');
    let latestMs = LATEST * (await restoreMarked(measured));
    await expectExact(measured);

    const deaths = new Deaths('restore');
    const dataDir = join(folder, 'restored');
    const mark = markOf(dataDir);
    for (let kill = 1; kill <= KILLS; kill += 1) {
      if (!existsSync(mark)) await rm(dataDir, { recursive: true, force: true });
      // The first soon, the last near the end.
      const afterMs = dice.whole(0, (latestMs * kill) / KILLS);
      await killAdmin({ begun: changes(mark), afterMs }, dataDir, 'restore', backups);
      const isCutOff = existsSync(mark);
      deaths.add(isCutOff);
      if (!isCutOff) {
        // The machine was busy when it was measured.
        latestMs = LATEST * afterMs;
        continue;
      }
      const refusal = await bootServer({ dataDir }).catch((error: unknown) => error);
      expect(String(refusal)).to.contain('was interrupted: run it again');
    }
    const wasCutOff = existsSync(mark);
    if (!wasCutOff) await rm(dataDir, { recursive: true, force: true });
    const { note } = await admin(dataDir, 'restore', backups);
    if (wasCutOff) expect(note).to.contain('An earlier restore was interrupted; this one started from the beginning.');
    await expectExact(dataDir);
    deaths.report(`; ${server.spans} spans restored, none lost`);
  });

  const markOf = (dataDir: string) => join(dataDir, 'restore-unfinished');

  /** Restores. @returns for how long a kill would have left less than all of it */
  async function restoreMarked(dataDir: string): Promise<number> {
    let hasEnded = false;
    const restored = admin(dataDir, 'restore', backups).finally(() => (hasEnded = true));
    restored.catch(() => undefined);
    await until('a restore begins', () => existsSync(markOf(dataDir)) || hasEnded);
    const from = performance.now();
    await until('it is through', () => !existsSync(markOf(dataDir)) || hasEnded);
    const markedMs = performance.now() - from;
    await restored;
    return markedMs;
  }

  /** Expects what the server that was backed up has acknowledged, on a copy of it. */
  async function expectExact(dataDir: string): Promise<void> {
    const copy = await Program.start(dataDir);
    try {
      expect(await audit(copy, server.crowd.ledger)).to.deep.equal([]);
    } finally {
      await copy.destroy();
    }
  }
});
