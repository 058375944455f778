import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readMigrationFiles } from '../../src/engine/files/migration-files.js';
import { schemaDirectory } from '../../src/engine/files/schema-files.js';
import { isAbove, leastRole, ROLE_NAMES, scopesOfRole, type Role } from '../../src/engine/identity/roles.js';
import { isReading, SCOPE_NAMES, type Scope } from '../../src/engine/identity/scopes.js';
import { SqliteIdentityStore } from '../../src/engine/identity/store/identity-store.js';
import { openDatabase } from '../../src/engine/metadata/database.js';
import { migrate } from '../../src/engine/metadata/migrations.js';
import { each } from '../harness/checked-api.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { makeProject } from '../harness/projects.js';
import { codeIn, ConsoleBrowser } from './console-browser.js';
import { describedCalls, type DescribedCall } from './described-calls.js';

const AT_ONCE = 16;

describe('roles of people', function () {
  this.timeout(60_000);
  let server: TestServer;
  let calls: DescribedCall[];

  before(async () => {
    server = await bootServer({ signIns: { attemptsPerMinute: 1_000 } });
    calls = await describedCalls(server);
  });
  after(() => server.dispose());

  async function personWith(role: Role): Promise<ConsoleBrowser> {
    const invites = `/projects/${server.projectId}/invites`;
    const { json, text } = await server.request('POST', invites, { body: { name: role, role } });
    expect(json.url, text).to.be.a('string');
    return ConsoleBrowser.signedIn(server, { code: codeIn(json.url) });
  }

  it('open the calls whose scopes they have, nothing more and nothing less, of their project alone', async () => {
    const other = makeProject(server.dataDir).projectId;
    for (const role of ROLE_NAMES) {
      const person = await personWith(role);
      const has = new Set(scopesOfRole(role));
      await each(
        calls,
        async ({ id, method, path, needed }) => {
          const { status, json } = await person.request(method, `${path}?status=zyx&zyx=1`);
          const lacking = needed.filter((scope) => !has.has(scope));
          expect(status === 403, `${role} ${id} ${status}`).to.equal(lacking.length > 0);
          expect(status, id).to.not.equal(401);
          if (lacking.length === 0) return;
          const said = `Your role ${role} lacks the scope${lacking.length > 1 ? 's' : ''} ${lacking.join(', ')}`;
          expect(json.detail ?? json.message, id).to.equal(said);
          // Clients of OTLP get a status of theirs.
          if (json.type !== undefined) expect(json.missing_scopes, id).to.deep.equal(lacking);
        },
        AT_ONCE,
      );
      for (const path of ['', '/members', '/api-keys'])
        expect(await person.status('GET', `/projects/${other}${path}`), role).to.equal(403);
      expect(await person.status('GET', '/spans', { project: other }), role).to.equal(403);
      const me = (await person.request('GET', '/whoami')).json;
      expect([me.role, me.key.scopes]).to.deep.equal([role, scopesOfRole(role)]);
    }
  });

  it('each have all that the one below has; reading is for all, managing for two', () => {
    for (const [index, role] of ROLE_NAMES.entries()) {
      const below = ROLE_NAMES[index + 1];
      if (below === undefined) continue;
      expect(scopesOfRole(role)).to.include.members([...scopesOfRole(below)]);
      expect([isAbove(role, below), isAbove(below, role), isAbove(role, role)]).to.deep.equal([true, false, false]);
    }
    expect(scopesOfRole('viewer')).to.deep.equal(SCOPE_NAMES.filter((one) => isReading(one) && one !== 'audit:read'));
    for (const scope of ['admin', 'audit:read'] as const)
      expect(ROLE_NAMES.filter((role) => scopesOfRole(role).includes(scope))).to.deep.equal(['owner', 'admin']);
    const least: readonly [Role, readonly Scope[]][] = [
      ['viewer', []],
      ['annotator', ['scores:write']],
      ['member', ['spans:write']],
      ['member', ['monitors:write']],
      ['admin', ['audit:read']],
      ['admin', ['admin']],
      ['admin', SCOPE_NAMES],
    ];
    for (const [role, scopes] of least) expect(leastRole(scopes), scopes.join()).to.equal(role);
  });
});

