import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setTimeout } from 'node:timers/promises';
import chromium from '@sparticuz/chromium';
import { expect } from 'chai';
import puppeteer, {
  type Browser,
  type BrowserContext,
  type ElementHandle,
  type HTTPRequest,
  type Page,
} from 'puppeteer-core';
import { unhurried } from '../harness/program.js';

const ANSWERED_WITHIN_MS = 10_000;
/** Longer than a page takes for anything, unless the machine is busy. */
const SHOWN_WITHIN_MS = 30_000;
const CLICKED_AGAIN_MS = 50;
const INSTALLED = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/**
 * A headless Chromium: that of the package, which runs on Linux x64, else an installed one. Null where there is neither.
 */
export async function launchBrowser(): Promise<Browser | null> {
  const packed = process.platform === 'linux' && process.arch === 'x64';
  const installed = INSTALLED.find((path) => existsSync(path));
  const attempts = [
    ...(packed ? [() => chromium.executablePath()] : []),
    ...(installed ? [async () => installed] : []),
  ];
  for (const path of attempts) {
    try {
      return await started(await path());
    } catch (error) {
      process.stderr.write(`A browser does not start: ${String(error)}\n`);
    }
  }
  return null;
}

/** A start while another process still unpacks the package's Chromium is tried again. */
async function started(executablePath: string, tries = 120): Promise<Browser> {
  try {
    return await puppeteer.launch({
      executablePath,
      args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
      headless: 'shell',
    });
  } catch (error) {
    if (tries === 0 || !String(error).includes('ETXTBSY')) throw error;
    await setTimeout(500);
    return started(executablePath, tries - 1);
  }
}

/**
 * Clicks on what the selector finds once it is there and does something: Puppeteer waits for `disabled` alone,
 * which buttons of the console never are, so that they stay in reach of the keyboard. A click at a place from which the
 * element has moved meanwhile, as when a list comes in above it, reaches something else: it is made again.
 */
export async function clickOn(page: Page, selector: string): Promise<void> {
  const locator = page.locator(selector).filter((element) => element.closest('[aria-disabled=true]') === null);
  const until = performance.now() + page.getDefaultTimeout();
  for (;;) {
    const element = await locator.waitHandle();
    try {
      if (await clicked(element)) return;
    } catch (error) {
      // It is hidden, covered or gone: as Puppeteer does, this tries again.
      if (performance.now() > until) throw error;
    } finally {
      await element.dispose().catch(() => undefined);
    }
    if (performance.now() > until) throw new Error(`${selector} does not stay where it is`);
    await setTimeout(CLICKED_AGAIN_MS);
  }
}

/** Clicks where the element rests. @returns whether the click reached it */
async function clicked(element: ElementHandle): Promise<boolean> {
  await element.evaluate(rested);
  const reached = await element.evaluateHandle(reachedBy);
  await element.click();
  // A page that the click has led away from tells nothing more.
  return reached.evaluate(({ current }) => current).catch(() => true);
}

/** As much of an element as is used in the page. */
interface Drawn {
  getBoundingClientRect(): unknown;
  addEventListener(type: 'click', listener: () => void, options: { readonly capture: true; readonly once: true }): void;
}

interface Frames {
  requestAnimationFrame(drawn: () => void): void;
}

/** Gives a page time on a busy machine. */
const patient = (page: Page | null) => page?.setDefaultTimeout(unhurried(SHOWN_WITHIN_MS));

/** In the page: resolves when an element is drawn twice at the same place. */
async function rested(element: Drawn): Promise<void> {
  const place = () => JSON.stringify(element.getBoundingClientRect());
  const { requestAnimationFrame } = globalThis as unknown as Frames;
  const drawn = () => new Promise<void>((resolve) => requestAnimationFrame(resolve));
  for (let before = ''; before !== place();) {
    before = place();
    await drawn();
  }
}

/** In the page: whether a click has reached an element, kept up to date. */
function reachedBy(element: Drawn): { current: boolean } {
  const reached = { current: false };
  element.addEventListener('click', () => (reached.current = true), { capture: true, once: true });
  return reached;
}

