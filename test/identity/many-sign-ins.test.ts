import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { IdentityService } from '../../src/engine/identity/identity-service.js';
import { SignInService } from '../../src/engine/identity/sign-in-service.js';
import { DATABASE_FILE, openDatabase } from '../../src/engine/metadata/database.js';
import { openMetadataStore, type MetadataStore } from '../../src/compose/metadata-store.js';
import { freshDataDir } from '../harness/fresh-directory.js';
import { unhurried } from '../harness/program.js';

const KEYS = 1_000;
const SIGN_INS = 150_000;
const PAGE = { limit: 100, offset: 0 };
/** An idle machine takes a millisecond; it took 200 when all were sorted. */
const MAX_MS = 40;
const MANY = 'WITH RECURSIVE many (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM many WHERE n < @count) INSERT INTO';

describe('the list of very many sign-ins', function () {
  this.timeout(60_000);
  let dataDir: string;
  let metadata: MetadataStore;
  let identity: IdentityService;
  let signIns: SignInService;
  let now = Date.now() * 1000;
  let projectId: string;
  let userId: string;

  before(async () => {
    dataDir = await freshDataDir('spanhouse-sign-ins-');
    metadata = openMetadataStore(dataDir);
    identity = new IdentityService({ store: metadata.identities });
    signIns = new SignInService({ store: metadata.signIns, identity, now: () => now });
    userId = identity.createUser({ name: 'Ann' }).id;
    projectId = identity.createProject({ name: 'project' }).id;
    const db = openDatabase(join(dataDir, DATABASE_FILE));
    const run = (count: number, sql: string) =>
      db.prepare<object>(sql).run({ count, projectId, userId, at: now - SIGN_INS - 1 });
    db.transaction(() => {
      run(
        KEYS - 1,
        `${MANY} api_keys (id, project_id, user_id, name, prefix, hash, created_at)
         SELECT 'key ' || n, @projectId, @userId, 'a key', 'sk', randomblob(32), n FROM many`,
      );
      run(
        SIGN_INS,
        `${MANY} sign_ins (id, user_id, stage, invited, hash, created_at, expires_at)
         SELECT n, @userId, 'session', 0, randomblob(32), @at + n, 9e15 FROM many`,
      );
      run(
        SIGN_INS,
        `${MANY} sign_in_keys (sign_in_id, key_id, project_id, created_at)
         SELECT n, 'key ' || (1 + n % ${KEYS - 1}), @projectId, @at + n FROM many`,
      );
    })();
    db.close();
  });
  after(async () => {
    identity.close();
    metadata.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  it('sorts none of them for a page', () => {
    const times = Array.from({ length: 10 }, () => {
      const began = performance.now();
      const ids = signIns.list(projectId, PAGE).map(({ id }) => Number(id));
      expect(ids.slice(0, 2)).to.deep.equal([SIGN_INS, SIGN_INS - 1]);
      return performance.now() - began;
    });
    expect(Math.min(...times)).to.be.below(unhurried(MAX_MS));
  });

  it('has a code where it was made, and the session that it becomes where that began', () => {
    const { key } = identity.createKey({ projectId, userId, name: 'a key' });
    const other = identity.createProject({ name: 'other' }).id;
    identity.createKey({ projectId: other, userId, name: 'elsewhere' });
    const code = signIns.makeCode(userId, null, () => projectId);
    now += 1e6;
    signIns.signIn({ key });
    const newest = (project: string) =>
      signIns.list(project, { limit: 2, offset: 0 }).map(({ stage, created_at }) => [stage, created_at]);
    expect(newest(projectId)).to.deep.equal([
      ['session', now],
      ['code', now - 1e6],
    ]);
    expect(newest(other)).to.deep.equal([['code', now - 1e6]]);
    now += 1e6;
    signIns.signIn(code);
    expect(newest(projectId)).to.deep.equal([
      ['session', now],
      ['session', now - 1e6],
    ]);
    expect(newest(other)).to.deep.equal([['session', now]]);
  });
});
