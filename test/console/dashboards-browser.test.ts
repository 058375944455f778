import { expect } from 'chai';
import type { Page } from 'puppeteer-core';
import { uuid } from '../harness/checked-api.js';
import { clickOn, type WatchedPage } from '../review/browser.js';
import { consoleScene, screenActions, signedIn } from './harness.js';

const HOSTILE = '<img src=x onerror=alert(1)>\u202E';

describe('saved views and dashboards in the console', function () {
  this.timeout(90_000);
  const scene = consoleScene();
  let watched: WatchedPage;
  let page: Page;
  const { until, open, says, click, closed, everywhere } = screenActions(scene, () => watched);
  const read = async (path: string) =>
    (await scene.server.request('GET', `/projects/${scene.server.projectId}${path}`)).json;
  const type = async (label: string, text: string, role = 'textbox') => {
    const field = `dialog ::-p-aria([name="${label}"][role="${role}"])`;
    await clickOn(page, field);
    await page.type(field, text);
  };

  before(async () => {
    const at = (ms: number) => new Date(Date.now() - 60_000 + ms).toISOString();
    await scene.post(
      '/spans',
      [1, 2, 3].map((index) => ({
        ...{ id: uuid(index), trace_id: uuid(50 + index), kind: 'llm', name: index === 3 ? 'other' : 'answer' },
        ...{ started_at: at(index), ended_at: at(index + 500), cost: index, status: index === 2 ? 'error' : 'ok' },
      })),
    );
  });
  beforeEach(async () => {
    watched = await signedIn(scene);
    page = watched.page;
  });

  it('keep a list under a name, for everyone, until they are deleted', async () => {
    await open('spans?range=7d&names=answer&sort_by=cost&columns=name,cost');
    await click('Views');
    await type('Save as', HOSTILE);
    await click('Save view');
    await closed();
    const [{ id, ...view }] = await read('/saved-views');
    expect(view).to.deep.include({
      ...{ name: HOSTILE, list: 'spans', query: 'names=answer&started_after=7d&sort_by=cost' },
      columns: ['name', 'cost'],
    });
    await open(`views/${id}`);
    await until(`location.pathname.endsWith('/spans')`);
    await until(`document.querySelectorAll('tbody tr').length === 2`);
    expect(await page.evaluate('location.search'))
      .to.include('range=7d')
      .and.include(`view=${id}`);
    // Of the columns, those of the view alone; other tables of the page have heads of their own.
    await until(
      `![...document.querySelectorAll('thead th')].some(({ textContent }) => textContent.includes('Duration'))`,
    );
    await click(`View: ${HOSTILE}`);
    await everywhere();
    await click(`Delete ${HOSTILE}`);
    await click('Delete view');
    await until(`!location.search.includes('view=')`);
    expect(await read('/saved-views')).to.deep.equal([]);
  });

  it('show charts of lists, each of which leads to what it counts', async () => {
    await open('spans?range=7d&names=answer');
    await click('Add to dashboard');
    await type('Name of the new dashboard', 'Answers');
    await page.select('dialog select', '');
    await clickOn(page, 'dialog button[type=submit]');
    await until(`location.pathname.includes('/dashboards/')`);
    await says('with errors');
    const [{ id }] = await read('/dashboards');
    await click('Add chart');
    await type('Title', HOSTILE);
    await page.select('dialog select', 'table');
    await type('Group by', 'name', 'combobox');
    await clickOn(page, 'dialog button[type=submit]');
    await closed();
    await until(`document.querySelectorAll('.dashboard > section').length === 2`);
    expect((await read(`/dashboards/${id}`)).charts[1]).to.include({ title: HOSTILE, group_by: 'name', kind: 'table' });

    await click(`Change ${HOSTILE}`);
    await clickOn(page, '::-p-aria([name="Move up"][role="menuitem"])');
    await until(`document.querySelector('.dashboard > section')?.innerText.includes('<img')`);
    await everywhere();
    await open(`dashboards/${id}?range=30d`);
    await says('Last 30 days');
    await clickOn(page, '.dashboard tbody a ::-p-text(answer)');
    await until(`location.pathname.endsWith('/traces')`);
    expect(await page.evaluate('location.search'))
      .to.include('range=30d')
      .and.include('names=answer');

    await open(`dashboards/${id}`);
    await click('Change Spans');
    await clickOn(page, '::-p-aria([name="Remove"][role="menuitem"])');
    await until(`document.querySelectorAll('.dashboard > section').length === 1`);
    await click('Delete Answers');
    await click('Delete dashboard');
    await says('No dashboards yet');
    expect(await read('/dashboards')).to.deep.equal([]);
  });
});
