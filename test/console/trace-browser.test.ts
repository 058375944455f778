import { expect } from 'chai';
import type { Page } from 'puppeteer-core';
import { uuid } from '../harness/checked-api.js';
import { clickOn, type WatchedPage } from '../review/browser.js';
import { accessibilityEverywhere, consoleScene, screenUrl, signedIn } from './harness.js';

const SMALL = uuid(5001);
const LARGE = uuid(5002);
const BEGUN = Date.now() - 3_600_000;
const HOSTILE = '</script><img src=x onerror=alert(1)>\u202E{{7*7}}';

describe('the trace view in a browser', function () {
  const scene = consoleScene({ keepsPages: true });
  let watched: WatchedPage;
  let page: Page;

  const at = (ms: number) => new Date(BEGUN + ms).toISOString();
  const span = (number: number, more: object) => ({
    id: uuid(number),
    trace_id: SMALL,
    name: `span ${number}`,
    started_at: at(number),
    ended_at: at(number + 100),
    ...more,
  });
  const { post } = scene;
  /** Head and tree are asked for by themselves. */
  const untilShown = () => until(`document.querySelector('h1') && document.querySelector('.trace-tree .row')`);
  const open = async (query = '', trace = SMALL) => {
    await page.goto(screenUrl(scene.server, `traces/${trace}${query}`));
    await untilShown();
  };
  const until = (condition: string) => watched.until(condition);
  const says = (text: string) => until(`document.body?.innerText.includes(${JSON.stringify(text)})`);
  const active = () => page.$eval('[data-active] .name bdi', (name) => name.textContent);
  const press = async (...keys: readonly string[]) => {
    for (const key of keys) await page.keyboard.press(key as 'Enter');
  };

  before(async function () {
    this.timeout(90_000);
    await post('/spans', [
      span(1, { name: 'answer', kind: 'agent', ended_at: at(4000), trace_tags: { [HOSTILE]: HOSTILE } }),
      span(2, { parent_span_id: uuid(1), kind: 'retriever' }),
      span(3, {
        name: `model call ${HOSTILE}`,
        parent_span_id: uuid(1),
        kind: 'llm',
        input_data: JSON.stringify([
          {
            role: 'user',
            content: `Read **this** ${HOSTILE} [link](javascript:alert(1)) [other](https://example.com)`,
          },
          { role: 'assistant', tool_calls: [{ id: 'c', function: { name: 'look', arguments: '{"a":1}' } }] },
          { role: 'tool', tool_call_id: 'c', content: 'what it found' },
        ]),
        output_data: 'x'.repeat(30_000),
        attributes: { model: 'gpt-4o', inputTokens: 1000, outputTokens: 10, [HOSTILE]: { deep: [1, 2] } },
      }),
      span(4, { parent_span_id: uuid(3), error_code: 'TimeoutError', error_message: `It took too long ${HOSTILE}` }),
      span(5, { name: 'orphan', parent_span_id: uuid(99) }),
      span(6, { name: 'still runs', parent_span_id: uuid(1), ended_at: undefined }),
    ]);
    watched = await signedIn(scene);
    page = watched.page;
  });

  it('shows a whole trace and a span of it, whatever they hold', async function () {
    this.timeout(90_000);
    await open(`?span=${uuid(3)}`);
    await says('look');
    await until(`document.querySelector('.markdown strong')?.textContent === 'this'`);
    await says('1,010');
    const text = await watched.text();
    for (const shown of [
      'parent missing',
      'unfinished',
      'what it found',
      'Show all 30,000 characters',
      HOSTILE,
      '1,010',
    ])
      expect(text, shown).to.include(shown);
    const links = await page.$$eval('.markdown a', (all) => all.map(({ href, rel, target }) => [href, rel, target]));
    expect(links).to.deep.equal([['https://example.com/', 'noreferrer noopener', '_blank']]);
    expect(await page.$$eval('.markdown .control', (all) => all.map(({ dataset }) => dataset['code']))).to.deep.equal([
      'U+202E',
    ]);
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await page.setViewport({ width: 1280, height: 860 });
    await open(`?span=${uuid(3)}&tab=attributes`);
    await until(`document.querySelector('.json-row')`);
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await page.setViewport({ width: 1280, height: 860 });
  });

  it('is gone through by keyboard alone, and its address shows the same again', async function () {
    this.timeout(90_000);
    await open();
    await page.focus('.trace-tree');
    await press('e');
    expect(await active()).to.equal('span 4');
    await press('Enter');
    await says('TimeoutError');
    await press('ArrowUp', 'ArrowLeft');
    await until(`location.search.includes('span=${uuid(3)}')`);
    await until(`document.querySelectorAll('.trace-tree .row').length === 5`);
    await press('2', 'z', '/');
    await page.keyboard.type('still');
    await press('Enter');
    await until(`location.search.includes('span=${uuid(6)}')`);
    expect(await active()).to.equal('still runs');
    const { searchParams } = new URL(page.url());
    expect([...searchParams.keys()].sort()).to.deep.equal(['find', 'span', 'tab', 'zoom']);
    await page.reload();
    await until(`document.querySelector('[role=tab][aria-selected=true]')?.textContent === 'Data'`);
    expect(await active()).to.equal('still runs');
    expect(await page.evaluate(`document.querySelector('#find-spans').value`)).to.equal('still');
    await page.focus('.trace-tree');
    await press('Escape');
    await until(`document.querySelector('.span-detail') === null && !location.search.includes('span=')`);
  });

  it('leads on to the neighbours in the list that it was opened from', async function () {
    this.timeout(90_000);
    const list = `list=${encodeURIComponent('traces?names=first,second,third&range=24h')}`;
    const names = ['third', 'second', 'first'];
    await post(
      '/spans',
      names.map((name, index) => span(200 + index, { name, trace_id: uuid(5200 + index), started_at: at(50 - index) })),
    );
    await open(`?${list}&tab=raw`, uuid(5201));
    await says('Back to list');
    await until(`document.querySelector('[aria-label="Next (n)"]')`);
    await press('n');
    await watched.untilHeading('first');
    expect(new URL(page.url()).search).to.equal(`?${new URLSearchParams(`${list}&tab=raw`).toString()}`);
    await press('p', 'p');
    await watched.untilHeading('third');
  });

  it('grows while spans come, and stays where its reader is', async function () {
    this.timeout(90_000);
    const trace = uuid(5003);
    const late = (number: number, start: number) =>
      span(number, {
        trace_id: trace,
        parent_span_id: uuid(101),
        started_at: new Date(start).toISOString(),
        ended_at: undefined,
      });
    const now = Date.now();
    await post('/spans', [{ ...late(101, now - 60_000), parent_span_id: null }, late(102, now - 1000)]);
    const tailed = page.waitForResponse((response) => response.url().includes(`/traces:tail?id=${trace}`));
    await open(`?span=${uuid(102)}`, trace);
    await tailed;
    await post('/spans', [late(103, now - 50_000)]);
    await until(`document.querySelectorAll('.trace-tree .row').length === 3`);
    expect(watched.requests.filter((url) => url.includes(`/traces:tail?id=${trace}`))).to.have.length(1);
    expect(await active()).to.equal('span 102');
    expect(page.url()).to.include(`span=${uuid(102)}`);
  });

  it('shows spans that come while it opens, and does what a key says that comes at once', async function () {
    this.timeout(90_000);
    const trace = uuid(5004);
    const part = (number: number) =>
      span(number, { trace_id: trace, ...(number > 111 && { parent_span_id: uuid(111) }) });
    await post('/spans', [part(111), part(112)]);
    const quick = await signedIn(scene);
    // Its outline is answered before the third span comes, the trace itself after that.
    let come = () => {};
    const came = new Promise<void>((resolve) => (come = resolve));
    await quick.page.setRequestInterception(true);
    quick.page.on('request', (request) => {
      const waits = new URL(request.url()).pathname === '/traces' ? came : Promise.resolve();
      void waits.then(() => request.continue());
    });
    await quick.page.evaluateOnNewDocument(`new MutationObserver((_, observer) => {
      if (document.querySelector('.trace-tree .row') === null) return;
      observer.disconnect();
      const enter = new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true });
      document.querySelector('.trace-tree').dispatchEvent(enter);
    }).observe(document, { childList: true, subtree: true })`);
    await quick.page.goto(screenUrl(scene.server, `traces/${trace}`));
    await quick.page.waitForFunction(`document.querySelectorAll('.trace-tree .row').length === 2`);
    await quick.page.waitForFunction(`location.search === '?span=${uuid(111)}'`);
    await post('/spans', [part(113)]);
    come();
    await quick.page.waitForFunction(`document.querySelectorAll('.trace-tree .row').length === 3`);
    await quick.context.close();
  });

  it('says what judges made of a span, why others did not, and takes a correction', async function () {
    this.timeout(90_000);
    const { projectId } = scene.server;
    const judge = (name: string) =>
      post(`/projects/${projectId}/judges`, {
        name,
        evaluation_type: 'binary',
        prompt: 'Is it right? {{input}} {{output}}',
      });
    const [spoke] = [await judge('Strict'), await judge('Silent')];
    await post(`/projects/${projectId}/judges/${spoke.id}/evaluations`, {
      span_id: uuid(3),
      evaluation_result: false,
      evaluation_reason: 'It **invents** things',
    });
    await open(`?span=${uuid(3)}&tab=evaluations`);
    await until(`document.querySelector('.span-detail .markdown strong')?.textContent === 'invents'`);
    await clickOn(page, 'button ::-p-text(Why not?)');
    await until(`document.querySelector('.span-detail')?.innerText.includes('Silent')`);
    await clickOn(page, 'button ::-p-text(Disagree)');
    await page.locator('.feedback textarea').fill('All of it is in the document');
    await page.reload();
    await until(`document.querySelector('.feedback textarea')?.value === 'All of it is in the document'`);
    await clickOn(page, 'button ::-p-text(Save feedback)');
    await says('disagrees');
    await says('All of it is in the document');
    await untilShown();
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await page.setViewport({ width: 1280, height: 860 });
  });

  it('holds few elements of 10,000 spans, and asks for little', async function () {
    this.timeout(90_000);
    const spans = Array.from({ length: 10_000 }, (_, index) =>
      span(10_000 + index, {
        trace_id: LARGE,
        started_at: at(index),
        ...(index > 0 && { parent_span_id: uuid(10_000 + Math.floor(index / 3)) }),
      }),
    );
    await post('/spans', spans);
    const before = watched.requests.length;
    await open('', LARGE);
    await page.focus('.trace-tree');
    await press('End');
    await until(`document.querySelector('[data-active]')?.getAttribute('aria-rowindex') === '10001'`);
    const named = `document.getElementById(document.querySelector('.trace-tree').getAttribute('aria-activedescendant'))`;
    expect(await page.evaluate(`${named} !== null`)).to.equal(true);
    expect(await page.evaluate('document.querySelectorAll("*").length')).to.be.below(2500);
    const calls = watched.requests.slice(before).filter((url) => !url.includes('/console/'));
    // Two of them are for the span that it opens by itself, and two for what is said of the trace.
    expect(calls.length, calls.join(' ')).to.be.below(12);
  });
});
