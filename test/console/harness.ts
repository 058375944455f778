import type { Browser } from 'puppeteer-core';
import { bootServer, type TestServer } from '../harness/server.js';
import { ConsoleBrowser } from '../identity/console-browser.js';
import { launchBrowser, WatchedPage } from '../review/browser.js';

/** A server and a browser for all tests of a file. */
export interface ConsoleScene {
  readonly server: TestServer;
  readonly browser: Browser;
  close(): Promise<void>;
}

/** Null where no Chromium runs. */
export async function openScene(...boot: Parameters<typeof bootServer>): Promise<ConsoleScene | null> {
  const browser = await launchBrowser();
  if (browser === null) {
    process.stderr.write('No Chromium runs here, so the console is not tried in a browser.\n');
    return null;
  }
  const server = await bootServer(...boot);
  return {
    server,
    browser,
    async close() {
      await browser.close();
      await server.dispose();
    },
  };
}

/** A page of the console, signed in with the server's key (or another), with cookies and history of its own. */
export async function signedIn({ server, browser }: ConsoleScene, key = server.key): Promise<WatchedPage> {
  const watched = await WatchedPage.open(browser);
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

const THEMES = ['light', 'dark'] as const;
const WIDTHS = [360, 1440] as const;

/** What axe finds on the page as it is, in both themes, narrow and wide. */
export async function accessibilityEverywhere(watched: WatchedPage): Promise<string[]> {
  const found: string[] = [];
  for (const width of WIDTHS) {
    await watched.page.setViewport({ width, height: 900 });
    for (const theme of THEMES) {
      await watched.page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
      for (const issue of await watched.accessibilityIssues()) found.push(`${theme}, ${width}: ${issue}`);
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
