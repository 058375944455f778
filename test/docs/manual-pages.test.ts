import { readdirSync } from 'node:fs';
import { expect } from 'chai';
import { configurationTable } from '../../src/config/documentation.js';
import { SNIPPETS } from '../../src/http/manual/snippets.js';
import { bootServer, send, type TestServer } from '../harness/server.js';
import { ConsoleBrowser } from '../identity/console-browser.js';
import { chapter } from './commands.js';

const FOLDER = new URL('../../../src/http/manual/static/', import.meta.url);
const names = readdirSync(FOLDER).map((file) => file.replace('.md', ''));
const ADDRESS = 'https://spans.example/tools/house';
const BASE = '/tools/house';

describe('pages of the manual, on a server with a path of its own', () => {
  let server: TestServer;
  /** Every page by its name; the start page is called ``. */
  const pages = new Map<string, string>();
  /** Groups of calls. */
  let calls: readonly string[];
  before(async () => {
    server = await bootServer({ env: { PUBLIC_URL: ADDRESS } });
    for (const name of ['', ...names]) {
      const { status, text } = await get(name === '' ? '/docs' : `/docs/${name}`);
      expect([name, status]).to.deep.equal([name, 200]);
      pages.set(name, text);
    }
    const { tags } = (await get('/openapi.json')).json as { tags: { name: string }[] };
    calls = tags.map(({ name }) => name);
  });
  after(() => server.dispose());

  const get = (path: string, headers = {}) => server.request('GET', path, { key: null, headers });

  it('are there for every chapter, with its title, and the start page links to each', () => {
    for (const name of names) {
      const [, title = '', summary = ''] = /^# (.+)\n\n(.+)\n\n/.exec(chapter(name)) ?? [];
      expect(title, name).to.match(/^[A-Z][^.]{4,40}$/);
      expect(summary, name).to.match(/^[^.\n]{10,120}\.$/);
      expect(pages.get(name)).to.include(`<h1>${title}</h1>`).and.to.include(`<title>${title} · Spanhouse</title>`);
      expect(pages.get('')).to.include(`href="${BASE}/docs/${name}"`);
    }
  });

  it('link to pages and headings that exist, below the path of PUBLIC_URL', () => {
    let internal = 0;
    for (const [name, text] of pages)
      for (const [, href = ''] of text.matchAll(/(?:href|src)="([^"]*)"/g)) {
        if (/^https:\/\//.test(href)) continue;
        expect(href, name).to.match(/^(#|\/tools\/house\/(docs|console|openapi\.json|feedback-page))/);
        const [, page = name, anchor] = /^(?:\/tools\/house\/docs\/([a-z-]+))?(?:#(.+))?$/.exec(href) ?? [];
        if (page === 'api' || (!href.startsWith('#') && !/docs\/[a-z-]+(#|$)/.test(href))) continue;
        internal += 1;
        expect(pages.has(page), `${name}: ${href}`).to.equal(true);
        if (anchor !== undefined)
          expect(pages.get(page), `${name}: ${href}`).to.include(`id="${decodeURIComponent(anchor)}"`);
      }
    expect(internal).to.be.above(1000);
    expect(pages.get('judges')).to.include(`href="${BASE}/docs/api#/Judges"`);
  });

  it('have each anchor once, and lead only to groups of calls that exist', () => {
    for (const [name, text] of pages) {
      const ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
      expect(new Set(ids).size, name).to.equal(ids.length);
      for (const [, group = ''] of text.matchAll(/docs\/api#\/([^"]+)"/g))
        expect(calls, name).to.include(decodeURIComponent(group));
    }
  });

  it('show what is derived from definitions', () => {
    const rows = (name: string) => pages.get(name)?.match(/<tr><td>/g)?.length;
    expect(rows('configuration')).to.equal(configurationTable().split('\n').length - 2);
    for (const heading of ['look-up-metrics', 'look-up-log-events', 'act-on-alerts'])
      expect(pages.get('monitoring')).to.include(`<h2 id="${heading}">`);
    expect(pages.get('monitoring'), 'line breaks in cells').to.include('<br>').and.not.to.include('&lt;br&gt;');
    expect(pages.get('monitoring')).to.include('<code>spanhouse_<wbr>commit_<wbr>queue_<wbr>max_<wbr>bytes</code>');
    expect(pages.get('opentelemetry')).to.include('<h2 id="look-up-kinds">');
    expect([...pages.values()].join()).to.not.include('&lt;!--');
  });

  it('show the address of the server in examples, and every way to send a first trace', () => {
    for (const [name, text] of pages) expect(text, name).to.not.include('http://127.0.0.1:4318');
    const sending = pages.get('send-traces');
    expect(sending).to.include(`curl -sS ${ADDRESS}/spans`);
    const tabs = [...(sending ?? '').matchAll(/data-tab="([^"]+)"/g)].map(([, label]) => label);
    expect(tabs.slice(0, SNIPPETS.length)).to.deep.equal(['curl', 'Python', 'TypeScript', 'OpenTelemetry', 'AI SDK']);
    expect(sending).to.include('&lt;your key&gt;').and.to.include(`<a href="${BASE}/console">console</a>`);
  });

  it('tell whoever signed in where to get a key of the project, and no one else of it', async () => {
    const own = await bootServer();
    try {
      const person = await ConsoleBrowser.signedIn(own, { key: own.key });
      const ask = (headers: Record<string, string>) =>
        send(`${own.url}/docs/send-traces`, 'GET', { key: null, headers });
      const signedIn = await ask({ cookie: person.cookie, 'sec-fetch-site': 'none' });
      expect(signedIn.text).to.include(`/console/p/${own.projectId}/first`);
      expect(signedIn.text).to.not.include(own.key);
      expect(signedIn.headers.get('cache-control')).to.equal('no-store');
      expect((await ask({})).text).to.not.include(own.projectId);
      const [name = ''] = person.cookie.split('=');
      expect((await ask({ cookie: `${name}=forged` })).text).to.not.include(own.projectId);
    } finally {
      await own.dispose();
    }
  });

  it('have a policy that lets nothing in, and a hash that saves loading them again', async () => {
    for (const path of ['/docs', '/docs/judges', '/docs/none']) {
      const { headers } = await get(path);
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).to.include("default-src 'none'").and.to.include("script-src 'self';");
      expect(policy)
        .to.include("require-trusted-types-for 'script'")
        .and.not.match(/unsafe|https?:|\*/);
    }
    const etag = (await get('/docs/judges')).headers.get('etag') ?? '';
    const again = await get('/docs/judges', { 'if-none-match': etag });
    expect([again.status, again.text]).to.deep.equal([304, '']);
    expect((await get('/docs/prompts', { 'if-none-match': etag })).status).to.equal(200);
  });

  it('answer a chapter that does not exist with a page, and its name is not shown', async () => {
    const { status, text, headers } = await get('/docs/%3Cscript%3Ealert(1)');
    expect([status, headers.get('content-type')]).to.deep.equal([404, 'text/html; charset=utf-8']);
    expect(text).to.include('This page does not exist').and.not.include('alert(1)');
  });

  it('are found by a search index that names sections that exist', async () => {
    const [, url = ''] = /data-search="([^"]+)"/.exec(pages.get('') ?? '') ?? [];
    const { json, headers } = await get(url.slice(BASE.length));
    expect(headers.get('content-type')).to.include('application/json');
    const sections = json as { page: string; heading: string; anchor: string; text: string }[];
    expect(new Set(sections.map(({ page }) => page))).to.deep.equal(new Set(names));
    for (const { page, anchor } of sections)
      if (anchor !== '') expect(pages.get(page), `${page}#${anchor}`).to.include(`id="${anchor}"`);
    const found = sections.filter(({ text }) => text.includes('JUDGE_CONCURRENCY')).map(({ page }) => page);
    expect(found).to.include.members(['judges', 'monitoring', 'configuration']);
    expect(JSON.stringify(sections).length).to.be.below(460_000);
  });
});
