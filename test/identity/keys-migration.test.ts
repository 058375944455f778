import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { hashApiKey } from '../../src/engine/identity/api-key.js';
import { IdentityService } from '../../src/engine/identity/identity-service.js';
import { scopesOf } from '../../src/engine/identity/key-access.js';
import { RevokedKeys } from '../../src/engine/identity/revoked-keys.js';
import { readMigrationFiles } from '../../src/engine/files/migration-files.js';
import { schemaDirectory } from '../../src/engine/files/schema-files.js';
import { openDatabase } from '../../src/engine/metadata/database.js';
import { SqliteIdentityStore } from '../../src/engine/identity/store/identity-store.js';
import { migrate } from '../../src/engine/metadata/migrations.js';
import { SqliteSignInStore } from '../../src/engine/identity/store/sign-in-store.js';

const INIT_KEY = 'sk_sh_chosen_by_the_operator';

describe('a SQLite file whose keys of starts were known by their name', () => {
  it('keeps them known, and lists the sign-ins that it has', () => {
    const folder = mkdtempSync(join(tmpdir(), 'spanhouse-keys-'));
    const database = openDatabase(join(folder, 'test.sqlite'));
    try {
      const files = readMigrationFiles(schemaDirectory('sqlite'));
      const before = files.findIndex(({ name }) => name === 'bounded_reads');
      migrate(database, files.slice(0, before));
      database.exec(`
        INSERT INTO users (id, name, created_at) VALUES ('u', 'Ann', 1);
        INSERT INTO projects (id, name, created_at) VALUES ('p', 'Project', 1), ('q', 'Other', 2)`);
      const key = database.prepare(
        `INSERT INTO api_keys (id, project_id, user_id, name, prefix, hash, created_at, revoked_at)
         VALUES (?, ?, 'u', ?, 'sk', ?, 1, ?)`,
      );
      key.run('start', 'p', 'Initial key', hashApiKey(INIT_KEY), 5);
      key.run('gone', 'p', 'Console', randomBytes(32), 5);
      for (const project of ['p', 'q']) key.run(`stands in ${project}`, project, 'Console', randomBytes(32), null);
      for (const [id, at] of [
        ['older', 10],
        ['newer', 20],
      ]) {
        database
          .prepare(
            `INSERT INTO sign_ins (id, user_id, stage, invited, hash, created_at, expires_at)
             VALUES (?, 'u', 'session', 0, ?, ?, 9e15)`,
          )
          .run(id, randomBytes(32), at);
        database.prepare(`INSERT INTO sign_in_keys VALUES (?, 'stands in p'), (?, 'stands in q')`).run(id, id);
      }
      migrate(database, files);

      const signIns = new SqliteSignInStore(database);
      for (const project of ['p', 'q']) {
        const listed = signIns.list(project, { limit: 10, offset: 0 }, 100);
        expect(listed.map(({ id, key: { id: of } }) => [id, of])).to.deep.equal([
          ['newer', `stands in ${project}`],
          ['older', `stands in ${project}`],
        ]);
      }
      const store = new SqliteIdentityStore(database);
      const old = store.findKey('stands in p');
      expect([old?.access, old?.scopes, old?.expires_at]).to.deep.equal(['full', scopesOf('full'), null]);
      const revoked = new RevokedKeys({ store, initKey: null });
      revoked.removeSome();
      revoked.close();
      expect(['start', 'gone'].map((id) => store.findKey(id) !== undefined)).to.deep.equal([true, false]);
      const identity = new IdentityService({ store });
      expect(identity.bootstrap({ projectId: null, apiKey: INIT_KEY })).to.include({ initKeyRevoked: true });
      identity.close();
    } finally {
      database.close();
      rmSync(folder, { recursive: true });
    }
  });
});
