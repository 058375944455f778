import { expect } from 'chai';
import fc from 'fast-check';
import { contract, failure, HOSTILE } from './contract.js';
import { get } from './plain-http.js';
import { sql } from '../../../src/engine/traces/clickhouse/client/sql.js';
import { statementOf } from '../../harness/statement.js';

contract((on) => {
  const setting = async (name: string): Promise<string> => {
    const result = await on.library.query({
      query: 'SELECT value FROM system.settings WHERE name = {name:String}',
      query_params: { name },
      format: 'JSONEachRow',
    });
    return (await result.json<{ value: string }>())[0]?.value ?? '';
  };

  describe('front', () => {
    it('answers pings with and without a SELECT', async () => {
      expect((await on.library.ping()).success).to.equal(true);
      expect((await on.library.ping({ select: true })).success).to.equal(true);
      expect(await on.client.ping()).to.equal(true);
    });

    it('lets nobody in without its password, and says so as ClickHouse does', async () => {
      for (const password of ['', 'wrong', `${on.engine.endpoint.password}x`]) {
        const stranger = on.connect({ password });
        const error = await failure(stranger.query({ query: 'SELECT 1' }));
        expect(error).to.include({ code: '516', type: 'AUTHENTICATION_FAILED' });
        await stranger.close();
      }
    });

    it('runs one statement of a request, never a second one', async () => {
      for (const query of [
        'SELECT 1; DROP TABLE rows',
        'SELECT 1;\nSELECT 2',
        "INSERT INTO rows VALUES (1, 'a'); DROP TABLE rows",
      ]) {
        expect(await failure(on.library.command({ query }))).to.include({ code: '62' });
      }
      expect(await on.client.query(sql`SELECT count() AS n FROM rows`)).to.deep.equal([{ n: 0 }]);
      expect(await on.client.query(sql`SELECT ';' AS s -- ; the end\n;`)).to.deep.equal([{ s: ';' }]);
    });

    it('does not change anything for a GET', async () => {
      const answer = await get(on.engine, 'DROP TABLE rows');
      expect(answer.status).to.equal(403);
      expect(answer.headers['x-clickhouse-exception-code']).to.equal('164');
      expect((await get(on.engine, 'SELECT 41 + 1')).body).to.equal('42\n');
    });

    it('names format and figures of an answer', async () => {
      const { headers, body } = await get(on.engine, 'SELECT number FROM numbers(3) FORMAT JSONCompactEachRow');
      expect(headers['x-clickhouse-format']).to.equal('JSONCompactEachRow');
      expect(JSON.parse(String(headers['x-clickhouse-summary']))).to.include({ read_rows: '3' });
      expect(body).to.equal('[0]\n[1]\n[2]\n');
      const csv = await get(on.engine, 'SELECT 1 AS a', { default_format: 'CSVWithNames' });
      expect(csv.body).to.equal('"a"\n1\n');
    });

    it('reads in UTC', async () => {
      expect(
        await on.client.query(sql`SELECT toUnixTimestamp(toDateTime('2024-06-01 00:00:00')) AS t, timezone() AS z`),
      ).to.deep.equal([{ t: 1717200000, z: 'UTC' }]);
    });
  });

  describe('parameters', () => {
    it('passes every string through unchanged', async () => {
      const one = async (t: string): Promise<void> => {
        expect(
          await on.client.query(statementOf('SELECT {t:String} AS t, length({t:String}) AS n', { t })),
        ).to.deep.equal([{ t, n: Buffer.byteLength(t) }]);
      };
      for (const text of HOSTILE) if (text !== '\\N') await one(text);
      await fc.assert(fc.asyncProperty(fc.string({ unit: 'binary' }), one), { numRuns: 50 });
    });

    it('passes arrays, maps and tuples of any strings through unchanged', async () => {
      const one = async (list: string[]): Promise<void> => {
        const map = Object.fromEntries(list.map((text, index) => [`${index}${text}`, text]));
        const [row] = await on.client.query(
          statementOf('SELECT {list:Array(String)} AS list, {map:Map(String, String)} AS map', { list, map }),
        );
        expect(row).to.deep.equal({ list, map });
      };
      await one(HOSTILE);
      await one([]);
      await fc.assert(fc.asyncProperty(fc.array(fc.string({ unit: 'binary' }), { maxLength: 5 }), one), {
        numRuns: 50,
      });
    });

    it('gives every type its own value', async () => {
      const id = '018f3c2a-0000-7000-8000-0123456789ab';
      const values = {
        u8: 255,
        i64: '-9223372036854775808',
        u64: '18446744073709551615',
        f: -0.1,
        b: true,
        id,
        at: '2024-02-29 12:34:56.123456',
        day: '2024-02-29',
        cost: '12345678901234567890.123456789012',
        none: null,
        some: 7,
        low: "l'ow",
        kind: "a'b",
        ids: [id],
        maybe: ["x'y", null],
      };
      const [row] = await on.client.query(
        statementOf(
          `SELECT {u8:UInt8} AS u8, {i64:Int64}::String AS i64, {u64:UInt64}::String AS u64, {f:Float64} AS f, {b:Bool} AS b,
           {id:UUID} AS id, {at:DateTime64(6, 'UTC')} AS at, {day:Date} AS day, {cost:Decimal(38, 12)}::String AS cost,
           {none:Nullable(String)} AS none, {some:Nullable(UInt32)} AS some, {low:LowCardinality(String)} AS low,
           {kind:Enum8('a''b' = 1, 'c' = 2)} AS kind, {ids:Array(UUID)} AS ids, {maybe:Array(Nullable(String))} AS maybe,
           toTypeName({u64:UInt64}) AS type`,
          values,
        ),
      );
      expect(row).to.deep.equal({ ...values, type: 'UInt64' });
    });

    it('takes them where constants are needed: LIMIT, OFFSET, IN, identifiers', async () => {
      const rows = await on.client.query<{ number: number }>(
        statementOf(
          'SELECT {column:Identifier} FROM numbers(100) WHERE number IN {ids:Array(UInt64)} ORDER BY number LIMIT {n:UInt32} OFFSET {from:UInt32}',
          { column: 'number', ids: [1, 2, 3, 4], n: 2, from: 1 },
        ),
      );
      expect(rows.map(({ number }) => number)).to.deep.equal([2, 3]);
      const hostile = await failure(
        on.client.query(statementOf('SELECT {c:Identifier}', { c: '1`; DROP TABLE rows; --' })),
      );
      expect(hostile).to.include({ kind: 'internal' });
    });

    it('takes a thousand ids at once', async () => {
      const ids = Array.from({ length: 2_000 }, () => crypto.randomUUID());
      const rows = await on.client.query(statementOf('SELECT length({ids:Array(UUID)}) AS n', { ids }));
      expect(rows).to.deep.equal([{ n: 2_000 }]);
    });

    it('refuses a missing or unreadable value with ClickHouse codes', async () => {
      expect(await failure(on.library.query({ query: 'SELECT {a:String}' }))).to.include({ code: '456' });
      for (const value of ["{'a':1}); DROP TABLE rows; --", "{'a':currentDatabase()}", "{'a"]) {
        const { status } = await get(on.engine, 'SELECT {a:Map(String, String)}', { param_a: value });
        expect(status, value).to.equal(400);
      }
      const wrong = await failure(on.library.query({ query: 'SELECT {a:UUID}', query_params: { a: 'no uuid' } }));
      expect(wrong)
        .to.have.property('code')
        .that.matches(/^(376|457|6|27)$/);
    });
  });

  describe('settings', () => {
    it('apply to their request alone, however many run at once', async () => {
      const before = await setting('max_threads');
      await Promise.all(
        Array.from({ length: 40 }, async (_, index) => {
          const settings = index % 2 === 0 ? { max_threads: 3, join_algorithm: 'grace_hash' as const } : {};
          const [row] = await on.client.query<{ t: string; j: string }>(
            sql`SELECT toString(getSetting('max_threads')) AS t, toString(getSetting('join_algorithm')) AS j`,
            { settings },
          );
          if (index % 2 === 0) expect(row).to.deep.equal({ t: '3', j: 'grace_hash' });
          else expect(row?.j).not.to.equal('grace_hash');
        }),
      );
      for (let index = 0; index < 10; index++) expect(await setting('max_threads')).to.equal(before);
    });

    it('leave the guards of the engine alone', async () => {
      const guards = ['max_execution_time', 'max_memory_usage', 'async_insert', 'max_result_bytes'];
      const before = await Promise.all(guards.map((name) => setting(name)));
      await on.client.query(sql`SELECT 1`, {
        settings: { max_execution_time: 1, max_memory_usage: '9999999', max_result_bytes: '1000', async_insert: 1 },
      });
      for (let index = 0; index < 8; index++) {
        expect(await Promise.all(guards.map((name) => setting(name)))).to.deep.equal(before);
      }
      expect(before).to.include('20').and.to.include('0');
    });

    it('cannot smuggle SQL, and an unknown one is refused', async () => {
      const value = "1, readonly = 1; DROP TABLE rows; --'";
      const settings = { log_comment: value };
      expect(await on.client.query(sql`SELECT getSetting('log_comment') AS c`, { settings })).to.deep.equal([
        { c: value },
      ]);
      expect(await failure(on.library.query({ query: 'SELECT 1', clickhouse_settings: { nope: 1 } }))).to.include({
        code: '115',
      });
      expect(await on.client.query(sql`SELECT count() AS n FROM rows`)).to.deep.equal([{ n: 0 }]);
    });

    it('only lower the time limit of a read', async () => {
      for (const asked of [0, 100_000]) {
        const rows = await on.client.query(sql`SELECT toString(getSetting('max_execution_time')) AS s`, {
          settings: { max_execution_time: asked },
        });
        expect(rows).to.deep.equal([{ s: '20' }]);
      }
    });

    it('read another database when asked', async () => {
      const other = on.connect({ database: 'system' });
      const result = await other.query({ query: 'SELECT currentDatabase() AS d, (SELECT count() FROM one) AS n' });
      expect(((await result.json()) as { data: unknown }).data).to.deep.equal([{ d: 'system', n: 1 }]);
      await other.close();
      expect(await on.client.query(sql`SELECT currentDatabase() AS d`)).to.deep.equal([{ d: 'house' }]);
    });
  });
});
