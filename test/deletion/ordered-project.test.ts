import { randomBytes, randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { hashApiKey } from '../../src/engine/identity/api-key.js';
import { IdentityService } from '../../src/engine/identity/identity-service.js';
import { SignInService } from '../../src/engine/identity/sign-in-service.js';
import { DATABASE_FILE, openDatabase, type Database } from '../../src/engine/metadata/database.js';
import { openMetadataStore, type MetadataStore } from '../../src/compose/metadata-store.js';
import { freshDataDir } from '../harness/fresh-directory.js';
import { unhurried } from '../harness/program.js';

const REVOKED = 40_000;
const KEYS = 1_000;
const SIGN_INS_OF_EACH = 25;
const LINKS = 40_000;
const LINK = randomBytes(32);
const INIT_KEY = 'sk_sh_chosen_by_the_operator';
/** An idle machine takes 3 ms; it took one to five seconds, for twice as many, when all that is there of keys and links was written at once. */
const MAX_MS = 300;
const MANY = 'WITH RECURSIVE many (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM many WHERE n < @count) INSERT INTO';

describe('ordering the deletion of a project with very many keys, sign-ins and links', function () {
  this.timeout(120_000);
  let dataDir: string;
  let metadata: MetadataStore;
  let identity: IdentityService;
  let signIns: SignInService;
  let doomed: string;
  let other: string;
  let userId: string;

  const open = () => {
    metadata = openMetadataStore(dataDir);
    identity = new IdentityService({ store: metadata.identities });
    signIns = new SignInService({ store: metadata.signIns, identity });
  };
  const close = () => {
    identity.close();
    metadata.close();
  };
  const make = (projectId: string) => identity.createKey({ projectId, userId, name: 'a key' });

  before(async () => {
    dataDir = await freshDataDir('spanhouse-ordered-');
    open();
    userId = identity.createUser({ name: 'Ann' }).id;
    [doomed, other] = [identity.createProject({ name: 'doomed' }).id, identity.createProject({ name: 'other' }).id];
    identity.bootstrap({ projectId: doomed, apiKey: INIT_KEY });
  });
  after(async () => {
    close();
    await rm(dataDir, { recursive: true, force: true });
  });

  function fill(db: Database): void {
    const values = { project: doomed, user: userId, link: LINK, prompt: randomUUID() };
    const run = (count: number, sql: string) => db.prepare<object>(sql).run({ ...values, count });
    db.transaction(() => {
      run(0, "INSERT INTO prompts (id, project_id, slug, created_at) VALUES (@prompt, @project, 's', 1)");
      run(
        REVOKED,
        `${MANY} api_keys (id, project_id, user_id, name, prefix, hash, created_at, revoked_at)
         SELECT hex(randomblob(16)), @project, @user, 'gone', 'sk', randomblob(32), n, n FROM many`,
      );
      run(
        KEYS,
        `${MANY} api_keys (id, project_id, user_id, name, prefix, hash, created_at)
         SELECT 'key ' || n, @project, @user, 'a key', 'sk', randomblob(32), n FROM many`,
      );
      run(
        KEYS * SIGN_INS_OF_EACH,
        `${MANY} sign_ins (id, user_id, stage, invited, hash, created_at, expires_at)
         SELECT n, @user, 'session', 0, randomblob(32), n, 9e15 FROM many`,
      );
      run(
        KEYS * SIGN_INS_OF_EACH,
        `${MANY} sign_in_keys (sign_in_id, key_id) SELECT n, 'key ' || (1 + n % ${KEYS}) FROM many`,
      );
      run(
        LINKS,
        `${MANY} feedback_links (id, project_id, prompt_id, link_type, token_hash, created_at, created_by, expires_at)
         SELECT n, @project, @prompt, 'prompt_completion', iif(n = 1, @link, randomblob(32)), n, @user, 9e15 FROM many`,
      );
    })();
  }

  it('takes a moment, and opens nothing of it from then on, also after a restart', () => {
    const [key, elsewhere] = [make(doomed), make(other)];
    const { token: only } = signIns.signIn({ key: key.key });
    const { token: both } = signIns.signIn(signIns.makeCode(userId, null, () => other));
    const code = signIns.makeCode(userId, doomed, () => doomed);
    const db = openDatabase(join(dataDir, DATABASE_FILE));
    try {
      fill(db);
    } finally {
      db.close();
    }
    const linkOpens = () => metadata.links.findByTokenHash(LINK)?.revoked_at === null;
    const opens = (token: string) => signIns.session(token)?.keys.map(({ project_id }) => project_id);
    expect(identity.authenticate(`Bearer ${key.key}`).project_id).to.equal(doomed);
    expect(opens(only)).to.deep.equal([doomed]);
    expect(opens(both)).to.have.members([doomed, other]);
    expect(linkOpens()).to.equal(true);

    const began = performance.now();
    const deletion = metadata.deletions.orderProject(doomed, Date.now() * 1000);
    expect(performance.now() - began).to.be.below(unhurried(MAX_MS));
    expect(deletion).to.include({ project_id: doomed, what: 'project' });

    const closed = () => {
      for (const refused of [key.key, INIT_KEY])
        expect(() => identity.authenticate(`Bearer ${refused}`)).to.throw('unknown or revoked');
      expect(() => identity.principalOfKey(key.id, 'x')).to.throw('unknown or revoked');
      expect(opens(only)).to.equal(undefined);
      expect(opens(both)).to.deep.equal([other]);
      expect(() => signIns.signIn(code)).to.throw('sign-in link is unknown');
      expect(linkOpens()).to.equal(false);
      expect([identity.listKeys(doomed), signIns.list(doomed, { limit: 10, offset: 0 })]).to.deep.equal([[], []]);
      expect(identity.authenticate(`Bearer ${elsewhere.key}`).project_id).to.equal(other);
    };
    identity.projectGone(doomed);
    closed();
    close();
    open();
    closed();
  });

  it('leaves the key of a start to another project', () => {
    expect(metadata.identities.findKeyByHash(hashApiKey(INIT_KEY))?.project_id).to.equal(doomed);
    expect(identity.bootstrap({ projectId: other, apiKey: INIT_KEY }).initKeyRevoked).to.equal(false);
    expect(identity.authenticate(`Bearer ${INIT_KEY}`).project_id).to.equal(other);
  });

  it('leaves the rest to portions, which take all of it', () => {
    const [deletion] = metadata.deletions.pending();
    if (deletion === undefined) throw new Error('nothing was ordered');
    while (metadata.deletions.removeSomeOfProject(deletion));
    const db = openDatabase(join(dataDir, DATABASE_FILE));
    const count = (from: string) => db.prepare(`SELECT count(*) FROM ${from}`).pluck().get();
    expect(count('projects')).to.equal(1);
    // Those of the other project: of a person, of the start; and who signed in to both.
    expect([count('api_keys'), count('sign_in_keys'), count('sign_ins')]).to.deep.equal([2, 1, 1]);
    expect(count('feedback_links')).to.equal(0);
    db.close();
  });
});
