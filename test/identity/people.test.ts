import { expect } from 'chai';
import type { Role } from '../../src/engine/identity/roles.js';
import { bootServer, type TestResponse, type TestServer } from '../harness/server.js';
import { admin, codeIn, ConsoleBrowser } from './console-browser.js';

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

describe('people of a project', function () {
  this.timeout(60_000);
  let server: TestServer;
  let project: string;
  before(async () => {
    server = await bootServer({ signIns: { attemptsPerMinute: 1_000 } });
    project = `/projects/${server.projectId}`;
  });
  after(() => server.dispose());

  interface Person {
    readonly id: string;
    readonly browser: ConsoleBrowser;
  }
  type Caller = { request(method: string, path: string, sent?: object): Promise<TestResponse> };

  const linkTo = async (name: string, role: Role, by: Caller = server) => {
    const { status, json, text } = await by.request('POST', `${project}/invites`, { body: { name, role } });
    expect(status, text).to.equal(201);
    return { id: json.user.id as string, code: codeIn(json.url) };
  };
  async function person(name: string, role: Role): Promise<Person> {
    const { id, code } = await linkTo(name, role);
    return { id, browser: await ConsoleBrowser.signedIn(server, { code }) };
  }
  const members = async (): Promise<any[]> => (await server.request('GET', `${project}/members`)).json;
  const member = async (id: string) => (await members()).find(({ user }) => user.id === id);
  const changeRole = (by: Caller, id: string, role: string) =>
    by.request('PATCH', `${project}/members/${id}`, { body: { role } });
  const remove = (by: Caller, id: string) => by.request('DELETE', `${project}/members/${id}`);
  const owner = async () => (await server.request('GET', '/whoami')).json.user.id as string;
  const keyOf = async ({ browser }: Person, body: object): Promise<{ id: string; key: string }> => {
    const made = await browser.request('POST', `${project}/api-keys`, { body });
    expect(made.status, made.text).to.equal(201);
    return made.json;
  };

  it('are listed with their roles; whoever the first start made owns it', async () => {
    const ann = await person('Ann', 'annotator');
    expect(await member(await owner())).to.deep.include({ role: 'owner', pending: false, keys: 1, sessions: 0 });
    const listed = await member(ann.id);
    expect(listed).to.deep.include({ role: 'annotator', pending: false, keys: 0, sessions: 1 });
    expect(listed.user).to.deep.equal({ id: ann.id, name: 'Ann', email: null });
    const { id } = await linkTo('Waiting', 'viewer');
    expect(await member(id)).to.deep.include({ pending: true, sessions: 0, last_seen_at: null });
  });

  it('have a new role with the next request, and so have their keys', async () => {
    const ben = await person('Ben', 'admin');
    const { key } = await keyOf(ben, { name: 'of an admin' });
    const asked = async () => [
      await ben.browser.status('POST', '/spans', { body: [] }),
      (await server.request('POST', '/spans', { key, body: [] })).status,
      (await server.request('GET', '/spans', { key })).status,
    ];
    expect(await asked()).to.deep.equal([200, 200, 200]);
    const changed = await changeRole(server, ben.id, 'viewer');
    expect([changed.status, changed.json.role]).to.deep.equal([200, 'viewer']);
    expect(await asked()).to.deep.equal([403, 403, 200]);
    const refused = await server.request('POST', '/spans', { key, body: [] });
    expect(refused.json).to.include({ detail: 'This API key lacks the scope spans:write' });
    const keys = (await server.request('GET', `${project}/api-keys`)).json as any[];
    expect(keys.find(({ name }) => name === 'of an admin').access).to.equal('read');
    await changeRole(server, ben.id, 'member');
    expect(await asked()).to.deep.equal([200, 200, 200]);
    expect((await changeRole(server, ben.id, 'king')).status).to.equal(422);
    expect((await changeRole(server, crypto.randomUUID(), 'viewer')).status).to.equal(404);
  });

  it('give no one more than they have, and change no one above them', async () => {
    const adam = await person('Adam', 'admin');
    const eve = await person('Eve', 'owner');
    const { id: ownersKey } = await keyOf(eve, { name: 'of an owner', access: 'read' });
    const { browser } = adam;
    const said = await changeRole(browser, adam.id, 'owner');
    expect([said.status, said.json.detail]).to.deep.equal([403, 'Your role admin cannot give the role owner']);
    const invite = (role: Role, by: Caller = browser) =>
      by.request('POST', `${project}/invites`, { body: { name: 'X', role } });
    expect((await invite('owner')).status).to.equal(403);
    expect((await invite('admin')).status).to.equal(201);
    const [session] = ((await browser.request('GET', `${project}/sign-ins`)).json as any[]).filter(
      ({ user }) => user.id === eve.id,
    );
    for (const attempt of [
      changeRole(browser, eve.id, 'viewer'),
      remove(browser, eve.id),
      browser.request('DELETE', `${project}/api-keys/${ownersKey}`),
      browser.request('DELETE', `${project}/sign-ins/${session.id}`),
      browser.request('DELETE', `${project}/members/${eve.id}/sign-ins`),
    ]) {
      const { status, json } = await attempt;
      expect([status, json.detail]).to.deep.equal([403, 'Your role admin cannot change a person with the role owner']);
    }
    expect(await eve.browser.status('GET', '/spans')).to.equal(200);
    // A key with fewer scopes, or one that expires, gives no role that has more, or lasts for longer.
    const { key: narrow } = await keyOf(eve, { name: 'narrow', scopes: ['admin', 'project:read'] });
    const soon = new Date(Date.now() + 3_600_000).toISOString();
    const { key: brief } = await keyOf(eve, { name: 'brief', expires_at: soon });
    for (const key of [narrow, brief]) {
      const by: Caller = { request: (method, path, sent) => server.request(method, path, { ...sent, key }) };
      expect((await changeRole(by, adam.id, 'viewer')).status).to.equal(403);
      expect((await invite('viewer', by)).status).to.equal(403);
    }
    expect((await server.request('POST', '/projects', { key: brief, body: { name: 'X' } })).status).to.equal(403);
    const works = await person('Works', 'member');
    for (const refused of [await changeRole(works.browser, works.id, 'admin'), await remove(works.browser, adam.id)])
      expect(refused.json.missing_scopes).to.deep.equal(['admin']);
    expect((await changeRole(eve.browser, adam.id, 'owner')).status).to.equal(200);
    for (const { id } of [adam, eve]) expect((await remove(server, id)).status).to.equal(204);
  });

  it('keep at least one owner, and whoever has not come yet is none', async () => {
    const own = await owner();
    await linkTo('Absent', 'owner');
    for (const refused of [await changeRole(server, own, 'admin'), await remove(server, own)])
      expect([refused.status, refused.json.detail]).to.deep.equal([
        409,
        'A project keeps at least one owner: make someone else an owner first',
      ]);
    const second = await person('Second', 'owner');
    expect((await changeRole(second.browser, own, 'member')).status).to.equal(200);
    expect((await remove(second.browser, second.id)).status).to.equal(409);
    expect((await changeRole(second.browser, own, 'owner')).status).to.equal(200);
    expect((await remove(server, second.id)).status).to.equal(204);
  });

  it('make projects, and take invitations to others as who they are', async () => {
    const fay = await person('Fay', 'admin');
    const made = await fay.browser.request('POST', '/projects', { body: { name: ' Second ' } });
    expect([made.status, made.json.name]).to.deep.equal([201, 'Second']);
    const second = made.json.id as string;
    const there = (await fay.browser.request('GET', '/whoami', { project: second })).json;
    expect([there.role, there.projects.length]).to.deep.equal(['owner', 2]);
    expect((await server.request('GET', `/projects/${second}`)).status).to.equal(403);
    expect((await server.request('POST', '/projects', { body: { name: '' } })).status).to.equal(422);

    const gus = await person('Gus', 'viewer');
    const invited = await fay.browser.request('POST', `/projects/${second}/invites`, {
      body: { name: 'Somebody', role: 'member' },
      project: second,
    });
    const code = codeIn(invited.json.url);
    const joinAs = (browser: ConsoleBrowser, sent: object = {}) =>
      browser.request('POST', '/console/session:join', { body: { code }, ...sent });
    const previewBy = async (browser: ConsoleBrowser) =>
      (await browser.request('POST', '/console/session:preview', { body: { code } })).json;
    expect([(await previewBy(gus.browser)).joinable, (await previewBy(fay.browser)).joinable]).to.deep.equal([
      true,
      false,
    ]);
    expect((await joinAs(new ConsoleBrowser(server))).status).to.equal(401);
    expect((await joinAs(gus.browser, { headers: { origin: 'https://evil.example' } })).status).to.equal(403);
    expect((await joinAs(fay.browser)).status).to.equal(409);
    const joined = await joinAs(gus.browser);
    expect(joined.json).to.deep.equal({ id: second, name: 'Second' });
    const people = (await fay.browser.request('GET', `/projects/${second}/members`, { project: second })).json as any[];
    expect(people.map(({ user, role }) => [user.name, role])).to.deep.equal([
      ['Fay', 'owner'],
      ['Gus', 'member'],
    ]);
    expect(await gus.browser.status('POST', '/spans', { body: [], project: second })).to.equal(200);
    expect(await gus.browser.status('POST', '/spans', { body: [] })).to.equal(403);
    expect((await joinAs(gus.browser)).status).to.equal(401);
    const signIn = codeIn((await admin(server.dataDir, 'signin', '--user', gus.id)).url);
    const taken = await fay.browser.request('POST', '/console/session:join', { body: { code: signIn } });
    expect(taken.status, 'a link that signs in is no invitation').to.equal(409);

    expect((await remove(server, gus.id)).status).to.equal(204);
    expect(await gus.browser.status('GET', '/spans')).to.equal(403);
    expect(await gus.browser.status('GET', '/spans', { project: second })).to.equal(200);
  });

  it('see their sessions and end them, and none that opens more', async () => {
    const hal = await person('Hal', 'admin');
    const { key } = await keyOf(hal, { name: 'reads', access: 'read' });
    const link = async () => codeIn((await admin(server.dataDir, 'signin', '--user', hal.id)).url);
    const second = new ConsoleBrowser(server);
    await second.signIn({ code: await link() }, { 'user-agent': FIREFOX });
    const byKey = await ConsoleBrowser.signedIn(server, { key });
    const listed = async (browser: ConsoleBrowser): Promise<any[]> =>
      (await browser.request('GET', '/console/sessions')).json;
    const all = await listed(hal.browser);
    expect(all).to.have.length(3);
    expect(all.filter(({ current }) => current)).to.have.length(1);
    const fox = all.find(({ browser }) => browser === 'Firefox on Linux');
    expect(fox.address).to.match(/^(127\.0\.0\.1|::1)$/);
    expect(fox.projects).to.deep.equal([{ id: server.projectId, name: 'Default project' }]);
    const lesser = await listed(byKey);
    expect(lesser.map(({ current }) => current)).to.deep.equal([true]);
    expect(await byKey.status('DELETE', `/console/sessions/${fox.id}`)).to.equal(404);
    expect(await byKey.status('DELETE', '/console/sessions')).to.equal(204);
    expect(await second.status('GET', '/spans')).to.equal(200);
    expect((await new ConsoleBrowser(server).request('GET', '/console/sessions')).status).to.equal(401);
    const ofProject = async (by: Caller): Promise<any[]> => (await by.request('GET', `${project}/sign-ins`)).json;
    expect((await ofProject(server)).find(({ id }) => id === fox.id)).to.include({ browser: 'Firefox on Linux' });
    expect((await ofProject(byKey)).map(({ address }) => address)).to.deep.equal(
      (await ofProject(byKey)).map(() => null),
    );

    expect(await hal.browser.status('DELETE', `/console/sessions/${fox.id}`)).to.equal(204);
    expect(await second.status('GET', '/spans')).to.equal(401);
    expect(await hal.browser.status('DELETE', '/console/sessions')).to.equal(204);
    expect([await byKey.status('GET', '/spans'), await hal.browser.status('GET', '/spans')]).to.deep.equal([401, 200]);
    await ConsoleBrowser.signedIn(server, { code: await link() });
    expect((await member(hal.id)).sessions).to.equal(2);
    expect((await server.request('DELETE', `${project}/members/${hal.id}/sign-ins`)).status).to.equal(204);
    expect(await hal.browser.status('GET', '/spans')).to.equal(401);
    expect(await member(hal.id)).to.include({ sessions: 0, role: 'admin' });
  });

  it('are managed on the server machine, where a key raises a role that is too low', async () => {
    const ida = await admin(server.dataDir, 'create-user', 'Ida');
    const of = ['--project', server.projectId, '--user', ida.id];
    expect((await admin(server.dataDir, 'set-role', ...of, '--role', 'viewer')).role).to.equal('viewer');
    await admin(server.dataDir, 'create-key', ...of, '--access', 'ingest');
    expect((await member(ida.id)).role).to.equal('member');
    const people = (await admin(server.dataDir, 'list-people', '--project', server.projectId)) as any[];
    expect(people.find(({ user_id }) => user_id === ida.id)).to.include({ name: 'Ida', role: 'member', keys: 1 });
    expect((await admin(server.dataDir, 'remove-person', ...of)).removed).to.equal(true);
    expect(await member(ida.id)).to.equal(undefined);
  });
});