describe('a SQLite file from before there were roles', () => {
  it('makes each user with a valid key a person who may do as much', () => {
    const folder = mkdtempSync(join(tmpdir(), 'spanhouse-roles-'));
    const database = openDatabase(join(folder, 'test.sqlite'));
    try {
      const files = readMigrationFiles(schemaDirectory('sqlite'));
      migrate(
        database,
        files.slice(
          0,
          files.findIndex(({ name }) => name === 'roles'),
        ),
      );
      database.exec("INSERT INTO projects (id, name, created_at) VALUES ('p', 'Project', 1), ('q', 'Other', 2)");
      const user = database.prepare('INSERT INTO users (id, name, created_at, invited) VALUES (?, ?, 1, ?)');
      const insert = database.prepare(
        `INSERT INTO api_keys (id, project_id, user_id, name, prefix, hash, created_at, access, scopes, revoked_at, expires_at)
         VALUES (?, ?, ?, ?, 'sk', ?, 1, ?, ?, ?, ?)`,
      );
      interface Key {
        readonly access?: string;
        readonly scopes?: readonly Scope[];
        readonly project?: string;
        readonly name?: string;
        readonly revoked?: number;
        readonly expires?: number;
      }
      const key = (of: string, { access = 'ingest', scopes, ...more }: Key) => {
        const { project = 'p', name = 'a key', revoked = null, expires = null } = more;
        const stated = scopes === undefined ? null : JSON.stringify(scopes);
        insert.run(randomUUID(), project, of, name, randomBytes(32), access, stated, revoked, expires);
      };
      const people: Readonly<Record<string, readonly [Role | null, ...Key[]]>> = {
        owns: ['owner', { access: 'read' }, { access: 'full' }],
        administers: ['admin', { scopes: ['admin', 'spans:read'] }],
        audits: ['admin', { scopes: ['audit:read'] }],
        watches: ['member', { scopes: ['monitors:write'] }],
        works: ['member', { access: 'read', name: 'reads' }, { access: 'ingest' }],
        changes: ['member', { scopes: ['prompts:write'] }],
        scores: ['annotator', { scopes: ['scores:write', 'spans:read'] }],
        reads: ['viewer', { access: 'read' }],
        left: [null, { access: 'full', revoked: 5 }],
        expired: [null, { access: 'full', expires: 5 }],
      };
      for (const [name, [, ...keys]] of Object.entries(people)) {
        user.run(name, name, 0);
        for (const each of keys) key(name, each);
      }
      user.run('invited', 'invited', 1);
      key('invited', { access: 'read', name: 'Console' });
      key('reads', { access: 'full', project: 'q' });
      migrate(database, files);

      const store = new SqliteIdentityStore(database);
      for (const [name, [role]] of Object.entries(people)) expect(store.members.roleOf('p', name), name).to.equal(role);
      expect([store.members.roleOf('q', 'reads'), store.members.roleOf('q', 'owns')]).to.deep.equal(['owner', null]);
      const listed = store.listKeys(null);
      expect(listed.filter(({ personal }) => personal).map(({ user_id }) => user_id)).to.deep.equal(['invited']);
      const scopesOf = (id: string) => listed.filter(({ user_id }) => user_id === id).flatMap(({ scopes }) => scopes);
      expect(scopesOf('scores')).to.deep.equal(['spans:read', 'scores:write']);
      expect(scopesOf('owns')).to.include.members([...SCOPE_NAMES]);
      expect(scopesOf('changes')).to.deep.equal(['prompts:write']);
    } finally {
      database.close();
      rmSync(folder, { recursive: true });
    }
  });
});
