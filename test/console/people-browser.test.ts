import { expect } from 'chai';
import type { WatchedPage } from '../review/browser.js';
import { accessibilityEverywhere, consoleScene, press, screenUrl, signedIn, visiting } from './harness.js';

const HOSTILE = '<img src=x onerror=alert(1)> \u202egnp';
/** What every role has a use for. */
const FOR_ALL = [
  ...['Overview', 'Traces', 'Spans', 'Sessions', 'Users', 'Prompts', 'Judges', 'Datasets', 'Experiments'],
  ...['Comparisons', 'Dashboards', 'Monitors', 'Feedback links', 'Settings', 'First trace'],
];

describe('people and their roles, in the console', function () {
  this.timeout(90_000);
  const scene = consoleScene({ keepsPages: true });
  let owner: WatchedPage;
  let colleague: WatchedPage;

  const says = (watched: WatchedPage, text: string) =>
    watched.until(`document.body?.innerText.includes(${JSON.stringify(text)})`);
  const menu = async ({ page }: WatchedPage) => {
    await page.waitForSelector('.frame-nav a[href$="/first"]');
    return page.$$eval('.frame-nav a', (links) => links.map(({ textContent }) => textContent.trim()));
  };
  const show = async (watched: WatchedPage, screen: string) => {
    await watched.page.goto(screenUrl(scene.server, screen));
    await watched.page.waitForSelector('h1');
  };
  async function giveRole(role: string): Promise<void> {
    await press(owner.page, `Change the role of ${HOSTILE}`);
    await owner.page.waitForSelector('dialog[open] select');
    await owner.page.select('dialog[open] select', role);
    await press(owner.page, 'Change role');
    await owner.until(`document.querySelector('dialog[open]') === null`);
    await owner.until(`[...document.querySelectorAll('td')].some((cell) => cell.textContent.trim() === '${role}')`);
  }

  it('are invited with a role by a URL that works once, and stays in no address', async () => {
    owner = await signedIn(scene);
    await show(owner, 'settings?tab=people');
    await press(owner.page, 'Invite colleague');
    await owner.page.waitForSelector('dialog[open] form');
    await owner.page.keyboard.type(HOSTILE);
    await owner.page.select('dialog[open] select', 'viewer');
    await press(owner.page, 'Create invitation');
    const secret = await owner.page.waitForSelector('dialog .secret');
    const url = (await secret?.evaluate((element) => element.textContent)) ?? '';
    expect(await accessibilityEverywhere(owner)).to.deep.equal([]);
    await press(owner.page, 'Done');
    await says(owner, 'invited');
    colleague = await visiting(scene);
    await colleague.page.goto(url);
    await press(colleague.page, `Sign in as ${HOSTILE}`);
    await says(colleague, 'Overview');
    expect(new URL(colleague.page.url()).hash).to.equal('');
    await owner.page.reload();
    await owner.until(`!document.body?.innerText.includes('invited') && document.querySelectorAll('td').length > 0`);
  });

  it('are offered what their role may do, and told why they may not do the rest', async () => {
    expect(await menu(owner)).to.have.members([...FOR_ALL, 'Review', 'Playground', 'Audit log']);
    expect(await menu(colleague)).to.have.members(FOR_ALL);
    await show(colleague, 'audit');
    await says(colleague, 'You may not see Audit log');
    await says(colleague, 'Your role viewer lacks audit:read');
    expect(await accessibilityEverywhere(colleague)).to.deep.equal([]);
    await press(colleague.page, 'Go to');
    await colleague.page.waitForSelector('dialog[open] input');
    await colleague.page.keyboard.type('Audit');
    await colleague.until(`document.querySelectorAll('#go-to-list li').length === 1`);
    await colleague.page.keyboard.press('Escape');
    await show(colleague, 'settings?tab=people');
    const invite = await colleague.page.waitForSelector(`::-p-xpath(//button[contains(., 'Invite colleague')])`);
    expect(await invite?.evaluate((button) => [button.ariaDisabled, button.title])).to.deep.equal([
      'true',
      'Your role viewer lacks admin',
    ]);
  });

  it('have another role with their next request', async () => {
    await giveRole('annotator');
    await show(colleague, 'overview');
    expect(await menu(colleague)).to.have.members([...FOR_ALL, 'Review']);
    await giveRole('admin');
    await show(colleague, 'audit');
    expect(await menu(colleague)).to.have.members([...FOR_ALL, 'Review', 'Playground', 'Audit log']);
    await says(colleague, 'person.set_role');
  });

  it('leave nothing in the browser when they sign out, and no access when they are removed', async () => {
    await colleague.page.evaluate(`sessionStorage.setItem('spanhouse.draft.of.somebody', 'secret')`);
    await press(colleague.page, HOSTILE);
    await press(colleague.page, `Sign out ${HOSTILE}`);
    await says(colleague, 'Sign in to Spanhouse');
    expect(await colleague.page.evaluate('Object.keys(sessionStorage)')).to.deep.equal(['spanhouse.writer']);
    await press(owner.page, `Remove ${HOSTILE}`);
    await press(owner.page, 'Remove person');
    await says(owner, 'Person removed');
    await owner.until(`!document.body.innerText.includes('onerror')`);
    expect(await accessibilityEverywhere(owner)).to.deep.equal([]);
  });
});
