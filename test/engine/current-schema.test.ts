import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { clickHouseSchema } from '../../scripts/generate/clickhouse-schema.js';
import { CURRENT_SCHEMA, readMigrationFiles } from '../../src/engine/files/migration-files.js';
import { schemaDirectory } from '../../src/engine/files/schema-files.js';

const directory = schemaDirectory('clickhouse');

describe('the generated schema of ClickHouse', () => {
  it('is what the migrations add up to', async () => {
    const kept = readFileSync(join(directory, CURRENT_SCHEMA), 'utf8');
    expect(kept === (await clickHouseSchema()), 'run `npm run generate`').to.equal(true);
  });

  it('is no migration', () => {
    const files = readMigrationFiles(directory).map(({ name }) => name);
    expect(files).to.include('spans_and_rollups').and.to.not.include('current');
  });
});
