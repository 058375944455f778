import { expect } from 'chai';
import type { Page } from 'puppeteer-core';
import { span } from '../harness/checked-api.js';
import { clickOn, type WatchedPage } from '../review/browser.js';
import { Receiver } from '../webhooks/receiver.js';
import { consoleScene, screenActions, signedIn } from './harness.js';

const HOSTILE = '<img src=x onerror=alert(1)> \u202egnp';

describe('monitors, destinations and the budget in the console', function () {
  this.timeout(120_000);
  let receiver: Receiver;
  const scene = consoleScene({ boot: () => ({ env: { WEBHOOK_ALLOWED_ADDRESSES: '127.0.0.1' } }) });
  let watched: WatchedPage;
  let page: Page;
  const { until, open, says, click, closed, everywhere } = screenActions(scene, () => watched);

  before(async () => {
    receiver = await Receiver.start();
  });
  after(() => receiver.stop());
  beforeEach(async () => {
    watched = await signedIn(scene);
    page = watched.page;
  });

  /** SCREENSHOTS=<folder>: keeps what the page looks like. */
  async function picture(name: string): Promise<void> {
    const folder = process.env['SCREENSHOTS'];
    if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png` });
  }
  const api = async (path: string) =>
    (await scene.server.request('GET', `/projects/${scene.server.projectId}${path}`)).json;
  /** Enters a text into a field of the open dialog, by its label. */
  async function enter(label: string, text: string): Promise<void> {
    const field = await page.waitForSelector(`dialog[open] ::-p-aria([name="${label}"][role="textbox"])`);
    await field?.focus();
    await page.keyboard.type(text);
  }
  const choose = async (label: string, value: string) => {
    const field = await page.waitForSelector(`dialog[open] ::-p-aria([name="${label}"][role="combobox"])`);
    await (field as unknown as { select(value: string): Promise<unknown> } | null)?.select(value);
  };
  /** Sends the form of the open dialog: its button has the name of the one that opened it. */
  const submitted = () =>
    page.$eval('dialog[open] form', (form) => (form as unknown as { requestSubmit(): void }).requestSubmit());
  const send = async () => {
    await submitted();
    await closed();
  };

  it('are made after a look back, fire, are muted, changed and deleted', async () => {
    const started_at = new Date(Date.now() - 20 * 60_000).toISOString();
    const calls = Array.from({ length: 6 }, (_, n) => span(n, { name: 'answer', status: 'error', started_at }));
    await scene.post('/spans', calls);
    await open('monitors');
    await says('No monitors yet');
    await picture('monitors-empty');
    await click('New monitor');
    await page.waitForSelector('dialog[open] form');
    await enter('Name', HOSTILE);
    await choose('Measure', 'error_count');
    await enter('Filters', 'names=answer');
    await enter('Threshold', '3');
    await click('Test on the last 30 days');
    await says('Would have fired 1 time', 'dialog[open]');
    await picture('monitor-form');
    await everywhere();
    await send();
    const [made] = await api('/monitors');
    expect(made).to.include({ name: HOSTILE, measure: 'error_count', query: 'names=answer', threshold: 3 });
    await until(`document.querySelector('main table')?.innerText.includes('firing')`);
    expect(await page.$eval('main table', ({ innerText }) => innerText)).to.include(HOSTILE);
    await picture('monitors');
    await everywhere();

    await open(`monitors/${made.id}`);
    await says('State changes');
    await until(`document.querySelector('main table')?.innerText.includes('firing')`);
    await picture('monitor');
    await everywhere();
    await click('Mute for an hour');
    await until(`document.querySelector('main')?.innerText.includes('Unmute')`);
    await click('Disable');
    await until(`document.querySelector('main')?.innerText.includes('Enable')`);
    const [changed] = await api('/monitors');
    expect([changed.enabled, Date.parse(changed.muted_until) > Date.now()]).to.deep.equal([false, true]);
    await click('Edit');
    await page.waitForSelector('dialog[open] form');
    await enter('Minimum count', '5');
    await send();
    expect((await api('/monitors'))[0].minimum_count).to.be.above(0);
    await clickOn(page, 'main button[aria-label^="Delete"]');
    await page.waitForSelector('dialog[open]');
    await click('Delete monitor');
    await says('No monitors yet');
    expect(await api('/monitors')).to.deep.equal([]);
  });

  it('tell destinations, whose secret is shown once, and what became of deliveries', async () => {
    await open('monitors');
    await says('No destinations yet');
    await click('Add destination');
    await page.waitForSelector('dialog[open] form');
    await enter('Name', 'On call');
    await enter('URL', receiver.url('/told?token=hidden'));
    await picture('destination-form');
    await submitted();
    await says('whsec_', 'dialog[open]');
    await picture('destination-secret');
    await page.keyboard.press('Escape');
    await closed();
    await says('On call');
    expect(await page.$eval('main', ({ innerText }) => innerText)).to.not.match(/whsec_|hidden/);
    await click('Send a test to On call');
    await receiver.came('/told?token=hidden');
    await click('Deliveries to On call');
    await says('204', 'dialog[open]');
    await picture('deliveries');
    await everywhere();
    await page.keyboard.press('Escape');
    await closed();
    await click('Delete On call');
    await page.waitForSelector('dialog[open]');
    await click('Delete destination');
    await says('No destinations yet');
  });

  it('limit what model calls may cost in a month', async () => {
    await open('settings?tab=usage');
    await says('Spent this month');
    const field = await page.waitForSelector('::-p-aria([name="US dollars per month"][role="textbox"])');
    await field?.focus();
    await page.keyboard.type('0');
    await click('Save budget');
    await says('The budget of the project allows no model calls');
    expect(await api('/model-budget')).to.include({ monthly_limit: 0, waiting: true });
    await picture('budget');
    await everywhere();
  });
});