/** What goes wrong in a page without anybody seeing it. */
export class WatchedPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors and warnings of scripts and of the security policy. */
  readonly complaints: string[] = [];
  /** Every address that was asked for. */
  readonly requests: string[] = [];
  /** Requests without an end so far, but for what follows a list. */
  readonly #underWay = new Set<HTTPRequest>();

  private constructor(page: Page, context: BrowserContext) {
    this.page = page;
    this.context = context;
    page.on('console', (message) => {
      if (['error', 'warn'].includes(message.type())) this.complaints.push(message.text());
    });
    page.on('pageerror', (error) => this.complaints.push(String(error)));
    page.on('dialog', (dialog) => {
      this.complaints.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('request', (request) => {
      this.requests.push(request.url());
      if (!request.url().includes(':tail')) this.#underWay.add(request);
    });
    for (const end of ['requestfinished', 'requestfailed'] as const)
      page.on(end, (request) => this.#underWay.delete(request));
  }

  /** A page with cookies and history of its own. */
  static async open(browser: Browser): Promise<WatchedPage> {
    const context = await browser.createBrowserContext();
    // Of every page, also of those that tests and links open.
    context.on('targetcreated', (target) => void target.page().then(patient, () => undefined));
    const watched = new WatchedPage(await context.newPage(), context);
    patient(watched.page);
    await watched.page.setViewport({ width: 1280, height: 860 });
    return watched;
  }

  /** Resolves when an expression is true in the page. @throws after 30 s, or more on a busy machine, with what it shows by then */
  async until(condition: string): Promise<void> {
    try {
      await this.page.waitForFunction(condition);
    } catch (error) {
      const shown = await this.page.evaluate(`location.href + ' shows ' + document.body.innerText.slice(0, 2000)`);
      throw new Error(`${condition} never comes true; ${String(shown)}`, { cause: error });
    }
  }

  /** Resolves when the page's heading holds the text. @throws after 30 s */
  async untilHeading(text: string): Promise<void> {
    await this.page.waitForFunction(`document.querySelector('h1')?.textContent.includes(${JSON.stringify(text)})`);
  }

  heading(): Promise<string> {
    return this.page.$eval('h1', (heading) => heading.textContent);
  }

  async text(): Promise<string> {
    return (await this.page.evaluate('document.body.innerText')) as string;
  }

  /**
   * Forgets that requests were refused, as the test meant them to be. Waits for those that are under way: a screen may ask
   * for several things that are refused, and says so after the first.
   * @param statuses with these, as a pattern
   */
  async forgetRefusals(statuses = '4\\d\\d'): Promise<void> {
    // As Chromium says it.
    const expected = new RegExp(`status of ${statuses}`);
    const until = performance.now() + ANSWERED_WITHIN_MS;
    while (this.#underWay.size > 0 && performance.now() < until) await setTimeout(10);
    this.complaints.splice(0, Infinity, ...this.complaints.filter((complaint) => !expected.test(complaint)));
  }

  /** Expects that nothing went wrong unseen, and that nobody but the server was asked. */
  expectQuiet({ url }: { readonly url: string }): void {
    expect(this.complaints, 'errors in the page').to.deep.equal([]);
    // Chromium draws the icons of its own controls by `data:`.
    const elsewhere = this.requests.filter((one) => !one.startsWith(`${url}/`) && !one.startsWith('data:'));
    expect(elsewhere, 'requests to other hosts').to.deep.equal([]);
  }

  /**
   * Broken rules of accessibility (WCAG 2.2, levels A and AA), as axe-core finds them.
   * @param rules only these
   */
  async accessibilityIssues(rules: readonly string[] | null = null): Promise<string[]> {
    if ((await this.page.evaluate('typeof axe')) === 'undefined') await this.page.evaluate(AXE);
    // A color that is on its way to another is none of the page's.
    await this.page.evaluate(
      `Promise.allSettled(document.getAnimations().map(({ finished }) => finished)).then(() => undefined)`,
    );
    const only = rules ?? ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
    // What is in order is not described: that takes longer than to find it so.
    const options = JSON.stringify({ runOnly: only, resultTypes: ['violations'], preload: false });
    const run = `axe.run(document, ${options})
      .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' | ')))`;
    return (await this.page.evaluate(run)) as string[];
  }
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
