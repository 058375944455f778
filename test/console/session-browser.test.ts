import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { clickOn, type WatchedPage } from '../review/browser.js';
import { accessibilityEverywhere, consoleScene, screenUrl, signedIn } from './harness.js';

describe('a session in the console', function () {
  this.timeout(90_000);
  const scene = consoleScene();
  let watched: WatchedPage;
  const session = randomUUID();
  const said = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      role: index % 2 === 0 ? 'user' : 'assistant',
      content: `${index % 2 === 0 ? 'Question' : 'Answer'} ${Math.floor(index / 2) + 1} <i>hostile</i>`,
    }));

  before(async () => {
    const turns = [1, 2, 3].map((turn) => ({
      trace_id: randomUUID(),
      session_id: session,
      session_name: 'Chat \u202e 42',
      name: `turn ${turn}`,
      kind: 'llm',
      started_at: new Date(Date.UTC(2026, 10, 1) + turn * 60_000).toISOString(),
      ended_at: new Date(Date.UTC(2026, 10, 1) + turn * 60_000 + 1500).toISOString(),
      cost: 0.5,
      input_data: JSON.stringify(said(2 * turn - 1)),
      output_data: `Answer ${turn} <i>hostile</i>`,
      ...(turn === 2 && { status: 'error', error_code: 'E2', error_message: 'broke' }),
    }));
    await scene.post('/spans', turns);
  });
  beforeEach(async () => {
    watched = await signedIn(scene);
  });

  it('is one conversation: each turn shows what is new in it, and failed ones stand out', async () => {
    const { page } = watched;
    await page.goto(screenUrl(scene.server, `sessions/${session}`));
    await page.waitForFunction(`document.querySelectorAll('article.turn .message').length >= 6`);
    const turns = await page.$$eval('article.turn', (articles) =>
      articles.map((article) => [
        [...article.querySelectorAll('.message')].length,
        article.hasAttribute('data-failed'),
        article.textContent.includes('<i>hostile</i>'),
      ]),
    );
    expect(turns).to.deep.equal([
      [2, false, true],
      [2, true, true],
      [2, false, true],
    ]);
    expect(await watched.text())
      .to.include('$1.50')
      .and.to.include('Show 4 messages from earlier turns');
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
  });

  it('is gone through by keyboard, and leads to its traces', async () => {
    const { page } = watched;
    await page.goto(screenUrl(scene.server, `sessions/${session}`));
    await page.waitForSelector('.turn .button');
    await page.focus('.turn .button');
    await page.keyboard.press('Enter');
    await page.waitForFunction(`document.body?.innerText.includes('Hide 2 messages')`);
    await page.focus('article.turn h2 a');
    await page.keyboard.press('Enter');
    await page.waitForFunction(`/\\/traces\\/[0-9a-f-]{36}$/.test(location.pathname)`);
  });

  it('is found by its name, as prompts and judges are', async () => {
    const { projectId } = scene.server;
    const named = { trace_id: randomUUID(), session_id: randomUUID(), session_name: 'Checkout, Nov', name: 'asks' };
    const posts = [
      ['/spans', [{ ...named, started_at: Date.now() }]],
      ['/v1/tasks/checkout-help/prompt/versions/ensure', { content: 'Help {{user}}' }],
      [`/projects/${projectId}/judges`, { name: 'Polite checkout', evaluation_type: 'binary', prompt: 'Polite?' }],
    ] as const;
    for (const [path, body] of posts) await scene.post(path, body);
    const { page } = watched;
    await page.goto(screenUrl(scene.server, 'overview'));
    await page.waitForSelector('.frame-foot');
    await page.keyboard.down('Control');
    await page.keyboard.press('k');
    await page.keyboard.up('Control');
    await page.waitForSelector('dialog[open] input');
    await page.keyboard.type('checkout');
    await page.waitForFunction(`document.querySelectorAll('#go-to-list li').length === 4`);
    expect(
      await page.$$eval('#go-to-list li', (goals) => goals.map(({ textContent }) => textContent.trim())),
    ).to.deep.equal([
      'Traces with “checkout” in input, output or error',
      'Prompt checkout-help',
      'Judge Polite checkout',
      'Session Checkout, Nov',
    ]);
    for (const _ of [1, 2, 3]) await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForFunction(`location.pathname.endsWith('/sessions/${named.session_id}')`);
  });

  it('is deleted, with its traces, by a dialog that stays and says why when that fails', async () => {
    const { page } = watched;
    const press = (label: string) => clickOn(page, `::-p-aria([name="${label}"][role="button"])`);
    const gone = { trace_id: randomUUID(), session_id: randomUUID(), name: 'goes', started_at: Date.now() };
    const other = { ...gone, trace_id: randomUUID(), session_id: randomUUID() };
    await scene.post('/spans', [gone, other]);
    for (const [screen, what, path] of [
      [`traces/${gone.trace_id}`, 'trace', `/traces/${gone.trace_id}`],
      [`sessions/${other.session_id}`, 'session', `/sessions/${other.session_id}`],
    ] as const) {
      await page.goto(screenUrl(scene.server, screen));
      await press(what === 'trace' ? 'Delete' : 'Delete session');
      // Somebody else was faster.
      expect((await scene.server.request('DELETE', path)).status).to.equal(204);
      await clickOn(page, `dialog[open] ::-p-aria([name="Delete ${what}"][role="button"])`);
      await page.waitForSelector('dialog[open] [role="alert"]');
      expect(await page.$eval('dialog[open]', ({ textContent }) => textContent)).to.include(`Delete this ${what}?`);
    }
    // Of who was slower.
    await watched.forgetRefusals();
  });
});
