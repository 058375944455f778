import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { launchBrowser } from '../test/review/browser.js';
import { ofLists } from './console-lists.js';
import { ofTail } from './console-tail.js';
import { ofJson, ofTrace } from './console-traces.js';
import { against, figure, printTable } from './figures.js';
import { fill } from './fill.js';
import { wholeNumber } from './options.js';
import { startServerProcess } from './processes/server.js';
import { captureContext, writeResults } from './results.js';

interface Options {
  readonly rounds: number;
  readonly spans: number;
  readonly minutes: number;
  readonly data?: string;
  readonly write: boolean;
}

/** `console`: how quick the console is in a browser, against its bars. */
export function register(program: Command): void {
  program
    .command('console')
    .description('open lists, large traces and a JSON of 20 MB in Chromium, and measure what a reader waits for')
    .option('--rounds <n>', 'how often each page is opened; the median counts', wholeNumber(1, 99), 5)
    .option('--spans <n>', 'spans stored beforehand', wholeNumber(1000, 100_000_000), 1_000_000)
    .option('--minutes <n>', 'how long a list follows what is written', wholeNumber(1, 600), 10)
    .option(
      '--data <dir>',
      'use what `lists --keep` left in this folder, in a subfolder per size; fill it in if missing',
    )
    .option('--no-write', 'print only')
    .action(run);
}

async function run({ rounds, spans, minutes, data, write }: Options): Promise<void> {
  const context = captureContext();
  const dataDir =
    data === undefined ? await mkdtemp(join(tmpdir(), 'spanhouse-bench-console-')) : join(resolve(data), String(spans));
  const browser = await launchBrowser();
  if (browser === null) throw new Error('no Chromium runs here');
  try {
    await fill(dataDir, spans, 1);
    const server = await startServerProcess({ dataDir });
    try {
      const bars = [
        ...(await ofLists(browser, server, rounds)),
        ...(await ofTrace(browser, server, { number: 1, spans: 10_000, rounds })),
        ...(await ofTrace(browser, server, { number: 2, spans: 50_000, rounds })),
        ...(await ofJson(browser, server, rounds)),
        ...(await ofTail(browser, server, minutes)),
      ];
      const columns = ['what', 'measured', 'bar'];
      const rows = bars.map(([what, value, unit, most]) => [
        what,
        `${figure(value)} ${unit}`,
        against(value, '≤', most),
      ]);
      printTable(columns, rows);
      if (write)
        writeResults({
          name: 'Console',
          command: `npm run bench -- console --rounds ${rounds} --spans ${spans} --minutes ${minutes}`,
          context,
          engine: 'embedded',
          about:
            `Headless Chromium on the same machine, 1280 × 860, without a GPU, over ${spans.toLocaleString('en')} spans. Rows and usable: from the ` +
            'beginning of the page to its first painted row, with sign-in kept and caches cold. Key to paint: `j` held at 30 a second. ' +
            'Tasks: of the thread that draws.',
          columns,
          rows,
        });
    } finally {
      await server.stop();
    }
  } finally {
    await browser.close();
    if (data === undefined) await rm(dataDir, { recursive: true, force: true });
  }
}
