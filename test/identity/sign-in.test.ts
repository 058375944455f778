import { expect } from 'chai';
import { SessionEnds } from '../../src/engine/identity/session-ends.js';
import { SessionCookie } from '../../src/http/session-cookie.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { admin, codeIn, ConsoleBrowser } from './console-browser.js';

const HOUR = 3600 * 1e6;
const DAY = 24 * HOUR;

describe('signing in', function () {
  this.timeout(60_000);
  let server: TestServer;
  let keys: string;
  /** Moved on by tests. */
  let later = 0;
  const boot = (dataDir?: string) =>
    bootServer({
      signIns: { now: () => Date.now() * 1000 + later, attemptsPerMinute: 10_000 },
      ...(dataDir === undefined ? {} : { dataDir }),
    });

  before(async () => {
    server = await boot();
    keys = `/projects/${server.projectId}/api-keys`;
  });
  after(() => server.dispose());
  afterEach(() => {
    later = 0;
  });

  const newCode = async (...args: string[]) => codeIn((await admin(server.dataDir, 'signin', ...args)).url);
  const signedIn = (key = server.key) => ConsoleBrowser.signedIn(server, { key });
  const newKey = async (access = 'full') =>
    (await server.request('POST', keys, { body: { name: access, access } })).json as { id: string; key: string };

  it('by a code that the admin program prints while the server runs, once', async () => {
    const { url, expires_at } = await admin(server.dataDir, 'signin');
    expect(url).to.match(new RegExp(`^${server.url}/console#code=[A-Za-z0-9_-]{43}$`));
    expect(Date.parse(expires_at) - Date.now()).to.be.within(3_500_000, 3_600_000);
    const browser = new ConsoleBrowser(server);
    const answer = await browser.signIn({ code: codeIn(url) });
    expect([answer.status, answer.text]).to.deep.equal([204, '']);
    expect(answer.headers.get('set-cookie')).to.match(
      /^spanhouse_[0-9a-f]{12}=[A-Za-z0-9_-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Strict$/,
    );
    expect(await browser.status('GET', '/spans')).to.equal(200);
    expect(await browser.status('POST', '/spans', { body: [] })).to.equal(200);
    const again = await new ConsoleBrowser(server).signIn({ code: codeIn(url) });
    expect([again.status, again.headers.get('set-cookie')]).to.deep.equal([401, null]);
    expect(again.json.detail).to.include('npm run admin -- signin');
    expect(await browser.status('GET', '/spans')).to.equal(200);
  });

  it('not by a code that is over, unknown or none, nor by a key that is none', async () => {
    const code = await newCode();
    const browser = new ConsoleBrowser(server);
    later = HOUR;
    expect((await browser.signIn({ code })).status).to.equal(401);
    later = 0;
    const { id, key } = await newKey();
    await server.request('DELETE', `${keys}/${id}`);
    expect((await browser.signIn({ key })).status).to.equal(401);
    for (const none of ['x'.repeat(43), 'cookie'.padEnd(43, '_')])
      expect((await browser.signIn({ code: none })).status, none).to.equal(401);
    expect((await browser.signIn({ code })).status).to.equal(204);
    // What the cookie holds is no code.
    expect((await browser.signIn({ code: browser.cookie.split('=')[1] })).status).to.equal(401);
    const odd: unknown[] = [
      {},
      [],
      { code, key },
      { code: 'short' },
      { code: null },
      { key: 'a b' },
      { code, more: 1 },
    ];
    for (const body of odd) expect((await browser.signIn(body)).status, JSON.stringify(body)).to.equal(422);
    expect((await browser.signIn({ key: 'x'.repeat(5_000) })).status).to.equal(413);
    expect((await browser.signIn('code=x', { 'content-type': 'application/x-www-form-urlencoded' })).status).to.equal(
      415,
    );
  });

  it('opens nothing to another site, nor without the header', async () => {
    const browser = await signedIn();
    const host = `127.0.0.1:${server.port}`;
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: `http://127.0.0.1:${server.port + 1}` },
      { origin: `http://${host}`, 'sec-fetch-site': 'same-site' },
    ]) {
      const shown = JSON.stringify(headers);
      expect(await browser.status('GET', '/spans', { headers }), shown).to.equal(403);
      expect(await browser.status('POST', '/spans', { headers, body: [] }), shown).to.equal(403);
      expect(await browser.status('GET', '/whoami', { headers }), shown).to.equal(403);
      expect(await browser.status('DELETE', '/console/session', { headers }), shown).to.equal(403);
      const { status } = await new ConsoleBrowser(server).signIn({ key: server.key }, headers);
      expect(status, shown).to.equal(403);
      // Whoever has the key may send what they like.
      expect((await server.request('GET', '/spans', { headers })).status).to.equal(200);
    }
    for (const headers of [
      { origin: `http://${host}`, 'sec-fetch-site': 'same-origin' },
      { origin: `https://${host}` },
    ])
      expect(await browser.status('GET', '/spans', { headers })).to.equal(200);
    expect(await browser.status('GET', '/spans', { project: null })).to.equal(403);
    expect(await browser.status('POST', '/spans', { project: null, body: [] })).to.equal(403);
    const preflight = await browser.request('OPTIONS', '/spans', { headers: { origin: 'https://evil.example' } });
    expect(preflight.status).to.equal(403);
    expect([...preflight.headers.keys()].join()).to.not.include('access-control');
  });

  it('opens its own project only, and less than Authorization does', async () => {
    const browser = await signedIn();
    const other = '0197f3a0-0000-7000-8000-00000000ffff';
    for (const project of [other, 'none', `${server.projectId}, ${server.projectId}`])
      expect(await browser.status('GET', '/spans', { project }), project).to.equal(403);
    expect(await browser.status('GET', '/spans', { project: server.projectId.toUpperCase() })).to.equal(200);
    expect(await browser.status('GET', `/projects/${other}/prompts`)).to.equal(403);
    const wrong = { authorization: 'Bearer sk_sh_unknown' };
    expect(await browser.status('GET', '/spans', { headers: wrong })).to.equal(401);
    const right = { authorization: `Bearer ${server.key}` };
    expect(await browser.status('GET', '/spans', { headers: right, project: null })).to.equal(200);
    expect(await browser.status('GET', '/nowhere', { project: null })).to.equal(404);
  });

  it('ends with its key at the next request, whoever revokes it', async () => {
    const first = await newKey();
    const browser = await signedIn(first.key);
    expect(await browser.status('GET', '/spans')).to.equal(200);
    expect(await browser.status('DELETE', `${keys}/${first.id}`)).to.equal(204);
    expect(await browser.status('GET', '/spans')).to.equal(401);
    const second = await newKey();
    const another = await signedIn(second.key);
    await admin(server.dataDir, 'revoke-key', second.id);
    expect(await another.status('GET', '/spans')).to.equal(401);
  });

  it('does what its key may do', async () => {
    const reading = await signedIn((await newKey('read')).key);
    expect(await reading.status('GET', '/spans')).to.equal(200);
    expect(await reading.status('POST', '/spans', { body: [] })).to.equal(403);
    expect(await reading.status('POST', keys, { body: { name: 'more' } })).to.equal(403);
    const sending = await signedIn((await newKey('ingest')).key);
    expect(await sending.status('POST', '/spans', { body: [] })).to.equal(200);
    expect(await sending.status('GET', '/spans')).to.equal(403);
    for (const [browser, access] of [[reading, 'read'] as const, [sending, 'ingest'] as const])
      expect((await browser.request('GET', '/whoami')).json.key).to.include({ name: access, access });
  });

  it('ends when asked to, and when the browser signs in again', async () => {
    const browser = await signedIn();
    const earlier = browser.cookie;
    const left = await browser.request('DELETE', '/console/session');
    expect(left.status).to.equal(204);
    expect(left.headers.get('set-cookie')).to.match(/^spanhouse_\w+=; Path=\/; Max-Age=0;/);
    expect(await browser.status('GET', '/spans')).to.equal(401);
    expect(await browser.status('DELETE', '/console/session')).to.equal(204);
    await browser.signIn({ key: server.key });
    const replaced = browser.cookie;
    await browser.signIn({ key: server.key });
    expect(await browser.status('GET', '/spans')).to.equal(200);
    for (const cookie of [earlier, replaced])
      expect(await browser.status('GET', '/spans', { headers: { cookie } })).to.equal(401);
  });

  it('ends 7 days after its last use, and 30 after it began', async () => {
    const [used, idle] = [await signedIn(), await signedIn()];
    expect(await idle.status('GET', '/spans')).to.equal(200);
    for (later = 6 * DAY; later < 30 * DAY; later += 6 * DAY)
      expect(await used.status('GET', '/spans'), `day ${later / DAY}`).to.equal(200);
    later = 29.9 * DAY;
    expect(await used.status('GET', '/spans')).to.equal(200);
    later = 30 * DAY;
    expect(await used.status('GET', '/spans')).to.equal(401);
    later = 7 * DAY;
    expect(await idle.status('GET', '/spans')).to.equal(401);
  });

  it('outlives a restart', async () => {
    const browser = await signedIn();
    const code = await newCode();
    await server.stop();
    server = await boot(server.dataDir);
    const after = new ConsoleBrowser(server);
    after.cookie = browser.cookie;
    expect(await after.status('GET', '/spans')).to.equal(200);
    expect((await after.signIn({ code })).status).to.equal(204);
    expect(codeIn((await admin(server.dataDir, 'signin')).url)).to.have.length(43);
    expect((await admin(server.dataDir, 'signin')).url).to.include(`${server.url}/console#`);
  });

  it('takes odd cookies for none, and finds its own among them', async () => {
    const browser = await signedIn();
    const [name = '', token = ''] = browser.cookie.split('=');
    const stale = `${name}=${'x'.repeat(43)}`;
    const others = Array.from({ length: 150 }, (_none, index) => `c${index}=${'y'.repeat(50)}`).join('; ');
    for (const cookie of [`${stale}; ${browser.cookie}`, `${others}; ${browser.cookie}`, `a;;=; ${browser.cookie} ;b`])
      expect(await browser.status('GET', '/spans', { headers: { cookie } }), cookie.slice(0, 99)).to.equal(200);
    const many = Array.from({ length: 50 }, () => stale).join('; ');
    const odd = [stale, many, name, `${name}=`, `${name}="${token}"`, `${name}=${token}x`, `x${name}=${token}`];
    for (const cookie of [...odd, `${name} =${token}`, `${name}=${'%'.repeat(43)}`, '\u00ff=;', `${name}=é`])
      expect(await browser.status('GET', '/spans', { headers: { cookie } }), cookie.slice(0, 99)).to.equal(401);
    expect(await browser.status('GET', '/spans', { headers: { cookie: `a=${'z'.repeat(100_000)}` } })).to.equal(431);
  });

  it('keeps the 50 newest of a key', async () => {
    const { id, key } = await newKey('read');
    const first = await signedIn(key);
    const other = await signedIn();
    for (let count = 0; count < 49; count += 1) await signedIn(key);
    expect(await first.status('GET', '/spans')).to.equal(200);
    later = 1e6;
    await signedIn(key);
    expect(await first.status('GET', '/spans')).to.equal(401);
    const { json } = await server.request('GET', `/projects/${server.projectId}/sign-ins`);
    expect((json as any[]).filter((each) => each.key.id === id)).to.have.length(50);
    expect(await other.status('GET', '/spans'), 'of another key of the same user').to.equal(200);
  });
});

