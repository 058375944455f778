import { expect } from 'chai';
import { ApiDocument } from '../harness/api-document.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { admin, codeIn, ConsoleBrowser } from './console-browser.js';

describe('whose sign-in it is', function () {
  this.timeout(60_000);
  let server: TestServer;
  let document: ApiDocument;

  before(async () => {
    server = await bootServer({ signIns: { attemptsPerMinute: 10_000 } });
    document = await ApiDocument.of(server);
  });
  after(() => server.dispose());

  const invite = async (name: string) => {
    const path = `/projects/${server.projectId}/invites`;
    const { json } = await server.request('POST', path, { body: { name, access: 'read' } });
    return { code: codeIn(json.url), user: json.user as { id: string; name: string } };
  };
  const preview = (browser: ConsoleBrowser, body: unknown, headers = {}) =>
    browser.request('POST', '/console/session:preview', { body, headers, project: null });
  const whoIs = async (browser: ConsoleBrowser) => (await browser.request('GET', '/whoami')).json?.user?.name;

  it('is said before anybody is signed in, as often as asked, and uses the code up no more than that', async () => {
    const { code, user } = await invite('Ann');
    const browser = new ConsoleBrowser(server);
    for (let count = 0; count < 2; count += 1) {
      const said = await preview(browser, { code });
      expect(said.status, said.text).to.equal(200);
      document.check('POST', '/console/session:preview', said);
      expect(said.json).to.deep.equal({
        user,
        projects: [{ id: server.projectId, name: 'Default project', access: 'read', role: 'viewer' }],
        current: null,
        joinable: false,
      });
      expect(said.headers.get('set-cookie')).to.equal(null);
    }
    expect((await browser.signIn({ code })).status).to.equal(204);
    expect((await preview(browser, { code })).status).to.equal(401);
    const other = await invite('Bob');
    expect((await preview(browser, { code: other.code })).json).to.deep.include({ user: other.user, current: user });
    expect((await preview(browser, { key: server.key })).json.user.name).to.equal('Owner');
  });

  it('is told to no page of another site, nor to whoever guesses', async () => {
    const { code } = await invite('Cid');
    const browser = new ConsoleBrowser(server);
    for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }])
      expect((await preview(browser, { code }, headers)).status).to.equal(403);
    expect((await preview(browser, { code: 'x'.repeat(43) })).status).to.equal(401);
    expect((await preview(browser, {})).status).to.equal(422);
  });

  it('is never replaced by that of another user unless this is asked for', async () => {
    const browser = await ConsoleBrowser.signedIn(server, { key: server.key });
    const { code } = await invite('Mallory');
    const refused = await browser.signIn({ code });
    expect([refused.status, refused.headers.get('set-cookie')]).to.deep.equal([409, null]);
    expect(refused.json.detail).to.include('Owner').and.include('Mallory').and.include('replace');
    expect(await whoIs(browser)).to.equal('Owner');
    // The code is not used up.
    expect((await browser.signIn({ code, replace: true })).status).to.equal(204);
    expect(await whoIs(browser)).to.equal('Mallory');
    expect((await browser.signIn({ key: server.key })).status).to.equal(409);
  });

  it('may be replaced by one of the same user, or once it has ended', async () => {
    const browser = await ConsoleBrowser.signedIn(server, { key: server.key });
    const own = codeIn((await admin(server.dataDir, 'signin', '--user', 'Owner')).url);
    expect((await browser.signIn({ code: own })).status).to.equal(204);
    const ended = browser.cookie;
    await browser.request('DELETE', '/console/session');
    browser.cookie = ended;
    const { code } = await invite('Dan');
    expect((await browser.signIn({ code })).status).to.equal(204);
    expect(await whoIs(browser)).to.equal('Dan');
  });
});

describe('attempts to sign in', function () {
  this.timeout(60_000);
  let server: TestServer;
  beforeEach(async () => {
    server = await bootServer();
  });
  afterEach(() => server.dispose());

  it('count for an address only when they fail: foreign pages, bad bodies and successes keep nobody out', async () => {
    const browser = new ConsoleBrowser(server);
    const foreign = { origin: 'https://evil.example' };
    for (let count = 0; count < 12; count += 1) {
      await browser.signIn({ key: 'sk_sh_wrong_key_of_a_page' }, foreign);
      await browser.signIn({ none: 1 });
      await browser.signIn('no json');
      expect((await browser.signIn({ key: server.key })).status, `round ${count}`).to.equal(204);
    }
    // Those of foreign pages are bounded among themselves, so that they fill no log.
    expect((await browser.signIn({ key: server.key }, foreign)).status).to.equal(429);
    for (let count = 0; count < 10; count += 1)
      expect((await browser.signIn({ key: 'sk_sh_wrong_key' })).status).to.equal(401);
    const over = await browser.signIn({ key: server.key });
    expect(over.status, 'right or wrong, nothing is tried any more').to.equal(429);
    expect(over.json.detail).to.include('Limit of 10 failed sign-in attempts');
    expect(Number(over.headers.get('retry-after'))).to.be.within(1, 60);
  });

  it('at once are no way around that', async () => {
    const browser = new ConsoleBrowser(server);
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        index % 2 === 0
          ? browser.signIn({ key: `sk_sh_wrong_${index}` })
          : browser.request('POST', '/console/session:preview', { body: { key: `sk_sh_wrong_${index}` } }),
      ),
    );
    expect(answers.filter(({ status }) => status === 401)).to.have.length(10);
  });
});
