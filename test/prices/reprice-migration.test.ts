import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readMigrationFiles } from '../../src/engine/files/migration-files.js';
import { schemaDirectory } from '../../src/engine/files/schema-files.js';
import { openDatabase } from '../../src/engine/metadata/database.js';
import { SqliteJobStore } from '../../src/engine/work/store/job-store.js';
import { migrate } from '../../src/engine/metadata/migrations.js';

describe('recalculations from before they were jobs', () => {
  it('go on where they were, or stay as they ended', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'spanhouse-sqlite-'));
    const database = openDatabase(join(folder, 'test.sqlite'));
    try {
      const files = readMigrationFiles(schemaDirectory('sqlite'));
      const until = files.findIndex(({ name }) => name === 'reprice_jobs');
      migrate(database, files.slice(0, until));
      database.exec(`
        INSERT INTO users VALUES ('u', 'Ann', NULL, 1);
        INSERT INTO projects VALUES ('p', 'Project', 1);
        INSERT INTO api_keys (id, project_id, user_id, name, prefix, hash, created_at)
          VALUES ('k', 'p', 'u', 'key', 'sk', zeroblob(32), 1);
        INSERT INTO reprice_jobs VALUES
          (1, 'ended', 'p', NULL, NULL, NULL, NULL, 'failed', 3, 2, 1, 9, 't', 's', 'why', 5, 6),
          (2, 'begun', 'p', 10, 20, 'acme', 'ü"', 'running', 3000, 1000, 7, 1770000000000001, 'trace', 'span', NULL, 7, NULL),
          (3, 'new', 'p', NULL, NULL, NULL, NULL, 'queued', NULL, 0, 0, NULL, NULL, NULL, NULL, 8, NULL);
      `);
      migrate(database, files);
      const jobs = new SqliteJobStore(database);
      expect(jobs.list('p', 'reprice', 'p', 9).map(({ id }) => id)).to.deep.equal(['new', 'begun', 'ended']);
      const everything = { started_after: null, started_before: null, provider: null, model: null };
      const [begun, fresh] = jobs.unfinished(['reprice']);
      expect(begun).to.deep.include({
        state: 'running',
        total: 3000,
        done: 1000,
        summary: { started_after: 10, started_before: 20, provider: 'acme', model: 'ü"' },
        checkpoint: { after: { started_at: 1_770_000_000_000_001, trace_id: 'trace', id: 'span' }, changed: 7 },
        created_by: 'u',
      });
      expect(jobs.findById('begun')?.input).to.deep.equal(begun?.summary);
      expect(fresh).to.deep.include({
        id: 'new',
        state: 'queued',
        total: null,
        summary: everything,
        checkpoint: { after: null, changed: 0 },
      });
      expect(jobs.findById('ended')).to.deep.include({ state: 'failed', error: 'why', finished_at: 6, done: 2 });
    } finally {
      database.close();
      await rm(folder, { recursive: true });
    }
  });
});
