import { expect } from 'chai';
import { sql } from '../../src/engine/traces/clickhouse/client/sql.js';
import { statementOf } from '../harness/statement.js';
import { fenced, fencedInput } from '../../src/engine/traces/clickhouse/lease/fenced-statement.js';

const FLAG = 'WITH throwIf(NOT mine) = 0 AS lease_held';

describe('a statement tied to the lease', () => {
  const cases: readonly (readonly [name: string, statement: string, tied: string])[] = [
    [
      'inserts values',
      "INSERT INTO rolled_up (name, ver) VALUES ('a', 7)",
      `INSERT INTO rolled_up (name, ver) ${FLAG} SELECT 'a', 7 WHERE lease_held`,
    ],
    [
      'inserts what it selects',
      'INSERT INTO a SELECT DISTINCT b FROM c WHERE d = 1 OR e = 2',
      `INSERT INTO a ${FLAG} SELECT * FROM (SELECT DISTINCT b FROM c WHERE d = 1 OR e = 2) WHERE lease_held`,
    ],
    [
      'inserts what it selects with names',
      'INSERT INTO a (b)\nWITH 1 AS one\nSELECT one FROM c',
      `INSERT INTO a (b) ${FLAG} SELECT * FROM (WITH 1 AS one\nSELECT one FROM c) WHERE lease_held`,
    ],
    ['deletes', 'DELETE FROM a WHERE b = 1 OR c = 2', 'DELETE FROM a WHERE mine AND (b = 1 OR c = 2)'],
    ['empties a table', 'TRUNCATE TABLE a', 'DELETE FROM a WHERE mine'],
    ['defines a table', 'CREATE TABLE a (b String) ENGINE = Null', 'CREATE TABLE a (b String) ENGINE = Null'],
  ];
  for (const [name, statement, tied] of cases)
    it(name, () => {
      expect(fenced(statementOf(statement), sql`mine`).render().text).to.equal(tied);
    });

  it('takes rows in', () => {
    expect(fencedInput(sql`SELECT a, b FROM input('a String, b String')`, sql`mine`).render().text).to.equal(
      `${FLAG} SELECT a, b FROM input('a String, b String') WHERE lease_held`,
    );
  });

  it('is of no other kind', () => {
    for (const statement of ['OPTIMIZE TABLE a', 'INSERT INTO a FORMAT RowBinary'])
      expect(() => fenced(statementOf(statement), sql`mine`), statement).to.throw('cannot be tied to the lease');
  });
});
