import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { uuid } from '../harness/checked-api.js';
import { removeDirectory } from '../harness/fresh-directory.js';
import { seedOf } from '../harness/seed.js';
import { bootServer } from '../harness/server.js';
import { onEngine, runCheck } from './scene.js';

const TRACES = 600;
const KILLS = Number(process.env['KILLS'] ?? 3);
const SEED = seedOf('KILL_SEED');

describe(`check --repair when it is killed, KILL_SEED=${SEED}`, function () {
  this.timeout(240_000);
  let dataDir: string;

  before(async () => {
    const server = await bootServer();
    ({ dataDir } = server);
    const spans = Array.from({ length: TRACES }, (_, at) => ({
      id: uuid(1_000_000 + at),
      trace_id: uuid(100_000 + at),
      session_id: uuid(500_000 + Math.floor(at / 10)),
      name: 'step',
      started_at: Date.now() - at,
      cost: 0.25,
    }));
    const { status, text } = await server.request('POST', '/spans', { body: spans });
    expect(status, text).to.equal(200);
    await server.stop();
  });
  after(() => removeDirectory(dataDir));

  /** Every figure is lost or wrong in some way. */
  function damage(): Promise<unknown> {
    return onEngine(
      dataDir,
      'INSERT INTO traces SELECT * REPLACE (cost * 2 AS cost) FROM traces FINAL',
      'INSERT INTO sessions SELECT * REPLACE (ver + 1000 AS ver, 99 AS trace_count) FROM sessions FINAL',
      "DELETE FROM session_traces WHERE toString(trace_id) LIKE '%1'",
      "DELETE FROM facts WHERE toString(id) LIKE '%2'",
      "DELETE FROM trace_starts WHERE toString(id) LIKE '%3'",
    );
  }

  /** @returns whether it was cut off */
  async function repairFor(milliseconds: number): Promise<boolean> {
    const program = join(import.meta.dirname, '../../scripts/admin.js');
    const child = spawn(process.execPath, [program, '--data-dir', dataDir, 'check', '--repair'], {
      stdio: 'ignore',
      env: { ...process.env, MIN_FREE_DISK_MB: '0' },
    });
    const ended = once(child, 'exit');
    await Promise.race([ended, sleep(milliseconds)]);
    child.kill('SIGKILL');
    const [, signal] = (await ended) as [unknown, string | null];
    return signal === 'SIGKILL';
  }

  it('goes on with the next repair, and a server shows what the spans say', async () => {
    await damage();
    const before = await runCheck(dataDir, '--all');
    expect(before.code, before.stderr).to.equal(1);
    let cut = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      if (await repairFor(1_500 + ((SEED + kill * 379) % 1_500))) cut += 1;
      // What was mended since the last one is damaged again.
      if (kill + 1 < KILLS) await damage();
    }
    expect(cut, 'repairs that were cut off').to.be.greaterThan(0);
    const repaired = await runCheck(dataDir, '--repair');
    expect(repaired.code, JSON.stringify(repaired.report?.findings) + repaired.stderr).to.equal(0);
    expect((await runCheck(dataDir, '--all')).found).to.deep.equal({});

    const server = await bootServer({ dataDir });
    try {
      const { json: sessions } = await server.request('GET', '/sessions?limit=500');
      expect(sessions).to.have.length(TRACES / 10);
      for (const { trace_count, cost } of sessions)
        expect({ trace_count, cost }).to.deep.equal({ trace_count: 10, cost: 2.5 });
    } finally {
      await server.stop();
    }
  });
});
