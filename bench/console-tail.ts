import type { Browser } from 'puppeteer-core';
import { startProgress } from '../scripts/progress.js';
import { ConsolePage, pause, type Bar } from './console-page.js';
import { bodiesOf } from './mixed-loads.js';
import type { PlainProcess } from './processes/server.js';
import { startSteadyLoad } from './processes/steady.js';

const SPANS_PER_SECOND = 1_000;
const SPANS_PER_REQUEST = 20;
/** What a page needs to have shown what it will hold. */
const WARM_UP_SECONDS = 30;

/** How much a page grows that follows the list of spans, while they are written for so many minutes. */
export async function ofTail(browser: Browser, server: PlainProcess, minutes: number): Promise<Bar[]> {
  const page = await ConsolePage.open(browser, server);
  const load = startSteadyLoad(bodiesOf(7, SPANS_PER_REQUEST), {
    url: server.url,
    key: server.key,
    clients: 4,
    perSecond: SPANS_PER_SECOND / SPANS_PER_REQUEST,
  });
  const progress = startProgress('following the list of spans', minutes * 60, 's');
  try {
    await page.goto('spans?live=true');
    await page.usable();
    await pause(WARM_UP_SECONDS * 1000);
    const before = await page.heapMegabytes();
    for (let second = 0; second < minutes * 60; second += 1) {
      await pause(1000);
      progress.update(second + 1);
    }
    const grown = (await page.heapMegabytes()) - before;
    return [
      [`list that follows ${SPANS_PER_SECOND} spans/s for ${minutes} min: heap grown`, Math.max(0, grown), 'MB', 10],
    ];
  } finally {
    progress.stop();
    await load.stop();
    await page.close();
  }
}
