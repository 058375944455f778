import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { expect } from 'chai';
import { requireInstalled } from '../harness/foreign-packages.js';
import { makeProject } from '../harness/projects.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { admin, codeIn, ConsoleBrowser } from './console-browser.js';
import { CLIENT, FollowingBrowser, installed, newKey, RunningProvider } from './oidc-provider.js';

const MINUTE = 60;

describe('single sign-on by a provider of OpenID Connect', function () {
  this.timeout(400_000);
  let provider: RunningProvider;
  let server: TestServer;
  const other = randomUUID();

  before(async function () {
    await requireInstalled(this, installed());
    provider = await RunningProvider.start(() => server.url);
    const member = { '0197f3a0-0000-7000-8000-000000000001': 'member' };
    const roles = {
      engineering: { ...member, [other]: 'viewer' },
      leads: { '0197f3a0-0000-7000-8000-000000000001': 'admin' },
    };
    server = await bootServer({
      env: {
        OIDC_ISSUER: provider.issuer,
        OIDC_CLIENT_ID: CLIENT.id,
        OIDC_CLIENT_SECRET: CLIENT.secret,
        OIDC_SCOPES: 'openid profile email groups',
        OIDC_ALLOWED_DOMAINS: 'example.com',
        SIGN_IN_ROLES: JSON.stringify(roles),
      },
    });
    makeProject(server.dataDir, { id: other });
    provider.renew();
  });
  after(async () => {
    await server?.dispose();
    await provider?.stop();
  });
  beforeEach(() => {
    provider.tamper = null;
    provider.foreignKey = null;
  });

  const is = (login: string, claims: object = {}) =>
    provider.people.set(login, {
      ...{ name: login, email: `${login}@example.com`, email_verified: true, groups: ['engineering'] },
      ...claims,
    });
  const callback = (browser: FollowingBrowser, login: string) =>
    browser.through(`${server.url}/console/sso/start`, login, `${server.url}/console/sso/callback`);
  async function signIn(login: string, browser = new FollowingBrowser()): Promise<Response> {
    return browser.get(await callback(browser, login));
  }
  const whoami = async (browser: FollowingBrowser, project = server.projectId) => {
    const response = await browser.get(`${server.url}/whoami`, { headers: { 'spanhouse-project': project } });
    return { status: response.status, json: (await response.json()) as any };
  };
  const signedIn = async (login: string) => {
    const browser = new FollowingBrowser();
    const response = await signIn(login, browser);
    expect([response.status, response.headers.get('location')], await response.text()).to.deep.equal([
      303,
      `${server.url}/console`,
    ]);
    return browser;
  };
  async function expectRefused(response: Response, status: number, says: string): Promise<void> {
    const page = await response.text();
    expect(response.headers.get('content-type')).to.equal('text/html; charset=utf-8');
    expect(page).to.include('Not signed in').and.include(says);
    expect([response.status, response.headers.get('set-cookie')], page).to.deep.equal([status, null]);
  }

  it('signs people in with the roles of their groups, and knows them again by issuer and subject', async () => {
    is('ann');
    expect(await (await fetch(`${server.url}/console`)).text()).to.include('content="/console/sso/start"');
    const first = (await whoami(await signedIn('ann'))).json;
    expect([first.user.name, first.role, first.projects.length]).to.deep.equal(['ann', 'member', 2]);
    // The email is somebody else's later on: whoever has it is another person.
    is('ann', { name: 'Ann B', email: 'ann.b@example.com' });
    is('eve', { email: 'ann@example.com' });
    expect((await whoami(await signedIn('ann'))).json.user.id).to.equal(first.user.id);
    expect((await whoami(await signedIn('eve'))).json.user.id).to.not.equal(first.user.id);
  });

  it('has roles follow groups with each sign-in, also in open sessions, but for those that were given by hand', async () => {
    is('ben', { groups: ['engineering', 'leads'] });
    const browser = await signedIn('ben');
    const { json } = await whoami(browser);
    expect(json.role).to.equal('admin');
    is('ben', { groups: ['engineering'] });
    await signedIn('ben');
    expect((await whoami(browser)).json.role).to.equal('member');
    const of = ['--user', json.user.id as string];
    await admin(server.dataDir, 'set-role', '--project', server.projectId, ...of, '--role', 'annotator');
    is('ben', { groups: [] });
    const again = await signedIn('ben');
    expect((await whoami(again)).json.role).to.equal('annotator');
    expect((await whoami(again, other)).status).to.equal(403);
    expect((await whoami(browser, other)).status).to.equal(403);
    await admin(server.dataDir, 'remove-person', '--project', server.projectId, ...of);
    await expectRefused(await signIn('ben'), 403, 'has no project here');
  });

  it('signs out here and at the provider', async () => {
    is('cid');
    const browser = await signedIn('cid');
    const out = await browser.get(`${server.url}/console/session`, { method: 'DELETE' });
    const { url } = (await out.json()) as { url: string };
    expect(url).to.include(`${provider.issuer}/session/end?`).and.include('post_logout_redirect_uri');
    expect((await whoami(browser)).status).to.equal(401);
    expect((await browser.get(url)).status).to.equal(200);
  });

  it('lets in nobody whose verified email is not of an allowed domain', async () => {
    is('dan', { email: 'dan@evil.example' });
    await expectRefused(await signIn('dan'), 403, 'not of an allowed domain');
    is('dan', { email: 'dan@example.com', email_verified: false });
    await expectRefused(await signIn('dan'), 403, 'has not verified');
    is('dan', { email: 'dan@example.com.evil.example' });
    await expectRefused(await signIn('dan'), 403, 'not of an allowed domain');
  });

  it('takes an answer once, from the browser that asked, with its own state and code', async () => {
    is('fay');
    const browser = new FollowingBrowser();
    const url = await callback(browser, 'fay');
    await expectRefused(await new FollowingBrowser().get(url), 401, 'not started in this browser');
    const code = new URL(url).searchParams.get('code') ?? '';
    const second = new FollowingBrowser();
    const later = new URL(await callback(second, 'fay'));
    expect((await browser.get(url)).status).to.equal(303);
    await expectRefused(await browser.get(url), 401, 'used already');
    later.searchParams.set('code', code);
    await expectRefused(await second.get(later.href), 401, 'invalid_grant');
    const third = new FollowingBrowser();
    const forged = new URL(await callback(third, 'fay'));
    forged.searchParams.set('state', 'x'.repeat(43));
    await expectRefused(await third.get(forged.href), 401, 'start again');
    const fourth = new FollowingBrowser();
    const denied = new URL(await callback(fourth, 'fay'));
    const query = new URLSearchParams({ error: 'access_denied', state: denied.searchParams.get('state') ?? '' });
    query.set('iss', provider.issuer);
    await expectRefused(
      await fourth.get(`${server.url}/console/sso/callback?${query.toString()}`),
      401,
      'access_denied',
    );
  });

  it('believes no token for another client, of another key, without its nonce, or that has expired', async () => {
    is('gus');
    const now = Math.floor(Date.now() / 1000);
    const wrong: readonly ((claims: Record<string, unknown>) => Record<string, unknown>)[] = [
      (claims) => ({ ...claims, aud: 'another client' }),
      (claims) => ({ ...claims, iss: 'https://evil.example' }),
      (claims) => ({ ...claims, nonce: 'of another attempt' }),
      (claims) => ({ ...claims, exp: now - 5 * MINUTE, iat: now - 10 * MINUTE }),
    ];
    for (const tamper of wrong) {
      provider.tamper = tamper;
      await expectRefused(await signIn('gus'), 401, 'not valid');
    }
    provider.tamper = (claims) => claims;
    provider.foreignKey = newKey();
    await expectRefused(await signIn('gus'), 401, 'not valid');
    // A clock that is a little off is none of a person's business.
    provider.foreignKey = null;
    provider.tamper = (claims) => ({ ...claims, iat: now + MINUTE / 2, exp: now - MINUTE / 2 });
    expect((await signIn('gus')).status).to.equal(303);
  });

  it('takes new keys of the provider, and tells of one that does not respond', async () => {
    is('hal');
    await signedIn('hal');
    provider.renew();
    // The keys that it knows are not asked for again within a minute, but after a token that they do not fit.
    await signIn('hal');
    await signedIn('hal');
    const { port } = new URL(provider.issuer);
    const deaf = await bootServer({ env: { OIDC_ISSUER: `http://127.0.0.1:${port}/none`, OIDC_CLIENT_ID: 'x' } });
    try {
      await expectRefused(
        await fetch(`${deaf.url}/console/sso/start`, { redirect: 'manual' }),
        503,
        'does not respond',
      );
    } finally {
      await deaf.dispose();
    }
  });
});

