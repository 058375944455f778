import { Agent } from 'node:http';
import type { Browser } from 'puppeteer-core';
import { ConsolePage, pause, type Bar } from './console-page.js';
import { median } from './figures.js';
import { call } from './processes/call.js';
import type { PlainProcess } from './processes/server.js';

const LISTS = ['traces', 'spans', 'sessions'] as const;
/** All that is stored, whenever it was. */
const EVERYTHING = 'started_after=2020-01-01T00:00:00.000Z';

interface Opened {
  readonly paint: number;
  readonly rows: number;
  /** What was asked for until the rows were answered, the page itself included; nothing waits for its icon. */
  readonly requests: number;
  /** What the page asked for its chart. */
  readonly statistics: string | undefined;
}

/** How quick the lists of all that is stored are to open, and what their charts cost beside them. */
export async function ofLists(browser: Browser, server: PlainProcess, rounds: number): Promise<Bar[]> {
  const bars: Bar[] = [];
  for (const list of LISTS) {
    const opened: Opened[] = [];
    for (let round = 0; round < rounds; round += 1) opened.push(await open(browser, server, list));
    const of = (what: 'paint' | 'rows' | 'requests') => median(opened.map((each) => each[what]));
    bars.push(
      [`list of ${list}: first paint`, of('paint'), 'ms', 200],
      [`list of ${list}: rows`, of('rows'), 'ms', 450],
      [`list of ${list}: requests before rows`, of('requests'), '', 8],
    );
    const statistics = opened[0]?.statistics;
    if (statistics === undefined) throw new Error(`the list of ${list} has no chart`);
    bars.push([
      `list of ${list}: chart, against the list with its total`,
      await ratioOf(server, list, new URL(statistics), rounds * 3),
      '×',
      3,
    ]);
  }
  return bars;
}

async function open(browser: Browser, server: PlainProcess, list: string): Promise<Opened> {
  const page = await ConsolePage.open(browser, server);
  try {
    await page.goto(`${list}?${EVERYTHING}`);
    const rows = await page.usable();
    await pause(1000);
    const measured = (await page.page.evaluate(`({
      paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN,
      asked: performance.getEntriesByType('resource').map(({ name, startTime, responseEnd }) => ({ name, startTime, responseEnd })),
    })`)) as {
      readonly paint: number;
      readonly asked: readonly { readonly name: string; readonly startTime: number; readonly responseEnd: number }[];
    };
    const answered = measured.asked.find(({ name }) => new URL(name).pathname === `/${list}`)?.responseEnd ?? NaN;
    return {
      paint: measured.paint,
      rows,
      requests:
        1 + measured.asked.filter(({ name, startTime }) => startTime < answered && !name.endsWith('.svg')).length,
      statistics: measured.asked.find(({ name }) => new URL(name).pathname.endsWith(`/${list}:stats`))?.name,
    };
  } finally {
    await page.close();
  }
}

/** Asks for the chart and for the list that it is of in turns. @returns the time of the one as a multiple of the other's */
async function ratioOf(server: PlainProcess, list: string, statistics: URL, rounds: number): Promise<number> {
  const page = new URL(`/${list}?${EVERYTHING}&count=true`, server.url);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times = { statistics: new Array<number>(), page: new Array<number>() };
  try {
    for (let round = 0; round < rounds; round += 1)
      for (const [what, target] of [
        ['statistics', statistics],
        ['page', page],
      ] as const) {
        const since = performance.now();
        const { status, problem } = await call({ agent, target, key: server.key });
        if (status !== 200) throw new Error(`${target.pathname}: ${status} ${problem}`);
        times[what].push(performance.now() - since);
      }
    return median(times.statistics) / median(times.page);
  } finally {
    agent.destroy();
  }
}
