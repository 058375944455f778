import { expect } from 'chai';
import type { Browser, Page } from 'puppeteer-core';
import { bootServer, type BootOptions, type TestServer } from '../harness/server.js';
import { ConsoleBrowser } from '../identity/console-browser.js';
import { clickOn, launchBrowser, WatchedPage } from '../review/browser.js';

/** A browser for all tests of the suite that this is called in, which are skipped where no Chromium runs. */
export function suiteBrowser(): { readonly browser: Browser } {
  let browser: Browser | null = null;
  before(async function () {
    this.timeout(90_000);
    browser = await launchBrowser();
    if (browser !== null) return;
    process.stderr.write('No Chromium runs here, so nothing is tried in a browser.\n');
    this.skip();
  });
  after(() => browser?.close());
  return {
    get browser() {
      return opened(browser);
    },
  };
}

/** A server, and a browser that looks at it. */
export interface ConsoleScene {
  readonly server: TestServer;
  readonly browser: Browser;
  /** What was opened by {@link signedIn} or {@link visiting}. */
  readonly pages: WatchedPage[];
  /** Posts, and expects that this succeeds. @returns the answer */
  post(path: string, body: unknown): Promise<any>;
}

export interface SceneOptions {
  /** What the server is booted with, asked when the suite begins. */
  readonly boot?: () => BootOptions;
  /** Where browsers find the server. Default: at its own address. */
  readonly url?: () => string;
  /** Whether a page that one test opened is still there for the next. */
  readonly keepsPages?: boolean;
}

/**
 * A scene for all tests of the suite that this is called in. After each test that passed, nothing may have gone wrong unseen
 * in the pages that are open.
 */
export function consoleScene({ boot, url, keepsPages = false }: SceneOptions = {}): ConsoleScene {
  const chromium = suiteBrowser();
  const pages: WatchedPage[] = [];
  let server: TestServer | null = null;
  before(async function () {
    this.timeout(90_000);
    server = await bootServer(boot?.());
  });
  after(() => server?.dispose());
  afterEach(async function () {
    const watched = keepsPages ? pages : pages.splice(0);
    if (!keepsPages) for (const { context } of watched) await context.close();
    if (this.currentTest?.state !== 'passed') return;
    for (const each of watched) each.expectQuiet({ url: url?.() ?? opened(server).url });
  });
  return {
    pages,
    get server() {
      return opened(server);
    },
    get browser() {
      return chromium.browser;
    },
    async post(path, body) {
      const { status, text, json } = await opened(server).request('POST', path, { body });
      expect(status, text.slice(0, 300)).to.be.below(300);
      return json;
    },
  };
}

function opened<T>(thing: T | null): T {
  if (thing === null) throw new Error('the suite has not begun');
  return thing;
}

/** A page of nobody, with cookies and history of its own. */
export async function visiting({ browser, pages }: ConsoleScene): Promise<WatchedPage> {
  const watched = await WatchedPage.open(browser);
  pages.push(watched);
  return watched;
}

/** A page of the console, signed in with the server's key (or another), with cookies and history of its own. */
export async function signedIn(scene: ConsoleScene, key = scene.server.key): Promise<WatchedPage> {
  const { server } = scene;
  const watched = await visiting(scene);
  const person = await ConsoleBrowser.signedIn(server, { key });
  const [name = '', value = ''] = person.cookie.split(/=(.*)/s);
  await watched.context.setCookie({
    name,
    value,
    domain: new URL(server.url).hostname,
    path: '/',
    httpOnly: true,
    sameSite: 'Strict',
  });
  return watched;
}

/** The address of a screen of the server's project, such as `traces?range=all`. */
export function screenUrl({ url, projectId }: TestServer, screen: string): string {
  return `${url}/console/p/${projectId}/${screen}`;
}

/** What the tests of a screen do, in the page that is watched when they do it. */
export function screenActions(scene: ConsoleScene, watched: () => WatchedPage) {
  const until = (condition: string) => watched().until(condition);
  return {
    until,
    open: (screen: string) => watched().page.goto(screenUrl(scene.server, screen)),
    says: (text: string, selector = 'main') =>
      until(`document.querySelector(${JSON.stringify(selector)})?.innerText.includes(${JSON.stringify(text)})`),
    click: (name: string) => clickOn(watched().page, `::-p-aria([name="${name}"][role="button"])`),
    /** Until no dialog is open. */
    closed: () => until(`document.querySelector('dialog[open]') === null`),
    /** Expects that axe finds nothing anywhere, and goes back to a usual size. */
    async everywhere() {
      expect(await accessibilityEverywhere(watched())).to.deep.equal([]);
      await watched().page.setViewport({ width: 1280, height: 860 });
    },
  };
}

/** Waits for what has a name, exactly, and does something; clicks it. Behind a dialog nobody can click. */
export async function press(page: Page, name: string): Promise<void> {
  await page.waitForFunction(
    `(() => {
      const shown = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document;
      const found = [...shown.querySelectorAll(':is(button, a):not([aria-disabled=true])')].findLast(
        (element) => (element.getAttribute('aria-label') ?? element.textContent.trim()) === ${JSON.stringify(name)},
      );
      found?.click();
      return found !== undefined;
    })()`,
  );
}

/** With the rules that a theme may break: the dark one has the same elements in other colors. */
const THEMES = [
  ['light', null],
  ['dark', ['color-contrast', 'link-in-text-block']],
] as const;
const WIDTHS = [360, 1440] as const;

/** What axe finds on the page as it is, in both themes, narrow and wide. */
export async function accessibilityEverywhere(watched: WatchedPage): Promise<string[]> {
  const found: string[] = [];
  for (const width of WIDTHS) {
    await watched.page.setViewport({ width, height: 900 });
    for (const [theme, rules] of THEMES) {
      await watched.page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
      for (const issue of await watched.accessibilityIssues(rules)) found.push(`${theme}, ${width}: ${issue}`);
    }
  }
  return found;
}

/** What assistive technology finds in the page's live regions: nothing of one that is behind a dialog. */
export async function announced({ page }: WatchedPage): Promise<string[]> {
  const client = await page.createCDPSession();
  const { nodes } = await client.send('Accessibility.getFullAXTree');
  await client.detach();
  const byId = new Map(nodes.map((node) => [node.nodeId, node]));
  const textsOf = (id: string): string[] => {
    const node = byId.get(id);
    if (node === undefined) return [];
    if (node.role?.value === 'StaticText') return [String(node.name?.value)];
    return (node.childIds ?? []).flatMap(textsOf);
  };
  const live = nodes.filter(
    ({ ignored, properties = [] }) =>
      !ignored && properties.some(({ name, value }) => name === 'live' && value.value === 'polite'),
  );
  return live.flatMap(({ nodeId }) => textsOf(nodeId));
}
