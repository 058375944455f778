import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { expect } from 'chai';
import { DomainError } from '../../src/engine/errors.js';
import { generateApiKey, hashApiKey } from '../../src/engine/identity/api-key.js';
import { IdentityService } from '../../src/engine/identity/identity-service.js';
import { schemaDirectory } from '../../src/engine/files/schema-files.js';
import { DataDirLockedError, lockDataDir } from '../../src/engine/metadata/data-dir-lock.js';
import { openDatabase, type Database } from '../../src/engine/metadata/database.js';
import { LateDatabase } from '../../src/engine/metadata/late-statements.js';
import { SqliteIdentityStore } from '../../src/engine/identity/store/identity-store.js';
import { metadataFile, openMetadataStore } from '../../src/compose/metadata-store.js';
import { MigrationError, readMigrationFiles, type MigrationFile } from '../../src/engine/files/migration-files.js';
import { migrate } from '../../src/engine/metadata/migrations.js';

describe('the SQLite store', () => {
  let folder: string;
  const opened: Database[] = [];
  const open = () => {
    const database = openDatabase(join(folder, 'test.sqlite'));
    opened.push(database);
    return database;
  };
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'spanhouse-sqlite-'));
  });
  afterEach(() => {
    for (const database of opened.splice(0)) database.close();
    rmSync(folder, { recursive: true });
  });

  it('is set to survive power loss and to keep its references', () => {
    const database = open();
    expect(database.pragma('journal_mode', { simple: true })).to.equal('wal');
    expect(database.pragma('synchronous', { simple: true })).to.equal(2);
    expect(database.pragma('foreign_keys', { simple: true })).to.equal(1);
    expect(database.pragma('busy_timeout', { simple: true })).to.be.greaterThan(0);
  });

  describe('migrations', () => {
    const file = (version: number, sql: string): MigrationFile => ({
      version,
      name: `m${version}`,
      sql,
      checksum: `sum of ${sql}`,
    });
    const one = file(1, 'CREATE TABLE a (x INTEGER) STRICT');
    const two = file(2, 'CREATE TABLE b (x INTEGER) STRICT; INSERT INTO b VALUES (1)');
    const tables = (database: Database) =>
      database
        .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name IN ('a','b') ORDER BY 1")
        .pluck()
        .all();

    it('are applied once, also by a second connection', () => {
      const database = open();
      expect(migrate(database, [one])).to.deep.equal([1]);
      expect(migrate(open(), [one, two])).to.deep.equal([2]);
      expect(migrate(database, [one, two])).to.deep.equal([]);
      expect(tables(database)).to.deep.equal(['a', 'b']);
    });

    it('that fail leave nothing of themselves, and can be tried again', () => {
      const database = open();
      const broken = file(2, 'CREATE TABLE b (x INTEGER) STRICT; INSERT INTO nowhere VALUES (1)');
      expect(() => migrate(database, [one, broken]))
        .to.throw(MigrationError, 'm2')
        .with.property('kind', 'failed');
      expect(tables(database)).to.deep.equal(['a']);
      expect(migrate(database, [one, two])).to.deep.equal([2]);
    });

    it('refuse a database of a newer program', () => {
      const database = open();
      migrate(database, [one, two]);
      expect(() => migrate(database, [one]))
        .to.throw(MigrationError, 'newer')
        .with.property('kind', 'newer_database');
    });

    it('refuse a changed file, before anything new is applied', () => {
      const database = open();
      migrate(database, [one]);
      const changed = file(1, 'CREATE TABLE a (y INTEGER) STRICT');
      expect(() => migrate(database, [changed, two]))
        .to.throw(MigrationError)
        .with.property('kind', 'changed_file');
      expect(tables(database)).to.deep.equal(['a']);
    });

    it('of the program itself are numbered and strict', () => {
      const database = open();
      migrate(database, readMigrationFiles(schemaDirectory('sqlite')));
      const loose = database
        .prepare("SELECT name FROM pragma_table_list WHERE type = 'table' AND NOT strict AND name NOT LIKE 'sqlite_%'")
        .pluck()
        .all();
      expect(loose).to.deep.equal([]);
    });
  });

  it('opens the metadata of a data directory, with the same secrets each time, and says when it cannot serve', () => {
    const dataDir = join(folder, 'data');
    const first = openMetadataStore(dataDir);
    first.check();
    const secret = first.secret('one');
    expect(secret).to.have.lengthOf(32);
    expect(first.secret('two').equals(secret)).to.equal(false);
    first.close();
    expect(() => first.check()).to.throw(/not open/);
    const second = openMetadataStore(dataDir);
    expect(second.secret('one').equals(secret)).to.equal(true);
    second.close();
  });

  it('compiles a statement when it is first used, and can compile each that the stores have', () => {
    const made: { readonly by: Database; readonly source: string }[] = [];
    const { prepare } = LateDatabase.prototype;
    LateDatabase.prototype.prepare = function (this: LateDatabase, source: string): never {
      made.push({ by: this, source });
      return prepare.call(this, source);
    };
    try {
      const store = openMetadataStore(folder);
      expect(made.length).to.be.greaterThan(500);
      const compile = BetterSqlite3.prototype.prepare;
      for (const { by, source } of made) expect(() => compile.call(by, source), source).not.to.throw();
      store.close();
    } finally {
      LateDatabase.prototype.prepare = prepare;
    }
    const late = open().prepare('SELECT odd');
    expect(() => late.get()).to.throw(/no such column: odd/);
  });

  describe('an upgrade', () => {
    const files = readMigrationFiles(schemaDirectory('sqlite'));
    const NEXT = files.length;
    const copyOf = (version: number) => `${metadataFile(folder)}.before-${String(version).padStart(4, '0')}`;
    const versionOf = (path: string) => {
      const database = openDatabase(path);
      try {
        return database.prepare('SELECT max(version) FROM schema_migrations').pluck().get();
      } finally {
        database.close();
      }
    };
    const madeBy = (version: number) => {
      const database = openDatabase(metadataFile(folder));
      migrate(database, files.slice(0, version));
      database.close();
    };

    it('keeps the metadata as they were beside them, and makes no copy where nothing changes', () => {
      openMetadataStore(join(folder, 'new')).close();
      expect(readdirSync(join(folder, 'new'))).to.deep.equal(['spanhouse.sqlite']);
      madeBy(NEXT - 1);
      const told: unknown[] = [];
      const observer = { metadataMigrationBegins: (migrations: unknown) => void told.push(migrations) };
      openMetadataStore(folder, observer).close();
      expect(told).to.deep.equal([{ versions: [NEXT], copy: copyOf(NEXT) }]);
      expect(versionOf(metadataFile(folder))).to.equal(NEXT);
      expect(versionOf(copyOf(NEXT))).to.equal(NEXT - 1);
      expect(statSync(copyOf(NEXT)).mode & 0o777).to.equal(0o600);
      rmSync(copyOf(NEXT));
      openMetadataStore(folder, observer).close();
      expect(existsSync(copyOf(NEXT))).to.equal(false);
      expect(told).to.have.length(1);
    });

    it('keeps the last two copies, and makes one anew that a start left before it could change anything', () => {
      madeBy(NEXT - 1);
      for (const earlier of [copyOf(3), copyOf(4), copyOf(NEXT), `${copyOf(NEXT)}.part`]) writeFileSync(earlier, 'old');
      openMetadataStore(folder).close();
      const copies = readdirSync(folder).filter((name) => name.includes('.before-'));
      expect(copies.map((name) => join(folder, name))).to.have.members([copyOf(4), copyOf(NEXT)]);
      expect(versionOf(copyOf(NEXT))).to.equal(NEXT - 1);
    });

    it('changes nothing when the copy cannot be made, and says what to do', () => {
      madeBy(NEXT - 1);
      mkdirSync(join(copyOf(NEXT), 'in the way'), { recursive: true });
      expect(() => openMetadataStore(folder)).to.throw(MigrationError, /nothing was changed\. Make room for \d+ MB in/);
      expect(versionOf(metadataFile(folder))).to.equal(NEXT - 1);
      expect(existsSync(`${copyOf(NEXT)}.part`)).to.equal(false);
    });
  });

  it('leaves no metadata open whose schema is of a newer program', () => {
    openMetadataStore(folder).close();
    const database = openDatabase(metadataFile(folder));
    database.exec("INSERT INTO schema_migrations VALUES (9999, 'later', 'x', 'now')");
    database.close();
    expect(() => openMetadataStore(folder)).to.throw(MigrationError);
    // The last connection that closes removes it.
    expect(existsSync(`${metadataFile(folder)}-wal`)).to.equal(false);
  });

  it('locks a data directory once, and gives it back', () => {
    const first = lockDataDir(folder);
    expect(() => lockDataDir(folder))
      .to.throw(DataDirLockedError, folder)
      .with.property('message')
      .that.includes(String(process.pid));
    first.release();
    lockDataDir(folder).release();
  });

  describe('identity', () => {
    const identityOn = (database: Database, now?: () => number) => {
      migrate(database, readMigrationFiles(schemaDirectory('sqlite')));
      return new IdentityService({ store: new SqliteIdentityStore(database), ...(now === undefined ? {} : { now }) });
    };

    it('keeps no key in the clear', () => {
      const database = open();
      const key = identityOn(database).bootstrap().created?.key ?? '';
      expect(key).to.match(/^sk_sh_[A-Za-z0-9_-]{43}$/);
      const row = database.prepare('SELECT * FROM api_keys').get() as { hash: Buffer };
      expect(row.hash.equals(hashApiKey(key))).to.equal(true);
      expect(Buffer.from(database.serialize()).includes(key.slice(12))).to.equal(false);
    });

    it('notices a revocation by another connection, and by itself, on the next call', () => {
      const here = identityOn(open());
      const there = identityOn(open());
      const { projectId, key } = here.bootstrap().created ?? { projectId: '', key: '' };
      const header = `Bearer ${key}`;
      const principal = here.authenticate(header);
      expect(here.authenticate(header)).to.deep.equal(principal);
      there.revokeKey(projectId, principal.key_id);
      expect(() => here.authenticate(header))
        .to.throw(DomainError)
        .with.property('kind', 'unauthenticated');
      const second = here.createKey({ projectId, userId: principal.user_id, name: 'second' });
      here.authenticate(`Bearer ${second.key}`);
      here.revokeKey(projectId, second.id);
      expect(() => here.authenticate(`Bearer ${second.key}`)).to.throw(DomainError);
    });

    it('writes the time of last use at most once a minute, and before it closes', () => {
      let now = 1_000_000_000_000_000;
      const database = open();
      const identity = identityOn(database, () => now);
      const key = identity.bootstrap().created?.key ?? '';
      const lastUsed = () => database.prepare('SELECT last_used_at FROM api_keys').pluck().get();
      identity.authenticate(`Bearer ${key}`);
      expect(lastUsed()).to.equal(null);
      now += 30_000_000;
      identity.authenticate(`Bearer ${key}`);
      identity.close();
      expect(lastUsed()).to.equal(1_000_000_000_000_000);
      const again = identityOn(database, () => now);
      now += 31_000_000;
      again.authenticate(`Bearer ${key}`);
      again.close();
      expect(lastUsed()).to.equal(now);
    });

    it('makes user, project and key together or not at all', () => {
      const database = open();
      const identity = identityOn(database);
      expect(() => identity.bootstrap({ apiKey: 'short' })).to.throw(DomainError);
      expect(() => identity.bootstrap({ projectId: 'no-uuid' })).to.throw(DomainError);
      expect(identity.listProjects()).to.deep.equal([]);
      const key = generateApiKey();
      identity.bootstrap({ apiKey: key });
      expect(identity.bootstrap({ apiKey: key }).created).to.equal(null);
      expect([
        identity.listProjects().length,
        identity.listUsers().length,
        identity.listKeys(null).length,
      ]).to.deep.equal([1, 1, 1]);
      const other = { apiKey: key, projectId: '0197f3a0-0000-7000-8000-000000000002' };
      expect(() => identity.bootstrap(other))
        .to.throw(DomainError)
        .with.property('kind', 'conflict');
      expect(identity.listProjects()).to.have.length(1);
    });

    it('answers unavailable while another process holds the write lock', () => {
      const identity = identityOn(open());
      const blocker = open();
      blocker.exec('BEGIN IMMEDIATE');
      expect(() => identity.createUser({ name: 'late' }))
        .to.throw(DomainError)
        .with.property('kind', 'unavailable');
      blocker.exec('ROLLBACK');
      expect(identity.createUser({ name: 'now' }).name).to.equal('now');
    });
  });
});
