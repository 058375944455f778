import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Native, NativeConnection } from '../../src/engine/traces/clickhouse/process/native.js';
import { SessionPool } from '../../src/engine/traces/clickhouse/process/session-pool.js';

const STUCK_AFTER_MS = 50;

/** Statements that take as long as the test wants them to, as a row may. */
class Statements {
  readonly #ends: (() => void)[] = [];
  readonly native: Native = {
    CreateConnection: () => ({}) as NativeConnection,
    CloseConnection: () => undefined,
    QueryAsyncConnection: async (_connection, sql) => {
      if (sql === 'SLOW') await new Promise<void>((resolve) => this.#ends.push(resolve));
      return { bytes: Buffer.from(sql), elapsed: 0, rowsRead: 0, bytesRead: 0 };
    },
  };

  end(): void {
    for (const end of this.#ends.splice(0)) end();
  }
}

describe('a pool of connections to the engine', () => {
  it('takes a statement that outlives its time for the matter of its client, and all of them at once for a hang', async () => {
    const statements = new Statements();
    const broken: string[] = [];
    const pool = new SessionPool({
      native: statements.native,
      path: '/nowhere',
      database: 'd',
      settings: new Map([['a', '1']]),
      size: 2,
      maxWaiting: 2,
      maxWaitMs: 1_000,
      stuckAfterMs: STUCK_AFTER_MS,
      stuckMeansBroken: 2,
      onBroken: (detail) => broken.push(detail),
    });
    const run = async (sql: string) => (await pool.run({ sql, format: 'Null', settings: new Map() })).bytes.toString();
    const first = run('SLOW');
    await sleep(3 * STUCK_AFTER_MS);
    expect(await run('others are answered meanwhile')).to.equal('others are answered meanwhile');
    statements.end();
    await first;
    // Those that came back count no more.
    const second = run('SLOW');
    await sleep(3 * STUCK_AFTER_MS);
    expect(broken).to.deep.equal([]);
    const third = run('SLOW');
    await sleep(3 * STUCK_AFTER_MS);
    expect(broken).to.deep.equal([`2 statements have not returned for ${STUCK_AFTER_MS} ms`]);
    statements.end();
    expect(await Promise.all([second, third])).to.deep.equal(['SLOW', 'SLOW']);
    await pool.close();
  });

  it('gives a statement a connection with its settings, while it may open one, and then the one that was idle longest', async () => {
    const pool = new SessionPool({
      native: new Statements().native,
      path: '/nowhere',
      database: 'd',
      settings: new Map([['a', '1']]),
      size: 2,
      maxWaiting: 2,
      maxWaitMs: 1_000,
      stuckAfterMs: 1_000,
      stuckMeansBroken: 2,
      onBroken: () => undefined,
    });
    const run = async (...settings: readonly (readonly [string, string])[]) =>
      (await pool.run({ sql: 'S', format: 'Null', settings: new Map(settings) })).bytes.toString();
    expect(await run(['b', '2'])).to.equal('SET `b` = 2; S');
    expect(await run(['c', '3'])).to.equal('SET `c` = 3; S');
    for (let turn = 0; turn < 2; turn += 1) {
      expect(await run(['b', '2'])).to.equal('S');
      expect(await run(['c', '3'])).to.equal('S');
    }
    expect(await run()).to.equal('SET `b` = DEFAULT; S');
    expect(await run(['c', '3'])).to.equal('S');
    expect(await run(['a', '4'])).to.equal('SET `a` = 4; S');
    expect(await run()).to.equal('SET `c` = DEFAULT; S');
    expect(await run(['c', '3'])).to.equal('SET `a` = 1, `c` = 3; S');
    await pool.close();
  });
});
