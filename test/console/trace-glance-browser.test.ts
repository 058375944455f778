import { expect } from 'chai';
import type { Page } from 'puppeteer-core';
import { uuid } from '../harness/checked-api.js';
import { clickOn, type WatchedPage } from '../review/browser.js';
import { accessibilityEverywhere, announced, consoleScene, screenUrl, signedIn } from './harness.js';

const TRACE = uuid(6001);
const QUIET = uuid(6002);
const GROWING = uuid(6003);
const SESSION = uuid(6004);
const BEGUN = Date.now() - 3_600_000;

describe("a trace's first glance in a browser", function () {
  const scene = consoleScene({ keepsPages: true });
  let watched: WatchedPage;
  let page: Page;

  const at = (ms: number) => new Date(BEGUN + ms).toISOString();
  const span = (number: number, more: object) => ({
    id: uuid(number),
    trace_id: TRACE,
    name: `span ${number}`,
    started_at: at(number),
    ended_at: at(number + 100),
    ...more,
  });
  const { post } = scene;
  const until = (condition: string) => watched.until(condition);
  const open = async (query = '', trace = TRACE) => {
    await page.goto(screenUrl(scene.server, `traces/${trace}${query}`));
    await until(`document.querySelector('h1') && document.querySelector('.trace-tree .row')`);
  };
  const untilOpen = (name: string) => until(`document.querySelector('.span-detail h2 bdi')?.textContent === '${name}'`);
  const untilClosed = () => until(`document.querySelector('.span-detail') === null`);
  const addressNamesNone = () => page.evaluate(`new URLSearchParams(location.search).get('span') === null`);
  const selected = () => page.$$eval('.row[aria-selected=true] .name bdi', (all) => all.map((row) => row.textContent));
  const rowOf = (name: string) =>
    page.$$eval(
      '.trace-tree .row',
      (rows, name) => {
        const row = rows.find((each) => each.querySelector('.name bdi')?.textContent === name);
        return [...(row?.querySelectorAll('.figure') ?? [])].slice(1).map((cell) => [cell.textContent, cell.title]);
      },
      name,
    );

  before(async function () {
    this.timeout(90_000);
    const call = {
      kind: 'llm',
      attributes: { model: 'gpt-4o', provider: 'openai', inputTokens: 1000, outputTokens: 10 },
    };
    await post('/spans', [
      span(1, { name: 'asks', kind: 'agent', ended_at: at(4000), session_id: SESSION, session_name: 'Support of Ada' }),
      span(2, { name: 'plans', parent_span_id: uuid(1), ...call }),
      span(3, { name: 'looks', kind: 'tool', parent_span_id: uuid(1), error_message: 'No weather' }),
      span(4, {
        name: 'fetches',
        kind: 'tool',
        parent_span_id: uuid(3),
        error_code: 'TimeoutError',
        input_data: '{"city":"Paris","days":[1,2]}',
        output_data: JSON.stringify('{"error":{"code":504}}'),
      }),
      span(5, {
        name: 'answers',
        kind: 'llm',
        parent_span_id: uuid(1),
        attributes: { model: 'house-9', provider: 'ours', inputTokens: 500, outputTokens: 5 },
      }),
      span(6, { name: 'checks', parent_span_id: uuid(5), ...call }),
      span(7, { name: 'fails later', parent_span_id: uuid(1), error_message: 'No' }),
      span(11, { trace_id: QUIET, name: 'is well' }),
      span(12, { trace_id: QUIET, name: 'is below', parent_span_id: uuid(11) }),
    ]);
    watched = await signedIn(scene);
    page = watched.page;
  });

  it('opens the cause of the first failure, else the root, and leaves the address and the focus alone', async function () {
    this.timeout(90_000);
    await open('?tab=data');
    await untilOpen('fetches');
    expect(await selected()).to.deep.equal(['fetches']);
    expect(await page.evaluate('location.search')).to.equal('?tab=data');
    expect(await page.evaluate('document.activeElement === document.body')).to.equal(true);
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await page.setViewport({ width: 1280, height: 860 });
    await open('', QUIET);
    await untilOpen('is well');
    expect(await addressNamesNone()).to.equal(true);
  });

  it('keeps closed what its reader closes, and writes to the address what they choose', async function () {
    this.timeout(90_000);
    await open();
    await untilOpen('fetches');
    await page.keyboard.press('Escape');
    await untilClosed();
    await page.focus('.trace-tree');
    await page.keyboard.press('Home');
    expect(await page.$('.span-detail')).to.equal(null);
    await page.keyboard.press('Enter');
    await untilOpen('asks');
    await until(`location.search === '?span=${uuid(1)}'`);
    await clickOn(page, '[aria-label="Close span (Escape)"]');
    await untilClosed();
    expect(await page.evaluate(`document.activeElement.className`)).to.equal('trace-tree');
    // The address follows what is shown, a frame later.
    await until(`new URLSearchParams(location.search).get('span') === null`);
    // What the view has selected is chosen by a click on it, too.
    await open();
    await untilOpen('fetches');
    await clickOn(page, '.row[aria-selected=true] .name');
    await until(`location.search === '?span=${uuid(4)}'`);
  });

  it('goes back through what was opened, to what it opened by itself', async function () {
    this.timeout(90_000);
    await open();
    await untilOpen('fetches');
    await page.evaluate(
      `(() => { const link = document.createElement('a'); link.href = '?span=${uuid(2)}'; document.querySelector('main').append(link); link.click(); link.remove(); })()`,
    );
    await untilOpen('plans');
    await page.goBack();
    await untilOpen('fetches');
    expect(await addressNamesNone()).to.equal(true);
    const list = encodeURIComponent('traces?names=asks,is well&range=24h&sort_by=name&sort_order=asc');
    await open(`?list=${list}&span=${uuid(2)}`);
    await untilOpen('plans');
    await until(`document.querySelector('[aria-label="Next (n)"]:not([aria-disabled=true])')`);
    await page.keyboard.press('n');
    await untilOpen('is well');
    await watched.untilHeading('is well');
    await page.keyboard.press('p');
    await untilOpen('fetches');
  });

  it('does not jump while the trace grows, and says when the span that it shows has ended', async function () {
    this.timeout(90_000);
    const now = Date.now();
    const part = (number: number, more: object) => ({
      id: uuid(number),
      trace_id: GROWING,
      name: `part ${number}`,
      started_at: new Date(now - 1000 + number).toISOString(),
      ...more,
    });
    await post('/spans', [part(21, {})]);
    const tailed = page.waitForResponse((response) => response.url().includes(`/traces:tail?id=${GROWING}`));
    await open('', GROWING);
    await tailed;
    await untilOpen('part 21');
    await until(`document.querySelector('.span-detail .badge')?.innerText.includes('running')`);
    await post('/spans', [part(22, { parent_span_id: uuid(21), error_message: 'No' })]);
    await until(`document.querySelectorAll('.trace-tree .row').length === 2`);
    expect(await selected()).to.deep.equal(['part 21']);
    await post('/spans', [part(21, { ended_at: new Date(now).toISOString(), output_data: 'It is done' })]);
    await until(`document.querySelector('.span-detail')?.innerText.includes('It is done')`);
    expect(await page.$('.span-detail .badge')).to.equal(null);
    expect(await addressNamesNone()).to.equal(true);
  });

  it('covers nothing on a phone, until something is chosen', async function () {
    this.timeout(90_000);
    await page.setViewport({ width: 390, height: 800 });
    await open();
    expect(await page.$('dialog[open]')).to.equal(null);
    await clickOn(page, '.trace-tree .row .name');
    await until(`document.querySelector('dialog[open] .span-detail h2 bdi')?.textContent === 'asks'`);
    // A window that becomes narrow closes what nobody chose.
    await page.setViewport({ width: 1280, height: 860 });
    await open();
    await untilOpen('fetches');
    await page.setViewport({ width: 390, height: 800 });
    await untilClosed();
    await page.setViewport({ width: 1280, height: 860 });
    await untilOpen('fetches');
  });

  it('shows what the spans below cost together, and the name of the session', async function () {
    this.timeout(90_000);
    await open();
    await until(`document.querySelector('.trace-head a[href*="/sessions/"]')?.textContent === 'Support of Ada'`);
    expect(await rowOf('asks')).to.deep.equal([
      ['Σ $0.0052', 'Sum of the spans below: $0.0052'],
      ['Σ 2,525', 'Sum of the spans below: 2,525'],
    ]);
    expect(await rowOf('plans')).to.deep.equal([
      ['$0.0026', '$0.0026'],
      ['1,010', '1,010'],
    ]);
    expect(await rowOf('answers')).to.deep.equal([
      ['Σ $0.0026', 'Sum of the spans below: $0.0026'],
      ['505', '505; with the spans below: 1,515'],
    ]);
    expect(await rowOf('looks')).to.deep.equal([
      ['–', 'unknown'],
      ['–', '–'],
    ]);
    const head = await page.$eval('.trace-head .trace-figures', (figures) => figures.innerText.replace(/\s+/g, ' '));
    expect(head).to.include('Cost $0.0052 Tokens 2,525');
  });

  it("shows a tool's JSON as JSON", async function () {
    this.timeout(90_000);
    await open();
    await untilOpen('fetches');
    await until(`document.querySelectorAll('.span-detail .data-text').length === 2`);
    expect(await page.$$eval('.data-text', (all) => all.map(({ innerText }) => innerText))).to.deep.equal([
      '{\n  "city": "Paris",\n  "days": [\n    1,\n    2\n  ]\n}',
      '{\n  "error": {\n    "code": 504\n  }\n}',
    ]);
    await page.keyboard.press('2');
    await until(`location.search === '?span=${uuid(4)}&tab=data'`);
    await until(`document.querySelectorAll('.span-detail [role=tree]').length === 2`);
    await until(`document.querySelector('.span-detail').innerText.includes('504')`);
  });

  it('offers to set the price that a model has not, and then to calculate by it', async function () {
    this.timeout(90_000);
    const buttons = () =>
      page.$$eval('.span-detail dl .button', (all) =>
        all.map((button) => [button.innerText.trim(), button.title, button.ariaDisabled]),
      );
    const { projectId } = scene.server;
    const { key } = await post(`/projects/${projectId}/api-keys`, { name: 'reads', access: 'read' });
    const reader = await signedIn(scene, key as string);
    await reader.page.goto(screenUrl(scene.server, `traces/${TRACE}?span=${uuid(5)}`));
    await reader.page.waitForSelector('.span-detail dl .button[title="Your API key is read-only"][aria-disabled=true]');
    await reader.context.close();
    await open(`?span=${uuid(2)}`);
    await untilOpen('plans');
    await open(`?span=${uuid(5)}`);
    await page.waitForSelector('.span-detail dl .button');
    expect(await buttons()).to.deep.equal([['Set price', '', 'false']]);
    await clickOn(page, '[title="Cost breakdown"]');
    await clickOn(page, 'dialog .button ::-p-text(Set price)');
    await until(`document.querySelector('dialog h2')?.textContent === 'Set price'`);
    expect(await page.$$eval('dialog input', (all) => all.map(({ value }) => value))).to.deep.equal([
      'ours',
      'house-9',
      '',
      '',
      '',
    ]);
    expect(await page.evaluate('document.activeElement.type')).to.equal('number');
    await page.keyboard.type('2');
    await page.keyboard.press('Tab');
    await page.keyboard.type('8');
    await clickOn(page, 'dialog .button ::-p-text(Save price)');
    await until(`document.querySelector('.span-detail dl .button')?.innerText.includes('Recalculate')`);
    expect(await page.$('dialog[open]')).to.equal(null);
  });

  it('says what happened where nothing is read', async function () {
    this.timeout(90_000);
    const covered = (within: string) =>
      page.evaluate(`(() => {
        const notice = document.querySelector('.notice').getBoundingClientRect();
        return [...document.querySelectorAll('${within} :is(h1, h2, p:not(.notice), dl, button, .trace-tree, .data-text)')].filter((read) => {
          const { left, right, top, bottom } = read.getBoundingClientRect();
          return notice.left < right && notice.right > left && notice.top < bottom && notice.bottom > top;
        }).map(({ outerHTML }) => outerHTML.slice(0, 80));
      })()`);
    for (const width of [1280, 390]) {
      await page.setViewport({ width, height: 800 });
      await open();
      await page.keyboard.press('c');
      await until(`document.querySelector('.notice')?.getBoundingClientRect().width > 100`);
      expect(await covered('#main'), String(width)).to.deep.equal([]);
      expect((await announced(watched)).join(' ')).to.match(/Link (not )?copied/);
    }
    await open(`?span=${uuid(4)}`);
    await until(`document.querySelectorAll('dialog .data-text').length === 2`);
    await clickOn(page, 'dialog .span-title button');
    await until(`document.querySelector('dialog .notice')?.getBoundingClientRect().width > 100`);
    expect(await covered('dialog')).to.deep.equal([]);
    expect((await announced(watched)).join(' ')).to.match(/Span ID (not )?copied/);
    await page.setViewport({ width: 1280, height: 860 });
  });
});
