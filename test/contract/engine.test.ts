import { createClient } from '@clickhouse/client';
import type { ClickHouseClient as Library } from '@clickhouse/client';
import { expect } from 'chai';
import fc from 'fast-check';
import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { DomainError } from '../../src/domain/errors.js';
import { InsertError, connect } from '../../src/storage/clickhouse/client.js';
import type { ClickHouseClient } from '../../src/storage/clickhouse/client.js';
import { addressed, supervised } from './engines.js';
import type { TestEngine } from './engines.js';

const HOSTILE = [
  `O'Reilly "quoted" \`ticked\``,
  'back\\slash \\\\ \\n \\x41 \\N',
  "'; DROP TABLE rows; --",
  'line\nbreak\r\ttab\b\f\v',
  'blank\n\nline',
  'nul\0inside\0',
  'é ñ 漢字 😀 \u{10ffff}',
  '{name:String} $$here$$ /* comment */ -- end',
  '',
  '\\N',
];

for (const [title, start] of [
  ['the embedded engine', supervised],
  ['an engine known by its address', addressed],
] as const) {
  describe(`ClickHouse contract: ${title}`, () => {
    let engine: TestEngine;
    let client: ClickHouseClient;
    let library: Library;

    before(async () => {
      engine = await start();
      client = connect(engine.endpoint);
      library = createClient({ ...engine.endpoint, compression: { request: true, response: true } });
      await client.command('CREATE TABLE rows (id UInt64, t String) ENGINE = MergeTree ORDER BY id');
    });
    beforeEach(() => client.command('TRUNCATE TABLE rows'));
    after(async () => {
      await client.close();
      await library.close();
      await engine.stop();
    });

    const setting = async (name: string, of: Library = library): Promise<string> => {
      const result = await of.query({
        query: 'SELECT value FROM system.settings WHERE name = {name:String}',
        query_params: { name },
        format: 'JSONEachRow',
      });
      return (await result.json<{ value: string }>())[0]?.value ?? '';
    };

    describe('front', () => {
      it('answers pings with and without a SELECT', async () => {
        expect((await library.ping()).success).to.equal(true);
        expect((await library.ping({ select: true })).success).to.equal(true);
        expect(await client.ping()).to.equal(true);
      });

      it('lets nobody in without its password, and says so as ClickHouse does', async () => {
        for (const password of ['', 'wrong', `${engine.endpoint.password}x`]) {
          const stranger = createClient({ ...engine.endpoint, password });
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
          expect(await failure(library.command({ query }))).to.include({ code: '62' });
        }
        expect(await client.query('SELECT count() AS n FROM rows')).to.deep.equal([{ n: 0 }]);
        expect(await client.query("SELECT ';' AS s -- ; the end\n;")).to.deep.equal([{ s: ';' }]);
      });

      it('does not change anything for a GET', async () => {
        const answer = await get(engine, 'DROP TABLE rows');
        expect(answer.status).to.equal(403);
        expect(answer.headers['x-clickhouse-exception-code']).to.equal('164');
        expect((await get(engine, 'SELECT 41 + 1')).body).to.equal('42\n');
      });

      it('names format and figures of an answer', async () => {
        const { headers, body } = await get(engine, 'SELECT number FROM numbers(3) FORMAT JSONCompactEachRow');
        expect(headers['x-clickhouse-format']).to.equal('JSONCompactEachRow');
        expect(JSON.parse(String(headers['x-clickhouse-summary']))).to.include({ read_rows: '3' });
        expect(body).to.equal('[0]\n[1]\n[2]\n');
        const csv = await get(engine, 'SELECT 1 AS a', { default_format: 'CSVWithNames' });
        expect(csv.body).to.equal('"a"\n1\n');
      });

      it('reads in UTC', async () => {
        expect(
          await client.query("SELECT toUnixTimestamp(toDateTime('2024-06-01 00:00:00')) AS t, timezone() AS z"),
        ).to.deep.equal([{ t: 1717200000, z: 'UTC' }]);
      });
    });

    describe('inserts', () => {
      it('stores RowBinary as it was, whatever its bytes are', async () => {
        const texts = [...HOSTILE, randomBytes(50).toString('latin1'), '\n\n\n', '; SELECT 1\n\n', 'x'.repeat(100_000)];
        await client.insert(
          'rows',
          ['id', 't'],
          'RowBinary',
          Buffer.concat(texts.map((text, id) => rowBinary(id, text))),
        );
        const rows = await client.query<{ t: string }>('SELECT t FROM rows ORDER BY id');
        expect(rows.map((row) => row.t)).to.deep.equal(texts);
      });

      it('stores every byte pair that could end a statement', async () => {
        const values = ['\n\n', '\r\n\r\n', ';\n', '\n;\n', '\0\0', '--\n', '/*', '\\.', '\\N', "'\n\n"];
        const bytes = Buffer.from(Array.from({ length: 65_536 }, (_, pair) => [pair >> 8, pair & 0xff]).flat());
        const rows = [...values.map((value) => Buffer.from(value)), bytes];
        await client.insert('rows', ['id', 't'], 'RowBinary', Buffer.concat(rows.map((row, id) => rowBinary(id, row))));
        const stored = await client.query<{ h: string }>('SELECT hex(t) AS h FROM rows ORDER BY id');
        expect(stored.map(({ h }) => h.toLowerCase())).to.deep.equal(rows.map((row) => row.toString('hex')));
      });

      it('never runs data as a statement', async () => {
        const attack = "a\n\nDROP TABLE rows\n\n;DROP TABLE rows;\n\nINSERT INTO rows VALUES (9, 'injected')";
        await client.insert('rows', ['id', 't'], 'RowBinary', rowBinary(1, attack));
        await client.insert(
          'rows',
          ['id', 't'],
          'JSONEachRow',
          Buffer.from('{"id":2,"t":"b"}\n\n{"id":3,"t":"c"}\n\n'),
        );
        expect(await client.query('SELECT id, t FROM rows ORDER BY id')).to.deep.equal([
          { id: 1, t: attack },
          { id: 2, t: 'b' },
          { id: 3, t: 'c' },
        ]);
      });

      it('stores several megabytes of JSON rows with unicode, plain and compressed', async () => {
        const text = 'é漢字😀"\\\n\n'.repeat(100);
        const lines = Array.from({ length: 3_000 }, (_, id) => JSON.stringify({ id, t: text }));
        await client.insert('rows', ['id', 't'], 'JSONEachRow', Buffer.from(lines.join('\n')));
        const values = Array.from({ length: 3_000 }, (_, id) => ({ id: id + 3_000, t: text }));
        await library.insert({ table: 'rows', values, format: 'JSONEachRow' });
        expect(
          await client.query(
            'SELECT count() AS n, uniqExact(id) AS ids, uniqExact(t) AS texts, any(t) AS text FROM rows',
          ),
        ).to.deep.equal([{ n: 6_000, ids: 6_000, texts: 1, text }]);
      });

      it('takes rows as arrays, and rows written in the statement', async () => {
        await client.insert('rows', ['t', 'id'], 'JSONCompactEachRow', Buffer.from('["a",1]\n["b",2]'));
        await library.command({ query: "INSERT INTO rows (id, t) VALUES (3, 'c;\n\nd'), (4, 'é')" });
        await library.command({
          query: 'INSERT INTO rows (id, t) VALUES ({id:UInt64}, {t:String})',
          query_params: { id: 5, t: "it's\n\n; x" },
        });
        await library.command({ query: 'INSERT INTO rows FORMAT JSONEachRow\n{"id":6,"t":"f"}\n{"id":7,"t":"g"}' });
        await library.command({ query: 'INSERT INTO rows SELECT number + 8, toString(number) FROM numbers(2)' });
        const rows = await client.query<{ t: string }>('SELECT t FROM rows ORDER BY id');
        expect(rows.map(({ t }) => t)).to.deep.equal(['a', 'b', 'c;\n\nd', 'é', "it's\n\n; x", 'f', 'g', '0', '1']);
      });

      it('inserts nothing from an empty body', async () => {
        await client.insert('rows', ['id', 't'], 'RowBinary', Buffer.alloc(0));
        expect(await client.query('SELECT count() AS n FROM rows')).to.deep.equal([{ n: 0 }]);
      });

      it('stores nothing of a batch it cannot read, and says that it is certain', async () => {
        const good = Buffer.concat([rowBinary(1, 'a'), rowBinary(2, 'b')]);
        const broken: [Parameters<ClickHouseClient['insert']>[2], Buffer][] = [
          ['RowBinary', good.subarray(0, -1)],
          ['JSONEachRow', Buffer.from('{"id":1,"t":"a"}\n{"id":"zzz"}')],
        ];
        for (const [format, data] of broken) {
          const error = await failure(client.insert('rows', ['id', 't'], format, data));
          expect(error).to.be.instanceOf(InsertError);
          expect(error).to.include({ kind: 'internal', outcome: 'none' });
        }
        const missing = await failure(client.insert('absent', ['id'], 'RowBinary', good));
        expect(missing).to.include({ outcome: 'none' });
        expect(await client.query('SELECT count() AS n FROM rows')).to.deep.equal([{ n: 0 }]);
      });

      it('is not certain when a view fails behind the table', async () => {
        await client.command('CREATE TABLE kept (id UInt64) ENGINE = MergeTree ORDER BY id');
        await client.command(
          "CREATE MATERIALIZED VIEW picky TO kept AS SELECT id FROM rows WHERE throwIf(t = 'bad') = 0",
        );
        try {
          const error = await failure(client.insert('rows', ['id', 't'], 'RowBinary', rowBinary(1, 'bad')));
          expect(error).to.include({ outcome: 'unknown' });
        } finally {
          await client.command('DROP TABLE picky');
          await client.command('DROP TABLE kept');
        }
      });

      it('applies settings to the insert alone', async () => {
        const rows = Buffer.from('{"id":1,"t":"a","more":1}');
        const strict = await failure(
          client.insert('rows', ['id', 't'], 'JSONEachRow', rows, {
            settings: { input_format_skip_unknown_fields: 0 },
          }),
        );
        expect(strict).to.include({ kind: 'internal' });
        await client.insert('rows', ['id', 't'], 'JSONEachRow', rows, {
          settings: { input_format_skip_unknown_fields: 1 },
        });
        const after = await failure(
          client.insert('rows', ['id', 't'], 'JSONEachRow', rows, {
            settings: { input_format_skip_unknown_fields: 0 },
          }),
        );
        expect(after).to.include({ kind: 'internal' });
        expect(await client.query('SELECT count() AS n FROM rows')).to.deep.equal([{ n: 1 }]);
      });
    });

    describe('parameters', () => {
      it('passes every string through unchanged', async () => {
        const one = async (t: string): Promise<void> => {
          expect(
            await client.query('SELECT {t:String} AS t, length({t:String}) AS n', { params: { t } }),
          ).to.deep.equal([{ t, n: Buffer.byteLength(t) }]);
        };
        for (const text of HOSTILE) if (text !== '\\N') await one(text);
        await fc.assert(fc.asyncProperty(fc.string({ unit: 'binary' }), one), { numRuns: 100 });
      });

      it('passes arrays, maps and tuples of any strings through unchanged', async () => {
        const one = async (list: string[]): Promise<void> => {
          const map = Object.fromEntries(list.map((text, index) => [`${index}${text}`, text]));
          const [row] = await client.query('SELECT {list:Array(String)} AS list, {map:Map(String, String)} AS map', {
            params: { list, map },
          });
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
        const [row] = await client.query(
          `SELECT {u8:UInt8} AS u8, {i64:Int64}::String AS i64, {u64:UInt64}::String AS u64, {f:Float64} AS f, {b:Bool} AS b,
             {id:UUID} AS id, {at:DateTime64(6, 'UTC')} AS at, {day:Date} AS day, {cost:Decimal(38, 12)}::String AS cost,
             {none:Nullable(String)} AS none, {some:Nullable(UInt32)} AS some, {low:LowCardinality(String)} AS low,
             {kind:Enum8('a''b' = 1, 'c' = 2)} AS kind, {ids:Array(UUID)} AS ids, {maybe:Array(Nullable(String))} AS maybe,
             toTypeName({u64:UInt64}) AS type`,
          {
            params: {
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
            },
          },
        );
        expect(row).to.deep.equal({
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
          type: 'UInt64',
        });
      });

      it('takes them where constants are needed: LIMIT, OFFSET, IN, identifiers', async () => {
        const rows = await client.query<{ number: number }>(
          'SELECT {column:Identifier} FROM numbers(100) WHERE number IN {ids:Array(UInt64)} ORDER BY number LIMIT {n:UInt32} OFFSET {from:UInt32}',
          { params: { column: 'number', ids: [1, 2, 3, 4], n: 2, from: 1 } },
        );
        expect(rows.map(({ number }) => number)).to.deep.equal([2, 3]);
        const hostile = await failure(
          client.query('SELECT {c:Identifier}', { params: { c: '1`; DROP TABLE rows; --' } }),
        );
        expect(hostile).to.include({ kind: 'internal' });
      });

      it('takes a thousand ids at once', async () => {
        const ids = Array.from({ length: 2_000 }, () => crypto.randomUUID());
        const rows = await client.query('SELECT length({ids:Array(UUID)}) AS n', { params: { ids } });
        expect(rows).to.deep.equal([{ n: 2_000 }]);
      });

      it('refuses a missing or unreadable value with ClickHouse codes', async () => {
        expect(await failure(library.query({ query: 'SELECT {a:String}' }))).to.include({ code: '456' });
        for (const value of ["{'a':1}); DROP TABLE rows; --", "{'a':currentDatabase()}", "{'a"]) {
          const { status } = await get(engine, 'SELECT {a:Map(String, String)}', { param_a: value });
          expect(status, value).to.equal(400);
        }
        const wrong = await failure(library.query({ query: 'SELECT {a:UUID}', query_params: { a: 'no uuid' } }));
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
            const [row] = await client.query<{ t: string; j: string }>(
              "SELECT toString(getSetting('max_threads')) AS t, toString(getSetting('join_algorithm')) AS j",
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
        await client.query('SELECT 1', {
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
        expect(await client.query("SELECT getSetting('log_comment') AS c", { settings })).to.deep.equal([{ c: value }]);
        expect(await failure(library.query({ query: 'SELECT 1', clickhouse_settings: { nope: 1 } }))).to.include({
          code: '115',
        });
        expect(await client.query('SELECT count() AS n FROM rows')).to.deep.equal([{ n: 0 }]);
      });

      it('only lower the time limit of a read', async () => {
        for (const asked of [0, 100_000]) {
          const rows = await client.query("SELECT toString(getSetting('max_execution_time')) AS s", {
            settings: { max_execution_time: asked },
          });
          expect(rows).to.deep.equal([{ s: '20' }]);
        }
      });

      it('read another database when asked', async () => {
        const other = createClient({ ...engine.endpoint, database: 'system' });
        const result = await other.query({ query: 'SELECT currentDatabase() AS d, (SELECT count() FROM one) AS n' });
        expect(((await result.json()) as { data: unknown }).data).to.deep.equal([{ d: 'system', n: 1 }]);
        await other.close();
        expect(await client.query('SELECT currentDatabase() AS d')).to.deep.equal([{ d: 'house' }]);
      });
    });

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
          expect(await failure(library.command({ query })), query).to.include({ code, type });
          expect((await post(engine, query)).status, query).to.equal(status);
        }
        expect((await post(engine, "SELECT throwIf(1, 'by é hand')")).body).to.match(
          /^Code: 395\. DB::Exception: by é hand/,
        );
      });

      it('leave no bytes of a failed query for the next', async () => {
        const bad =
          'SELECT number, throwIf(number = 70000) FROM numbers(100000) SETTINGS max_block_size = 1000 FORMAT TabSeparated';
        await Promise.all(
          Array.from({ length: 30 }, async (_, index) => {
            if (index % 3 === 0) expect(await failure(library.command({ query: bad }))).to.include({ code: '395' });
            else
              expect(await client.query('SELECT {n:UInt32} AS n', { params: { n: index } })).to.deep.equal([
                { n: index },
              ]);
          }),
        );
        for (let index = 0; index < 20; index++) {
          expect(await client.query('SELECT {n:UInt32} AS n', { params: { n: index } })).to.deep.equal([{ n: index }]);
        }
      });

      it('end a read at its time limit', async () => {
        const from = Date.now();
        const error = await failure(
          client.query('SELECT count() FROM numbers(1000000000000) WHERE NOT ignore(sipHash64(number))', {
            settings: { max_execution_time: 1 },
          }),
        );
        expect(error).to.be.instanceOf(DomainError).and.to.include({ kind: 'unavailable', retryAfterSeconds: 1 });
        expect((error as Error).message).to.match(/limit of time.*narrow/);
        expect(Date.now() - from).to.be.below(5_000);
      });

      it('end a read at its memory limit, and go on', async () => {
        const error = await failure(
          client.query('SELECT length(groupArray(toString(number))) FROM numbers(100000000)', {
            settings: { max_memory_usage: '50000000' },
          }),
        );
        expect(error).to.include({ kind: 'unavailable' });
        expect((error as Error).message).to.match(/limit of memory/);
        expect(await client.ping()).to.equal(true);
      });

      it('bound a result', async () => {
        const error = await failure(
          client.query('SELECT number FROM numbers(10000)', { settings: { max_result_rows: '100' } }),
        );
        expect((error as Error).message).to.match(/limit of result size/);
      });

      it('give a caller its own reason when it aborts, and stop the read', async () => {
        const reason = new Error('enough');
        const abort = new AbortController();
        const running = client.query(
          "SELECT 'abandoned', count() FROM numbers(1000000000000) WHERE NOT ignore(sipHash64(number))",
          {
            signal: abort.signal,
          },
        );
        setTimeout(() => abort.abort(reason), 300);
        expect(await failure(running)).to.equal(reason);
        await eventually(async () => {
          const left = await client.query(
            "SELECT 1 FROM system.processes WHERE query LIKE '%abandoned%' AND query NOT LIKE '%processes%'",
          );
          expect(left).to.have.length(0);
        });
      });
    });

    describe('load', () => {
      it('keeps thirty queries and ten inserts at once apart', async () => {
        const inserts = Array.from({ length: 10 }, (_, index) =>
          client.insert(
            'rows',
            ['id', 't'],
            'RowBinary',
            Buffer.concat(Array.from({ length: 500 }, (__, row) => rowBinary(index * 500 + row, `row\n\n${row}`))),
          ),
        );
        const queries = Array.from({ length: 30 }, async (_, index) => {
          const rows = await client.query<{ n: number; s: string }>(
            'SELECT {i:UInt32} + number AS n, repeat({s:String}, 10) AS s FROM numbers(1000)',
            { params: { i: index, s: `é${index}` } },
          );
          expect(rows).to.have.length(1_000);
          expect(rows.at(-1)).to.deep.equal({ n: index + 999, s: `é${index}`.repeat(10) });
        });
        await Promise.all([...inserts, ...queries]);
        expect(await client.query('SELECT count() AS n, uniqExact(id) AS ids FROM rows')).to.deep.equal([
          { n: 5_000, ids: 5_000 },
        ]);
      });

      it('answers inserts while every reader is busy', async () => {
        const abort = new AbortController();
        const slow = Array.from({ length: 12 }, () =>
          client.query('SELECT count() FROM numbers(1000000000000) WHERE NOT ignore(sipHash64(number))', {
            settings: { max_execution_time: 5, max_threads: 1 },
            signal: abort.signal,
          }),
        );
        const ended = Promise.allSettled(slow);
        const from = Date.now();
        await client.insert('rows', ['id', 't'], 'RowBinary', rowBinary(1, 'a'));
        expect(Date.now() - from).to.be.below(3_000);
        abort.abort();
        await ended;
        expect(await client.query('SELECT count() AS n FROM rows')).to.deep.equal([{ n: 1 }]);
      });

      it('sends twenty megabytes whole, plain and compressed', async () => {
        const query = "SELECT number, repeat('é漢😀', 20) AS t FROM numbers(100000) FORMAT JSONEachRow";
        const expected = { number: 99_999, t: 'é漢😀'.repeat(20) };
        for (const stream of [
          await client.stream(query),
          (await library.exec({ query, decompress_response_stream: true })).stream,
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
        expect(await client.query(`SELECT lengthUTF8('${long}') AS n`)).to.deep.equal([{ n: 2_000_000 }]);
      });
    });
  });
}

function rowBinary(id: number, text: string | Buffer): Buffer {
  const bytes = Buffer.from(text as string);
  const head: number[] = [];
  let rest = bytes.length;
  for (; rest >= 0x80; rest >>>= 7) head.push((rest & 0x7f) | 0x80);
  head.push(rest);
  const number = Buffer.alloc(8);
  number.writeBigUInt64LE(BigInt(id));
  return Buffer.concat([number, Buffer.from(head), bytes]);
}

/** What a promise is rejected with; one that is not rejected fails the test. */
async function failure(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('it should have failed');
}

async function eventually(check: () => Promise<void>): Promise<void> {
  const until = Date.now() + 5_000;
  for (;;) {
    try {
      await check();
      return;
    } catch (error) {
      if (Date.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

interface Reply {
  readonly status: number | undefined;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: string;
}

function get(engine: TestEngine, query: string, more: Record<string, string> = {}): Promise<Reply> {
  return send(engine, 'GET', { query, ...more }, undefined);
}

function post(engine: TestEngine, body: string): Promise<Reply> {
  return send(engine, 'POST', {}, body);
}

/** Plain HTTP, for what a client library hides. */
function send(
  { endpoint }: TestEngine,
  method: string,
  search: Record<string, string>,
  body: string | undefined,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const url = `${endpoint.url}/?${new URLSearchParams({ database: endpoint.database, ...search }).toString()}`;
    const sent = request(
      url,
      { method, auth: `${endpoint.username}:${endpoint.password}`, agent: false },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, body: text }));
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}
