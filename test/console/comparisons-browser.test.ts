import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Page } from 'puppeteer-core';
import { eventually } from '../engine/contract/contract.js';
import { clickOn, type WatchedPage } from '../review/browser.js';
import { experimentsScene, HOSTILE, type MadeExperiment } from './experiments-scene.js';
import { consoleScene, screenActions, screenUrl, signedIn } from './harness.js';

const ROWS = 60;

describe('comparisons in the console', function () {
  this.timeout(90_000);
  const scene = consoleScene();
  const made = experimentsScene({ post: scene.post, server: () => scene.server });
  let watched: WatchedPage;
  let page: Page;
  let baseline: MadeExperiment;
  let candidate: MadeExperiment;

  const { open, until, says, click, everywhere } = screenActions(scene, () => watched);
  const path = () => `/projects/${scene.server.projectId}/comparisons`;
  const listed = async (): Promise<any[]> => (await scene.server.request('GET', path())).json;
  const rowsShown = (count: number) =>
    until(`document.querySelectorAll('[aria-label=Rows] tbody tr').length === ${count}`);

  before(async () => {
    await made.dataset('qa', ROWS);
    const scores = (limit: number) => (row: number) => ({ correct: row > limit, tone: row > 50 ? HOSTILE : 'calm' });
    baseline = await made.run('qa', 'before', scores(6), { rows: ROWS });
    candidate = await made.run('qa', 'after', (row) => (row === 60 ? null : scores(24)(row)), { rows: ROWS - 1 });
  });
  beforeEach(async () => {
    watched = await signedIn(scene);
    page = watched.page;
  });

  it('say what they are for where there are none', async () => {
    await open('comparisons');
    await says('No comparisons yet');
    await everywhere();
  });

  it('are made of two experiments, with rules that the scores of both propose', async () => {
    await open('comparisons/new');
    await says('Choose two experiments');
    await page.waitForSelector(`option[value="${candidate.id}"]`);
    const [first, second] = await page.$$('main select');
    await first?.select(candidate.id);
    await until(`location.search.includes('${candidate.id}')`);
    await page.waitForSelector(`label + select option[value="${baseline.id}"]`);
    await second?.select(baseline.id);
    await page.waitForSelector('[aria-label="Rule of correct"]');
    const chosen = await page.$$eval('.metric-fields select', (all) => all.map(({ value }) => value));
    expect(chosen).to.deep.equal(['not_worse', 'report', 'none', 'not_worse', 'report', 'none', 'none']);
    await everywhere();
    const margin = '[aria-label="Margin of correct"]';
    await page.evaluate(`document.querySelector('${margin}').select()`);
    await page.keyboard.type('much');
    await until(`document.querySelector('[type=submit]').getAttribute('aria-disabled') === 'true'`);
    await page.evaluate(`document.querySelector('${margin}').select()`);
    await page.keyboard.type('5%');
    await clickOn(page, '.chip ::-p-text(language)');
    await clickOn(page, '[type=submit]');
    await watched.untilHeading('after with before');
    const [stored] = await listed();
    expect(stored).to.include({ verdict: 'failed' });
    expect(page.url()).to.include(stored.id);
  });

  it('say what was found, draw it, and show the rows that the address asks for', async () => {
    const { id } = (await listed())[0];
    await open(`comparisons/${id}`);
    await says('would show a true change of');
    await says('1 row without a result in the candidate');
    expect(await page.$$eval('svg.forest', (all) => all.length)).to.equal(3);
    await says('language = en');
    await rowsShown(18);
    await says('yes → no');
    await everywhere();
    await clickOn(page, '.chip ::-p-text(Left out)');
    await until(`location.search === '?outcome=left_out'`);
    await says('no result in the candidate');
    await open(`comparisons/${id}?metric=tone`);
    await says('No row changed its category');
    await open(`comparisons/${id}?outcome=tie&offset=20&metric=correct`);
    await rowsShown(20);
    await clickOn(page, '[aria-label=Rows] tbody a');
    await says('Outputs, from baseline to candidate', 'dialog');
    expect(
      await page.$$eval('dialog del, dialog ins', (all) => all.map(({ textContent }) => textContent)),
    ).to.deep.equal(['before', 'after']);
    await everywhere();
    const links = await page.$$eval('dialog a', (all) => all.map(({ pathname }) => pathname.split('/').at(-2)));
    expect(links).to.deep.equal(['traces', 'experiments', 'traces', 'experiments']);
    await page.reload();
    await says('Outputs, from baseline to candidate', 'dialog');
    await clickOn(page, 'dialog a[href*="/experiments/"]');
    await watched.untilHeading('before');
    await says('before says', 'dialog');
  });

  it('are given as Markdown and as a report of JUnit', async () => {
    const { id } = (await listed())[0];
    const folder = await mkdtemp(join(tmpdir(), 'spanhouse-files-'));
    await open(`comparisons/${id}`);
    const client = await page.createCDPSession();
    await client.send('Browser.setDownloadBehavior', {
      behavior: 'allow',
      downloadPath: folder,
      browserContextId: watched.context.id ?? '',
    });
    for (const [label, extension, begins] of [
      ['Markdown', 'md', '## '],
      ['JUnit', 'xml', '<?xml'],
    ] as const) {
      const name = `comparison-${id.slice(0, 8)}.${extension}`;
      await click('Download');
      await clickOn(page, `[role=menuitem] ::-p-text(${label})`);
      await eventually(async () => {
        expect(await readdir(folder)).to.include(name);
      });
      expect(await readFile(join(folder, name), 'utf8')).to.satisfy((text: string) => text.startsWith(begins));
    }
    // Chromium reads what is saved from an address of the page itself.
    watched.requests.splice(0, Infinity, ...watched.requests.filter((url) => !url.startsWith('blob:')));
  });

  it('wait until both experiments are finished', async () => {
    const late = await made.run('qa', 'late', () => ({ correct: true }), { rows: ROWS, isOpen: true });
    await open(`comparisons/new?candidate=${late.id}&baseline=${baseline.id}`);
    await says('waits up to 10 minutes');
    await click('Compare when finished');
    await until(`document.querySelector('[type=submit]').getAttribute('aria-busy') === 'true'`);
    await scene.post(made.path(`/${late.id}:finish`), undefined);
    await watched.untilHeading('late with before');
  });

  it('say why two cannot be compared, are listed by experiment, and deleted', async () => {
    await made.dataset('another', 2);
    const other = await made.run('another', 'elsewhere', () => ({ correct: true }), { rows: 2 });
    await open(`comparisons/new?candidate=${other.id}&baseline=${baseline.id}`);
    await says('passes when');
    expect(await page.evaluate(`document.querySelector('[type=submit]').title`)).to.equal(
      'They are on different datasets',
    );
    await open(`comparisons?experiment_id=${candidate.id}`);
    await says('Comparisons of after');
    await until(`document.querySelectorAll('main tbody tr').length === 1`);
    await everywhere();
    await click('Delete comparison of after');
    await click('Delete comparison');
    await until(`document.querySelector('dialog[open]') === null`);
    expect((await listed()).map(({ candidate: { name } }) => name as string)).to.deep.equal(['late']);
    await open(`comparisons/${candidate.id}`);
    await says('Comparison not found');
    await watched.forgetRefusals();
  });

  it('are made by nobody who may only read', async () => {
    const key = await scene.post(`/projects/${scene.server.projectId}/api-keys`, { name: 'reader', access: 'read' });
    const reader = await signedIn(scene, key.key as string);
    await reader.page.goto(
      screenUrl(scene.server, `comparisons/new?candidate=${candidate.id}&baseline=${baseline.id}`),
    );
    await reader.page.waitForSelector('[type=submit][aria-disabled=true]');
    const why = await reader.page.evaluate(`document.querySelector('[type=submit]').title`);
    expect(why).to.equal('Your API key is read-only');
  });
});
