import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Page } from 'puppeteer-core';
import { uuid } from '../harness/checked-api.js';
import { eventually } from '../engine/contract/contract.js';
import { clickOn, type WatchedPage } from '../review/browser.js';
import { consoleScene, screenActions, screenUrl, signedIn } from './harness.js';

const HOSTILE = '<img src=x onerror=alert(1)>\u202E';
const [TRACE, ROOT, CALL] = [uuid(8001), uuid(8002), uuid(8003)];
const started_at = new Date().toISOString();

describe('datasets in the console', function () {
  this.timeout(90_000);
  const scene = consoleScene();
  let watched: WatchedPage;
  let page: Page;

  const { post } = scene;
  const { open, until, says, click, closed, everywhere } = screenActions(scene, () => watched);
  const get = async (path: string) => (await scene.server.request('GET', `/v1/datasets${path}`)).json;
  const rowsOf = async (name: string): Promise<Record<string, unknown>[]> =>
    (await get(`/${name}/data/latest?limit=1000`)).rows;
  const made = async (name: string, ...versions: readonly object[]) => {
    await post('/v1/datasets', { name });
    for (const version of versions) await post(`/v1/datasets/${name}/versions`, version);
  };
  /** Double-clicks a cell, by its row and column from 0 on, and enters a text. */
  const enter = async (row: number, column: number, text: string) => {
    const cell = await page.waitForSelector(`tbody tr:nth-child(${row + 1}) td:nth-child(${column + 2}) .dataset-cell`);
    await cell?.click({ count: 2 });
    await page.waitForSelector('textarea.dataset-input');
    await page.keyboard.type(text);
    await page.keyboard.press('Enter');
  };

  beforeEach(async () => {
    watched = await signedIn(scene);
    page = watched.page;
  });

  it('are created, found and deleted, and say what they are for where there are none', async () => {
    await open('datasets');
    await says('A dataset is a table of test cases');
    expect(await page.$eval('main a.button', ({ search }) => search)).to.include('span_kind=llm');
    await everywhere();
    await click('New dataset');
    await page.waitForSelector('dialog[open] textarea');
    await page.keyboard.type('shop/data');
    await page.keyboard.press('Enter');
    await says('none of which may be called', 'dialog');
    await watched.forgetRefusals();
    await page.keyboard.type('-set');
    await page.type('dialog textarea', HOSTILE);
    await click('Create dataset');
    await watched.untilHeading('shop/data-set');
    await says('No rows yet');
    await says(HOSTILE);
    await open('traces');
    await page.waitForSelector('.frame-foot');
    await page.keyboard.down('Control');
    await page.keyboard.press('k');
    await page.keyboard.up('Control');
    await page.waitForSelector('dialog[open] input');
    await page.keyboard.type('data-se');
    await clickOn(page, '::-p-text(Dataset shop/data-set)');
    await watched.untilHeading('shop/data-set');
    await open('datasets?q=SHOP');
    await says('1 match');
    await everywhere();
    await click('Delete dataset shop/data-set');
    await says('This cannot be undone', 'dialog');
    await click('Delete dataset');
    await closed();
    await says('No datasets yet');
    expect(await get('')).to.deep.equal([]);
  });

  it('show the rows of any version, whole where one is opened, and lead to the span of each', async () => {
    await post('/spans', [{ id: CALL, trace_id: TRACE, name: 'call', kind: 'llm', started_at, input_data: 'What?' }]);
    const rows = Array.from({ length: 60 }, (_, index) => ({
      row_id: `r${index}`,
      text: `${HOSTILE} ${index}`,
      n: index,
    }));
    await made('seen', { rows, message: 'All' }, { mode: 'merge', rows: [{ row_id: 'r0', text: 'later' }] });
    await post('/v1/datasets/seen/rows:from_spans', { span_ids: [CALL], mapping: { text: 'input_data' } });
    await open('datasets/seen?version=1&offset=50');
    await says('“All”');
    await says('by Owner');
    await until(`document.querySelectorAll('main tbody tr').length === 10`);
    expect(await page.$('[aria-label="Remove row"]'), 'an older version never changes').to.equal(null);
    await clickOn(page, 'main ::-p-text(Show version 3)');
    await says('later');
    await page.select('main select', '1');
    await until(
      `location.search === '?version=1' && document.querySelector('main tbody').innerText.includes('alert(1)')`,
    );
    await open(`datasets/seen?offset=50&row=${CALL}`);
    await says('What?', 'dialog');
    await everywhere();
    await clickOn(page, `dialog a[href*="${CALL}"]`);
    await until(`location.pathname.endsWith('/traces/${TRACE}')`);
  });

  it('are edited into a draft, which survives a reload, and saved as the next version', async () => {
    await made('edited', {
      rows: [
        { row_id: 'a', q: 'one', n: 1 },
        { row_id: 'b', q: 'two', n: 2 },
        { row_id: 'c', q: 'three', n: 3 },
      ],
    });
    await open('datasets/edited');
    await enter(0, 0, 'ONE');
    await says('1 change');
    await enter(0, 1, '1.5');
    await click('Edit row');
    await page.waitForSelector('dialog[open]');
    await page.keyboard.press('Escape');
    await closed();
    await clickOn(page, 'tbody tr:nth-child(2) [aria-label="Remove row"]');
    await click('Add row');
    await page.waitForSelector('dialog[open]');
    await page.type('dialog textarea', 'four');
    await clickOn(page, 'dialog [type=submit]');
    await closed();
    await says('1 added, 1 changed, 1 removed');
    await everywhere();
    await page.reload();
    await says('restored from this tab');
    await page.type('[aria-label="Message of the version"]', 'By hand');
    await click('Save as version 2');
    await until(`document.querySelector('.draft-bar') === null`);
    await says('“By hand”');
    const saved = await rowsOf('edited');
    expect(saved.slice(0, 2)).to.deep.equal([
      { row_id: 'a', q: 'ONE', n: 1.5 },
      { row_id: 'c', q: 'three', n: 3 },
    ]);
    expect(saved[2]).to.include({ q: 'four' }).and.not.have.property('n');
    await page.reload();
    await says('four');
    expect(await page.$('.draft-bar')).to.equal(null);
  });

  it('keep a draft where somebody else made a version, and apply it to that one', async () => {
    await made('shared', {
      rows: [
        { row_id: 'a', q: 'one' },
        { row_id: 'b', q: 'two' },
      ],
    });
    await open('datasets/shared');
    await enter(0, 0, 'mine');
    await says('1 change');
    await post('/v1/datasets/shared/versions', { mode: 'merge', rows: [{ row_id: 'b', q: 'theirs' }] });
    await click('Save as version 2');
    await says('Version 2 was made since you began with version 1');
    await watched.forgetRefusals();
    expect((await get('/shared')).latest_version.version_number).to.equal(2);
    await says('theirs');
    await says('mine');
    await click('Apply to version 2');
    await click('Save as version 3');
    await until(`document.querySelector('.draft-bar') === null`);
    expect(await rowsOf('shared')).to.deep.equal([
      { row_id: 'a', q: 'mine' },
      { row_id: 'b', q: 'theirs' },
    ]);
  });

  it('take files, say what is wrong with one, and give files back', async () => {
    await made('filed', { rows: [{ row_id: 'a', q: 'one' }] });
    const folder = await mkdtemp(join(tmpdir(), 'spanhouse-files-'));
    const fileOf = async (name: string, text: string) => {
      await writeFile(join(folder, name), text);
      return join(folder, name);
    };
    await open('datasets/filed');
    await click('Upload file');
    const input = await page.waitForSelector('input[type=file]');
    await input?.uploadFile(await fileOf('rows.txt', 'x'));
    await says('must end in', 'dialog');
    await input?.uploadFile(await fileOf('rows.jsonl', '{"q": "x"}\n{"q": \n'));
    await click('Upload');
    await says('Line 2', 'dialog');
    await watched.forgetRefusals();
    expect(await rowsOf('filed')).to.have.length(1);
    await everywhere();
    await input?.uploadFile(await fileOf('rows.csv', 'row_id,q\na,uno\nb,dos\n'));
    await page.type('dialog input:not([type=file])', 'From a file');
    await click('Upload');
    await closed();
    await says('“From a file”');
    expect(await rowsOf('filed')).to.deep.equal([
      { row_id: 'a', q: 'uno' },
      { row_id: 'b', q: 'dos' },
    ]);
    const client = await page.createCDPSession();
    await client.send('Browser.setDownloadBehavior', {
      behavior: 'allow',
      downloadPath: folder,
      browserContextId: watched.context.id ?? '',
    });
    await click('Download');
    await clickOn(page, '[role=menuitem] ::-p-text(CSV)');
    await eventually(async () => {
      expect(await readdir(folder)).to.include('filed-v2.csv');
    });
    expect(await readFile(join(folder, 'filed-v2.csv'), 'utf8')).to.match(/^row_id,q\r?\na,uno\r?\nb,dos\r?\n$/);
    // Chromium reads what is saved from an address of the page itself.
    watched.requests.splice(0, Infinity, ...watched.requests.filter((url) => !url.startsWith('blob:')));
  });

  it('list versions, which tags are pinned to and removed from, and compare them', async () => {
    await made(
      'versioned',
      {
        rows: [
          { row_id: 'a', q: 'what is one' },
          { row_id: 'b', q: 'two' },
        ],
        message: 'First',
      },
      {
        mode: 'merge',
        rows: [
          { row_id: 'a', q: 'what is ONE', more: 'text' },
          { row_id: 'c', q: 'three' },
        ],
        remove: ['b'],
      },
    );
    await open('datasets/versioned?tab=versions');
    await says('First');
    await click('Pin a tag to version 1');
    await page.waitForSelector('dialog[open] input');
    await page.keyboard.type('ci');
    await click('Pin tag');
    await closed();
    await click('Remove tag ci');
    expect((await get('/versioned/tags')).map(({ tag }: { tag: string }) => tag)).to.deep.equal(['latest', 'ci']);
    await everywhere();
    await click('Remove ci');
    await closed();
    await until(`!document.querySelector('main tbody').innerText.includes('ci')`);
    await clickOn(page, 'main tbody a[href*="tab=changes"]');
    await says('1 added');
    expect(await page.$$eval('.dataset-row', (all) => all.map(({ textContent }) => textContent))).to.deep.equal([
      'changed a',
      'removed b',
      'added c',
    ]);
    expect(await page.$$eval('del, ins', (all) => all.map(({ textContent }) => textContent))).to.deep.equal([
      'one',
      'ONE',
    ]);
    await everywhere();
    expect(
      await page.$$eval('[aria-label=more] .badge', (all) => all.map(({ textContent }) => textContent)),
    ).to.deep.equal(['added']);
    await page.select('main select', '2');
    await says('No differences');
  });

  it('are renamed, and their columns get roles', async () => {
    await made('old', { rows: [{ row_id: 'a', q: 'one', a: '1' }] });
    await open('datasets/old');
    await click('Edit');
    const role = await page.waitForSelector('::-p-aria([name="a"][role="combobox"])');
    await role?.select('expected');
    const name = await page.waitForSelector('::-p-aria([name="Name"][role="textbox"])');
    await name?.click({ count: 3 });
    await name?.type('bad/data');
    await click('Save');
    await says('none of which may be called', 'dialog');
    await until(`document.activeElement?.getAttribute('aria-invalid') === 'true'`);
    await watched.forgetRefusals();
    await everywhere();
    await name?.click({ count: 3 });
    await name?.type('new');
    await click('Save');
    await watched.untilHeading('new');
    const roles = await page.$$eval('[aria-label="Roles of columns"] li', (all) =>
      all.map(({ textContent }) => textContent),
    );
    expect(roles).to.deep.equal(['expected: a']);
    expect(await get('/new')).to.deep.include({ roles: { a: 'expected' } });
    await everywhere();
  });

  it('get rows of the spans that a list finds, after a look ahead', async () => {
    const spans = [0, 1, 2, 3].map((index) => ({
      ...{ id: uuid(8100 + index), trace_id: uuid(8200 + index), name: 'asked', kind: 'llm', tags: { test: 'rows' } },
      ...{ started_at: new Date(Date.now() - 1000 * index).toISOString() },
      ...(index < 3 && { input_data: `question ${index}`, output_data: `answer ${index}` }),
    }));
    await post('/spans', spans);
    await open('spans?test=rows');
    await click('Add to dataset');
    await click('New dataset');
    await page.waitForSelector('dialog dialog[open] input');
    await page.keyboard.type('production');
    await click('Create dataset');
    await page.waitForSelector('dialog[open] .dataset-mapping');
    await page.type('[aria-label="Source of column 1"]', 'x');
    await click('Preview');
    await says('/mapping/input', 'dialog');
    await watched.forgetRefusals();
    await page.focus('[aria-label="Source of column 1"]');
    await page.keyboard.press('Backspace');
    await click('Preview');
    await says('3 rows of 4 spans; 1 left out without a value', 'dialog');
    await everywhere();
    expect((await get('/production')).latest_version).to.equal(null);
    await page.type('dialog input[placeholder=All]', '2');
    await until(`document.querySelector('dialog [aria-label=Preview]') === null`);
    await click('Preview');
    await says('of 4 spans', 'dialog');
    await clickOn(page, 'dialog [type=submit] ::-p-text(Add)');
    await closed();
    const rows = await rowsOf('production');
    expect(rows.length, 'one of the two may be the span without a value').to.be.within(1, 2);
    expect(Object.keys(rows[0] ?? {})).to.have.members(['row_id', 'input', 'output', 'expected']);
  });

  it('get a row of a span or of the root of a trace, and change nothing for who may only read', async () => {
    await post('/spans', [
      { id: ROOT, trace_id: TRACE, name: 'root', kind: 'agent', started_at, input_data: 'asked' },
      { id: CALL, trace_id: TRACE, name: 'call', kind: 'llm', parent_span_id: ROOT, started_at, input_data: 'called' },
    ]);
    await made('one', { rows: [] });
    const choose = async () => {
      await says('Choose a dataset', 'dialog');
      const id = (await get('/one')).id as string;
      await page.select('dialog select', id);
      await click('Preview');
      await says('1 row', 'dialog');
      await click('Add 1 row');
      await closed();
    };
    await open(`traces/${TRACE}?span=${CALL}`);
    await clickOn(page, '.span-detail [aria-label="Add to dataset"]');
    await choose();
    await clickOn(page, '.trace-head [aria-label="Add to dataset"]');
    await choose();
    expect((await rowsOf('one')).map(({ input }) => input)).to.have.members(['called', 'asked']);
    const read = await post(`/projects/${scene.server.projectId}/api-keys`, { name: 'reader', access: 'read' });
    const reader = await signedIn(scene, read.key as string);
    await reader.page.goto(screenUrl(scene.server, 'datasets/one'));
    const button = await reader.page.waitForSelector('button[aria-disabled=true] ::-p-text(Add row)');
    expect(await button?.evaluate((text) => text.closest('button')?.title)).to.equal('Your API key is read-only');
    expect(await reader.page.$('[aria-label="Remove row"]')).to.equal(null);
  });
});
