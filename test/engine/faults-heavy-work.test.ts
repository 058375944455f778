import { expect } from 'chai';
import { connect } from '../../src/engine/traces/clickhouse/client/client.js';
import { startEngine } from '../../src/engine/traces/clickhouse/process/supervisor.js';
import { statementOf } from '../harness/statement.js';
import { LIMITS, scratch, silent } from './contract/engines.js';

describe('an engine with much to do', function () {
  this.timeout(60_000);

  it('is not taken for one that hangs, for as long as it may take to say that it does not', async () => {
    const { path, remove } = await scratch();
    const engine = await startEngine({ ...LIMITS, logger: silent, path });
    const client = connect(engine.endpoint);
    try {
      const { pid } = engine;
      const heavy = 'SELECT count() FROM numbers(1000000000000) WHERE NOT ignore(sipHash64(number))';
      const reads = Array.from({ length: 12 }, () =>
        client.query(statementOf(heavy), { settings: { max_execution_time: 6 } }),
      );
      for (const { status } of await Promise.allSettled(reads)) expect(status).to.equal('rejected');
      expect(engine).to.include({ pid, restarts: 0, state: 'ready' });
    } finally {
      await client.close();
      await engine.stop();
      await remove();
    }
  });
});
