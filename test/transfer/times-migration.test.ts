import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readMigrationFiles } from '../../src/engine/files/migration-files.js';
import { schemaDirectory } from '../../src/engine/files/schema-files.js';
import { openDatabase } from '../../src/engine/metadata/database.js';
import { migrate } from '../../src/engine/metadata/migrations.js';

const LATER = 8_836_000_000_000_000; // in 2250

describe('a SQLite file from before imports refused times that are to come', () => {
  it('has none of them any more, and knows what came after deletions under way', () => {
    const folder = mkdtempSync(join(tmpdir(), 'spanhouse-times-'));
    const database = openDatabase(join(folder, 'test.sqlite'));
    try {
      const files = readMigrationFiles(schemaDirectory('sqlite'));
      migrate(
        database,
        files.slice(
          0,
          files.findIndex(({ name }) => name === 'deletion_numbers'),
        ),
      );
      const evaluation = (id: string, at: number) =>
        `INSERT INTO evaluations (id, project_id, judge_id, span_id, origin, evaluation_type, evaluation_result,
           evaluation_reason, created_at)
         VALUES ('${id}', 'p', 'j', 's', 'external', 'binary', 1, '', ${at});`;
      database.exec(`
        INSERT INTO users VALUES ('u', 'Ann', NULL, 1);
        INSERT INTO projects (id, name, created_at) VALUES ('p', 'Project', 1);
        INSERT INTO prompts (id, project_id, slug, created_at) VALUES ('q', 'p', 'slug', ${LATER});
        INSERT INTO prompt_versions VALUES ('v', 'q', 1, '${'1'.repeat(64)}', NULL, '{}', ${LATER}, 'u', ${LATER}, 'text');
        INSERT INTO judges VALUES ('j', 'p', 'Judge', 'task', 'binary', NULL, NULL, NULL, '[]', NULL, NULL, 1, '{}', 0, 1, 1,
          'u', ${LATER}, NULL);
        INSERT INTO deletions (project_id, what, target, ordered, upto, created_at) VALUES ('p', 'spans', 't', 1, 5, 5);
        ${evaluation('before', 4)} ${evaluation('after', 6)} ${evaluation('later', LATER)}
      `);
      const now = Date.now() * 1000;
      migrate(database, files);
      const rows = (sql: string) => database.prepare(sql).raw().all();
      expect(rows('SELECT id, after_deletion FROM evaluations ORDER BY seq')).to.deep.equal([
        ['before', 0],
        ['after', 1],
        ['later', 1],
      ]);
      expect(rows('SELECT created_at FROM evaluations WHERE seq < 3')).to.deep.equal([[4], [6]]);
      const times = rows(`SELECT created_at FROM prompts UNION ALL SELECT created_at FROM prompt_versions
        UNION ALL SELECT updated_at FROM prompt_versions UNION ALL SELECT updated_at FROM judges
        UNION ALL SELECT created_at FROM evaluations WHERE id = 'later'`) as [number][];
      expect(times).to.have.length(5);
      for (const [at] of times) expect(at).to.be.within(now, now + 60e6);
      expect(() => database.exec("UPDATE prompt_versions SET content = 'other'")).to.throw(/immutable/);
    } finally {
      database.close();
      rmSync(folder, { recursive: true });
    }
  });
});
