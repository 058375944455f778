import { expect } from 'chai';
import type { Page } from 'puppeteer-core';
import { clickOn, type WatchedPage } from '../review/browser.js';
import { experimentsScene, HOSTILE } from './experiments-scene.js';
import { consoleScene, screenActions, screenUrl, signedIn } from './harness.js';

describe('experiments in the console', function () {
  this.timeout(90_000);
  const scene = consoleScene();
  const made = experimentsScene({ post: scene.post, server: () => scene.server });
  let watched: WatchedPage;
  let page: Page;

  const { open, until, says, click, closed, everywhere } = screenActions(scene, () => watched);
  const names = () => page.$$eval('main tbody .lead bdi', (all) => all.map(({ textContent }) => textContent));
  const get = async (path: string) => (await scene.server.request('GET', made.path(path))).json;

  beforeEach(async () => {
    watched = await signedIn(scene);
    page = watched.page;
  });

  it('say what they are and how to make one where there are none', async () => {
    await open('experiments');
    await says('No experiments yet');
    await says(`/projects/${scene.server.projectId}/experiments`);
    await clickOn(page, '[role=tab] ::-p-text(curl)');
    await says('jq -r .id');
    expect(page.url()).to.include('with=curl');
    expect(await page.$$eval('main a', (all) => all.map(({ pathname }) => pathname.split('/').at(-1)))).to.include(
      'datasets',
    );
    await everywhere();
  });

  it('are listed newest first with their figures, filtered by what the address says, and two are chosen to be compared', async () => {
    await made.dataset('qa', 20);
    await made.dataset('other', 2);
    const subject = { commit: '0123456789abcdef', branch: HOSTILE, dirty: true };
    const first = await made.run('qa', 'first', (row) => ({ correct: row > 5, rate: row }), { more: { subject } });
    await scene.post(made.path(`/${first.id}/tags/baseline:pin`), undefined);
    const second = await made.run('qa', 'second', (row) => (row === 3 ? null : { correct: row > 10 }));
    await made.run('other', 'third', () => ({ correct: true }), { rows: 1, isOpen: true });
    await open('experiments');
    await says('third');
    expect(await names()).to.deep.equal(['third', 'second', 'first']);
    await says(`01234567 with changes · ${HOSTILE}`);
    await says('1 of 2');
    await says('75%');
    await says('$0.20');
    await everywhere();
    await open('experiments?dataset=qa&status=finished&tag=baseline');
    await says('1 match');
    expect(await names()).to.deep.equal(['first']);
    await open('experiments?status=canceled');
    await clickOn(page, 'main ::-p-text(Show all experiments)');
    await says('third');
    await page.type('input[type=search]', 'SECO');
    await until(`document.querySelectorAll('main tbody tr').length === 1`);
    await open('datasets/qa?tab=experiments');
    await until(`document.querySelectorAll('main tbody tr').length === 2`);
    expect(await page.$('button[aria-disabled=true] ::-p-text(Compare)')).not.to.equal(null);
    for (const box of await page.$$('main tbody input[type=checkbox]')) await box.click();
    await says('2 selected');
    await click('Compare');
    await watched.untilHeading('New comparison');
    // That with the tag is the baseline, by its tag.
    expect(page.url()).to.include(`candidate=${second.id}&baseline=tag%3Abaseline`);
    await says('Tag baseline: first');
    expect(first.id).not.to.equal(second.id);
  });

  it('show what they tried, their figures and results, each with its row and the trace in which it was made', async () => {
    await made.dataset('seen', 60);
    const more = {
      description: HOSTILE,
      subject: { model: 'gpt-4o', url: 'https://ci.example.com/7' },
      parameters: { temperature: 0.2 },
    };
    const scores = (row: number) => (row % 10 === 7 ? null : { correct: row > 30, tone: row > 50 ? HOSTILE : 'calm' });
    const { id } = await made.run('seen', 'shown', scores, { rows: 60, more });
    await open(`experiments/${id}`);
    await watched.untilHeading('shown');
    await says(HOSTILE);
    await says('gpt-4o');
    await says('54 results');
    await says('calm');
    await until(`document.querySelectorAll('main tbody tr').length === 50`);
    await says('1–50 of 60');
    await everywhere();
    await clickOn(page, 'a.tile');
    await until(`location.search === '?has_error=true' && document.querySelectorAll('main tbody tr').length === 6`);
    await says('timed out');
    await open(`experiments/${id}?row=r2`);
    await says('Question 2', 'dialog');
    await says(`Answer 2 ${HOSTILE}`, 'dialog');
    await says('shown says 2', 'dialog');
    await everywhere();
    const links = await page.$$eval('dialog a', (all) => all.map(({ pathname }) => pathname));
    expect(links[0]).to.match(/\/traces\/[0-9a-f-]{36}$/);
    await clickOn(page, 'dialog ::-p-text(Score or comment the result)');
    await until(`location.pathname.includes('/traces/') && location.search.startsWith('?span=')`);
    await says('shown says 2');
    await open(`experiments/${id}?row=none`);
    await says('no such result', 'dialog');
    await page.keyboard.press('Escape');
    await closed();
    expect(new URL(page.url()).search).to.equal('');
  });

  it('are finished, canceled, tagged and deleted, and found by name and by id', async () => {
    await made.dataset('ended', 3);
    const one = await made.run('ended', 'to finish', () => ({ correct: true }), { rows: 2, isOpen: true });
    const two = await made.run('ended', 'to cancel', () => ({ correct: true }), { rows: 2, isOpen: true });
    await open(`experiments/${one.id}`);
    await click('Finish');
    await says('It has 2 of 3 results', 'dialog');
    await click('Finish experiment');
    await closed();
    await says('finished');
    await click('Pin tag');
    await page.waitForSelector('dialog[open] input');
    await clickOn(page, 'dialog [type=submit]');
    await closed();
    await says('baseline');
    await open(`experiments/${two.id}`);
    await click('Cancel');
    await click('Cancel experiment');
    await closed();
    await says('canceled');
    await click('Pin tag');
    await says('baseline points to to finish now, and moves', 'dialog');
    await clickOn(page, 'dialog [type=submit]');
    await closed();
    await click('Remove tag baseline');
    await click('Remove baseline');
    await closed();
    expect((await get('?tag=baseline&dataset=ended')).total).to.equal(0);
    await everywhere();
    await click('Delete');
    await says('This cannot be undone', 'dialog');
    await click('Delete experiment');
    await watched.untilHeading('Experiments');
    expect((await get('?dataset=ended')).experiments.map(({ id }: { id: string }) => id)).to.deep.equal([one.id]);
    await open(`experiments/${two.id}`);
    await says('Experiment not found');
    await watched.forgetRefusals();
    for (const [typed, goal] of [
      ['to fini', 'Experiment to finish on ended'],
      [one.id, `Object with ID ${one.id}`],
    ] as const) {
      await open('traces');
      await page.waitForSelector('.frame-foot');
      await page.keyboard.down('Control');
      await page.keyboard.press('k');
      await page.keyboard.up('Control');
      await page.waitForSelector('dialog[open] input');
      await page.keyboard.type(typed);
      await clickOn(page, `::-p-text(${goal})`);
      await watched.untilHeading('to finish');
    }
  });

  it('change nothing for who may only read', async () => {
    await made.dataset('read', 2);
    const { id } = await made.run('read', 'only read', () => ({ correct: true }), { rows: 2, isOpen: true });
    await scene.post(made.path(`/${id}/tags/baseline:pin`), undefined);
    const key = await scene.post(`/projects/${scene.server.projectId}/api-keys`, { name: 'reader', access: 'read' });
    const reader = await signedIn(scene, key.key as string);
    await reader.page.goto(screenUrl(scene.server, `experiments/${id}`));
    await reader.untilHeading('only read');
    const refused = await reader.page.$$eval('main button[aria-disabled=true]', (all) =>
      all.map(({ innerText }) => innerText.trim()),
    );
    expect(refused).to.include.members(['Finish', 'Cancel', 'Delete', 'Pin tag']);
    expect(await reader.page.$('[aria-label^="Remove tag"]')).to.equal(null);
  });
});
