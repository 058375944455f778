import { expect } from 'chai';
import type { Page } from 'puppeteer-core';
import { accessibilityEverywhere, consoleScene, visiting } from '../console/harness.js';
import { SubPathProxy } from '../console/sub-path-proxy.js';
import { clickOn, type WatchedPage } from '../review/browser.js';

describe('the manual in a browser, behind a proxy with a path of its own', function () {
  this.timeout(60_000);
  let proxy: SubPathProxy;
  let watched: WatchedPage;
  let page: Page;

  before(async () => {
    proxy = await SubPathProxy.start('/tools/house');
  });
  const scene = consoleScene({ boot: () => ({ env: { PUBLIC_URL: proxy.url } }), url: () => proxy.url });
  before(() => {
    proxy.target = scene.server.url;
  });
  after(() => proxy.stop());
  beforeEach(async () => {
    watched = await visiting(scene);
    ({ page } = watched);
  });

  const open = (path: string) => page.goto(`${proxy.url}/docs${path}`, { waitUntil: 'networkidle0' });
  const until = (condition: string) => page.waitForFunction(condition);
  const place = () => page.url().slice(proxy.url.length);
  const firstPrograms = async () =>
    page.$$eval('.tabs', ([first]) =>
      [...(first?.querySelectorAll('pre') ?? [])].filter((one) => one.checkVisibility()).map((one) => one.textContent),
    );
  const shown = (selector: string) =>
    page.$$eval(selector, (all) => all.filter((one) => one.checkVisibility()).map((one) => one.textContent));

  it('searches all chapters by keyboard, and shows what is found as text', async () => {
    await open('');
    await page.keyboard.press('/');
    await page.keyboard.type('permanently failed evaluations');
    await until(`document.querySelector('#found [aria-selected=true]') !== null`);
    const found = await shown('#found [role=option] strong');
    expect(found.length).to.be.within(1, 12);
    expect(found[0]).to.include('Judge answers');
    expect(await page.$$('#found mark')).to.have.length.above(1);
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await page.keyboard.press('Enter');
    await until(`location.pathname.endsWith('/docs/judges') && location.hash === '#handle-failures-and-load'`);
    await page.keyboard.press('/');
    await page.keyboard.type('<img src=x onerror=alert(1)> nowhere');
    await until(`document.querySelector('#found')?.textContent.includes('No section')`);
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await page.keyboard.press('Escape');
    await until(`document.querySelector('#found')?.childElementCount === 0`);
  });

  it('leads old links to their chapter, and those of calls to the reference', async () => {
    for (const [former, now] of [
      ['#/Monitoring', '/docs/monitoring'],
      ['#/Signing%20in', '/docs/signing-in'],
      ['#/Traces', '/docs/send-traces'],
      ['#/Judges/createJudge', '/docs/api#/Judges/createJudge'],
    ] as const) {
      await page.goto('about:blank');
      await page.goto(`${proxy.url}/docs${former}`);
      await until(`location.href.endsWith(${JSON.stringify(now)})`);
    }
    await page.locator('#operations-tag-Judges').wait();
    expect(await page.$$eval('.opblock-tag small', (all) => all.map((one) => one.textContent))).to.include(
      'Have a model evaluate spans, traces or sessions automatically, as pass or fail or with a score.',
    );
  });

  it('shows one way to send at a time, by mouse and by keyboard, and remembers it', async () => {
    await open('/send-traces');
    expect((await firstPrograms()).join())
      .to.include('curl')
      .and.not.include('NodeSDK');
    await clickOn(page, '[role=tab] ::-p-text(TypeScript)');
    expect((await firstPrograms()).join())
      .to.include(`'${proxy.url}'`)
      .and.include('NodeSDK');
    await page.keyboard.press('ArrowRight');
    expect((await firstPrograms()).join()).to.include('OTEL_TRACES_EXPORTER');
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await page.reload();
    expect((await firstPrograms()).join()).to.include('OTEL_TRACES_EXPORTER');
  });

  it('keeps a theme, as the console does', async () => {
    await open('/judges');
    await page.select('#theme select', 'dark');
    await page.reload();
    expect(await page.$eval('html', ({ dataset }) => dataset['theme'])).to.equal('dark');
    expect(await page.evaluate(`localStorage.getItem('spanhouse.theme')`)).to.equal('dark');
  });

  it('can be read without scripts, on a phone, and is as wide as its screen', async () => {
    await page.setJavaScriptEnabled(false);
    await page.setViewport({ width: 360, height: 800 });
    for (const path of ['', '/send-traces', '/monitoring', '/glossary']) {
      await open(path);
      const { scrollWidth } = await page.$eval('html', ({ scrollWidth: width }) => ({ scrollWidth: width }));
      expect([path, scrollWidth]).to.deep.equal([path, 360]);
    }
    await open('/send-traces');
    expect(await shown('.tab-title')).to.include.members(['curl', 'Python', 'TypeScript', 'OpenTelemetry', 'AI SDK']);
    await page.$eval('.chapters-menu summary', (summary) => (summary as unknown as { click(): void }).click());
    expect(await shown('.chapters-menu a')).to.include('Judge answers');
    await Promise.all([
      page.waitForNavigation(),
      page.$eval('.chapters-menu [href$="/judges"]', (link) => (link as unknown as { click(): void }).click()),
    ]);
    expect(await watched.heading()).to.include('Judge answers');
    expect(place()).to.equal('/docs/judges');
  });

  it('has no rules of accessibility broken, in both themes, narrow and wide', async () => {
    for (const path of ['', '/find-traces', '/configuration']) {
      await open(path);
      expect(await accessibilityEverywhere(watched), path).to.deep.equal([]);
    }
  });
});
