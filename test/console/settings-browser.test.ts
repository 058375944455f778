import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Page } from 'puppeteer-core';
import { send } from '../harness/server.js';
import { completion, feedbackApi } from '../feedback/feedback-api.js';
import { Visitor } from '../review/linked-prompt.js';
import type { WatchedPage } from '../review/browser.js';
import { accessibilityEverywhere, consoleScene, press, screenUrl, signedIn } from './harness.js';

const HOSTILE = '<img src=x onerror=alert(1)> \u202egnp';

describe('links and settings, in the console', function () {
  this.timeout(90_000);
  const scene = consoleScene();

  const api = async (method: string, path: string, body?: unknown) => {
    const { server } = scene;
    return (await send(`${server.url}${path}`, method, { key: server.key, ...(body !== undefined && { body }) })).json;
  };

  async function show(screen: string, key?: string): Promise<WatchedPage> {
    const watched = await signedIn(scene, key);
    for (const name of ['clipboard-read', 'clipboard-write'])
      for (const allowWithoutSanitization of [true, false])
        await watched.context.setPermission(scene.server.url, {
          permission: { name, allowWithoutSanitization },
          state: 'granted',
        });
    await watched.page.goto(screenUrl(scene.server, screen));
    await watched.page.waitForSelector('h1');
    return watched;
  }

  it('makes a key, copies it and revokes it, by keyboard alone', async () => {
    const { page } = await show('settings?tab=keys');
    await see(page, 'Create key');
    await tabTo(page, 'Create key');
    await page.keyboard.press('Enter');
    await page.waitForSelector('dialog[open] form');
    await page.keyboard.type(HOSTILE);
    await page.keyboard.press('Enter');
    await see(page, 'Key created');
    await page.waitForFunction(`document.activeElement?.textContent === 'Copy'`);
    await page.keyboard.press('Enter');
    await see(page, 'Key copied');
    const copied = (await page.evaluate('navigator.clipboard.readText()')) as string;
    expect((await send(`${scene.server.url}/whoami`, 'GET', { key: copied })).status).to.equal(200);
    await page.keyboard.press('Escape');
    await page.waitForFunction(`document.querySelector('dialog') === null`);
    // The focus comes back after the next paint.
    await page.waitForFunction(`document.activeElement?.textContent.trim() === 'Create key'`);
    await tabTo(page, `Revoke ${HOSTILE}`);
    await page.keyboard.press('Enter');
    await see(page, 'No active sessions use it');
    await tabTo(page, 'Revoke key');
    await page.keyboard.press('Enter');
    await see(page, 'Key revoked');
    await page.waitForFunction(`document.querySelector('dialog') === null`);
    expect((await send(`${scene.server.url}/whoami`, 'GET', { key: copied })).status).to.equal(401);
    // The focus is not lost with the row.
    await page.waitForFunction('document.activeElement !== document.body');
  });

  it('makes a key of chosen scopes that expires soon, says so, and rotates it', async () => {
    const watched = await show('settings?tab=keys');
    const { page } = watched;
    await press(page, 'Create key');
    await page.waitForSelector('dialog[open] form');
    await page.keyboard.type('for CI');
    await page.select('dialog select', 'custom');
    await see(page, 'read datasets, experiments');
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await page.click('::-p-xpath(//dialog//label[contains(., "datasets:read")]/input)');
    await page.click('::-p-aria([name="Days until it expires"][role="textbox"])');
    await page.keyboard.type('3');
    await page.keyboard.press('Enter');
    await see(page, 'Key created');
    await press(page, 'Done');
    await see(page, '1 key expires within 7 days');
    await see(page, 'expires soon');
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await press(page, 'Rotate for CI');
    await see(page, 'The old key is accepted for');
    await page.select('dialog select', '0');
    await press(page, 'Rotate key');
    await see(page, 'Key rotated');
    const listed = (await api('GET', `/projects/${scene.server.projectId}/api-keys`)) as Record<string, unknown>[];
    const made = listed.filter(({ name }) => name === 'for CI');
    expect(made.map(({ scopes }) => scopes)).to.deep.equal([['datasets:read'], ['datasets:read']]);
    await press(page, 'Done');
    await see(page, 'expired');
  });

  it('prices a model that has no price, and calculates its costs', async () => {
    const model = `acme-${HOSTILE}`;
    const attributes = { provider: 'acme', model, inputTokens: 1_000_000, outputTokens: 0 };
    const trace_id = randomUUID();
    await api('POST', '/spans', [{ ...completion('s'), trace_id, kind: 'llm', attributes }]);
    const watched = await show('settings?tab=prices');
    const { page } = watched;
    await see(page, `Set price`);
    const link = await page.$eval('tbody a[href*="unpriced=any"]', ({ href }) => href);
    const query = new URL(link).searchParams;
    query.delete('range');
    expect(
      (await api('GET', `/spans?${query.toString()}`)).map((span: { trace_id: string }) => span.trace_id),
    ).to.deep.equal([trace_id]);
    await press(page, `Set price of ${model}`);
    await page.waitForSelector('dialog[open] input[type=number]');
    await page.keyboard.type('2');
    await page.keyboard.press('Tab');
    await page.keyboard.type('3');
    await page.keyboard.press('Enter');
    await see(page, 'Price saved');
    await press(page, `Recalculate costs of ${model}`);
    // The job has ended before it is listed for the first time.
    await page.evaluate(`{
      const now = window.fetch;
      window.fetch = async (...asked) => {
        if (String(asked[0].url ?? asked[0]).endsWith('/reprices')) await new Promise((wake) => setTimeout(wake, 2000));
        return now(...asked);
      };
    }`);
    await press(page, 'Recalculate');
    await see(page, 'Costs recalculated');
    await see(page, 'Every call with known tokens has a cost');
    const [span] = await api('GET', `/spans?trace_id=${trace_id}`);
    expect(span.cost).to.equal(2);
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
  });

  it('adds a masking rule, and tests it on stored spans', async () => {
    const watched = await show('settings?tab=masking');
    const { page } = watched;
    await see(page, 'No rules yet');
    await press(page, 'Add rule');
    await page.waitForSelector('dialog[open] select');
    await page.select('dialog[open] select', 'expression');
    await page.waitForSelector('dialog[open] input[maxlength="500"]');
    await page.type('dialog[open] input[maxlength="500"]', 'Wo[r]ld');
    await press(page, 'Try on stored spans');
    await page.waitForSelector('dialog[open] [aria-label="Test"]');
    expect((await api('GET', `/projects/${scene.server.projectId}/masking`)).rules, 'before it is saved').to.deep.equal(
      [],
    );
    await press(page, 'Save rule');
    await see(page, 'Masking rules saved');
    await press(page, 'Test on stored spans');
    await see(page, 'Nothing was changed');
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    const { rules } = await api('GET', `/projects/${scene.server.projectId}/masking`);
    expect(rules).to.have.length(1);
    expect(rules[0]).to.include({ name: 'expression', expression: 'Wo[r]ld', action: 'replace' });
    await press(page, 'Delete expression');
    await press(page, 'Delete rule');
    await see(page, 'No rules yet');
  });

  it('makes a link whose feedback it lists, changes when it expires, and revokes it', async () => {
    const { server } = scene;
    const feedback = feedbackApi(server);
    await feedback.ensure('support/reply');
    const span = completion('support/reply');
    await feedback.spans([span]);
    const watched = await show('links');
    const { page } = watched;
    await see(page, 'PUBLIC_URL');
    await press(page, 'Create link');
    await page.waitForSelector('dialog[open] form');
    await page.keyboard.type('support/reply');
    await page.keyboard.press('Enter');
    const secret = await page.waitForSelector('dialog .secret');
    const url = (await secret?.evaluate((element) => element.textContent)) ?? '';
    const review = { completion_id: span.id, thumbs_up: false, reason: HOSTILE, reviewer_name: HOSTILE };
    expect((await new Visitor(url).postJson(review)).status).to.be.below(300);
    await page.reload();
    await see(page, '1 reviewer');
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await press(page, '1 piece');
    await see(page, 'gnp');
    await press(page, 'Change expiry');
    await page.waitForSelector('dialog[open] input');
    for (const _ of '30') await page.keyboard.press('Delete');
    for (const _ of '30') await page.keyboard.press('Backspace');
    await page.keyboard.type('200');
    await page.keyboard.press('Enter');
    await page.waitForFunction(`document.querySelector('dialog') === null`);
    const [{ expires_at }] = (await feedback.links()).json;
    expect(Date.parse(expires_at)).to.be.above(Date.now() + 199 * 24 * 3_600_000);
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await press(page, 'Revoke');
    await press(page, 'Revoke link');
    await page.waitForFunction(`document.querySelector('.badge')?.textContent === 'revoked'`);
    expect((await fetch(url)).status).to.equal(404);
  });

  it('shows all to a key that may only read, and says why it changes nothing', async () => {
    const { server } = scene;
    const keys = `/projects/${server.projectId}/api-keys`;
    const { key } = await api('POST', keys, { name: 'reads', access: 'read' });
    const watched = await show('settings?tab=keys', key);
    const { page } = watched;
    const tabs = {
      Keys: 'Create key',
      People: 'Invite colleague',
      Prices: 'Add price',
      Masking: 'Add rule',
      Project: 'Delete project',
    };
    for (const [tab, action] of Object.entries(tabs)) {
      await press(page, tab);
      const button = await page.waitForSelector(`::-p-xpath(//button[contains(., '${action}')])`);
      expect(await button?.evaluate((element) => [element.ariaDisabled, element.title])).to.deep.equal([
        'true',
        'Your API key is read-only',
      ]);
    }
    await see(page, 'free of');
    await see(page, 'The growth rate is known after');
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await press(page, 'Internal usage');
    await see(page, 'No internal calls in this time range');
    await press(page, 'Health');
    await see(page, 'All stores are available');
    expect(new URL(page.url()).searchParams.get('tab')).to.equal('health');
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await page.goBack();
    await see(page, 'No internal calls');
  });

  it('says what would go before traces are kept for less long, by keyboard alone', async () => {
    const project = `/projects/${scene.server.projectId}`;
    const at = new Date(Date.now() - 5_000 * 86_400_000).toISOString();
    await api('POST', '/spans', [{ trace_id: randomUUID(), name: 'of long ago', started_at: at }]);
    const watched = await show('settings?tab=project');
    const { page } = watched;
    await see(page, 'Traces are kept until you delete them.');
    const field = await page.waitForSelector('::-p-aria([name="Days to keep traces"][role="textbox"])');
    await field?.focus();
    await page.keyboard.type('40000');
    await see(page, 'Enter a whole number from 1 to 36,500, or leave empty');
    await page.keyboard.press('Enter');
    await field?.evaluate((input) => (input as unknown as { select(): void }).select());
    await page.keyboard.type('4000');
    await page.keyboard.press('Enter');
    await see(page, '1 trace with 1 span');
    await see(page, 'Just as old but kept: 0 traces with a keep tag, 0 traces with feedback.');
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    expect(await api('GET', project)).to.include({ retention_days: null });
    await tabTo(page, 'Keep for 4,000 days');
    await page.keyboard.press('Enter');
    await see(page, 'Traces are deleted 4,000 days after their newest time; 1 trace is older now.');
    expect(await api('GET', project)).to.include({ retention_days: 4_000 });
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    const again = await page.waitForSelector('::-p-aria([name="Days to keep traces"][role="textbox"])');
    await again?.evaluate((input) => (input as unknown as { select(): void }).select());
    await page.keyboard.press('Backspace');
    await page.keyboard.press('Enter');
    await see(page, 'Traces are kept until you delete them.');
    expect(await api('GET', project)).to.include({ retention_days: null });
  });

  it('schedules an export, and says that the operator has set no bucket', async () => {
    const watched = await show('settings?tab=exports');
    const { page } = watched;
    await see(page, 'No scheduled exports yet.');
    await press(page, 'Schedule export');
    await see(page, 'Filters and fields');
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await page.keyboard.type('LLM calls');
    await page.keyboard.press('Enter');
    await see(page, 'The operator has set no bucket');
    await watched.forgetRefusals();
  });

  it('deletes the project when its name is typed', async () => {
    const { server } = scene;
    await api('PATCH', `/projects/${server.projectId}`, { name: HOSTILE });
    const watched = await show('settings?tab=project');
    const { page } = watched;
    await press(page, 'Delete project');
    await see(page, 'Enter the project name');
    await page.keyboard.type('something else');
    await page.keyboard.press('Enter');
    expect((await send(`${server.url}/whoami`, 'GET', { key: server.key })).status).to.equal(200);
    await page.$eval('dialog input', (input) => (input as unknown as { select(): void }).select());
    await page.keyboard.type(HOSTILE);
    await page.keyboard.press('Enter');
    await see(page, 'Sign in to Spanhouse');
    expect((await send(`${server.url}/whoami`, 'GET', { key: server.key })).status).to.equal(401);
    await watched.forgetRefusals();
  });
});

/** What names what has the focus. */
function focused(page: Page): Promise<unknown> {
  return page.evaluate(
    `document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent.trim() ?? ''`,
  );
}

/** Goes with Tab to what has a name. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let pressed = 0; pressed < 80; pressed += 1) {
    if ((await focused(page)) === name) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not lead to ${name}`);
}

async function see(page: Page, text: string): Promise<void> {
  await page.waitForFunction(`document.body?.innerText.includes(${JSON.stringify(text)})`);
}
