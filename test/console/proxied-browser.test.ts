import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { Page } from 'puppeteer-core';
import { bootServer, type TestServer } from '../harness/server.js';
import { clickOn, WatchedPage } from '../review/browser.js';
import { screenUrl, suiteBrowser } from './harness.js';
import { SubPathProxy } from './sub-path-proxy.js';

const PATH = '/tools/spanhouse';
/** Clocks in Berlin went from 03:00 back to 02:00 on that day, at 01:00 UTC. */
const CHANGE = '2025-10-26';

describe('the console in a browser, behind a proxy with a path of its own', function () {
  this.timeout(60_000);
  const chromium = suiteBrowser();
  let proxy: SubPathProxy;
  let server: TestServer;
  /** The server as browsers know it. */
  let shown: TestServer;
  let foreign: Server | undefined;
  let watched: WatchedPage;
  let page: Page;

  const until = (condition: string, of = page) => of.waitForFunction(condition);
  const says = (text: string, of = page) => until(`document.body?.innerText.includes(${JSON.stringify(text)})`, of);
  const NAMES = `[...document.querySelectorAll('.list-rows .lead-cell bdi')].map((name) => name.textContent).join()`;
  /** These rows and no others, in this order. */
  const untilNames = (names: string, of = page) => until(`${NAMES} === '${names}'`, of);
  const times = (): Promise<string[]> => page.$$eval('.list-rows time', (all) => all.map((time) => time.textContent));
  const open = (screen: string) => page.goto(screenUrl(shown, screen));
  const query = (of = page) => Object.fromEntries(new URL(of.url()).searchParams);
  const choose = async (button: string, item: string) => {
    await clickOn(page, `button[aria-haspopup=menu] ::-p-text(${button})`);
    await clickOn(page, `[role^=menuitem] ::-p-text(${item})`);
  };
  const post = async (path: string, body: unknown) => {
    const { status, text, json } = await server.request('POST', path, { body });
    expect(status, text).to.be.below(300);
    return json;
  };
  const span = (name: string, started_at: string, more: object = {}) => ({
    id: randomUUID(),
    trace_id: randomUUID(),
    name,
    started_at,
    ended_at: started_at,
    ...more,
  });
  const signIn = async (key: string) => {
    await page.locator('input[type=password]').fill(key);
    await page.keyboard.press('Enter');
  };
  const newKey = (): Promise<{ id: string; key: string }> =>
    post(`/projects/${server.projectId}/api-keys`, { name: 'for an hour' });

  before(async () => {
    proxy = await SubPathProxy.start(PATH);
    server = await bootServer({ env: { PUBLIC_URL: proxy.url } });
    proxy.target = server.url;
    shown = { ...server, url: proxy.url };
    watched = await WatchedPage.open(chromium.browser);
    ({ page } = watched);
    await post('/spans', [
      span('before', '2025-10-25T21:30:00Z'),
      span('summer', '2025-10-26T00:30:00Z'),
      span('winter', '2025-10-26T01:30:00Z'),
      span('late', '2025-10-26T22:30:00Z'),
      span('after', '2025-10-26T23:30:00Z'),
      ...['c', 'a', 'b'].map((name, index) =>
        span(name, new Date(Date.now() - 60_000 * (index + 1)).toISOString(), {
          kind: 'llm',
          trace_tags: { team: 'x' },
          cost: name.charCodeAt(0),
          input_data: JSON.stringify([{ role: 'user', content: '**strong**' }]),
        }),
      ),
    ]);
  });
  after(async () => {
    foreign?.close();
    await proxy?.stop();
    await server?.dispose();
  });

  afterEach(async () => {
    if (page !== watched.page) await page.close();
    ({ page } = watched);
  });

  it('has pages, scripts, calls, events and the cookie below that path, and asks for nothing beside it', async () => {
    await page.goto(`${proxy.url}/`);
    await signIn(server.key);
    await until(`location.pathname === '${PATH}/console/p/${server.projectId}/overview'`);
    const cookies = await watched.context.cookies();
    expect(cookies.map(({ path, httpOnly, sameSite }) => ({ path, httpOnly, sameSite }))).to.deep.equal([
      { path: PATH, httpOnly: true, sameSite: 'Strict' },
    ]);
    await clickOn(page, 'nav ::-p-text(Traces)');
    await untilNames('c,a,b');
    await page.keyboard.press('.');
    await until(`[...document.querySelectorAll('[aria-pressed=true]')].some((one) => one.textContent === 'Live')`);
    await post('/spans', [span('just now', new Date().toISOString())]);
    await untilNames('just now,c,a,b');
    // Markdown is read by a worker.
    await clickOn(page, '.list-rows tbody tr:nth-child(2) a');
    await clickOn(page, '.trace-tree .row');
    await page.locator('.markdown strong').wait();
    await open('first');
    await says(`curl -sS ${proxy.url}/spans`);
    const described = page.waitForResponse(`${proxy.url}/openapi.json`);
    await page.goto(`${proxy.url}/docs/api`);
    expect((await (await described).json()).servers[0].url).to.equal(`${PATH}/`);
    // Of the question who is signed in, before anybody was.
    const complaints = watched.complaints.filter((one) => !one.includes('401'));
    expect(complaints, 'errors in the page').to.deep.equal([]);
    const beside = watched.requests.filter((url) => !url.startsWith(`${proxy.url}/`) && !url.startsWith('data:'));
    expect(beside, 'requests beside the path').to.deep.equal([]);
    expect(proxy.passed.filter(({ status }) => status >= 400 && status !== 401)).to.deep.equal([]);
  });

  it('keeps filters and sort in a new tab, on reload, on the way back and to the next trace', async () => {
    await open('traces?limit=2');
    await untilNames('just now,c');
    await clickOn(page, 'th ::-p-text(Cost)');
    await until(`location.search.includes('sort_by=cost')`);
    await page.keyboard.press('/');
    await page.keyboard.type('team=x');
    await page.keyboard.press('Enter');
    await until(`location.search.includes('tags.team=x')`);
    await until(`document.querySelector('h1')?.textContent === 'Traces 3 traces'`);
    await untilNames('c,b');
    expect(query()).to.deep.equal({ limit: '2', sort_by: 'cost', 'tags.team': 'x' });
    await page.reload();
    await untilNames('c,b');
    // The address, copied.
    const copied = await watched.context.newPage();
    await copied.goto(page.url());
    await untilNames('c,b', copied);
    await copied.close();
    const opened = chromium.browser.waitForTarget((target) => target.url().includes('/traces/'));
    await page.locator('.list-rows tbody tr:nth-child(2) a').setTimeout(10_000).click({ button: 'middle' });
    const tab = (await (await opened).page())!;
    await until(`document.querySelector('h1')?.textContent.includes('b')`, tab);
    await tab.bringToFront();
    await until(`document.querySelector('[aria-label="Next (n)"]')`, tab);
    await tab.keyboard.press('n');
    await until(`document.querySelector('h1')?.textContent.startsWith('a')`, tab);
    await tab.keyboard.press('p');
    await tab.keyboard.press('p');
    await until(`document.querySelector('h1')?.textContent.startsWith('c')`, tab);
    await clickOn(tab, 'a ::-p-text(Back to list)');
    await untilNames('c,b', tab);
    expect(query(tab)).to.deep.equal(query());
    await tab.close();
    await page.bringToFront();
    await page.goBack();
    await until(`document.querySelector('h1')?.textContent === 'Traces 4 traces'`);
    expect(query()).to.deep.equal({ limit: '2', sort_by: 'cost' });
  });

  it('shows the day on which clocks change as the zone has it, and as UTC has it', async () => {
    page = await watched.context.newPage();
    await page.emulateTimezone('Europe/Berlin');
    await page.setViewport({ width: 1280, height: 860 });
    await open('spans?columns=name,started_at');
    await untilNames('just now,c,a,b');
    await choose('Last 24 hours', 'Custom range');
    for (const [label, time] of [
      ['From', `${CHANGE}T00:00`],
      ['To', `${CHANGE}T23:59`],
    ] as const) {
      const field = await page.locator(`::-p-aria([name="${label}"])`).waitHandle();
      await field.evaluate((input, value) => {
        (input as unknown as { value: string }).value = value;
        input.dispatchEvent(new Event('input', { bubbles: true }));
      }, time);
    }
    await says('Times in Europe/Berlin (CEST/CET)');
    await clickOn(page, 'dialog ::-p-text(Apply)');
    await untilNames('late,winter,summer');
    expect(query()).to.include({ from: '2025-10-25T22:00:00.000Z', to: '2025-10-26T22:59:00.000Z' });
    expect(await times()).to.deep.equal(['26 Oct 2025, 23:30', '26 Oct 2025, 02:30', '26 Oct 2025, 02:30']);
    const titles = await page.$$eval('.list-rows time', (all) => all.map(({ title }) => title));
    expect(titles[1]).to.include('CET').and.to.include('2025-10-26T01:30:00');
    expect(titles[2]).to.include('CEST').and.to.include('2025-10-26T00:30:00');
    // Buckets of minutes: what clocks show twice is told apart.
    await until(
      `[...document.querySelectorAll('.histogram tbody tr')].map((row) => row.textContent)
        .filter((row) => !row.endsWith('00')).join() === '02:30 CEST10,02:30 CET10,23:3010'`,
    );

    // Buckets of days: that day has 25 hours.
    await open('spans?columns=name,started_at&from=2025-09-01T00:00:00Z&to=2025-11-10T00:00:00Z');
    await untilNames('after,late,winter,summer,before');
    await until(`document.querySelector('.histogram[aria-busy=false] [role=slider]')`);
    await page.focus('.histogram [role=slider]');
    await page.keyboard.press('End');
    const reading = () => page.$eval('.histogram [role=slider]', (slider) => slider.getAttribute('aria-valuetext'));
    for (let days = 0; days < 70 && !(await reading())?.startsWith('26 Oct'); days += 1)
      await page.keyboard.press('ArrowLeft');
    expect(await reading()).to.equal('26 Oct: without errors 3, with errors 0');
    await page.keyboard.press('Enter');
    await untilNames('late,winter,summer');
    const chosen = query();
    // Looked at and not changed, it stays to the microsecond.
    await choose('26 Oct', 'Custom range');
    await clickOn(page, 'dialog ::-p-text(Apply)');
    await until(`document.querySelector('dialog') === null`);
    expect(query()).to.deep.equal(chosen);

    await choose('Owner', 'Times in UTC');
    await until(`document.querySelector('.list-rows time')?.textContent === '26 Oct 2025, 22:30'`);
    expect(await times()).to.deep.equal(['26 Oct 2025, 22:30', '26 Oct 2025, 01:30', '26 Oct 2025, 00:30']);
    await open(`spans?columns=name,started_at&from=${CHANGE}T00:00:00Z&to=${CHANGE}T23:59:59Z`);
    await untilNames('after,late,winter,summer');
    await says('26 Oct 2025, 00:00 – 26 Oct 2025, 23:59 UTC');
  });

  it('refuses what pages of other sites send', async () => {
    foreign = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Elsewhere</title>');
    });
    await new Promise<void>((resolve) => foreign!.listen(0, '127.0.0.1', resolve));
    const { port } = foreign.address() as AddressInfo;
    const before = (await server.request('GET', '/spans?range=all&limit=100')).json.length as number;
    const other = await watched.context.newPage();
    // The first is the same site to a browser, which therefore sends the cookie along.
    for (const [host, refusal] of [
      ['127.0.0.1', 403],
      ['localhost', 401],
    ] as const) {
      const origin = `http://${host}:${port}`;
      proxy.passed.length = 0;
      await other.goto(origin);
      const body = JSON.stringify([span('forged', new Date().toISOString())]);
      const outcomes = await other.evaluate(
        async (url, text, project) => {
          const outcome = (path: string, init: RequestInit) =>
            fetch(url + path, { credentials: 'include', ...init }).then(
              ({ type, status }) => `${type} ${status}`,
              (error: unknown) => (error as Error).name,
            );
          return [
            await outcome('/spans', { method: 'POST', mode: 'no-cors', body: text }),
            await outcome('/spans', { method: 'POST', body: text, headers: { 'Content-Type': 'application/json' } }),
            await outcome('/spans', { headers: { 'Spanhouse-Project': project } }),
            await outcome('/console/session', { method: 'DELETE' }),
          ];
        },
        proxy.url,
        body,
        server.projectId,
      );
      expect(outcomes, origin).to.deep.equal(Array(4).fill('TypeError'));
      await other.evaluate(
        `document.body.innerHTML = '<form method="post" enctype="text/plain" action="${proxy.url}/spans"><input name="a"></form>';`,
      );
      await Promise.all([other.waitForNavigation(), other.evaluate('document.forms[0].submit()')]);
      const passed = proxy.passed.filter(({ method }) => method === 'POST' || method === 'DELETE');
      expect(passed.map(({ status }) => status).sort(), JSON.stringify(proxy.passed)).to.deep.equal([refusal, refusal]);
      expect(passed.map((each) => each.origin)).to.include(origin);
    }
    await other.close();
    expect((await server.request('GET', '/spans?range=all&limit=100')).json).to.have.length(before);
    await page.reload();
    await untilNames('c,b');
  });

  it('says that the sign-in has ended once its key is revoked, and goes on where one was after another', async () => {
    const { id, key } = await newKey();
    await watched.context.deleteCookie(...(await watched.context.cookies()));
    await open('traces?names=a&live=true');
    expect(await watched.text()).to.not.include('has ended');
    await signIn(key);
    await untilNames('a');
    await until(`[...document.querySelectorAll('[aria-pressed=true]')].some((one) => one.textContent === 'Live')`);
    await server.request('DELETE', `/projects/${server.projectId}/api-keys/${id}`);
    // Nothing is done: what follows the list notices.
    await says('Your session has ended: its key was revoked');
    expect(await watched.accessibilityIssues()).to.deep.equal([]);
    await signIn(server.key);
    await untilNames('a');
    expect(query()).to.deep.equal({ names: 'a', live: 'true' });
  });
});
