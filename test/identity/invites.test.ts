import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { bootServer, type TestServer } from '../harness/server.js';
import { admin, codeIn, ConsoleBrowser } from './console-browser.js';

const HOUR = 3600 * 1e6;

describe('people who sign in', function () {
  this.timeout(60_000);
  let server: TestServer;
  let project: string;
  let later = 0;
  before(async () => {
    server = await bootServer({
      signIns: { now: () => Date.now() * 1000 + later, attemptsPerMinute: 1_000 },
    });
    project = `/projects/${server.projectId}`;
  });
  after(() => server.dispose());
  afterEach(() => {
    later = 0;
  });

  const invite = (body: unknown, key = server.key) => server.request('POST', `${project}/invites`, { body, key });
  const signIns = async (): Promise<any[]> => (await server.request('GET', `${project}/sign-ins`)).json;
  const namesOf = async (what: string) =>
    ((await admin(server.dataDir, what)) as { name: string }[]).map(({ name }) => name);

  it('are told who they are', async () => {
    const browser = await ConsoleBrowser.signedIn(server, { key: server.key });
    const { status, json } = await browser.request('GET', '/whoami', { project: null });
    expect(status).to.equal(200);
    expect(json).to.deep.include({
      project: { id: server.projectId, name: 'Default project' },
      projects: [{ id: server.projectId, name: 'Default project' }],
      capabilities: { judges: false, judge_model: null, otlp_grpc: false, public_url: false, docs: true },
    });
    expect(json.user.name).to.equal('Owner');
    expect(json.key).to.include({ name: 'Initial key', access: 'full' });
    expect(json.version).to.match(/^\d+\.\d+\.\d+/);
    expect((await server.request('GET', '/whoami')).json).to.deep.equal(json);
    expect((await server.request('GET', '/whoami', { key: null })).status).to.equal(401);
  });

  it('get a user of their own by an invitation, whose feedback is theirs', async () => {
    const { status, json } = await invite({ name: ' Ann ' });
    expect(status).to.equal(201);
    expect(json.user.name).to.equal('Ann');
    expect(Date.parse(json.expires_at) - Date.now()).to.be.within(3_500_000, 3_600_000);
    const [waiting] = await signIns();
    expect(waiting).to.deep.include({ stage: 'code', current: false, user: json.user, last_used_at: null });
    const ann = await ConsoleBrowser.signedIn(server, { code: codeIn(json.url) });
    const span = randomUUID();
    await ann.request('POST', '/v1/tasks/greeting/prompt/versions/ensure', { body: { content: 'Hello' } });
    await ann.request('POST', '/spans', { body: [{ id: span, name: 'a', attributes: { task: 'greeting' } }] });
    const path = `/v1/prompts/greeting/completions/${span}/feedback`;
    expect(await ann.status('POST', path, { body: { thumbs_up: true } })).to.equal(200);
    expect((await server.request('POST', path, { body: { thumbs_up: false } })).status).to.equal(200);
    const { items } = (await ann.request('GET', `${project}/feedback/span/${span}`)).json;
    const given = (items as any[]).map(({ thumbs_up, created_by }) => [
      thumbs_up,
      created_by.name,
      created_by.id === json.user.id,
    ]);
    expect(given).to.have.deep.members([
      [true, 'Ann', true],
      [false, 'Owner', false],
    ]);
    const listed = (await ann.request('GET', `${project}/sign-ins`)).json as any[];
    expect(listed.find(({ id }) => id === waiting.id)).to.deep.include({ stage: 'session', current: true });
    expect(JSON.stringify(listed)).to.not.match(/[A-Za-z0-9_-]{43}/);
  });

  it('may do no more than they were invited to, and only who may do everything invites', async () => {
    const { json } = await invite({ name: 'Ben', access: 'read' });
    const ben = await ConsoleBrowser.signedIn(server, { code: codeIn(json.url) });
    expect(await ben.status('GET', '/traces')).to.equal(200);
    expect(await ben.status('POST', `${project}/invites`, { body: { name: 'Cid' } })).to.equal(403);
    const { id } = (await signIns()).find(({ user }) => user.name === 'Ben');
    expect(await ben.status('DELETE', `${project}/sign-ins/${id}`)).to.equal(403);
    for (const body of [
      {},
      { name: '' },
      { name: 'x'.repeat(201) },
      { name: 'D', access: 'ingest' },
      { name: 'D', access: 'read', role: 'viewer' },
      { name: 'D', role: 'king' },
      { name: 'D', user: 1 },
    ])
      expect((await invite(body)).status, JSON.stringify(body)).to.equal(422);
    expect((await invite({ name: '  ' })).status).to.equal(422);
  });

  it('are sent away when somebody ends their sign-in; invitations leave nothing behind', async () => {
    const used = (await invite({ name: 'Dora' })).json;
    const dora = await ConsoleBrowser.signedIn(server, { code: codeIn(used.url) });
    expect(await dora.status('GET', '/spans')).to.equal(200);
    const { id, key } = (await signIns()).find(({ user }) => user.name === 'Dora');
    const end = () => server.request('DELETE', `${project}/sign-ins/${id}`);
    expect((await end()).status).to.equal(204);
    expect(await dora.status('GET', '/spans')).to.equal(401);
    expect((await end()).status).to.equal(404);
    const keys = (await server.request('GET', `${project}/api-keys`)).json as any[];
    expect(keys.find((each) => each.id === key.id)).to.include({ name: 'Console', access: 'custom' });

    const unused = (await invite({ name: 'Eve' })).json;
    const { id: waiting } = (await signIns()).find(({ user }) => user.name === 'Eve');
    expect((await server.request('DELETE', `${project}/sign-ins/${waiting}`)).status).to.equal(204);
    expect((await new ConsoleBrowser(server).signIn({ code: codeIn(unused.url) })).status).to.equal(401);
    await invite({ name: 'Finn' });
    expect(await namesOf('list-users'))
      .to.include('Finn')
      .and.not.include('Eve');
    later = HOUR;
    await ConsoleBrowser.signedIn(server, { key: server.key });
    expect(await namesOf('list-users'))
      .to.include('Dora')
      .and.not.include('Finn');
  });

  it('come in again by a URL of the admin program, and by no key of theirs but for it', async () => {
    await invite({ name: 'Gil', access: 'read' });
    const code = codeIn((await admin(server.dataDir, 'signin', '--user', 'Gil')).url);
    const gil = await ConsoleBrowser.signedIn(server, { code });
    const { user } = (await signIns()).find((each) => each.user.name === 'Gil');
    expect((await gil.request('GET', '/whoami')).json.user).to.deep.equal(user);
    expect(await gil.status('POST', '/spans', { body: [] })).to.equal(403);
    // The invitation, unused, goes; who uses its key does not.
    later = HOUR;
    await ConsoleBrowser.signedIn(server, { key: server.key });
    expect(await gil.status('GET', '/spans')).to.equal(200);
    later = 0;
    const hanna = await admin(server.dataDir, 'create-user', 'Hanna');
    const fresh = codeIn((await admin(server.dataDir, 'signin', '--user', hanna.id)).url);
    const { json } = await (await ConsoleBrowser.signedIn(server, { code: fresh })).request('GET', '/whoami');
    expect([json.user.name, json.key.name, json.key.access]).to.deep.equal(['Hanna', 'Console', 'full']);
  });

  it('to several projects choose by the header, and lose each with its key', async () => {
    const second = await admin(server.dataDir, 'create-project', 'Second');
    const owner = (await server.request('GET', '/whoami')).json.user.id;
    const options = ['--project', second.id, '--user', owner];
    await admin(server.dataDir, 'create-key', ...options, '--access', 'ingest');
    const reading = await admin(server.dataDir, 'create-key', ...options, '--access', 'read');
    const code = codeIn((await admin(server.dataDir, 'signin', '--user', owner)).url);
    const browser = await ConsoleBrowser.signedIn(server, { code });
    const { json } = await browser.request('GET', '/whoami', { project: null });
    expect(json.projects.map(({ name }: { name: string }) => name)).to.deep.equal(['Default project', 'Second']);
    await browser.request('POST', '/spans', { body: [{ name: 'of the first' }] });
    expect((await browser.request('GET', '/spans', { project: second.id })).json).to.deep.equal([]);
    const there = await browser.request('GET', '/whoami', { project: second.id });
    expect(there.json.key.id).to.equal(reading.id);
    expect(await browser.status('GET', `/projects/${second.id}/prompts`)).to.equal(403);

    await admin(server.dataDir, 'revoke-key', reading.id);
    expect(await browser.status('GET', '/spans', { project: second.id })).to.equal(403);
    expect(await browser.status('GET', '/spans')).to.equal(200);
    await admin(server.dataDir, 'set-role', ...options, '--role', 'owner');
    const one = codeIn((await admin(server.dataDir, 'signin', '--user', owner, '--project', second.id)).url);
    const only = await ConsoleBrowser.signedIn({ ...server, projectId: second.id }, { code: one });
    expect((await only.request('GET', '/whoami')).json.projects).to.have.length(1);
    expect(await only.status('POST', '/spans', { body: [] })).to.equal(200);
    expect(await only.status('DELETE', `/projects/${second.id}`)).to.be.within(200, 299);
    expect(await only.status('GET', '/spans')).to.equal(401);
  });

  it('are invited by at most 100 URLs that nobody has used', async () => {
    let last = await invite({ name: 'many' });
    for (let count = 0; count < 110 && last.status === 201; count += 1) last = await invite({ name: 'many' });
    expect(last.status).to.equal(409);
    expect(await signIns()).to.have.length.above(99);
    later = 2 * HOUR;
    expect((await invite({ name: 'later' })).status).to.equal(201);
  });
});

describe('invitations', () => {
  it('are ten a minute', async () => {
    const server = await bootServer();
    try {
      const statuses: number[] = [];
      for (let count = 0; count < 11; count += 1)
        statuses.push(
          (await server.request('POST', `/projects/${server.projectId}/invites`, { body: { name: 'A' } })).status,
        );
      expect(statuses).to.deep.equal([...Array<number>(10).fill(201), 429]);
    } finally {
      await server.dispose();
    }
  }).timeout(30_000);
});
