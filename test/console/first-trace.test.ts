import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { SNIPPETS } from '../../src/http/manual/snippets.js';
import { clickOn } from '../review/browser.js';
import { send } from '../harness/server.js';
import { accessibilityEverywhere, consoleScene, screenUrl, signedIn, visiting } from './harness.js';

const HOSTILE = '<b>Ann</b> \u202egnp';

describe('the overview of the console in a browser, and programs that send a first trace', function () {
  this.timeout(90_000);
  const scene = consoleScene();

  it('signs nobody in as somebody else by a link, unless they say so', async () => {
    const { url, key, projectId } = scene.server;
    const invited = await send(`${url}/projects/${projectId}/invites`, 'POST', { body: { name: 'Mallory' }, key });
    const watched = await signedIn(scene);
    const { page } = watched;
    const name = () => page.evaluate(`fetch('/whoami').then((it) => it.json()).then(({ user }) => user.name)`);
    await page.goto(invited.json.url);
    await page.locator('::-p-text(Stay signed in)').wait();
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    expect(page.url()).to.not.include('#');
    await clickOn(page, '::-p-text(Stay signed in)');
    await page.waitForFunction(`location.pathname.endsWith('/overview')`);
    expect(await name()).to.equal('Owner');
    await page.goto('about:blank');
    await page.goto(invited.json.url);
    await clickOn(page, '::-p-text(Sign in as Mallory)');
    await page.waitForFunction(`location.pathname.endsWith('/overview')`);
    expect(await name()).to.equal('Mallory');
  });

  it('signs a signed-out person in by a link only when they say so, having read as whom', async () => {
    const { url, key, projectId } = scene.server;
    const invited = await send(`${url}/projects/${projectId}/invites`, 'POST', { body: { name: HOSTILE }, key });
    const watched = await visiting(scene);
    const { page } = watched;
    await page.goto(invited.json.url);
    await page.locator(`::-p-text(Sign in as <b>Ann</b>)`).wait();
    expect(page.url()).to.equal(`${url}/console`);
    expect(await watched.text())
      .to.include(`signs you in on this browser as ${HOSTILE}`)
      .and.include('Default project (member');
    expect(await page.evaluate(`fetch('/whoami').then((it) => it.status)`)).to.equal(401);
    expect(await page.evaluate('history.length')).to.equal(2);
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await clickOn(page, '::-p-text(Cancel)');
    await page.locator('::-p-aria([name="API key or sign-in link"])').wait();
    // It works still, pasted into the page that is open, and when it is asked for in the address bar of that page.
    await page.locator('::-p-aria([name="API key or sign-in link"])').fill(` ${invited.json.url} `);
    await page.keyboard.press('Enter');
    await clickOn(page, '::-p-text(Cancel)');
    await page.evaluate(`location.href = ${JSON.stringify(invited.json.url)}`);
    await clickOn(page, `::-p-text(Sign in as <b>Ann</b>)`);
    await page.waitForFunction(`location.pathname.endsWith('/overview')`);
    // A link that is used up, in a console that is open.
    await page.evaluate(`location.hash = ${JSON.stringify(new URL(invited.json.url).hash)}`);
    await clickOn(page, '::-p-text(Continue without the link)');
    await page.waitForFunction(`document.querySelector('h1')?.textContent === 'Overview'`);
    expect(page.url()).to.not.include('#');
    await watched.forgetRefusals('401');
  });

  it('asks again before a key replaces what another tab signed in meanwhile', async () => {
    const { server } = scene;
    const { projectId, key } = server;
    const invited = await server.request('POST', `/projects/${projectId}/invites`, { body: { name: 'Ben' } });
    const watched = await visiting(scene);
    const { page, context } = watched;
    await page.goto(`${server.url}/console`);
    const field = page.locator('::-p-aria([name="API key or sign-in link"])');
    await field.fill(key);
    const other = await context.newPage();
    await other.goto(invited.json.url);
    await clickOn(other, '::-p-text(Sign in as Ben)');
    await other.waitForFunction(`location.pathname.endsWith('/overview')`);
    await page.bringToFront();
    await page.keyboard.press('Enter');
    await page.locator('::-p-text(Sign in instead)').wait();
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await clickOn(page, '::-p-text(Sign in instead)');
    await page.waitForFunction(`location.pathname.endsWith('/overview')`);
    await watched.forgetRefusals('(401|409)');
  });

  it('tours a newcomer, who puts the tour away and finds it again, by keyboard', async () => {
    const watched = await signedIn(scene);
    const { page } = watched;
    await page.goto(screenUrl(scene.server, 'overview'));
    // It has its place before the server has said what was done, and is not shown until then.
    await page.locator('.tour:not(.is-to-come)').wait();
    expect(await page.$$('.tour li')).to.have.length(6);
    expect(await page.$eval('.tour [aria-current=step] a', (link) => link.textContent)).to.equal(
      'Send your first trace',
    );
    await page.$eval('.tour summary', (summary) => (summary as unknown as { focus(): void }).focus());
    await page.keyboard.press('Enter');
    await page.waitForFunction(
      `document.querySelector('.tour .command')?.innerText.startsWith('npm run demo -- --url ${scene.server.url}')`,
    );
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await page.$eval('.tour .button', (button) => (button as unknown as { focus(): void }).focus());
    await page.keyboard.press('Enter');
    await page.waitForFunction(`document.querySelector('.tour') === null && document.activeElement?.id === 'main'`);
    await page.reload();
    await page.locator('::-p-text(No traces yet)').wait();
    expect(await page.$('.tour')).to.equal(null);
    await page.keyboard.down('Control');
    await page.keyboard.press('k');
    await page.keyboard.up('Control');
    await page.locator('dialog[open] input').wait();
    await page.keyboard.type('tour');
    await page.keyboard.press('Enter');
    await page.waitForFunction(`document.activeElement?.id === 'tour'`);
  });

  it('shows figures that lead to what they count, by keyboard', async () => {
    const { server } = scene;
    const started_at = new Date(Date.now() - 60_000).toISOString();
    const name = '<b>hostile</b> \u202egnp';
    const span = { name, started_at };
    const spans = [
      { ...span, trace_id: randomUUID(), cost: 0.25 },
      { ...span, trace_id: randomUUID(), error_code: 'E1' },
    ];
    await scene.post('/spans', spans);
    const watched = await signedIn(scene);
    const { page } = watched;
    await page.evaluateOnNewDocument(`
      window.shifted = 0;
      const add = (list) => list.getEntries().forEach(({ value }) => (window.shifted += value));
      new PerformanceObserver(add).observe({ type: 'layout-shift', buffered: true });
    `);
    await page.goto(screenUrl(server, 'overview?range=1h'));
    await page.waitForFunction(`document.querySelector('.tour [aria-current=step] a')?.textContent === 'Open it'`);
    await page.locator('::-p-text(With errors)').wait();
    await page.waitForFunction(
      `document.querySelectorAll('.chart').length === 4 && document.body?.innerText.includes('gnp')`,
    );
    // Core Web Vitals call up to 0.1 good: what loads late pushes nothing away that is being read.
    expect(await page.evaluate('shifted')).to.be.lessThan(0.1);
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await page.$eval('a.tile[href*=has_error]', (tile) => (tile as unknown as { focus(): void }).focus());
    await page.keyboard.press('Enter');
    await page.waitForFunction(`location.pathname.endsWith('/traces')`);
    const { searchParams } = new URL(page.url());
    expect([...searchParams])
      .to.deep.include(['has_error', 'true'])
      .and.to.deep.include(['range', '1h']);
    await page.goBack();
    // The list has a chart, too, which may still stand there.
    const slider = '.overview .chart [role=slider]';
    await page.locator(slider).wait();
    await page.$eval(slider, (chart) => (chart as unknown as { focus(): void }).focus());
    await page.keyboard.press('End');
    await page.waitForFunction(
      `/with errors \\d/.test(document.querySelector('${slider}')?.getAttribute('aria-valuetext'))`,
    );
    await page.keyboard.press('Enter');
    await page.waitForFunction(`new URLSearchParams(location.search).has('from')`);
  });

  it('has a program for every way', () => {
    for (const { code } of SNIPPETS) {
      const text = code({ url: 'https://example.org/sub', key: 'sk_sh_1' });
      expect(text).to.include('https://example.org/sub').and.to.include('sk_sh_1');
    }
  });
});
