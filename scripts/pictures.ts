/**
 * `npm run pictures`: makes the pictures of README anew, of the demo's data in a server of its own: screens of the console, light
 * and dark, into scripts/pictures. The data and the zone are always the same; times are those of the hour before.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Page } from 'puppeteer-core';
import { loadConfig } from '../src/config/config.js';
import { startServer, type RunningServer } from '../src/server.js';
import { launchBrowser } from '../test/review/browser.js';
import { PROMPTS } from './demo/prompts.js';

const run = promisify(execFile);
const FOLDER = fileURLToPath(new URL('../../scripts/pictures/', import.meta.url));
const DEMO = fileURLToPath(new URL('demo.js', import.meta.url));
/** Told again with the same seed, the demo's story is the same. */
const SEED = '7';
const ZONE = 'UTC';
const THEMES = ['light', 'dark'] as const;
/** As many pixels as README shows on a fine screen, and no more bytes than a reader waits for. */
const VIEW = { width: 1320, height: 800, deviceScaleFactor: 1.25 };
const MAX_BYTES = 150_000;

interface Shot {
  readonly name: string;
  /** The address below the project, found by what is there. */
  readonly address: (read: Read) => Promise<string>;
  /** What is there once the screen has all it shows. */
  readonly shows: string;
}

type Read = (path: string) => Promise<readonly { readonly id: string; readonly [field: string]: unknown }[]>;

const SHOTS: readonly Shot[] = [
  { name: 'overview', address: async () => 'overview?range=1h', shows: '.chart svg rect' },
  {
    name: 'traces',
    address: async () => 'traces?range=1h&live=true',
    shows: '.table tbody tr',
  },
  {
    name: 'trace',
    address: async (read) => {
      const [trace] = await read('/traces?sort_by=span_count&limit=1&has_error=false');
      const spans = await read(`/spans?trace_id=${trace?.id ?? ''}&span_kind=llm&sort_by=started_at&sort_order=desc`);
      return `traces/${trace?.id ?? ''}?span=${spans[0]?.id ?? ''}`;
    },
    shows: '.messages .message',
  },
  {
    name: 'prompt',
    address: async () => `prompts/${PROMPTS['order-desk'].slug}?a=2&b=3`,
    shows: '.diff ins',
  },
  {
    name: 'judge',
    address: async (read) => `judges/${(await read('/projects/{project}/judges'))[0]?.id ?? ''}`,
    shows: '.table tbody tr',
  },
];

const dataDir = await mkdtemp(join(tmpdir(), 'spanhouse-pictures-'));
const browser = await launchBrowser();
if (browser === null) throw new Error('No Chromium starts here, so no pictures are made');
await mkdir(FOLDER, { recursive: true });
// Nothing asks the model, but screens would say that none is there.
const model = { JUDGE_LLM_BASE_URL: 'http://127.0.0.1:9/v1', JUDGE_LLM_MODEL: 'openai/gpt-4o-mini' };
const server = await startServer(loadConfig({ DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'error', ...model }));
try {
  const key = server.created?.key ?? '';
  await run(process.execPath, [DEMO, '--url', server.url, '--key', key, '--seed', SEED]);
  const page = await browser.newPage();
  await signIn(page, server, key);
  for (const shot of SHOTS) await take(page, server, key, shot);
} finally {
  await browser.close();
  await server.stop();
  await rm(dataDir, { recursive: true, force: true });
}

async function signIn(page: Page, { url }: RunningServer, key: string): Promise<void> {
  // What is shown to newcomers is no part of the screens.
  await page.evaluateOnNewDocument(`localStorage.setItem('spanhouse.tour', 'away')`);
  await page.goto(`${url}/console`);
  await page.locator('input[type=password]').fill(key);
  await page.keyboard.press('Enter');
  await page.waitForSelector('.frame-nav');
}

async function take(page: Page, { url, created }: RunningServer, key: string, { name, address, shows }: Shot) {
  const projectId = created?.projectId ?? '';
  const read: Read = async (path) => {
    const headers = { Authorization: `Bearer ${key}` };
    const response = await fetch(url + path.replace('{project}', projectId), { headers });
    return (await response.json()) as Awaited<ReturnType<Read>>;
  };
  const screen = `${url}/console/p/${projectId}/${await address(read)}`;
  await page.setViewport(VIEW);
  await page.emulateTimezone(ZONE);
  for (const theme of THEMES) {
    await page.emulateMediaFeatures([
      { name: 'prefers-color-scheme', value: theme },
      { name: 'prefers-reduced-motion', value: 'reduce' },
    ]);
    await page.goto(screen, { waitUntil: 'networkidle2' });
    await page.waitForSelector(shows);
    await page.evaluate('document.fonts.ready.then(() => undefined)');
    const path = join(FOLDER, `${name}-${theme}.webp`) as `${string}.webp`;
    await page.screenshot({ path, type: 'webp', quality: 80 });
    const { size } = await stat(path);
    if (size > MAX_BYTES) throw new Error(`${path} has ${size} bytes, more than the ${MAX_BYTES} that README may load`);
    process.stdout.write(`${name}, ${theme}: ${size} bytes\n`);
  }
}
