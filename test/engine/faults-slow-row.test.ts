import { expect } from 'chai';
import { connect } from '../../src/engine/traces/clickhouse/client/client.js';
import { sql } from '../../src/engine/traces/clickhouse/client/sql.js';
import { startEngine } from '../../src/engine/traces/clickhouse/process/supervisor.js';
import { statementOf } from '../harness/statement.js';
import { LIMITS, scratch, silent } from './contract/engines.js';

/** Longer than the engine may be without a sign of life. */
const HANG_MS = 16_000;
/** How long a row takes that takes long, on whatever machine. */
const SLOW_ROW_MS = 25_000;

// With pools of connections alone, and in no time: session-pool.test.ts.
describe('engine supervisor, while a single row takes long', () => {
  it('does not take it for a hang, and answers others meanwhile', async function () {
    this.timeout(180_000);
    const made = await scratch();
    const engine = await startEngine({ ...LIMITS, logger: silent, path: made.path, maxReadSeconds: 1 });
    const client = connect(engine.endpoint);
    const { pid } = engine;
    const sought = (letters: number) =>
      statementOf(
        `SELECT positionCaseInsensitiveUTF8(materialize(repeat('a', 1000000)), concat(repeat('a', ${letters}), 'b'))`,
      );
    const few = 50;
    const times: number[] = [];
    while (times.length < 3) {
      const began = performance.now();
      // On a slow machine even this takes longer than reads may.
      await client.query(sought(few)).catch(() => undefined);
      times.push(performance.now() - began);
    }
    const from = performance.now();
    const slow = sought(Math.ceil((few * SLOW_ROW_MS) / Math.min(...times)));
    const outcome = client.query(slow).catch((error: unknown) => error);
    const ended = outcome.then(() => performance.now() - from);
    while ((await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 1_000))])) === undefined)
      expect(await client.query(sql`SELECT 1 AS one`)).to.deep.equal([{ one: 1 }]);
    expect(await ended, 'longer than a hang').to.be.greaterThan(HANG_MS);
    expect(await outcome).to.have.nested.property('cause.code', '159');
    expect(engine).to.include({ pid, restarts: 0, state: 'ready' });
    await client.close();
    await engine.stop();
    await made.remove();
  });
});