describe('signing in by a header of a proxy', function () {
  this.timeout(60_000);
  let server: TestServer;
  before(async () => {
    server = await bootServer({
      env: {
        SIGN_IN_BY: 'single-sign-on',
        SIGN_IN_PROXY_HEADER: 'X-Remote-User',
        SIGN_IN_PROXY_ADDRESSES: '127.0.0.1, 10.0.0.0/8',
        SIGN_IN_ROLES: JSON.stringify({ '*': { '0197f3a0-0000-7000-8000-000000000001': 'viewer' } }),
      },
    });
  });
  after(() => server.dispose());

  const ask = (headers: Record<string, string>, localAddress = '127.0.0.1') =>
    new Promise<{ status: number; cookie: string }>((answered, failed) => {
      const options = { host: '127.0.0.1', port: server.port, path: '/console/sso/proxy', headers, localAddress };
      const sent = request(options, (response) => {
        response.resume();
        const [cookie = ''] = response.headers['set-cookie'] ?? [];
        answered({ status: response.statusCode ?? 0, cookie: cookie.split(';')[0] ?? '' });
      });
      sent.on('error', failed).end();
    });

  it('counts from the addresses that may set it alone, whatever else a request says', async () => {
    const signedIn = await ask({ 'x-remote-user': 'Ann Lee' });
    expect(signedIn.status).to.equal(303);
    const headers = { cookie: signedIn.cookie, 'spanhouse-project': server.projectId };
    const me = (await (await fetch(`${server.url}/whoami`, { headers })).json()) as any;
    expect([me.user.name, me.role]).to.deep.equal(['Ann Lee', 'viewer']);
    const { entries } = (await server.request('GET', '/audit?limit=2')).json;
    const { id } = me.user;
    expect(entries[0]).to.deep.include({ action: 'sign_in.create', actor: 'person', user_id: id });
    expect(entries[1]).to.deep.include({ action: 'person.join', actor: 'server', object_id: id });
    expect(entries[1].changes).to.deep.equal([{ field: 'role', to: 'viewer' }]);
    const forwarded = { 'x-remote-user': 'Ann Lee', 'x-forwarded-for': '127.0.0.1' };
    for (const [sent, from] of [
      [forwarded, '127.0.0.2'],
      [{}, '127.0.0.1'],
      [{ 'x-remote-user': ' ' }, '127.0.0.1'],
    ] as const)
      expect(await ask(sent, from)).to.deep.equal({ status: 401, cookie: '' });
    const plain = await fetch(`${server.url}/whoami`, { headers: { 'x-remote-user': 'Ann Lee' } });
    expect(plain.status, 'it is no key').to.equal(401);
  });

  it('is the only way in where the operator says so, but for links of the server machine', async () => {
    const invited = await server.request('POST', `/projects/${server.projectId}/invites`, { body: { name: 'Eve' } });
    const code = codeIn(invited.json.url);
    const browser = new ConsoleBrowser(server);
    for (const credentials of [{ key: server.key }, { code }]) {
      const { status, json } = await browser.signIn(credentials);
      expect([status, json.detail]).to.deep.equal([403, 'People sign in to this server by single sign-on alone']);
    }
    const { cookie } = await ask({ 'x-remote-user': 'Ann Lee' });
    const other = makeProject(server.dataDir);
    const there = await fetch(`${server.url}/projects/${other.projectId}/invites`, {
      method: 'POST',
      headers: { authorization: `Bearer ${other.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Ann', role: 'viewer' }),
    });
    browser.cookie = cookie;
    const joined = await browser.request('POST', '/console/session:join', {
      body: { code: codeIn(((await there.json()) as { url: string }).url) },
    });
    expect([joined.status, joined.json.id]).to.deep.equal([200, other.projectId]);
    const { url } = await admin(server.dataDir, 'signin', '--user', 'Owner');
    expect((await new ConsoleBrowser(server).signIn({ code: codeIn(url) })).status).to.equal(204);
    const refused = await bootServer({ env: { SIGN_IN_BY: 'single-sign-on' } }).catch((error: unknown) => error);
    expect(String(refused)).to.include('no one could sign in');
  });
});
