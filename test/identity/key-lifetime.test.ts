import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { expect } from 'chai';
import { openMetadataStore, type MetadataStore } from '../../src/compose/metadata-store.js';
import { IdentityService } from '../../src/engine/identity/identity-service.js';
import { RevokedKeys } from '../../src/engine/identity/revoked-keys.js';
import { SignInService } from '../../src/engine/identity/sign-in-service.js';
import { freshDataDir } from '../harness/fresh-directory.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { admin, ConsoleBrowser } from './console-browser.js';

const DAY = 86_400 * 1e6;
const CLIENT = '203.0.113.7';

describe('API keys over HTTP', () => {
  let server: TestServer;
  let keys: string;
  before(async () => {
    server = await bootServer({ env: { TRUSTED_PROXIES: '1' } });
    keys = `/projects/${server.projectId}/api-keys`;
  });
  after(() => server.dispose());

  const make = (body: object, key?: string) =>
    server.request('POST', keys, { body: { name: 'of a test', ...body }, ...(key === undefined ? {} : { key }) });
  const made = async (body: object) => {
    const { status, text, json } = await make(body);
    expect(status, text).to.equal(201);
    return json as {
      id: string;
      key: string;
      access: string;
      scopes: string[];
      expires_at: string | null;
      rotated_at: string | null;
    };
  };
  const statusOf = async (key: string) => (await server.request('GET', '/whoami', { key })).status;

  it('are made with scopes, which have a name where a set of that name is the same', async () => {
    const custom = await made({ scopes: ['spans:write', 'spans:read', 'spans:write'] });
    expect([custom.access, custom.scopes]).to.deep.equal(['custom', ['spans:read', 'spans:write']]);
    const named = await made({ scopes: ['prompts:read', 'feedback:write', 'scores:write', 'spans:write'] });
    expect(named.access).to.equal('application');
    expect((await made({ access: 'application' })).scopes).to.deep.equal(named.scopes);
    const listed = (await server.request('GET', keys)).json as { id: string; access: string; scopes: string[] }[];
    expect(listed.find(({ id }) => id === custom.id))
      .to.include({ access: 'custom' })
      .and.deep.include({
        scopes: ['spans:read', 'spans:write'],
      });
    const who = (await server.request('GET', '/whoami', { key: custom.key })).json;
    expect(who.key).to.deep.include({ access: 'custom', scopes: ['spans:read', 'spans:write'], expires_at: null });
    for (const body of [
      { scopes: [] },
      { scopes: ['spans:delete'] },
      { scopes: 'spans:read' },
      { scopes: ['spans:read'], access: 'read' },
      { access: 'custom' },
      { expires_at: '2026-01-01T00:00:00Z' },
      { expires_at: '2200-01-01T00:00:00Z' },
    ]) {
      const { status, json } = await make(body);
      expect([status, json.errors?.length], JSON.stringify(body)).to.deep.equal([422, 1]);
    }
  });

  it('give nobody more than they have', async () => {
    const { key } = await made({ scopes: ['admin', 'spans:read'] });
    const full = await make({}, key);
    expect([full.status, full.json.detail]).to.deep.equal([
      403,
      'This API key cannot give scopes that it lacks: spans:write, scores:read, scores:write, feedback:read, feedback:write, ' +
        'shares:read, shares:write, prompts:read, prompts:write, judges:read, judges:write, datasets:read, datasets:write, monitors:read, ' +
        'monitors:write, dashboards:read, dashboards:write, project:read',
    ]);
    expect((await make({ scopes: ['spans:read'] }, key)).status).to.equal(201);
    const invites = `/projects/${server.projectId}/invites`;
    expect((await server.request('POST', invites, { key, body: { name: 'Ann', access: 'read' } })).status).to.equal(
      403,
    );
    const other = await made({ access: 'read' });
    const rotated = await server.request('POST', `${keys}/${other.id}:rotate`, { key, body: {} });
    expect(rotated.status).to.equal(403);
    expect(await statusOf(other.key)).to.equal(200);
  });

  it('are rotated: both are accepted for a while, and the new one is like the old one', async () => {
    const old = await made({ access: 'ci' });
    const { status, text, json } = await server.request('POST', `${keys}/${old.id}:rotate`, { body: {} });
    expect(status, text).to.equal(201);
    const { id, key, expires_at, scopes } = json;
    expect({ ...json, name: 'of a test', access: 'ci' }).to.deep.equal(json);
    expect([expires_at, scopes, id === old.id]).to.deep.equal([null, old.scopes, false]);
    expect([await statusOf(old.key), await statusOf(key)]).to.deep.equal([200, 200]);
    const listed = (await server.request('GET', keys)).json as { id: string; expires_at: string; rotated_at: string }[];
    const of = (wanted: string) => listed.find((each) => each.id === wanted);
    const ends = Date.parse(of(old.id)?.expires_at ?? '');
    expect(Date.parse(of(old.id)?.rotated_at ?? '')).to.be.closeTo(ends - 86_400_000, 2);
    expect([old.rotated_at, of(id)?.rotated_at]).to.deep.equal([null, null]);
    expect(ends - Date.now()).to.be.within(86_000_000, 86_400_000);
    for (const [where, body, expected] of [
      [old.id, { overlap_seconds: -1 }, 422],
      [old.id, { overlap_seconds: 2_592_001 }, 422],
      [randomUUID(), {}, 404],
      // A program that sends its call again would else leave a key that nobody knows.
      [old.id, {}, 409],
    ] as const)
      expect((await server.request('POST', `${keys}/${where}:rotate`, { body })).status).to.equal(expected);
  });

  it('are refused once they have expired, also for whoever signed in with them', async () => {
    const old = await made({});
    const browser = await ConsoleBrowser.signedIn(server, { key: old.key });
    expect([await statusOf(old.key), await browser.status('GET', '/whoami')]).to.deep.equal([200, 200]);
    const rotate = (body: object) => server.request('POST', `${keys}/${old.id}:rotate`, { body });
    expect((await rotate({ overlap_seconds: 0 })).status).to.equal(201);
    for (const refused of [
      await server.request('GET', '/whoami', { key: old.key }),
      await browser.request('GET', '/spans'),
      await browser.request('GET', '/whoami', { project: null }),
    ]) {
      expect(refused.status).to.equal(401);
      expect(refused.json.detail).to.match(/^The API key expired at 20\d\d-/);
    }
    expect((await new ConsoleBrowser(server).signIn({ key: old.key })).status).to.equal(401);
    expect((await rotate({})).status).to.equal(404);
  });

  it('are made and rotated by the admin program', async () => {
    const args = ['create-key', '--scopes', 'datasets:read,spans:read', '--expires', '2040-01-31'];
    const own = await admin(server.dataDir, ...args);
    expect(own).to.include({ access: 'custom', scopes: 'spans:read datasets:read' });
    expect(own.expires_at).to.equal('2040-01-31T00:00:00.000Z');
    const rotated = await admin(server.dataDir, 'rotate-key', own.id, '--overlap', '0');
    expect(rotated).to.include({ access: 'custom', scopes: own.scopes });
    expect([await statusOf(own.key), await statusOf(rotated.key)]).to.deep.equal([401, 200]);
  });

  it('outlive nobody who makes them, and are rotated by nobody but whom they act for', async () => {
    const soon = new Date(Date.now() + 3_600_000).toISOString();
    const brief = await made({ expires_at: soon });
    const by = { key: brief.key };
    const later = new Date(Date.now() + 7_200_000).toISOString();
    for (const expires_at of [undefined, later])
      expect((await make({ ...(expires_at && { expires_at }) }, brief.key)).status).to.equal(403);
    expect((await make({ expires_at: soon }, brief.key)).status).to.equal(201);
    expect((await server.request('POST', `${keys}/${brief.id}:rotate`, { ...by, body: {} })).status).to.equal(403);
    const invites = `/projects/${server.projectId}/invites`;
    expect((await server.request('POST', invites, { ...by, body: { name: 'Ben', access: 'read' } })).status).to.equal(
      403,
    );
    expect((await server.request('POST', invites, { body: { name: 'Ben', access: 'read' } })).status).to.equal(201);
    const listed = (await server.request('GET', keys)).json as { id: string; user_name: string }[];
    const bens = listed.find(({ user_name }) => user_name === 'Ben')?.id ?? '';
    expect((await server.request('POST', `${keys}/${bens}:rotate`, { body: {} })).status).to.equal(403);
  });

  // The server writes what it has noted within seconds.
  it('are listed with the address that used them last, for admins only', async () => {
    const { id, key } = await made({ access: 'read' });
    await server.request('GET', '/whoami', { key, headers: { 'x-forwarded-for': `9.9.9.9, ${CLIENT}` } });
    const from = async (asking?: string) => {
      const { json } = await server.request('GET', keys, asking === undefined ? {} : { key: asking });
      return (json as { id: string; last_used_from: string | null }[]).find((each) => each.id === id)?.last_used_from;
    };
    const until = Date.now() + 30_000;
    while ((await from()) === null && Date.now() < until) await new Promise((wake) => setTimeout(wake, 200));
    expect([await from(), await from(key)]).to.deep.equal([CLIENT, null]);
  });
});

