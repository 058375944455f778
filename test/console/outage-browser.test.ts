import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { unhurried, type Program } from '../harness/program.js';
import { Programs } from '../harness/programs.js';
import { send } from '../harness/server.js';
import { clickOn, WatchedPage } from '../review/browser.js';
import { accessibilityEverywhere, suiteBrowser } from './harness.js';

const run = promisify(execFile);
/** Longer than a request takes that fails. */
const SOON_MS = 2_000;
/** The clock of a computer that nobody has set. */
const A_DAY_AHEAD = `{
  const { Date: Real } = globalThis;
  globalThis.Date = class extends Real {
    constructor(...given) {
      super(...(given.length === 0 ? [Real.now() + 86_400_000] : given));
    }
    static now() {
      return Real.now() + 86_400_000;
    }
  };
}`;

describe('the console in a browser, from the first start on, while its server comes and goes', function () {
  this.timeout(60_000);
  const chromium = suiteBrowser();
  let programs: Programs | undefined;
  let program: Program;
  let watched: WatchedPage;
  /** What the first start printed. */
  let said: { readonly signIn: string; readonly key: string; readonly project: string };

  const until = (condition: string) => watched.page.waitForFunction(condition);
  const says = (text: string) => until(`document.body?.innerText.includes(${JSON.stringify(text)})`);
  /** In one moment: what fails is asked again by itself. */
  const all = (texts: readonly string[]) =>
    `${JSON.stringify(texts)}.every((text) => document.body?.innerText.includes(text))`;
  const saysAll = (...texts: readonly string[]) => until(all(texts));
  const saidSoon = (...texts: readonly string[]) =>
    watched.page.waitForFunction(all(texts), { timeout: unhurried(SOON_MS) }).then(
      () => true,
      () => false,
    );
  const refresh = () => clickOn(watched.page, 'button[aria-label=Refresh]');
  const open = (screen: string) => watched.page.goto(`${program.url}/console/p/${said.project}/${screen}`);
  const rows = (): Promise<string[]> =>
    watched.page.$$eval('.list-rows tbody tr', (all) => all.map((row) => row.textContent));
  const untilRow = (name: string) =>
    until(
      `[...document.querySelectorAll('.list-rows tbody tr')].some((row) => row.textContent.startsWith(${JSON.stringify(name)}))`,
    );
  const untilNothingFails = () =>
    until(`document.querySelector('.bad-state') === null && document.querySelector('.list-rows[aria-busy=false]')`);
  const untilLive = () =>
    until(`[...document.querySelectorAll('[aria-pressed=true]')].some((one) => one.textContent === 'Live')`);
  const post = async (...names: readonly string[]) => {
    const started_at = new Date().toISOString();
    const body = names.map((name) => ({ id: randomUUID(), trace_id: randomUUID(), name, started_at }));
    const { status, text } = await send(`${program.url}/spans`, 'POST', { body, key: said.key });
    expect(status, text).to.equal(200);
  };
  /** A new server at the address of the one that ended. */
  const startAgain = async () => {
    const { port } = new URL(program.url);
    program = await programs!.start({ PORT: port });
  };

  before(async () => {
    programs = await Programs.make();
    program = await programs.start({ SPANHOUSE_INIT_PROJECT_ID: '', SPANHOUSE_INIT_API_KEY: '' });
    const printed = () => program.printed.join('\n');
    while (!printed().includes('Send a first span')) await sleep(10);
    const [, signIn = ''] = /(http\S+#code=\S+)/.exec(printed()) ?? [];
    const [, key = '', project = ''] = /SPANHOUSE_KEY=(\S+) SPANHOUSE_PROJECT=(\S+)/.exec(printed()) ?? [];
    said = { signIn, key, project };
    watched = await WatchedPage.open(chromium.browser);
  });
  after(() => programs?.dispose());

  it('leads from the address that the first start prints to the trace that the program on the page sends', async () => {
    const { page } = watched;
    const { identifier } = await page.evaluateOnNewDocument(A_DAY_AHEAD);
    await page.goto(said.signIn);
    await clickOn(page, '::-p-text(Sign in as Owner)');
    await clickOn(page, '::-p-aria([name="Send your first trace"][role="link"])');
    expect(page.url()).to.not.include('code');
    await clickOn(page, '::-p-text(Create key)');
    await until(`document.querySelector('[role=tabpanel] pre')?.textContent.includes('Bearer sk_sh_')`);
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await page.setViewport({ width: 1280, height: 860 });
    await run('bash', ['-c', await page.$eval('[role=tabpanel] pre', (element) => element.textContent)]);
    await until(`/\\/traces\\/[0-9a-f-]{36}$/.test(location.pathname)`);
    await watched.untilHeading('answer question');
    await page.removeScriptToEvaluateOnNewDocument(identifier);
    // Before a code signs in, it is asked whether somebody is signed in.
    const complaints = watched.complaints.filter((one) => !one.includes('401'));
    expect(complaints, 'errors in the page').to.deep.equal([]);
    expect(watched.requests.filter((url) => !url.startsWith(`${program.url}/`))).to.deep.equal([]);
  });

  it('says that the engine is away, and shows all once it is back', async () => {
    await open('traces?columns=name&range=all');
    await untilRow('answer question');
    await watched.page.evaluate('window.opened = true');
    // Another engine is on its way: on a busy machine it may be there before the page asks.
    do {
      await program.ready();
      process.kill(program.enginePid, 'SIGKILL');
      await watched.page.evaluate(`document.querySelector('button[aria-label=Refresh]').click()`);
    } while (!(await saidSoon('Service unavailable', 'Retry (automatic in')));
    await untilNothingFails();
    expect(await rows()).to.deep.equal(['answer question']);
    expect(await watched.page.evaluate('window.opened')).to.equal(true);
  });

  it('says that the server is away, and goes on by itself: nothing is shown twice, nothing left out', async () => {
    const other = await watched.context.newPage();
    await other.goto(watched.page.url());
    await other.locator('nav ::-p-text(Prompts)').wait();
    await watched.page.bringToFront();
    await watched.page.keyboard.press('.');
    await untilLive();
    await post('before');
    await untilRow('before');
    program.signal('SIGTERM');
    await program.ended;
    await says('Live, reconnecting…');
    await refresh();
    await saysAll('Cannot reach the server', 'Retry (automatic in');
    expect(await rows()).to.deep.equal(['before', 'answer question']);
    // A screen whose script is not there yet.
    await clickOn(other, 'nav ::-p-text(Prompts)');
    await other.locator('::-p-text(Cannot reach the server)').wait();
    await startAgain();
    await post('meanwhile');
    await untilRow('meanwhile');
    await untilLive();
    await untilNothingFails();
    await post('afterwards');
    await untilRow('afterwards');
    expect(await rows()).to.deep.equal(['afterwards', 'meanwhile', 'before', 'answer question']);
    expect(await watched.page.evaluate('window.opened')).to.equal(true);
    await other.locator('h1 ::-p-text(Prompts)').wait();
    await other.close();
  });

  it('names what comes in too fast to be shown, until it is asked for', async () => {
    await post(...Array.from({ length: 450 }, (_, index) => `many ${index}`));
    await says('250 rows or more arrived too fast to show individually');
    await post(...Array.from({ length: 1001 }, (_, index) => `more ${index}`));
    await says('Too many rows to count arrived too fast to show individually');
    await refresh();
    await until(`!document.body.innerText.includes('arrived too fast')`);
    await until(`document.querySelector('h1')?.textContent === 'Traces 1,455 traces'`);
    expect(await rows()).to.have.length(100);
  });
});
