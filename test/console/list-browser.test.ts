import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { clickOn, type WatchedPage } from '../review/browser.js';
import { accessibilityEverywhere, announced, consoleScene, screenUrl, signedIn } from './harness.js';

const HOSTILE =
  '<img src="https://evil.example/x.png" onerror="alert(1)"> [l](javascript:alert(2)) invoice\u202egnp.exe\u202c';
const START = Date.now() - 60 * 60_000;
const at = (second: number) => new Date(START + second * 1000).toISOString();

describe('the lists of the console in a browser', function () {
  this.timeout(60_000);
  const scene = consoleScene({ keepsPages: true });
  let watched: WatchedPage;
  before(async () => {
    watched = await signedIn(scene);
  });

  const { keys, open, untilRows, until, urlQuery, rows } = {
    keys: async (...pressed: string[]) => {
      for (const key of pressed)
        if (key.startsWith('"')) await watched.page.keyboard.type(key.slice(1));
        else await watched.page.keyboard.press(key as 'Enter');
    },
    open: (screen: string) => watched.page.goto(screenUrl(scene.server, screen)),
    until: (condition: string) => watched.until(condition),
    untilRows: (count: number) =>
      watched.page.waitForFunction(
        `document.querySelectorAll('.list-rows tbody tr').length === ${count} && document.querySelector('.list-rows[aria-busy=false]')`,
      ),
    urlQuery: () => new URL(watched.page.url()).searchParams,
    rows: () => watched.page.$$eval('.list-rows tbody tr', (all) => all.map((row) => row.textContent)),
  };

  const spanOf = (index: number, more: Record<string, unknown> = {}) => ({
    id: randomUUID(),
    trace_id: randomUUID(),
    name: `step ${index}`,
    kind: index % 2 === 0 ? 'llm' : 'tool',
    started_at: at(index),
    ended_at: at(index + 1),
    cost: index / 1000,
    ...more,
  });
  const send = (...spans: unknown[]) => scene.post('/spans', spans);

  it('leads to a first trace where there is none', async () => {
    await open('traces');
    await until(`document.body?.innerText.includes('No traces yet')`);
    expect(await watched.page.$eval('.state a', (link) => link.getAttribute('href'))).to.match(/\/first$/);
    await until(`document.querySelector('.frame-nav a:last-child')?.textContent.includes('First trace')`);
  });

  it('shows rows, the exact total and hostile texts as what they are, to everybody', async () => {
    const spans = Array.from({ length: 9 }, (_, index) => spanOf(index, { tags: { 'a=b': 'c,d' } }));
    await send(...spans, spanOf(9, { name: HOSTILE, status: 'error', tags: { [HOSTILE]: HOSTILE } }));
    await open('spans?columns=name,status,cost,tags&sort_by=cost&sort_order=asc');
    await untilRows(10);
    const texts = await rows();
    expect(texts[1]).to.include('step 1').and.to.include('$0.001').and.to.include('a=b: c,d');
    expect(texts[9]).to.include(HOSTILE);
    await until(`document.querySelector('h1')?.textContent.includes('10 spans')`);
    await until(`document.querySelector('.histogram [role=slider]')`);
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await watched.page.setViewport({ width: 1280, height: 860 });
  });

  it('exports what its filters find', async () => {
    await open('spans?columns=name&names=step%201');
    await untilRows(1);
    await clickOn(watched.page, '::-p-aria([name="Export"][role="button"])');
    await clickOn(watched.page, '[role=menuitem] ::-p-text(CSV)');
    await until(`document.body.textContent.includes('Download complete')`);
    const asked = watched.requests.find((url) => url.includes('/spans:export?')) ?? '';
    const { searchParams } = new URL(asked);
    expect([searchParams.get('format'), searchParams.get('names')]).to.deep.equal(['csv', 'step 1']);
    // Chromium reads what is saved from an address of the page itself.
    watched.requests.splice(0, Infinity, ...watched.requests.filter((url) => !url.startsWith('blob:')));
  });

  it('offers the first trace no more once there is one, but for those who ask for it', async () => {
    await open('traces');
    await until(`localStorage.getItem('spanhouse.traces.${scene.server.projectId}') === 'some'`);
    const asked = () => watched.requests.filter((url) => url.endsWith('/traces?limit=1&fields=id')).length;
    const before = asked();
    await watched.page.reload();
    await untilRows(10);
    expect(await watched.page.$eval('.frame-nav', (nav) => nav.textContent)).to.not.include('First trace');
    expect(asked(), 'what is known is not asked again').to.equal(before);
    await keys('g', '1');
    await until(`document.querySelector('h1')?.textContent.includes('first trace')`);
  });

  it('shows by default what was asked and answered, for whom and with which error', async () => {
    const trace_id = randomUUID();
    const say = (...said: string[]) => JSON.stringify(said.map((content) => ({ role: 'user', content })));
    const input_data = say('Hello', 'x'.repeat(1000), 'Where is my “parcel”?');
    const error = { status: 'error', error_code: 'E1', error_message: 'carrier does not answer' };
    const tags = { user: 'ann', test: 'usual' };
    await send(
      spanOf(30, {
        trace_id,
        name: 'support',
        input_data,
        output_data: say('On its way'),
        tags,
        trace_tags: tags,
        ...error,
      }),
    );
    for (const list of ['traces', 'spans']) {
      await open(`${list}?test=usual`);
      await untilRows(1);
      const [row = ''] = await rows();
      for (const text of ['support', 'Where is my “parcel”?', 'On its way', 'ann', 'carrier does not answer'])
        expect(row, list).to.include(text);
      expect(row, 'nothing of JSON').to.not.include('role');
      const heads = await watched.page.$$eval('.list-rows th', (all) => all.map((head) => head.textContent));
      expect(heads).to.include.members(['Input', 'Output', 'User', 'Status']);
      const titles = await watched.page.$$eval('.list-rows td', (all) => all.map((cell) => cell.title));
      expect(titles.join('\n')).to.include('characters left out').and.include('carrier does not answer');
      for (const width of [1440, 1280]) {
        await watched.page.setViewport({ width, height: 860 });
        await until(`innerWidth === ${width}`);
        // On a small screen, spans may hide their last column, which one scrolls to.
        const hidden = await watched.page.$eval('.list-rows .table-box', (box) => box.scrollWidth - box.clientWidth);
        expect(hidden, `${list}, of ${width} pixels`).to.be.at.most(width === 1280 && list === 'spans' ? 130 : 0);
      }
    }
    await scene.server.request('DELETE', `/traces/${trace_id}`);
  });

  it('is filtered by keyboard alone, and the address says how', async () => {
    await open('spans');
    await untilRows(10);
    await keys('/', '"kind', 'ArrowDown', 'ArrowDown', 'Enter');
    await until(`[...document.querySelectorAll('[role=option]')].some((one) => one.textContent === 'tool5')`);
    await keys('"tool', 'Enter');
    await untilRows(5);
    await keys('"names=step 3', 'Enter');
    await untilRows(1);
    expect(urlQuery().toString()).to.equal('span_kind=tool&names=step+3');
    await watched.page.reload();
    await untilRows(1);
    // The chips are reached from the input, and the focus stays there.
    await keys('/', 'ArrowLeft', 'Delete');
    await untilRows(5);
    await until(`document.activeElement?.ariaLabel === 'Kind is tool, remove'`);
    await watched.page.goBack();
    await untilRows(1);
    await watched.page.goBack();
    await untilRows(5);
    expect(urlQuery().toString()).to.equal('span_kind=tool');
    await watched.page.evaluate('document.activeElement.blur()');
    // By a cell of the second row.
    await keys('j', 'j', 'f');
    await until(`document.activeElement?.textContent === 'Name isstep 7'`);
    await keys('Enter');
    await untilRows(1);
    await keys('j', 'Enter');
    await until(`location.pathname.includes('/traces/')`);
    expect(urlQuery().get('list')).to.equal('spans?span_kind=tool&names=step+7');
    expect(urlQuery().get('span')).to.match(/^[0-9a-f-]{36}$/);
  });

  it('says which filter hides everything, and drops it', async () => {
    await open('traces?environment=nowhere&range=7d');
    await until(`document.body?.innerText.includes('No traces match')`);
    expect(await watched.text()).to.include('Tag environment is nowhere');
    await clickOn(watched.page, '.state li:nth-child(2) a');
    await untilRows(10);
    expect(urlQuery().toString()).to.equal('range=7d');
    await open('traces?started_after=soon');
    await until(`document.querySelector('.bad-state')?.textContent.includes('must be an ISO 8601 time')`);
    const said = (await watched.text()).split('must be an ISO 8601 time');
    expect(said, 'one error is said once').to.have.length(2);
    // What else it asks is refused, too.
    await watched.page.goto('about:blank');
    watched.complaints.splice(0, watched.complaints.length);
  });

  it('goes through pages, sorts, and keeps columns', async () => {
    await open('traces?limit=4&range=all');
    await untilRows(4);
    await until(`document.querySelector('.pager')?.textContent.includes('1–4 of 10')`);
    await clickOn(watched.page, 'nav[aria-label=Pages] a[aria-label="Page 3"]');
    await untilRows(2);
    expect((await rows())[1]).to.include('step 0');
    await clickOn(watched.page, 'th:nth-child(9) .sort');
    await untilRows(4);
    expect((await rows())[0]).to.include('$0.009');
    expect(Object.fromEntries(urlQuery())).to.deep.equal({ limit: '4', range: 'all', sort_by: 'cost' });
    await clickOn(watched.page, 'button ::-p-text(Columns)');
    // What is said stays for seconds, in which a slow machine may not have looked at it twice.
    await watched.page.evaluate(`{
      const later = window.setTimeout;
      window.setTimeout = (does, ms, ...given) => later(does, ms === 6000 ? 60000 : ms, ...given);
    }`);
    await clickOn(watched.page, '[aria-label="Move Cost up"]');
    await until(`new URLSearchParams(location.search).has('columns')`);
    expect(urlQuery().get('columns')).to.match(
      /^name,root_span_input,root_span_output,tags.user,status,started_at,cost,duration_ms$/,
    );
    await until(`document.querySelector('dialog .notice')`);
    expect(await announced(watched), 'read out within the dialog').to.include('Cost is column 7 of 8');
    await keys('Escape');
    await until(`document.querySelector('.notice')`);
    expect(await announced(watched), 'read out after it').to.include('Cost is column 7 of 8');
    await open('traces?limit=4&range=all');
    await untilRows(4);
    const heads = await watched.page.$$eval('.list-rows th', (all) => all.map((head) => head.textContent));
    expect(heads.slice(5, 9)).to.deep.equal(['Status', 'Started', 'Cost', 'Duration']);
  });

  it('shows inputs and outputs as columns, of long ones a part that says so', async () => {
    const trace_id = randomUUID();
    const input_data = 'ask '.repeat(1000);
    await send(spanOf(20, { trace_id, name: 'talk', tags: { test: 'texts' }, input_data, output_data: 'Fine' }));
    await open('spans?test=texts&columns=name,output_data');
    await untilRows(1);
    await clickOn(watched.page, 'button ::-p-text(Columns)');
    await clickOn(watched.page, '::-p-aria([name="Input"][role="checkbox"])');
    await keys('Escape');
    await until(`document.querySelector('.list-rows tbody')?.textContent.includes('3400 characters left out')`);
    const [row = ''] = await rows();
    expect(row)
      .to.match(/Fine(ask ){100}/)
      .and.to.have.length.lessThan(700);
    expect(urlQuery().get('columns')).to.equal('name,output_data,input_data');
    await open('spans?test=texts&columns=name');
    await untilRows(1);
    const asked = watched.requests.filter((url) => url.includes('text_limit='));
    expect(asked.at(-1)).to.not.include('_data');
    await scene.server.request('DELETE', `/traces/${trace_id}`);
  });

  it('is bounded in time by the chart, by its keys', async () => {
    await open('traces?range=all');
    await until(`document.querySelector('.histogram [role=slider]')`);
    await watched.page.focus('.histogram [role=slider]');
    await keys('Home', 'Enter');
    await until(`new URLSearchParams(location.search).has('from')`);
    await untilRows(1);
    await until(`document.querySelector('h1')?.textContent === 'Traces 1 trace'`);
    expect((await rows())[0]).to.include('step 0');
  });

  it('shows what comes in at once, or lets it wait where it would disturb', async () => {
    await open('traces?columns=name');
    await untilRows(10);
    await keys('.');
    await until(`[...document.querySelectorAll('[aria-pressed=true]')].some((one) => one.textContent === 'Live')`);
    await send(spanOf(100, { name: 'just now' }));
    await untilRows(11);
    expect((await rows())[0]).to.equal('just now');
    await open('traces?columns=name&live=true&sort_by=cost');
    await untilRows(11);
    await until(`[...document.querySelectorAll('[aria-pressed=true]')].some((one) => one.textContent === 'Live')`);
    await send(spanOf(101, { name: 'later', cost: 7 }));
    await (await watched.page.waitForSelector('.pill'))!.press('Enter');
    await untilRows(12);
    expect((await rows())[0]).to.equal('later');
    expect(await watched.page.evaluate('document.activeElement.tagName')).to.equal('A');
  });

  it('deletes what is selected and named, by keyboard, where the key may', async () => {
    await open('traces?columns=name&sort_order=asc');
    await untilRows(12);
    await keys('j', 'x', 'j', 'x');
    await watched.page.waitForSelector('.selection .danger');
    await watched.page.focus('.selection .danger');
    await keys('Enter');
    await until(`document.querySelector('dialog')?.textContent.includes('2 spans')`);
    expect(await watched.page.$eval('dialog', (dialog) => dialog.textContent))
      .to.include('step 0')
      .and.to.include('step 1');
    await watched.page.focus('dialog .danger');
    await keys('Enter');
    await untilRows(10);
    expect((await scene.server.request('GET', '/traces')).json).to.have.length(10);
    // What the filters find, once its number is typed.
    await open('traces?columns=name&names=step%202,step%203');
    await untilRows(2);
    await clickOn(watched.page, '::-p-aria([name="Delete these…"][role="button"])');
    await until(`document.activeElement?.matches('dialog input')`);
    expect(await watched.page.$eval('dialog', (dialog) => dialog.textContent)).to.include('Traces2');
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await keys('"3', 'Enter', 'Backspace', '"2', 'Enter');
    await until(`document.querySelector('dialog')?.textContent.includes('2 of 2 traces deleted')`);
    expect((await scene.server.request('GET', '/traces')).json).to.have.length(8);
    const read = await scene.server.request('POST', `/projects/${scene.server.projectId}/api-keys`, {
      body: { name: 'reader', access: 'read' },
    });
    const reader = await signedIn(scene, read.json.key as string);
    await reader.page.goto(screenUrl(scene.server, 'traces'));
    await reader.page.waitForSelector('tbody tr');
    await reader.page.keyboard.press('j');
    await reader.page.keyboard.press('x');
    const button = await reader.page.waitForSelector('.selection .danger');
    expect(await button?.evaluate((one) => [one.ariaDisabled, one.getAttribute('title')])).to.deep.equal([
      'true',
      'Your API key is read-only',
    ]);
    await reader.context.close();
  });
});