describe('the lifetime of API keys', () => {
  let dataDir: string;
  let metadata: MetadataStore;
  let identity: IdentityService;
  let now = 1_700_000_000_000_000;
  let ids: { projectId: string; userId: string };
  before(async () => {
    dataDir = await freshDataDir('spanhouse-lifetime-');
    metadata = openMetadataStore(dataDir);
    identity = new IdentityService({ store: metadata.identities, now: () => now });
    identity.bootstrap();
    ids = { projectId: identity.listProjects()[0]?.id ?? '', userId: identity.listUsers()[0]?.id ?? '' };
  });
  after(async () => {
    identity.close();
    metadata.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  it('ends at its time, also for a key that is in memory', () => {
    const { key } = identity.createKey({ ...ids, name: 'short', expiresAt: now + 10 * DAY });
    expect(identity.authenticate(`Bearer ${key}`).scopes.has('admin')).to.equal(true);
    now += 10 * DAY - 1;
    identity.authenticate(`Bearer ${key}`);
    now += 1;
    expect(() => identity.authenticate(`Bearer ${key}`)).to.throw('The API key expired at 2023-11-');
  });

  it('begins anew with a rotation, and a second one makes no key last for longer', () => {
    const first = identity.createKey({ ...ids, name: 'ten days', expiresAt: now + 10 * DAY });
    now += 9 * DAY;
    const rotation = { projectId: ids.projectId, keyId: first.id, overlap: 5 * DAY };
    expect(identity.rotateKey(rotation, null).expires_at).to.equal(now + 10 * DAY);
    expect(metadata.identities.findKey(first.id)?.expires_at).to.equal(first.expires_at);
  });

  it('opens other projects of a session all the same, and no new sign-in', () => {
    const other = identity.createProject({ name: 'other' }).id;
    const userId = identity.createUser({ name: 'Ann' }).id;
    identity.createKey({ projectId: ids.projectId, userId, name: 'short', expiresAt: now + DAY });
    identity.createKey({ projectId: other, userId, name: 'long' });
    const signIns = new SignInService({ store: metadata.signIns, identity, now: () => now });
    const { code } = signIns.makeCode(userId, null, () => other);
    const { token } = signIns.signIn({ code });
    expect(signIns.session(token)?.keys).to.have.length(2);
    now += 2 * DAY;
    const session = signIns.session(token)!;
    expect(signIns.principal(session, null).project_id).to.equal(other);
    expect(() => signIns.principal(session, ids.projectId)).to.throw('does not have access');
    signIns.signIn({ code: signIns.makeCode(userId, null, () => other).code });
    expect(() => signIns.makeCode(userId, ids.projectId, () => 'no project')).to.throw('no project with this id');
  });

  it('is over for good 30 days later', () => {
    const { id } = identity.createKey({ ...ids, name: 'gone', expiresAt: now + DAY });
    const upkeep = (at: number) => {
      const revoked = new RevokedKeys({ store: metadata.identities, initKey: null, now: () => at });
      while (revoked.removeSome());
      revoked.close();
    };
    upkeep(now + 30 * DAY);
    expect(metadata.identities.findKey(id)).to.include({ revoked_at: null });
    upkeep(now + 31 * DAY + 1);
    expect(metadata.identities.findKey(id)).to.equal(undefined);
  });

  it('has a note of where a key was used last, if that is an address', () => {
    const made = ['::ffff:192.0.2.1', 'fe80::1%eth0', 'unknown', '1'.repeat(10_000)].map((from, index) => {
      const { id, key } = identity.createKey({ ...ids, name: `${index}` });
      identity.authenticate(`Bearer ${key}`, () => from);
      return id;
    });
    identity.close();
    const from = made.map((id) => metadata.identities.findKey(id)?.last_used_from);
    expect(from).to.deep.equal(['192.0.2.1', 'fe80::1', null, null]);
  });
});
