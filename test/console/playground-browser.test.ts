import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { WatchedPage } from '../review/browser.js';
import { JudgeApi } from '../judges/judge-api.js';
import { ModelEndpoint, type Script } from '../judges/model-endpoint.js';
import { accessibilityEverywhere, consoleScene, screenUrl, signedIn } from './harness.js';

const HOSTILE = '<img src=x onerror=alert(1)> \u202e{{name}}';
const says = (content: string): Script => ({ do: 'answer', content });

describe('the playground in a browser', function () {
  this.timeout(60_000);
  let endpoint: ModelEndpoint;
  let api: JudgeApi;
  let watched: WatchedPage;

  before(async () => {
    endpoint = await ModelEndpoint.start();
  });
  const scene = consoleScene({
    boot: () => ({ env: { JUDGE_LLM_BASE_URL: endpoint.url, JUDGE_LLM_MODEL: 'gpt-4o-mini' } }),
    keepsPages: true,
  });
  before(async () => {
    api = new JudgeApi(scene.server);
    watched = await signedIn(scene);
  });
  beforeEach(() => endpoint.reset(({ body, last }) => says(`${body.model} said: ${last}`)));
  after(() => endpoint.stop());

  const open = (query: string) => watched.page.goto(screenUrl(scene.server, `playground?${query}`));
  const shows = (text: string) => watched.until(`document.body?.innerText.includes(${JSON.stringify(text)})`);
  const answers = (count: number) =>
    watched.page.waitForFunction(
      `document.querySelectorAll('.pg-answer:not([aria-busy=true]) .pg-figures').length === ${count}`,
    );
  const values = () => watched.page.$$eval('.pg textarea', (areas) => areas.map((area) => area.value));

  it('runs a version of a prompt with two models side by side, by keyboard alone, and saves a text as a version', async () => {
    const slug = 'shop/greeter';
    const ensure = `/v1/tasks/${encodeURIComponent(slug)}/prompt/versions/ensure`;
    await api.expect(200, 'POST', ensure, { content: 'Greet {{name}}.', model_id: 'gpt-4o' });
    await open(`prompt=${encodeURIComponent(slug)}&version=1`);
    await shows('shop/greeter, version 1');
    const { page } = watched;
    const focused = () =>
      page.evaluate(
        'document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.labels?.[0]?.innerText ?? document.activeElement?.innerText',
      );
    const tabTo = async (label: string) => {
      for (let presses = 0; presses < 60; presses += 1) {
        if ((await focused()) === label) return;
        await page.keyboard.press('Tab');
      }
      throw new Error(`Tab does not lead to ${label}`);
    };
    await tabTo('Text of message 1');
    await page.keyboard.press('End');
    await page.keyboard.type(' Briefly.');
    await tabTo('name');
    await page.keyboard.type('Ann');
    await tabTo('Add variant');
    await page.keyboard.press('Enter');
    await page.keyboard.down('Shift');
    for (let presses = 0; presses < 4 && (await focused()) !== 'Model 2'; presses += 1)
      await page.keyboard.press('Tab');
    await page.keyboard.up('Shift');
    await page.keyboard.type('gpt-4.1');
    await shows('gpt-4.1: about');
    await page.keyboard.down('Control');
    await page.keyboard.press('Enter');
    await page.keyboard.up('Control');
    await answers(2);
    await shows('gpt-4o said: Greet Ann. Briefly.');
    await shows('gpt-4.1 said: Greet Ann. Briefly.');
    await shows('1,000');
    const { groups } = await api.expect(200, 'GET', 'internal-usage');
    expect(groups[0]).to.include({ purpose: 'playground', calls: 2, name: 'Owner' });
    await tabTo('Compare response 1');
    await page.keyboard.press('Enter');
    await tabTo('Compare response 2');
    await page.keyboard.press('Enter');
    await page.waitForSelector('[aria-label="Response 1 compared with Response 2"]');
    await page.reload();
    await answers(2);
    expect(await values()).to.deep.equal(['Greet {{name}}. Briefly.', '', 'Ann']);
    await page.waitForSelector('[aria-label="Response 1 compared with Response 2"]');
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await tabTo('Save as version');
    await page.keyboard.press('Enter');
    await page.waitForSelector('dialog [aria-label="Version 1 compared with New version"]');
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await tabTo('Save');
    await page.keyboard.press('Enter');
    await shows('shop/greeter, version 2');
    expect(await api.expect(200, 'GET', `/v1/prompts/${encodeURIComponent(slug)}`)).to.include({
      version: 2,
      content: 'Greet {{name}}. Briefly.',
      model_id: 'gpt-4o',
    });
  });

  it('begins with the input of a span, whatever it holds, and loses no long text by a reload', async () => {
    const input_data = JSON.stringify([{ role: 'user', content: HOSTILE + 'x'.repeat(5_000) }]);
    const span = await api.postOne({ input_data, trace_id: randomUUID() });
    await open(`span=${span['id']}&trace=${span['trace_id']}`);
    await shows('From the call answer');
    expect((await values())[0]?.startsWith(HOSTILE)).to.equal(true);
    await watched.page.focus('[aria-label="Text of message 1"]');
    await watched.page.keyboard.type('Changed. ');
    await watched.page.waitForFunction('location.search.includes("draft=kept")');
    await watched.page.reload();
    await shows('From the call answer');
    expect((await values())[0]).to.contain('Changed. ');
    endpoint.reset(() => says(HOSTILE));
    await watched.page.keyboard.down('Control');
    await watched.page.keyboard.press('Enter');
    await watched.page.keyboard.up('Control');
    await answers(1);
    await shows('<img src=x onerror=alert(1)>');
    const [stored] = await api.expect(200, 'GET', '/spans?internal=only&limit=1');
    expect(stored.attributes.spanhouse).to.include({ span_id: span['id'] });
  });

  it('keeps what was typed however soon it is left', async () => {
    // Typed and left as soon as there is a place to type, before the page is painted.
    const { identifier } = await watched.page.evaluateOnNewDocument(`new MutationObserver((_, observer) => {
      const area = document.querySelector('[aria-label="Text of message 1"]');
      if (area === null) return;
      observer.disconnect();
      area.value = 'Half a thought';
      area.dispatchEvent(new Event('input', { bubbles: true }));
      document.querySelector('.frame-nav a[href$="/prompts"]').click();
    }).observe(document, { childList: true, subtree: true })`);
    await open('');
    await watched.untilHeading('Prompts');
    await watched.page.removeScriptToEvaluateOnNewDocument(identifier);
    await watched.page.goBack();
    await watched.untilHeading('Playground');
    expect(await values()).to.deep.equal(['Half a thought']);
    await watched.page.type('[aria-label="Text of message 1"]', ', and more');
    await watched.page.waitForFunction(`location.search.includes('and+more')`);
    const left = await watched.page.evaluate(`Object.keys(sessionStorage).filter((key) => key.includes('playground'))`);
    expect(left, 'what the address has is kept there alone').to.have.length(1);
  });

  it('says what went wrong, and ends calls that are cancelled', async () => {
    await open('');
    await shows('No responses yet');
    await watched.page.type('[aria-label="Text of message 1"]', 'Hello');
    endpoint.reset(() => ({ do: 'status', status: 500 }));
    const press = (text: string) =>
      watched.page.evaluate(
        `[...document.querySelectorAll('.pg button')].find((one) => one.innerText.trim() === ${JSON.stringify(text)}).click()`,
      );
    await shows('about 2 tokens');
    await press('Run');
    await shows('The model endpoint failed (500)');
    endpoint.reset(() => ({ do: 'hang' }));
    await press('Run');
    await shows('Waiting for response');
    await press('Cancel');
    await watched.page.waitForFunction(`!document.body.innerText.includes('Waiting for response')`);
    for (let tries = 0; endpoint.underWay > 0 && tries < 200; tries += 1)
      await new Promise((after) => setTimeout(after, 25));
    expect(endpoint.underWay).to.equal(0);
  });
});
