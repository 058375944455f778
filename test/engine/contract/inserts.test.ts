import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { InsertError } from '../../../src/engine/traces/clickhouse/client/client.js';
import type { ClickHouseClient } from '../../../src/engine/traces/clickhouse/client/client.js';
import { contract, failure, HOSTILE, rowBinary } from './contract.js';
import { sql } from '../../../src/engine/traces/clickhouse/client/sql.js';
import { statementOf } from '../../harness/statement.js';

contract((on) => {
  describe('inserts', () => {
    it('stores RowBinary as it was, whatever its bytes are', async () => {
      const texts = [...HOSTILE, randomBytes(50).toString('latin1'), '\n\n\n', '; SELECT 1\n\n', 'x'.repeat(100_000)];
      await on.client.insert(
        'rows',
        ['id', 't'],
        'RowBinary',
        Buffer.concat(texts.map((text, id) => rowBinary(id, text))),
      );
      const rows = await on.client.query<{ t: string }>(sql`SELECT t FROM rows ORDER BY id`);
      expect(rows.map((row) => row.t)).to.deep.equal(texts);
    });

    it('stores every byte pair that could end a statement', async () => {
      const values = ['\n\n', '\r\n\r\n', ';\n', '\n;\n', '\0\0', '--\n', '/*', '\\.', '\\N', "'\n\n"];
      const bytes = Buffer.from(Array.from({ length: 65_536 }, (_, pair) => [pair >> 8, pair & 0xff]).flat());
      const rows = [...values.map((value) => Buffer.from(value)), bytes];
      await on.client.insert(
        'rows',
        ['id', 't'],
        'RowBinary',
        Buffer.concat(rows.map((row, id) => rowBinary(id, row))),
      );
      const stored = await on.client.query<{ h: string }>(sql`SELECT hex(t) AS h FROM rows ORDER BY id`);
      expect(stored.map(({ h }) => h.toLowerCase())).to.deep.equal(rows.map((row) => row.toString('hex')));
    });

    it('never runs data as a statement', async () => {
      const attack = "a\n\nDROP TABLE rows\n\n;DROP TABLE rows;\n\nINSERT INTO rows VALUES (9, 'injected')";
      await on.client.insert('rows', ['id', 't'], 'RowBinary', rowBinary(1, attack));
      await on.client.insert(
        'rows',
        ['id', 't'],
        'JSONEachRow',
        Buffer.from('{"id":2,"t":"b"}\n\n{"id":3,"t":"c"}\n\n'),
      );
      expect(await on.client.query(sql`SELECT id, t FROM rows ORDER BY id`)).to.deep.equal([
        { id: 1, t: attack },
        { id: 2, t: 'b' },
        { id: 3, t: 'c' },
      ]);
    });

    it('stores several megabytes of JSON rows with unicode, plain and compressed', async () => {
      const text = 'é漢字😀"\\\n\n'.repeat(100);
      const lines = Array.from({ length: 3_000 }, (_, id) => JSON.stringify({ id, t: text }));
      await on.client.insert('rows', ['id', 't'], 'JSONEachRow', Buffer.from(lines.join('\n')));
      const values = Array.from({ length: 3_000 }, (_, id) => ({ id: id + 3_000, t: text }));
      await on.library.insert({ table: 'rows', values, format: 'JSONEachRow' });
      expect(
        await on.client.query(
          sql`SELECT count() AS n, uniqExact(id) AS ids, uniqExact(t) AS texts, any(t) AS text FROM rows`,
        ),
      ).to.deep.equal([{ n: 6_000, ids: 6_000, texts: 1, text }]);
    });

    it('takes rows as arrays, and rows written in the statement', async () => {
      await on.client.insert('rows', ['t', 'id'], 'JSONCompactEachRow', Buffer.from('["a",1]\n["b",2]'));
      await on.library.command({ query: "INSERT INTO rows (id, t) VALUES (3, 'c;\n\nd'), (4, 'é')" });
      await on.library.command({
        query: 'INSERT INTO rows (id, t) VALUES ({id:UInt64}, {t:String})',
        query_params: { id: 5, t: "it's\n\n; x" },
      });
      await on.library.command({ query: 'INSERT INTO rows FORMAT JSONEachRow\n{"id":6,"t":"f"}\n{"id":7,"t":"g"}' });
      await on.library.command({ query: 'INSERT INTO rows SELECT number + 8, toString(number) FROM numbers(2)' });
      const rows = await on.client.query<{ t: string }>(sql`SELECT t FROM rows ORDER BY id`);
      expect(rows.map(({ t }) => t)).to.deep.equal(['a', 'b', 'c;\n\nd', 'é', "it's\n\n; x", 'f', 'g', '0', '1']);
    });

    it('inserts nothing from an empty body', async () => {
      await on.client.insert('rows', ['id', 't'], 'RowBinary', Buffer.alloc(0));
      expect(await on.client.query(sql`SELECT count() AS n FROM rows`)).to.deep.equal([{ n: 0 }]);
    });

    it('stores nothing of a batch it cannot read, and says that it is certain', async () => {
      const good = Buffer.concat([rowBinary(1, 'a'), rowBinary(2, 'b')]);
      const broken: [Parameters<ClickHouseClient['insert']>[2], Buffer][] = [
        ['RowBinary', good.subarray(0, -1)],
        ['JSONEachRow', Buffer.from('{"id":1,"t":"a"}\n{"id":"zzz"}')],
      ];
      for (const [format, data] of broken) {
        const error = await failure(on.client.insert('rows', ['id', 't'], format, data));
        expect(error).to.be.instanceOf(InsertError);
        expect(error).to.include({ kind: 'internal', outcome: 'none' });
      }
      const missing = await failure(on.client.insert('absent', ['id'], 'RowBinary', good));
      expect(missing).to.include({ outcome: 'none' });
      expect(await on.client.query(sql`SELECT count() AS n FROM rows`)).to.deep.equal([{ n: 0 }]);
    });

    it('has rows go through a SELECT, and stores none of those that it or their bytes forbid', async () => {
      const texts = ['a', "it's\n\n; DROP TABLE rows", 'input(1) FORMAT'];
      const rows = Buffer.concat(texts.map((text, id) => rowBinary(id, text)));
      const insert = (condition: string, data = rows) =>
        on.client.insert('rows', ['id', 't'], 'RowBinary', data, {
          through: statementOf(
            `WITH throwIf(${condition}) = 0 AS fine SELECT id + 1, t FROM input('id UInt64, t String') WHERE fine`,
          ),
        });
      expect(await failure(insert('(SELECT count() FROM rows) = 0'))).to.include({ kind: 'internal' });
      expect(await failure(insert('0', rows.subarray(0, -1)))).to.include({ outcome: 'none' });
      expect(await on.client.query(sql`SELECT count() AS n FROM rows`)).to.deep.equal([{ n: 0 }]);
      await insert('(SELECT count() FROM rows) > 0');
      expect(await on.client.query(sql`SELECT id, t FROM rows ORDER BY id`)).to.deep.equal(
        texts.map((t, id) => ({ id: id + 1, t })),
      );
    });

    it('is not certain when a view fails behind the table', async () => {
      await on.client.command(sql`CREATE TABLE kept (id UInt64) ENGINE = MergeTree ORDER BY id`);
      await on.client.command(
        sql`CREATE MATERIALIZED VIEW picky TO kept AS SELECT id FROM rows WHERE throwIf(t = 'bad') = 0`,
      );
      try {
        const error = await failure(on.client.insert('rows', ['id', 't'], 'RowBinary', rowBinary(1, 'bad')));
        expect(error).to.include({ outcome: 'unknown' });
      } finally {
        await on.client.command(sql`DROP TABLE picky`);
        await on.client.command(sql`DROP TABLE kept`);
      }
    });

    it('applies settings to the insert alone', async () => {
      const rows = Buffer.from('{"id":1,"t":"a","more":1}');
      const strict = await failure(
        on.client.insert('rows', ['id', 't'], 'JSONEachRow', rows, {
          settings: { input_format_skip_unknown_fields: 0 },
        }),
      );
      expect(strict).to.include({ kind: 'internal' });
      await on.client.insert('rows', ['id', 't'], 'JSONEachRow', rows, {
        settings: { input_format_skip_unknown_fields: 1 },
      });
      const after = await failure(
        on.client.insert('rows', ['id', 't'], 'JSONEachRow', rows, {
          settings: { input_format_skip_unknown_fields: 0 },
        }),
      );
      expect(after).to.include({ kind: 'internal' });
      expect(await on.client.query(sql`SELECT count() AS n FROM rows`)).to.deep.equal([{ n: 1 }]);
    });
  });
});
