import { expect } from 'chai';
import type { Page } from 'puppeteer-core';
import { clickOn, type WatchedPage } from '../review/browser.js';
import { BETTER, CURRENT } from '../learning/optimization-api.js';
import { accessibilityEverywhere, screenUrl, signedIn } from './harness.js';
import { HOSTILE, PromptsScene, SLUG } from './prompts-scene.js';

describe('prompts in the console', function () {
  this.timeout(90_000);
  const prompts = new PromptsScene();
  let watched: WatchedPage;
  let page: Page;

  beforeEach(async () => {
    watched = await signedIn(prompts.scene);
    page = watched.page;
  });

  const open = (address = '') => page.goto(screenUrl(prompts.scene.server, `prompts${address}`));
  const here = (query = '') => open(`/${SLUG}${query}`);
  /** Waits until a part of the page holds the text. */
  const shows = (text: string, selector = 'main') =>
    page.waitForFunction(
      `document.querySelector(${JSON.stringify(selector)})?.textContent.includes(${JSON.stringify(text)})`,
    );
  const click = (text: string) => clickOn(page, `::-p-aria([name="${text}"])`);
  const cells = () => page.$$eval('main tbody td', (all) => all.map((cell) => cell.textContent));
  const tagged = async (tag: string) =>
    (await prompts.api.get(`${prompts.path}/tags`)).find((entry: { tag: string }) => entry.tag === tag)?.version;
  /** Goes on by Tab until what has the focus is named so. */
  async function tabTo(name: string): Promise<void> {
    for (let tabs = 0; tabs < 60; tabs += 1) {
      await page.keyboard.press('Tab');
      const focused = (await page.evaluate(
        `document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent.trim()`,
      )) as string;
      if (focused === name) return;
    }
    throw new Error(`Tab does not lead to ${name}`);
  }

  it('are listed with what became of them lately, and made', async () => {
    await open();
    await shows('$0.11');
    expect((await cells()).slice(0, 9)).to.deep.equal([SLUG, 'v3', 'v1', 'staging v3', '3', '11', '1', '$0.11', '10']);
    expect(await page.$$eval('main tbody a', (links) => links.map(({ href }) => new URL(href).search))).to.deep.equal([
      '',
      '?prompt_slug=shop%2Fsupport&range=7d',
      '?prompt_slug=shop%2Fsupport&range=7d&has_error=true',
      '?prompt_slug=shop%2Fsupport&range=7d',
      '?tab=feedback',
    ]);
    const asked = watched.requests
      .map((url) => new URL(url))
      .filter(({ pathname }) => /prompts$|:stats/.test(pathname));
    expect(
      asked.filter(({ pathname }) => !pathname.startsWith('/console')).map(({ pathname }) => pathname),
      'one request for the list with its figures',
    ).to.deep.equal([`/projects/${prompts.scene.server.projectId}/prompts`]);
    await page.locator('input[type=search]').fill('shop');
    await page.waitForFunction(`location.search === '?q=shop'`);
    await shows('1 match');
    await page.locator('input[type=search]').fill('nowhere');
    await shows('No prompts match');
    await click('Show all prompts');
    await shows('$0.11');
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await click('New prompt');
    await page.locator('dialog input').fill('made here');
    await page.locator('dialog textarea').fill('Say {{this}}.');
    await click('Create prompt');
    await watched.untilHeading('made here');
    await shows('Say {{this}}.');
    await click('Delete version 1');
    await shows('It is the only version, so the prompt is deleted too.', 'dialog');
    await click('Delete prompt made here');
    await watched.untilHeading('Prompts');
    await page.waitForFunction(`document.querySelectorAll('main tbody tr').length === 1`);
  });

  it('show what changed between two versions, whoever wrote them, and keep it in the address', async () => {
    await here('?a=2&b=3');
    await shows('Variable added: {{customer.name}}');
    expect(await page.$$eval('.diff .control', (all) => all.map(({ dataset }) => dataset['code']))).to.deep.equal([
      'U+202E',
    ]);
    const places = (await page.evaluate(`(() => {
      const text = document.querySelector('.diff .control').nextSibling.firstChild;
      return [0, 6].map((at) => {
        const range = document.createRange();
        range.setStart(text, at);
        range.setEnd(text, at + 1);
        return [range.toString(), range.getBoundingClientRect().left];
      });
    })()`)) as [string, number][];
    expect(places.map(([letter]) => letter)).to.deep.equal(['g', 'e']);
    expect(places[0]![1], 'letters stand as they were written').to.be.lessThan(places[1]![1]);
    expect(await page.$$eval('main del', (all) => all.map((one) => one.textContent.trim()))).to.include('customers');
    const rows = () => page.$$eval('main .diff tr', (all) => all.map((row) => row.textContent));
    expect((await rows()).filter((row) => row.includes('unchanged lines'))).to.deep.equal(['6 unchanged lines']);
    expect((await rows()).at(-1)).to.include('<script>document.title');
    await click('Full text');
    await page.waitForFunction(`document.querySelectorAll('main .diff tr').length === 15`);
    await click('Side by side');
    await page.waitForSelector('.diff.split');
    await page.reload();
    await page.waitForSelector('.diff.split');
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await page.setViewport({ width: 1280, height: 860 });
    await page.locator('main select').fill('1');
    await shows('Version 1, production');
    expect(new URL(page.url()).search).to.equal('?a=1&b=3');
    await page.goBack();
    await page.waitForFunction(
      `location.search === '?a=2&b=3' && document.querySelector('main select')?.value === '2'`,
    );
    expect(await page.title()).to.equal(`${SLUG} · Prompts · Spanhouse`);
  });

  it('are written as messages with a config, moved and compared', async () => {
    const made = '/v1/tasks/support-chat/prompt/versions/ensure';
    const messages = [
      { role: 'system', content: 'You help {{shop}}.' },
      { type: 'placeholder', name: 'history' },
    ];
    await prompts.api.expect(200, 'POST', made, { messages, config: { temperature: 0 } });
    await open('/support-chat');
    await shows('Messages named history are inserted here.');
    await shows('"temperature": 0');
    await click('Edit as new version');
    await page.waitForSelector('dialog [aria-label="Text of message 1"]');
    await click('Add message');
    await page.waitForFunction(`document.activeElement?.getAttribute('aria-label') === 'Text of message 3'`);
    await page.keyboard.type('{{question}}');
    await click('Move message 3 up');
    await page.waitForFunction(`document.activeElement?.getAttribute('aria-label') === 'Text of message 2'`);
    await page.select('dialog [aria-label="Role of message 2"]', 'developer');
    await page.locator('dialog textarea[placeholder]').fill('{"temperature": 1}');
    await click('Show changes');
    await shows('Variable added: {{question}}', 'dialog');
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await click('Save new version');
    await shows('Version 2');
    await page.waitForFunction(`location.search.includes('b=2')`);
    await shows('── developer ──');
    await page.waitForSelector('[aria-label="Config changes"]');
    expect(await prompts.api.get('/v1/prompts/support-chat')).to.deep.include({
      messages: [messages[0], { role: 'developer', content: '{{question}}' }, messages[1]],
      config: { temperature: 1 },
    });
    await page.goto(screenUrl(prompts.scene.server, 'playground?prompt=support-chat&version=1'));
    await page.waitForSelector('[aria-label="Name of placeholder 2"]');
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await prompts.api.expect(204, 'DELETE', `${prompts.api.project}/prompts/support-chat/versions/1`);
    await prompts.api.expect(204, 'DELETE', `${prompts.api.project}/prompts/support-chat/versions/2`);
  });

  it('are pinned by keyboard alone, after the difference was shown', async () => {
    await here('?b=2');
    await shows('Rule 12');
    await tabTo('Pin tag');
    await page.keyboard.press('Enter');
    await shows('production points to version 1.', 'dialog');
    await shows('+added: Rule 1 stays', 'dialog');
    await shows('Model: gpt-4o-mini → none', 'dialog');
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    expect(await tagged('production')).to.equal(1);
    await tabTo('Pin production to version 2');
    await page.keyboard.press('Enter');
    await shows('Tag production now points to version 2', '.notices');
    expect(await tagged('production')).to.equal(2);
    await page.waitForFunction(`document.activeElement?.textContent.trim() === 'Pin tag'`);
  });

  it('say what a tag has pointed at, and remove it after naming it', async () => {
    await here('?tab=tags&tag=staging');
    await shows('History of staging');
    await shows('by Owner', '.timeline');
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await click('Remove tag staging');
    await shows('It points to version 3.', 'dialog');
    await clickOn(page, 'dialog .button.danger');
    await shows('removed', '.timeline');
    expect(await tagged('staging')).to.equal(undefined);
    await click('Pin again');
    await click('Pin staging to version 3');
    await shows('Tag staging now points to version 3', '.notices');
    expect(await tagged('staging')).to.equal(3);
  });

  it('are written as new versions, with a model', async () => {
    await here('?b=1');
    await click('Edit as new version');
    await page.locator('dialog textarea').fill(`${CURRENT}\nBe kind.`);
    await click('Save new version');
    await page.waitForFunction(`location.search === '?a=1&b=4'`);
    await shows('Be kind.', '.diff ins');
    await click('Model');
    await page.locator('dialog input').fill('openai/gpt-4o');
    await click('Save model');
    await shows('Version 4 now uses model openai/gpt-4o', '.notices');
    const made = await prompts.api.get(`/v1/prompts/${encodeURIComponent(SLUG)}`);
    expect(made).to.include({ version: 4, content: `${CURRENT}\nBe kind.`, model_id: 'openai/gpt-4o' });
  });

  it('show figures by version, which lead to their completions and feedback', async () => {
    await here('?tab=figures');
    await shows('0 up, 10 down');
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await click('10 down');
    await shows('1–10 of 10');
    expect(new URL(page.url()).search).to.equal('?tab=completions&version=1&feedback=down');
    await page.goto(`${page.url().split('?')[0] ?? ''}?tab=completions`);
    await shows('1–11 of 11');
    expect((await cells())[0]).to.equal(HOSTILE.slice(0, 200).trim());
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await here('?tab=feedback&thumbs_up=false');
    await shows('1–10 of 10');
    await shows('wrong language');
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
  });

  it('are optimized: begun, compared side by side, promoted after the difference was shown', async () => {
    await here('?tab=optimization');
    await shows('Enough feedback to start');
    await click('Optimize');
    await shows('use tokens', 'dialog');
    // Until then, the button says that this is being asked.
    await shows('Training', 'dialog');
    const fields = await page.$$('dialog input[type=number]');
    expect(fields).to.have.length(3);
    await page.locator('dialog input[type=number]').fill('1');
    await click('Start optimization');
    await shows('Candidate 1');
    await shows('5, 0, 0');
    const outputs = await page.$$eval('.outputs', ([first]) => first?.textContent);
    expect(outputs).to.match(/Expected.*Bonjour.*Version 1failed\s?Hello.*Candidate 1passed\s?Bonjour/);
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await click('Promote to version');
    await shows('Answer in French.', 'dialog ins');
    await clickOn(page, 'dialog .button.main');
    await shows('Promoted to version');
    expect(await prompts.api.get(`/v1/prompts/${encodeURIComponent(SLUG)}`)).to.include({
      version: 5,
      content: BETTER,
    });
  });
});