describe('the cookie of a sign-in', () => {
  const token = 'A'.repeat(43);
  const of = (baseUrl: string) =>
    new SessionCookie({ installation: 'abc', baseUrl: () => baseUrl, maxAgeSeconds: 30 * 86_400 });

  it('is taken from no host beside or below its own, where browsers can tell', () => {
    const cookie = of('https://house.example');
    expect(cookie.keeping(token)).to.match(/^__Host-spanhouse_abc=A{43}; Path=\/; .*; Secure$/);
    expect(cookie.tokensIn(`spanhouse_abc=${'B'.repeat(43)}; __Host-spanhouse_abc=${token}`)).to.deep.equal([token]);
    for (const plain of ['http://house.example', 'https://house.example/traces'])
      expect(of(plain).keeping(token)).to.match(/^spanhouse_abc=A/);
  });
});

describe('signing in behind a proxy', function () {
  this.timeout(60_000);
  let server: TestServer;
  let log = '';
  let later = 0;
  before(async () => {
    const note = (...said: unknown[]) => void (log += JSON.stringify(said));
    const logger: any = { error: note, warn: note, info: note, debug: note, child: () => logger };
    const lasts = { SIGN_IN_HOURS: '12', SIGN_IN_IDLE_MINUTES: '30' };
    const env = { PUBLIC_URL: 'https://house.example/traces/', HSTS_DAYS: '365', ...lasts };
    server = await bootServer({ logger, env, signIns: { now: () => Date.now() * 1000 + later } });
  });
  after(() => server.dispose());

  it('respects the path and origin of PUBLIC_URL, and tells installations apart', async () => {
    const { url } = await admin(server.dataDir, 'signin');
    expect(url).to.match(/^https:\/\/house\.example\/traces\/console#code=/);
    const browser = new ConsoleBrowser(server);
    const headers = { origin: 'https://house.example', 'sec-fetch-site': 'same-origin' };
    const answer = await browser.signIn({ code: codeIn(url) }, headers);
    expect(answer.headers.get('set-cookie')).to.match(
      /; Path=\/traces; Max-Age=43200; HttpOnly; SameSite=Strict; Secure$/,
    );
    const read = await browser.request('GET', '/spans', { headers });
    expect(read.status).to.equal(200);
    expect(read.headers.get('strict-transport-security')).to.equal('max-age=31536000');

    const other = await bootServer();
    try {
      const there = await ConsoleBrowser.signedIn(other, { key: other.key });
      expect((await other.request('GET', '/healthz')).headers.has('strict-transport-security')).to.equal(false);
      const [here, elsewhere] = [browser.cookie, there.cookie];
      expect(elsewhere.split('=')[0]).to.not.equal(here.split('=')[0]);
      expect(await there.status('GET', '/spans', { headers: { cookie: here } })).to.equal(401);
      const both = { cookie: `${here}; ${elsewhere}` };
      expect(await there.status('GET', '/spans', { headers: both })).to.equal(200);
      expect(await browser.status('GET', '/spans', { headers: both })).to.equal(200);
    } finally {
      await other.dispose();
    }
  });

  it('ends as soon as the operator says, also a session that began when they lasted longer', async () => {
    const minute = 60e6;
    const [used, idle] = [
      await ConsoleBrowser.signedIn(server, { key: server.key }),
      await ConsoleBrowser.signedIn(server, { key: server.key }),
    ];
    const spans = (browser: ConsoleBrowser) => browser.status('GET', '/spans');
    for (later = 0; later < 720 * minute; later += 20 * minute) expect(await spans(used)).to.equal(200);
    expect(await spans(used), 'after 12 hours').to.equal(401);
    later = 31 * minute;
    expect(await spans(idle), 'after 30 minutes without use').to.equal(401);
    later = 0;
    const ends = new SessionEnds({ idle: 30 * minute, total: 720 * minute });
    expect(ends.isPast({ created_at: 0, last_used_at: 690 * minute }, 720 * minute - 1)).to.equal(false);
    expect(ends.isPast({ created_at: 0, last_used_at: 719 * minute }, 720 * minute)).to.equal(true);
    expect(ends.isPast({ created_at: 0, last_used_at: null }, 33 * minute)).to.equal(true);
  });

  it('is refused after ten attempts a minute, which log and metrics tell of without their secrets', async () => {
    const code = codeIn((await admin(server.dataDir, 'signin')).url);
    const browser = new ConsoleBrowser(server);
    const unknown = `${code.startsWith('q') ? 'r' : 'q'}${code.slice(1)}`;
    expect((await browser.signIn({ code: unknown })).status).to.equal(401);
    expect((await browser.signIn({ code })).status).to.equal(204);
    let last = await browser.signIn({ key: 'sk_sh_not_a_key_at_all' });
    for (let count = 0; count < 10 && last.status !== 429; count += 1)
      last = await browser.signIn({ key: 'sk_sh_not_a_key_at_all' });
    expect(last.status).to.equal(429);
    expect(Number(last.headers.get('retry-after'))).to.be.within(1, 60);
    expect(await browser.status('GET', '/spans')).to.equal(200);
    expect(log).to.include('Sign-in refused').and.include('127.0.0.1');
    const told = log.split('\n').filter((line) => line.includes('Sign-in refused'));
    expect(told.join('\n'), 'of too many, one line is written for all').not.to.include('overloaded');
    for (const secret of [code, unknown, 'sk_sh_not_a_key_at_all', browser.cookie.split('=')[1] ?? ''])
      expect(log).to.not.include(secret);
    const { text } = await server.request('GET', '/metrics', { key: null });
    expect(text).to.match(/spanhouse_sign_ins_total\{result="unauthenticated"\} [1-9]/);
    expect(text).to.match(/spanhouse_sign_ins_total\{result="overloaded"\} 1\n/);
  });
});
