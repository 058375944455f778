import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readMigrationFiles } from '../../src/engine/files/migration-files.js';
import { schemaDirectory } from '../../src/engine/files/schema-files.js';
import { openDatabase } from '../../src/engine/metadata/database.js';
import { migrate } from '../../src/engine/metadata/migrations.js';
import { SqlitePromptStore } from '../../src/features/prompts/store/prompt-store.js';

describe('a SQLite file from before versions of prompts could be deleted', () => {
  it('keeps its versions, tags and history, and counts on from the highest number', () => {
    const folder = mkdtempSync(join(tmpdir(), 'spanhouse-prompts-'));
    const database = openDatabase(join(folder, 'test.sqlite'));
    try {
      const files = readMigrationFiles(schemaDirectory('sqlite'));
      const before = files.findIndex(({ name }) => name === 'prompt_version_removal');
      migrate(database, files.slice(0, before));
      const version = (id: string, number: number) =>
        `INSERT INTO prompt_versions VALUES ('${id}', 'q', ${number}, '${String(number).repeat(64)}', NULL, '{}', 1, 'u', 1, 'text ${number}');`;
      database.exec(`
        INSERT INTO users VALUES ('u', 'Ann', NULL, 1);
        INSERT INTO projects VALUES ('p', 'Project', 1);
        INSERT INTO prompts VALUES ('q', 'p', 'slug', 1), ('empty', 'p', 'empty', 1);
        ${version('v1', 1)} ${version('v2', 2)} ${version('v3', 3)}
        INSERT INTO prompt_tag_pins (prompt_id, tag, version, pinned_at, pinned_by)
          VALUES ('q', 'production', 1, 1, 'u'), ('q', 'staging', 3, 2, 'u'), ('q', 'production', 2, 3, 'u');
      `);
      migrate(database, files);
      expect(database.pragma('foreign_key_check')).to.deep.equal([]);
      const store = new SqlitePromptStore(database);
      expect(store.listTags('p', 'slug')).to.deep.equal([
        { tag: 'production', version: 2 },
        { tag: 'staging', version: 3 },
      ]);
      const history = () => store.tagHistory('p', 'slug', 'production', { limit: 9, offset: 0 });
      expect(history().map(({ version, at }) => [version, at])).to.deep.equal([
        [2, 3],
        [1, 1],
      ]);
      store.pin('p', 'slug', { tag: 'staging', version: 2 }, 4, 'u');
      for (const number of [1, 3]) expect(store.removeVersion('p', 'slug', number, () => undefined)).to.equal(true);
      expect(history().map(({ version }) => version)).to.deep.equal([2, 1]);
      const draft = { model_id: null, messages: null, config: {}, metadata: {}, created_by: 'u', created_at: 5 };
      const ensure = (slug: string, digit: string) =>
        store.ensureVersion('p', slug, { ...draft, content: digit, content_hash: digit.repeat(64) });
      expect(ensure('slug', '3')).to.include({ version: 4, latest_version: 4 });
      expect(ensure('empty', '1')).to.include({ version: 1 });
    } finally {
      database.close();
      rmSync(folder, { recursive: true });
    }
  });
});
