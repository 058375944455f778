import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { clickOn, type WatchedPage } from '../review/browser.js';
import { accessibilityEverywhere, consoleScene, screenUrl, signedIn } from './harness.js';

const HOSTILE = '<b>Eve</b> \u202egnp';
const MINUTE = 60_000;

interface Sent {
  readonly user: string | null;
  readonly cost?: number;
  readonly minutesAgo?: number;
  readonly failed?: boolean;
  readonly tags?: Readonly<Record<string, string>>;
}

describe('users in the console in a browser', function () {
  this.timeout(60_000);
  const scene = consoleScene({ keepsPages: true });
  let watched: WatchedPage;
  before(async () => {
    watched = await signedIn(scene);
  });

  const open = (query = '') => watched.page.goto(screenUrl(scene.server, `users${query}`));
  const until = (condition: string) => watched.until(condition);
  const status = (text: string) => until(`document.querySelector('main [role=status]')?.textContent === '${text}'`);
  const cells = () =>
    watched.page.$$eval('tbody tr', (rows) =>
      rows.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent).join('|')),
    );
  /** Until all figures are there. */
  const figures = () => until(`document.querySelector('tbody time') && !document.querySelector('td.num:empty')`);

  const send = async (...all: readonly Sent[]) => {
    const spans = all.map(({ user, cost, minutesAgo = 5, failed = false, tags = {} }) => ({
      id: randomUUID(),
      trace_id: randomUUID(),
      name: 'answer',
      kind: 'llm',
      started_at: new Date(Date.now() - minutesAgo * MINUTE).toISOString(),
      ...(cost !== undefined && { cost }),
      ...(failed && { error_code: 'E1' }),
      attributes: { provider: 'openai', model: 'm', inputTokens: 100, outputTokens: 20 },
      trace_tags: { ...tags, ...(user !== null && { user }) },
    }));
    await scene.post('/spans', spans);
  };

  it('say how they get here where no trace names one', async () => {
    await send({ user: null });
    await open();
    await until(`document.body?.innerText.includes('No users in this time range')`);
    expect(await watched.text())
      .to.include('user.id')
      .and.include('enduser.id')
      .and.include('trace_tags');
    await clickOn(watched.page, '::-p-text(Show users of all time)');
    await until(`document.body?.innerText.includes('No users yet')`);
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
  });

  it('have their figures of the time that is shown, and lead to their traces', async () => {
    await watched.page.setViewport({ width: 1280, height: 860 });
    // Within the same hour ago for as long as this takes.
    await send(
      { user: 'ann', cost: 0.25, minutesAgo: 180 },
      { user: 'ann', cost: 0.25, minutesAgo: 65, failed: true },
      { user: 'ann', minutesAgo: 5 * 24 * 60, cost: 40 },
      { user: 'ben, the 2nd', cost: 3, minutesAgo: 121 },
      { user: HOSTILE, minutesAgo: 65 },
      { user: 'old', minutesAgo: 5 * 24 * 60 },
    );
    await open('?range=24h');
    await figures();
    await status('3 users');
    expect(await cells()).to.deep.equal([
      'ann|2|1|$0.50|240|1 hour ago',
      `${HOSTILE}|1|0|–|120|1 hour ago`,
      'ben, the 2nd|1|0|$3.00|120|2 hours ago',
    ]);
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await watched.page.setViewport({ width: 1280, height: 860 });
    await clickOn(watched.page, 'th:nth-child(4) .sort');
    await until(`document.querySelector('tbody tr')?.textContent.startsWith('ben')`);
    await until(`new URLSearchParams(location.search).get('sort_by') === 'cost'`);
    await watched.page.evaluate('document.activeElement.blur()');
    await watched.page.keyboard.press('j');
    await watched.page.keyboard.press('Enter');
    await until(`document.querySelector('h1')?.textContent === 'Traces 1 trace'`);
    const search = (await watched.page.evaluate('location.search')) as string;
    expect([...new URLSearchParams(search)]).to.deep.equal([
      ['range', '24h'],
      ['tags.user', 'ben, the 2nd'],
    ]);
    await until(`document.querySelector('.chip')?.textContent.includes('User is')`);
    await open('?range=all&q=a');
    await status('1 user');
    await figures();
    expect(await cells()).to.deep.equal(['ann|3|1|$40.50|360|1 hour ago']);
  });

  it('have figures also where one trace names more of them than there are groups', async () => {
    const started_at = new Date(Date.now() - 30_000).toISOString();
    const shared = { trace_id: randomUUID(), name: 'meeting', started_at, cost: 0.5 };
    const users = Array.from({ length: 20 }, (_, index) => `guest ${index + 10}`);
    const body = users.map((user) => ({ ...shared, id: randomUUID(), tags: { user } }));
    await scene.post('/spans', body);
    await open('?range=1h&q=guest');
    await status('20 users');
    await figures();
    expect((await cells()).map((row) => row.replace(/\d+ seconds? ago|1 minute ago/, 'now'))).to.deep.equal(
      users.map((user) => `${user}|1|0|$10.00|–|now`),
    );
    await scene.server.request('DELETE', `/traces/${shared.trace_id}`);
  });

  it('are the most active ones where there are many, and a search finds the others', async () => {
    const many = Array.from({ length: 60 }, (_, index) => ({ user: `customer ${index + 100}` }));
    await send(...many, ...many.slice(0, 55));
    await open('?range=1h');
    await status('Top 48 of 60 users by traces; search finds the others');
    await figures();
    const rows = await cells();
    expect(rows).to.have.length(48);
    expect(rows.filter((row) => !/\|2\|0\|–\|240\|\d+ minutes ago$/.test(row))).to.deep.equal([]);
    await watched.page.locator('input[type=search]').fill('CUSTOMER 159');
    await status('1 user');
    await until(`document.querySelectorAll('tbody tr').length === 1`);
    await figures();
    expect((await cells()).join()).to.match(/^customer 159\|1\|0\|–\|120\|\d+ minutes ago$/);
    await watched.page.locator('input[type=search]').fill('nobody');
    await clickOn(watched.page, '::-p-text(Show all users)');
    await status('Top 48 of 60 users by traces; search finds the others');
  });
});
