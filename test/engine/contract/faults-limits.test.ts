import { expect } from 'chai';
import { DomainError } from '../../../src/engine/errors.js';
import { unhurried } from '../../harness/program.js';
import { contract, eventually, failure, rowBinary } from './contract.js';
import { post } from './plain-http.js';
import { sql } from '../../../src/engine/traces/clickhouse/client/sql.js';
import { statementOf } from '../../harness/statement.js';

contract((on) => {
  describe('errors and limits', () => {
    it('come with code, type and status', async () => {
      const cases = [
        ['SELECT nope', '47', 'UNKNOWN_IDENTIFIER', 404],
        ['SELECT * FROM nope', '60', 'UNKNOWN_TABLE', 404],
        ['selec 1', '62', 'SYNTAX_ERROR', 400],
        ["SELECT 'open", '62', 'SYNTAX_ERROR', 400],
        ["SELECT throwIf(1, 'by é hand')", '395', 'FUNCTION_THROW_IF_VALUE_IS_NON_ZERO', 500],
      ] as const;
      for (const [query, code, type, status] of cases) {
        expect(await failure(on.library.command({ query })), query).to.include({ code, type });
        expect((await post(on.engine, query)).status, query).to.equal(status);
      }
      expect((await post(on.engine, "SELECT throwIf(1, 'by é hand')")).body).to.match(
        /^Code: 395\. DB::Exception: by é hand/,
      );
    });

    it('leave no bytes of a failed query for the next', async () => {
      const bad =
        'SELECT number, throwIf(number = 70000) FROM numbers(100000) SETTINGS max_block_size = 1000 FORMAT TabSeparated';
      await Promise.all(
        Array.from({ length: 30 }, async (_, index) => {
          if (index % 3 === 0) expect(await failure(on.library.command({ query: bad }))).to.include({ code: '395' });
          else
            expect(await on.client.query(statementOf('SELECT {n:UInt32} AS n', { n: index }))).to.deep.equal([
              { n: index },
            ]);
        }),
      );
      for (let index = 0; index < 20; index++) {
        expect(await on.client.query(statementOf('SELECT {n:UInt32} AS n', { n: index }))).to.deep.equal([
          { n: index },
        ]);
      }
    });

    it('end a read at its time limit', async () => {
      const from = Date.now();
      const error = await failure(
        on.client.query(sql`SELECT count() FROM numbers(1000000000000) WHERE NOT ignore(sipHash64(number))`, {
          settings: { max_execution_time: 1 },
        }),
      );
      expect(error).to.be.instanceOf(DomainError).and.to.include({ kind: 'unavailable', retryAfterSeconds: 1 });
      expect((error as Error).message).to.match(/time limit.*narrow/);
      expect(Date.now() - from).to.be.below(unhurried(5_000));
    });

    it('end a read at its memory limit, and go on', async () => {
      const error = await failure(
        on.client.query(sql`SELECT length(groupArray(toString(number))) FROM numbers(100000000)`, {
          settings: { max_memory_usage: '50000000' },
        }),
      );
      expect(error).to.include({ kind: 'unavailable' });
      expect((error as Error).message).to.match(/memory limit/);
      expect(await on.client.ping()).to.equal(true);
    });

    it('bound a result', async () => {
      const error = await failure(
        on.client.query(sql`SELECT number FROM numbers(10000)`, { settings: { max_result_rows: '100' } }),
      );
      expect((error as Error).message).to.match(/result size limit/);
    });

    it('give a caller its own reason when it aborts, and stop the read', async () => {
      const reason = new Error('enough');
      const abort = new AbortController();
      const running = on.client.query(
        sql`SELECT 'abandoned', count() FROM numbers(1000000000000) WHERE NOT ignore(sipHash64(number))`,
        {
          signal: abort.signal,
        },
      );
      setTimeout(() => abort.abort(reason), 300);
      expect(await failure(running)).to.equal(reason);
      await eventually(async () => {
        const left = await on.client.query(
          sql`SELECT 1 FROM system.processes WHERE query LIKE '%abandoned%' AND query NOT LIKE '%processes%'`,
        );
        expect(left).to.have.length(0);
      });
    });
  });

  describe('load', () => {
    it('keeps thirty queries and ten inserts at once apart', async () => {
      const inserts = Array.from({ length: 10 }, (_, index) =>
        on.client.insert(
          'rows',
          ['id', 't'],
          'RowBinary',
          Buffer.concat(Array.from({ length: 500 }, (__, row) => rowBinary(index * 500 + row, `row\n\n${row}`))),
        ),
      );
      const queries = Array.from({ length: 30 }, async (_, index) => {
        const rows = await on.client.query<{ n: number; s: string }>(
          statementOf('SELECT {i:UInt32} + number AS n, repeat({s:String}, 10) AS s FROM numbers(1000)', {
            i: index,
            s: `é${index}`,
          }),
        );
        expect(rows).to.have.length(1_000);
        expect(rows.at(-1)).to.deep.equal({ n: index + 999, s: `é${index}`.repeat(10) });
      });
      await Promise.all([...inserts, ...queries]);
      expect(await on.client.query(sql`SELECT count() AS n, uniqExact(id) AS ids FROM rows`)).to.deep.equal([
        { n: 5_000, ids: 5_000 },
      ]);
    });

    it('answers inserts while every reader is busy', async () => {
      const readers = 12;
      const abort = new AbortController();
      const slow = Array.from({ length: readers }, () =>
        on.client.query(sql`SELECT count() FROM numbers(1000000000000) WHERE NOT ignore(sipHash64(number))`, {
          settings: { max_execution_time: 5, max_threads: 1 },
          signal: abort.signal,
        }),
      );
      const ended = Promise.allSettled(slow);
      const from = Date.now();
      await on.client.insert('rows', ['id', 't'], 'RowBinary', rowBinary(1, 'a'));
      expect(Date.now() - from).to.be.below(unhurried(3_000));
      abort.abort();
      await ended;
      expect(await on.client.query(sql`SELECT count() AS n FROM rows`)).to.deep.equal([{ n: 1 }]);
    });

    it('sends twenty megabytes whole, plain and compressed', async () => {
      const query = "SELECT number, repeat('é漢😀', 20) AS t FROM numbers(100000) FORMAT JSONEachRow";
      const expected = { number: 99_999, t: 'é漢😀'.repeat(20) };
      for (const stream of [
        await on.client.stream(statementOf(query)),
        (await on.library.exec({ query, decompress_response_stream: true })).stream,
      ]) {
        const chunks: Buffer[] = [];
        for await (const chunk of stream) chunks.push(chunk as Buffer);
        const text = Buffer.concat(chunks).toString('utf8');
        expect(Buffer.byteLength(text)).to.be.above(20_000_000);
        const lines = text.trimEnd().split('\n');
        expect(lines).to.have.length(100_000);
        expect(JSON.parse(lines.at(-1) ?? '')).to.deep.equal(expected);
      }
    });

    it('reads a long statement in time', async () => {
      const long = 'é'.repeat(2_000_000);
      expect(await on.client.query(statementOf(`SELECT lengthUTF8('${long}') AS n`))).to.deep.equal([{ n: 2_000_000 }]);
    });
  });
});
