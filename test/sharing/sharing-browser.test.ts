import { expect } from 'chai';
import type { WatchedPage } from '../review/browser.js';
import { clickOn } from '../review/browser.js';
import { accessibilityEverywhere, consoleScene, screenActions, signedIn, visiting } from '../console/harness.js';
import { storeTrace } from './shared-trace.js';

/** SHOTS=/tmp/shots npm test -- test/sharing   keeps pictures of what is shown */
const SHOTS = process.env['SHOTS'];

describe('sharing a trace in a browser', function () {
  const scene = consoleScene({ keepsPages: true });
  let watched: WatchedPage;
  const { open, says, click, closed } = screenActions(scene, () => watched);
  let trace: Awaited<ReturnType<typeof storeTrace>>;

  before(async function () {
    this.timeout(90_000);
    trace = await storeTrace(scene.server);
    watched = await signedIn(scene);
  });

  async function pictures(of: WatchedPage, name: string) {
    if (SHOTS === undefined) return;
    for (const [theme, width] of [
      ['light', 1280],
      ['dark', 1280],
      ['light', 390],
    ] as const) {
      await of.page.setViewport({ width, height: 860 });
      await of.page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
      await of.page.screenshot({ path: `${SHOTS}/${name}-${theme}-${width}.png`, fullPage: true });
    }
    await of.page.setViewport({ width: 1280, height: 860 });
  }

  it('takes comments on the trace and on the open span, which are edited and deleted', async function () {
    this.timeout(90_000);
    const { page } = watched;
    await open(`traces/${trace.trace_id}?span=${trace.child}`);
    await click('Comment');
    await page.type('.comments textarea', '**Look** at <b>this</b>');
    await click('Add comment');
    await says('Look at <b>this</b>', '.comments .opinion-list');
    await clickOn(page, '.comments input[type=checkbox]');
    await page.type('.comments textarea', 'The call is slow');
    await click('Add comment');
    await says('on shown call', '.comments .opinion-list');
    await pictures(watched, 'comments');
    expect(await accessibilityEverywhere(watched)).to.deep.equal([]);
    await page.setViewport({ width: 1280, height: 860 });
    await clickOn(page, '.comments .opinion-list li:last-child [aria-label^="Delete comment"]');
    await click('Delete comment');
    await closed();
    await watched.until(`document.querySelectorAll('.comments .opinion-list li').length === 1`);
  });

  it('makes a link whose page shows the trace to somebody else, without what is left out', async function () {
    this.timeout(90_000);
    const { page } = watched;
    await open(`traces/${trace.trace_id}`);
    await click('Share');
    await clickOn(page, '::-p-xpath(//label[contains(., "Error messages")])');
    await pictures(watched, 'share-dialog');
    await click('Create link');
    await watched.until(`document.querySelector('dialog .secret') !== null`);
    const url = await page.$eval('dialog .secret', (secret) => secret.textContent ?? '');
    await click('Done');
    const visitor = await visiting(scene);
    await visitor.page.goto(url);
    await visitor.until(`document.querySelector('.trace-tree .row') && document.title.includes('shown root')`);
    await clickOn(visitor.page, '.trace-tree [aria-rowindex="3"]');
    await visitor.until(`document.querySelector('.span-detail')?.innerText.includes('zebra-answer')`);
    expect(await visitor.text())
      .to.include('Left out: error messages')
      .and.not.include('zebra-failure');
    expect(new URL(visitor.page.url()).pathname).to.equal(new URL(url).pathname);
    expect(await visitor.page.$$eval('a', (links) => links.map(({ href }) => href))).to.deep.equal([]);
    await pictures(visitor, 'shared');
    expect(await accessibilityEverywhere(visitor)).to.deep.equal([]);
    const elsewhere = visitor.requests.filter(
      (one) => !/\/(s\/|console\/assets\/|feedback-page\/icon)|^data:/.test(one),
    );
    expect(elsewhere).to.deep.equal([]);
    await open(`settings?tab=project`);
    await says('Share links');
    await says('1 time');
    await pictures(watched, 'sharing-settings');
  });
});
