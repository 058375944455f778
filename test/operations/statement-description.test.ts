import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { describeStatement } from '../../src/engine/traces/clickhouse/client/statement-description.js';
import { literal, sql, statementOfFile, value } from '../../src/engine/traces/clickhouse/client/sql.js';

const golden = new URL('../../../test/lists/golden/', import.meta.url);
const tables = readFileSync(new URL('../../../schema/clickhouse/current.sql', import.meta.url), 'utf8');

describe('the description of a statement', () => {
  it('names what it does and with which tables', () => {
    const words: [string, string][] = [
      ['SELECT count() FROM spans AS s JOIN facts USING id', 'SELECT spans facts'],
      ['WITH some AS (SELECT id FROM `traces`) SELECT * FROM some, numbers(3)', 'SELECT traces'],
      ['INSERT INTO touch_sessions (id) SELECT id FROM session_traces', 'INSERT touch_sessions session_traces'],
      ['ALTER TABLE spans DELETE WHERE ver = 1', 'ALTER spans'],
      ['SELECT 1', 'SELECT'],
      ['SELECT * FROM numbers(3)', 'SELECT'],
    ];
    for (const [text, expected] of words) {
      const { operation, tables: named } = describeStatement(statementOfFile(text));
      expect([operation, ...named].join(' ')).to.equal(expected);
    }
  });

  it('holds no value, wherever that stands', () => {
    const statement = sql`SELECT id FROM spans WHERE name = ${value('from secret', 'String')} OR name = ${literal("x' FROM secret")}`;
    expect(describeStatement(statement)).to.deep.equal({ operation: 'SELECT', tables: ['spans'] });
  });

  it('names tables that there are, for every list', () => {
    const files = readdirSync(golden).filter((file) => file.endsWith('.sql'));
    expect(files).not.to.be.empty;
    for (const file of files) {
      const { operation, tables: named } = describeStatement(
        statementOfFile(readFileSync(new URL(file, golden), 'utf8')),
      );
      expect(operation, file).to.match(/^(SELECT|EXPLAIN)$/);
      expect(named, file).not.to.be.empty;
      for (const name of named) expect(tables, file).to.match(new RegExp(`^CREATE TABLE ${name}\\b`, 'm'));
    }
  });
});
