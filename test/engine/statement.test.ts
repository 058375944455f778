import { expect } from 'chai';
import { stringLiteral } from '../../src/engine/traces/clickhouse/client/literals.js';
import { parameterLiteral, unescapeTsv } from '../../src/engine/traces/clickhouse/process/literals.js';
import { readStatement } from '../../src/engine/traces/clickhouse/process/statement.js';

describe('statements of the engine front', () => {
  it('are told apart by what they do', () => {
    const kinds: [string, string][] = [
      ['SELECT 1', 'read'],
      ['  -- a comment\n/* another; */ with x as (select 1) select * from x', 'read'],
      ['(SELECT 1) UNION ALL (SELECT 2)', 'read'],
      ['explain SELECT 1', 'read'],
      ['INSERT INTO t (a) FORMAT RowBinary', 'insert'],
      ["insert into t values (1, 'FORMAT x')", 'insert'],
      ['INSERT INTO t SELECT 1', 'command'],
      ['INSERT INTO t WITH x AS (SELECT 1) SELECT * FROM x', 'command'],
      ['INSERT INTO t (format, select) FORMAT JSONEachRow', 'insert'],
      ['CREATE TABLE t (a String) ENGINE = Memory', 'command'],
      ['ALTER TABLE t DELETE WHERE 1', 'command'],
    ];
    for (const [sql, kind] of kinds) expect(readStatement(sql).kind, sql).to.equal(kind);
  });

  it('keep their format, wherever the word else stands', () => {
    const formats: [string, string | undefined][] = [
      ["SELECT 'FORMAT CSV' FORMAT JSONEachRow", 'JSONEachRow'],
      ['SELECT 1 format TabSeparated SETTINGS max_threads = 1;', 'TabSeparated'],
      ['SELECT * FROM (SELECT 1 AS `FORMAT`) -- FORMAT CSV', undefined],
      ['SELECT $x$ FORMAT CSV $x$', undefined],
    ];
    for (const [sql, format] of formats) expect(readStatement(sql).format, sql).to.equal(format);
  });

  it('hold placeholders only outside of strings and comments', () => {
    const sql =
      "SELECT {a:String}, '{b:String}', `{c:String}`, {d:DateTime64(6, 'UTC')}, {'k': 1}, {e : Enum8('}' = 1)} -- {f:Int8}\n/* {g:Int8} */ # {h:Int8}";
    expect(readStatement(sql).placeholders.map(({ name, type }) => [name, type])).to.deep.equal([
      ['a', 'String'],
      ['d', "DateTime64(6, 'UTC')"],
      ['e', "Enum8('}' = 1)"],
    ]);
  });

  it('give the data of an INSERT back as it came', () => {
    const { text, inlineData } = readStatement('INSERT INTO t FORMAT JSONEachRow\n{"a":"x;\\n\'"}\n\n{"a":1}');
    expect(text).to.equal('INSERT INTO t FORMAT JSONEachRow');
    expect(inlineData).to.equal('{"a":"x;\\n\'"}\n\n{"a":1}');
  });

  it('are one, whole and not empty', () => {
    for (const sql of ['', ' -- nothing', ';', 'SELECT 1; SELECT 2', "SELECT 'a", 'SELECT `a', 'SELECT "a']) {
      expect(() => readStatement(sql), sql).to.throw(/Code: 62/);
    }
    expect(readStatement("SELECT ';' ; -- end").text).to.equal("SELECT ';'");
  });
});

describe('literals of the engine front', () => {
  it('undo the escaping of the wire and write their own', () => {
    expect(unescapeTsv(String.raw`a\tb\\c\'d\x41\0\q`)).to.equal("a\tb\\c'dA\0\\q");
    expect(stringLiteral("it's \\ \n\0")).to.equal(String.raw`'it\'s \\ \n\0'`);
  });

  it('are typed', () => {
    expect(parameterLiteral('String', "a\\'b")).to.equal("'a\\'b'");
    expect(parameterLiteral('Nullable(String)', '\\N')).to.equal("_CAST(NULL, 'Nullable(String)')");
    expect(parameterLiteral('UInt8', '7')).to.equal("_CAST('7', 'UInt8')");
    expect(parameterLiteral('Identifier', 'a`b')).to.equal('`a\\`b`');
    expect(parameterLiteral('Map(String, UInt8)', "{'a':1,'b':2}")).to.equal(
      "_CAST(map('a',1,'b',2), 'Map(String, UInt8)')",
    );
  });
});
