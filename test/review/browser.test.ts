import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { KnownDevices } from 'puppeteer-core';
import { consoleScene, visiting } from '../console/harness.js';
import type { WatchedPage } from './browser.js';
import { completion, feedbackApi } from '../feedback/feedback-api.js';

/** Where pictures of the pages go, for people to look at; unset: none are taken. */
const PICTURES = process.env['REVIEW_PICTURES'];
const HOSTILE =
  '<script>document.title = "pwned"; alert(1)</script><img src="https://evil.example/x.png" onerror="alert(2)">' +
  '<a href="javascript:alert(3)">click</a> [link](javascript:alert(4)) https://evil.example/ invoice\u202egnp.exe\u202c';

describe('the review page in a browser', function () {
  this.timeout(60_000);
  const scene = consoleScene();
  let api: ReturnType<typeof feedbackApi>;
  let watched: WatchedPage;
  let slug: string;

  before(() => {
    api = feedbackApi(scene.server);
  });
  beforeEach(async () => {
    slug = `prompt/${randomUUID()}`;
    await api.ensure(slug);
    watched = await visiting(scene);
  });

  /** Five completions, the newest first, and a link to review them. */
  async function link(more: (index: number) => Record<string, unknown> = () => ({}), count = 5) {
    const spans = Array.from({ length: count }, (_, index) =>
      completion(slug, {
        started_at: new Date(Date.UTC(2026, 2, 1) - index * 1000).toISOString(),
        output_data: `Output ${index + 1}`,
        ...more(index),
      }),
    );
    await api.spans(spans);
    const { json } = await api.link({ prompt_slug: slug });
    return { url: json.url as string, id: json.id as string, spans };
  }

  const saidOf = async (spanId: string) => {
    const { json } = await api.unified('span', spanId);
    return json.items.map(({ thumbs_up, reason, expected_output, created_by }: any) => ({
      thumbs_up,
      reason,
      expected_output: expected_output ?? null,
      by: created_by.name,
    }));
  };

  async function picture(name: string, fullPage = false): Promise<void> {
    if (PICTURES === undefined) return;
    await mkdir(PICTURES, { recursive: true });
    await watched.page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage });
  }

  it('is gone through by keyboard alone, without loading pages', async () => {
    const { url, spans } = await link();
    const { page } = watched;
    await page.goto(url);
    const loads = () => watched.requests.filter((request) => request.includes('review.css')).length;
    expect(await watched.accessibilityIssues()).to.deep.equal([]);
    await picture('desktop');
    // By Tab to the name, which is asked for once.
    for (let tabs = 0; tabs < 15; tabs += 1) {
      if ((await page.evaluate('document.activeElement?.id')) === 'reviewer_name') break;
      await page.keyboard.press('Tab');
    }
    await page.keyboard.type('Ann und Jörg');
    await page.keyboard.press('Tab');
    await page.keyboard.press('d');
    await page.keyboard.press('r');
    await page.keyboard.type('u and d are letters here\n');
    await page.keyboard.press('Tab');
    await page.keyboard.type('Better & <b>bolder</b>');
    await picture('desktop-filled-in');
    await page.keyboard.down('Control');
    await page.keyboard.press('Enter');
    await page.keyboard.up('Control');
    await watched.untilHeading('2 of 5');
    expect(await page.evaluate('document.activeElement.tagName')).to.equal('H1');
    expect(await page.$eval('#live', (live) => live.textContent)).to.equal('2 of 5');
    await page.keyboard.press('n');
    await watched.untilHeading('3 of 5');
    await page.keyboard.press('ArrowLeft');
    await watched.untilHeading('2 of 5');
    for (const [position, key] of [
      [2, 'u'],
      [3, 'd'],
      [4, 'u'],
      [5, 'u'],
    ] as const) {
      await watched.untilHeading(`${position} of 5`);
      await page.keyboard.press(key);
      await page.keyboard.press('Enter');
    }
    await watched.untilHeading('Thank you, Ann und Jörg');
    expect(await watched.text())
      .to.include('You reviewed 5 of 5 answers')
      .and.to.include('Better & <b>bolder</b>');
    expect(await watched.accessibilityIssues()).to.deep.equal([]);
    await picture('thanks');
    expect(loads(), 'pages loaded').to.equal(1);
    const by = 'Ann und Jörg';
    expect(await saidOf(spans[0]!.id)).to.deep.equal([
      { thumbs_up: false, reason: 'u and d are letters here\n', expected_output: 'Better & <b>bolder</b>', by },
    ]);
    for (const [index, thumbs_up] of [true, false, true, true].entries())
      expect(await saidOf(spans[index + 1]!.id)).to.deep.equal([
        { thumbs_up, reason: null, expected_output: null, by },
      ]);
    // Back through the history, and a verdict changed.
    await page.goBack();
    await watched.untilHeading('5 of 5');
    expect(await page.$eval('#thumb-up', (thumb) => (thumb as { checked?: boolean }).checked)).to.equal(true);
    await page.keyboard.press('d');
    await page.keyboard.press('Enter');
    await watched.untilHeading('Thank you');
    expect(await saidOf(spans[4]!.id)).to.deep.equal([{ thumbs_up: false, reason: null, expected_output: null, by }]);
  });

  it('is gone through by touch on a phone, in dark too', async () => {
    const { url, spans } = await link((index) => ({
      output_data: index === 0 ? `Wide: ${'w'.repeat(300)}\n${'| cell '.repeat(60)}` : `Output ${index + 1}`,
    }));
    const { page } = watched;
    await page.emulate(KnownDevices['iPhone 13']);
    await page.goto(url);
    await picture('phone', true);
    for (let position = 1; position <= 5; position += 1) {
      await watched.untilHeading(`${position} of 5`);
      const sizes = (await page.evaluate(`[document.documentElement.scrollWidth - window.innerWidth,
        ...[...document.querySelectorAll('.thumbs label, form button[type=submit], nav a, textarea, input[type=text]')]
          .map((element) => Math.min(element.getBoundingClientRect().width, element.getBoundingClientRect().height))]`)) as number[];
      expect(sizes[0], 'sideways scrolling').to.be.at.most(0);
      expect(Math.min(...sizes.slice(1)), 'smallest target in pixels').to.be.at.least(44);
      if (position === 1) {
        await page.tap('#reviewer_name');
        await page.keyboard.type('Kim');
      }
      await page.tap(`label[for=thumb-${position % 2 === 0 ? 'up' : 'down'}]`);
      if (position === 2) {
        await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }]);
        expect(await watched.accessibilityIssues()).to.deep.equal([]);
        await picture('phone-dark', true);
      }
      await page.tap('form button[type=submit]');
    }
    await watched.untilHeading('Thank you, Kim');
    expect(await watched.accessibilityIssues()).to.deep.equal([]);
    await picture('phone-thanks-dark', true);
    for (const [index, { id }] of spans.entries())
      expect((await saidOf(id))[0]).to.include({ thumbs_up: index % 2 === 1, by: 'Kim' });
  });

  it('is gone through without JavaScript', async () => {
    const { url, spans } = await link();
    const { page } = watched;
    await page.setJavaScriptEnabled(false);
    await page.goto(url);
    for (let position = 1; position <= 5; position += 1) {
      expect(await watched.heading()).to.include(`${position} of 5`);
      if (position === 1) {
        const keys = await page.$('.keys');
        expect(await keys?.isVisible(), 'keys are shown that do nothing').to.equal(false);
        await page.type('#reviewer_name', 'No Script');
        await page.type('#reason', 'line 1\nline 2');
      }
      await page.click(`label[for=thumb-${position === 3 ? 'down' : 'up'}]`);
      await Promise.all([page.waitForNavigation(), page.click('form button[type=submit]')]);
    }
    expect(await watched.heading()).to.include('Thank you, No Script');
    await Promise.all([page.waitForNavigation(), page.click('.given li:first-child a')]);
    expect(await page.$eval('#reason', (field) => field.textContent)).to.equal('line 1\nline 2');
    for (const [index, { id }] of spans.entries())
      expect((await saidOf(id))[0]).to.include({ thumbs_up: index !== 2, by: 'No Script' });
  });

  it('shows hostile content as text, in every place', async () => {
    const { url } = await link(
      () => ({
        name: HOSTILE,
        input_data: JSON.stringify([
          { role: HOSTILE, content: HOSTILE, tool_calls: [{ function: { name: HOSTILE, arguments: HOSTILE } }] },
        ]),
        output_data: HOSTILE,
        attributes: { task: slug, attachments: [{ type: 'image', label: HOSTILE, url: 'https://evil.example/y.png' }] },
      }),
      1,
    );
    const { page } = watched;
    await page.goto(url);
    const text = await watched.text();
    expect(text.split('<script>document.title = "pwned"; alert(1)</script>').length).to.be.greaterThan(3);
    expect(text).to.include('U+202E').and.to.not.include('\u202e');
    expect(await page.title()).to.equal('1 of 1 – Review');
    expect(
      await page.$$eval('main a', (links) =>
        links.map((a) => a.getAttribute('href')).filter((href) => !href?.startsWith('/f/')),
      ),
    ).to.deep.equal([]);
    expect(await page.$$('main script, main img')).to.have.length(0);
    await page.type('#reviewer_name', HOSTILE.slice(0, 95));
    await page.type('#expected_output', HOSTILE);
    await page.click('label[for=thumb-down]');
    await page.click('form button[type=submit]');
    await watched.untilHeading('Thank you');
    expect(await watched.text()).to.include('<script>');
    await picture('hostile-thanks');
    expect(await page.$$('main script, main img, header script')).to.have.length(0);
  });

  it('shows a megabyte in part, and all of it when asked, and stays quick', async () => {
    const { url } = await link(() => ({ output_data: `${'A long answer. '.repeat(70_000)}THE END` }), 1);
    const { page } = watched;
    const started = performance.now();
    await page.goto(url);
    expect(performance.now() - started, 'ms to the first part').to.be.lessThan(3000);
    expect((await watched.text()).length).to.be.lessThan(10_000);
    const asked = performance.now();
    await page.click('.more a');
    await page.waitForFunction(`document.querySelector('.output .text')?.textContent.endsWith('THE END')`);
    expect(performance.now() - asked, 'ms to all of it').to.be.lessThan(5000);
    await page.keyboard.press('u');
    expect(await page.$eval('#thumb-up', (thumb) => (thumb as { checked?: boolean }).checked)).to.equal(true);
  });

  it('says what is wrong, keeps what was written, and loses nothing when the server is away', async () => {
    const { url, spans } = await link(() => ({}), 2);
    const { page } = watched;
    await page.goto(url);
    // What the browser itself would catch is sent all the same.
    await page.$eval('form', (form) => form.setAttribute('novalidate', ''));
    await page.type('#reason', 'Keep this');
    await page.click('form button[type=submit]');
    await page.waitForSelector('[role=alert]');
    expect(await watched.text())
      .to.include('Choose “Good” or “Not good”.')
      .and.to.include('Your name must be given once');
    expect(await watched.accessibilityIssues()).to.deep.equal([]);
    await picture('problem');
    expect(await page.$eval('#reason', (field) => (field as { value?: string }).value)).to.equal('Keep this');
    await page.type('#reviewer_name', 'Lou');
    await page.click('label[for=thumb-up]');
    await page.setOfflineMode(true);
    await page.click('form button[type=submit]');
    await page.waitForFunction(
      `document.querySelector('[role=alert]')?.textContent.includes('Cannot reach the server')`,
    );
    await page.setOfflineMode(false);
    await page.click('form button[type=submit]');
    await watched.untilHeading('2 of 2');
    expect(await saidOf(spans[0]!.id)).to.deep.equal([
      { thumbs_up: true, reason: 'Keep this', expected_output: null, by: 'Lou' },
    ]);
    // The browser notes answers that are no success, and the attempt without a network; nothing else went wrong.
    const expected = /status of 422|ERR_INTERNET_DISCONNECTED/;
    watched.complaints.splice(0, Infinity, ...watched.complaints.filter((complaint) => !expected.test(complaint)));
  });

  it('lets keys be turned off', async () => {
    const { url } = await link(() => ({}), 2);
    const { page } = watched;
    await page.goto(url);
    await page.click('#keys-toggle');
    await page.keyboard.press('u');
    await page.keyboard.press('n');
    expect(await page.$eval('#thumb-up', (thumb) => (thumb as { checked?: boolean }).checked)).to.equal(false);
    await page.click('nav a[rel=next]');
    await watched.untilHeading('2 of 2');
    expect(await page.$eval('#keys-toggle', (toggle) => toggle.textContent)).to.equal('Shortcuts off');
  });

  it('shows nothing by a link that is wrong or revoked, also in the middle of a review', async () => {
    const { url, id } = await link(() => ({}), 3);
    const { page } = watched;
    await page.goto(url);
    await api.revoke(id);
    await page.keyboard.press('n');
    await watched.untilHeading('This link does not work');
    await page.goto(`${scene.server.url}/f/${'A'.repeat(43)}`);
    const text = await watched.text();
    expect(text).to.include('This link does not work').and.to.not.include(slug).and.to.not.include('Output');
    expect(await watched.accessibilityIssues()).to.deep.equal([]);
    await picture('does-not-work');
    await watched.forgetRefusals('404');
  });
});
