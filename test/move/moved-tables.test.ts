import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  FOLLOWING,
  OF_THE_PLACE,
  ROLLED_UP,
  SMALL,
  WORDS,
  WRITTEN,
} from '../../src/engine/traces/move/moved-tables.js';
import { schemaDirectory } from '../../src/engine/files/schema-files.js';

describe('the tables that a move takes along', () => {
  it('are those of the schema, each but that of scores sorted by the key that it is read by', () => {
    const schema = readFileSync(join(schemaDirectory('clickhouse'), 'current.sql'), 'utf8');
    const tables = [...schema.matchAll(/^CREATE TABLE (\w+)\n([^;]*);/gm)].filter(([text]) => !text.includes('`Null`'));
    const byKey = [...WRITTEN, ...ROLLED_UP, WORDS];
    const known = [...byKey.map(({ name }) => name), ...FOLLOWING, ...SMALL, ...OF_THE_PLACE].filter(
      (name) => name !== 'server_lease',
    );
    expect(tables.map(([, name]) => name).sort()).to.deep.equal([...known].sort());
    for (const { name, key, isUnsorted = false } of byKey) {
      expect(isUnsorted, name).to.equal(name === 'scores');
      const [, , text = ''] = tables.find(([, table]) => table === name) ?? [];
      if (!isUnsorted) expect(text, name).to.match(new RegExp(`ORDER BY \\(project_id, ${key}\\b`));
    }
  });
});
