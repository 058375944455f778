import type { Browser, CookieData, Page } from 'puppeteer-core';
import { PROJECT_ID } from './rows.js';
import type { PlainProcess } from './processes/server.js';

/** A figure, in which unit, and at most how much of it there may be. */
export type Bar = readonly [what: string, value: number, unit: string, most: number];

/** What the page is told to note of itself, before anything else runs in it. */
const NOTES = `
  window.noted = { tasks: [], keys: [], frames: [], usable: null };
  new PerformanceObserver((list) => noted.tasks.push(...list.getEntries().map(({ duration }) => duration)))
    .observe({ type: 'longtask', buffered: true });
  // Behind the next frame: what it shows is painted.
  window.painted = () => new Promise((done) => requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => done(performance.now());
    channel.port2.postMessage(0);
  }));
  const rows = new MutationObserver(() => {
    if (document.querySelector('.trace-tree .row, .table tbody tr') === null) return;
    rows.disconnect();
    painted().then((at) => (noted.usable = at));
  });
  rows.observe(document, { subtree: true, childList: true });
  addEventListener('keydown', ({ timeStamp }) => painted().then((at) => noted.keys.push(at - timeStamp)), true);
  let last = 0;
  (function frame(at) {
    if (last > 0) noted.frames.push(at - last);
    last = at;
    requestAnimationFrame(frame);
  })(0);
`;

export interface Noted {
  /** Tasks of more than 50 ms, in milliseconds. */
  readonly tasks: readonly number[];
  /** From each key to what it changed being painted. */
  readonly keys: readonly number[];
  readonly frames: readonly number[];
  /** From the beginning of the page to its first painted row. */
  readonly usable: number | null;
}

/** Of each server one: it takes few sign-ins a minute. */
const cookies = new WeakMap<PlainProcess, Promise<CookieData>>();

async function signIn({ url, key }: PlainProcess): Promise<CookieData> {
  const response = await fetch(`${url}/console/session`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: url, 'Sec-Fetch-Site': 'same-origin' },
    body: JSON.stringify({ key }),
  });
  const [name = '', value = ''] = (response.headers.get('set-cookie') ?? '').split(';', 1)[0]?.split(/=(.*)/s) ?? [];
  if (!response.ok || value === '') throw new Error(`signing in: ${response.status} ${await response.text()}`);
  return { name, value, domain: new URL(url).hostname, path: '/', httpOnly: true, sameSite: 'Strict' };
}

/** A page of the console that notes how quick it is. */
export class ConsolePage {
  readonly page: Page;
  readonly #url: string;

  private constructor(page: Page, url: string) {
    this.page = page;
    this.#url = url;
  }

  /** Signed in, in a context of its own: with a cache of its own. */
  static async open(browser: Browser, server: PlainProcess): Promise<ConsolePage> {
    const cookie = cookies.get(server) ?? signIn(server);
    cookies.set(server, cookie);
    const context = await browser.createBrowserContext();
    await context.setCookie(await cookie);
    const page = await context.newPage();
    await page.setViewport({ width: 1280, height: 860 });
    await page.evaluateOnNewDocument(NOTES);
    return new ConsolePage(page, server.url);
  }

  async goto(screen: string): Promise<void> {
    await this.page.goto(`${this.#url}/console/p/${PROJECT_ID}/${screen}`);
  }

  async noted(): Promise<Noted> {
    return (await this.page.evaluate('noted')) as Noted;
  }

  /** Forgets what was noted so far. */
  async forget(): Promise<void> {
    await this.page.evaluate('for (const all of [noted.tasks, noted.keys, noted.frames]) all.length = 0');
  }

  /** Milliseconds from the beginning of the page to its first row. */
  async usable(): Promise<number> {
    await this.page.waitForFunction('noted.usable !== null', { timeout: 60_000 });
    return (await this.noted()).usable ?? NaN;
  }

  /** Presses a key again and again, as one that is held. */
  async hold(key: 'j', times: number, everyMs: number): Promise<void> {
    for (let press = 0; press < times; press += 1) {
      const since = performance.now();
      await this.page.keyboard.down(key);
      await pause(everyMs - (performance.now() - since));
    }
    await this.page.keyboard.up(key);
    await pause(100);
  }

  /** Milliseconds from a change of the page to its being painted. */
  async painting(script: string): Promise<number> {
    const measured = `(async () => { const since = performance.now(); ${script}; return (await painted()) - since; })()`;
    return (await this.page.evaluate(measured)) as number;
  }

  async heapMegabytes(): Promise<number> {
    const session = await this.page.createCDPSession();
    await session.send('HeapProfiler.enable');
    await session.send('HeapProfiler.collectGarbage');
    const { usedSize, backingStorageSize } = (await session.send('Runtime.getHeapUsage')) as {
      readonly usedSize: number;
      readonly backingStorageSize?: number;
    };
    return (usedSize + (backingStorageSize ?? 0)) / 2 ** 20;
  }

  close(): Promise<void> {
    return this.page.browserContext().close();
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, Math.max(0, ms)));
}
