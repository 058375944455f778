import { expect } from 'chai';
import { FairSemaphore } from '../../../src/engine/work/fair-semaphore.js';
import { connect, type ClickHouseClient } from '../../../src/engine/traces/clickhouse/client/client.js';
import { projectValue, sql, value } from '../../../src/engine/traces/clickhouse/client/sql.js';
import { unhurried } from '../../harness/program.js';
import { contract, failure } from './contract.js';

const PROJECT = projectValue('p');
/** Within its one row, which takes a second or so, ClickHouse looks at no limit and at no KILL. */
const deaf = (characters: number) =>
  sql`SELECT 'deaf', positionCaseInsensitiveUTF8(materialize(repeat('a', ${value(characters, 'UInt64')})), concat(repeat('a', 150), 'b')), ${PROJECT}`;
const DEAF = deaf(400_000);
const DEAF_FOR_LONG = deaf(1_000_000);
const RUNNING = sql`SELECT toString(count()) AS running FROM system.processes WHERE position(query, concat('''de', 'af''')) > 0 AND ${PROJECT} != ''`;

contract((on) => {
  describe('a turn', () => {
    const open: ClickHouseClient[] = [];
    const connected = (options: Parameters<typeof connect>[1] = {}) => {
      const turns = new FairSemaphore('reads', { atOnce: 1, maxWaitMs: 60_000 });
      const client = connect(on.engine.endpoint, { ...options, turns });
      open.push(client);
      return client;
    };
    afterEach(() => Promise.all(open.splice(0).map((client) => client.close())));

    /** Waits until the statement runs. */
    async function running(): Promise<void> {
      while ((await on.client.query<{ running: string }>(RUNNING))[0]?.running !== '1');
    }

    for (const kind of ['query', 'text', 'stream'] as const)
      it(`lasts until the statement has ended whose caller has left, by ${kind}`, async () => {
        const client = connected();
        const left = new AbortController();
        const read = failure(client[kind](DEAF, { signal: left.signal }));
        await running();
        const reason = new Error('left');
        left.abort(reason);
        expect(await client.query(RUNNING), 'when the next turn comes').to.deep.equal([{ running: '0' }]);
        expect(await read).to.equal(reason);
      });

    it('lasts until the statement has ended that was answered too late', async () => {
      const client = connected({ requestTimeoutMs: 1_000 });
      const read = failure(client.query(DEAF_FOR_LONG));
      await running();
      expect(await read).to.include({ kind: 'unavailable' });
      await on.client.query(sql`SELECT 1`);
      expect(await client.query(RUNNING), 'when the next turn comes').to.deep.equal([{ running: '0' }]);
    });

    it('ends at once with a statement that stops when it is told to', async () => {
      const client = connected();
      const left = new AbortController();
      const heavy = sql`SELECT 'deaf', ${PROJECT}, count() FROM numbers(1000000000000) WHERE NOT ignore(sipHash64(number))`;
      const read = failure(client.query(heavy, { signal: left.signal }));
      await running();
      left.abort(new Error('left'));
      const from = performance.now();
      await read;
      expect(await client.query(RUNNING)).to.deep.equal([{ running: '0' }]);
      expect(performance.now() - from).to.be.lessThan(unhurried(5_000));
    });

    it('is not taken by a caller who has left', async () => {
      const client = connected();
      const gone = AbortSignal.abort(new Error('gone'));
      expect(await failure(client.query(RUNNING, { signal: gone }))).to.have.property('message', 'gone');
      expect(await client.query(RUNNING)).to.have.length(1);
    });
  });
});
