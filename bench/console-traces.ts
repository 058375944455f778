import type { Browser } from 'puppeteer-core';
import { ConsolePage, pause, type Bar } from './console-page.js';
import { median, percentile } from './figures.js';
import type { PlainProcess } from './processes/server.js';

const uuid = (number: number) => `0199a1b2-0000-7000-8000-${number.toString(16).padStart(12, '0')}`;
const JSON_TRACE = uuid(3);
const JSON_BYTES = 20_000_000;

interface Measured {
  readonly number: number;
  readonly spans: number;
  readonly rounds: number;
}

/** How quick a trace of so many spans is to open and to move in. */
export async function ofTrace(
  browser: Browser,
  server: PlainProcess,
  { number, spans, rounds }: Measured,
): Promise<Bar[]> {
  const trace = uuid(number);
  await sendTrace(server, trace, spans);
  const usable: number[] = [];
  for (let round = 1; round < rounds; round += 1) {
    const page = await opened(browser, server, trace);
    usable.push(await page.usable());
    await page.close();
  }
  const page = await opened(browser, server, trace);
  usable.push(await page.usable());
  await page.page.focus('.trace-tree');
  await page.hold('j', 10, 33);
  await page.forget();
  await page.hold('j', 150, 33);
  const { keys, frames } = await page.noted();
  const click = (label: string) => page.painting(`document.querySelector('[aria-label="${label}"]').click()`);
  const collapse = await click('Collapse all');
  await click('Expand all');
  const find = await page.painting(
    `const field = document.querySelector('#find-spans'); field.value = 'step 7'; field.dispatchEvent(new InputEvent('input', { bubbles: true }))`,
  );
  const elements = (await page.page.evaluate('document.querySelectorAll("*").length')) as number;
  const heap = await page.heapMegabytes();
  await page.close();
  const of = `${spans.toLocaleString('en')} spans: `;
  const large = spans > 10_000;
  return [
    [`${of}usable`, median(usable), 'ms', large ? 3000 : 800],
    [`${of}key to paint, p95`, percentile(keys, 95), 'ms', large ? 50 : 32],
    ...(large
      ? []
      : ([
          [`${of}worst frame with j held`, Math.max(...frames), 'ms', 50],
          [`${of}collapse all`, collapse, 'ms', 50],
          [`${of}find`, find, 'ms', 50],
          [`${of}DOM nodes`, elements, '', 2500],
          [`${of}heap`, heap, 'MB', 60],
        ] as const)),
  ];
}

async function opened(browser: Browser, server: PlainProcess, trace: string): Promise<ConsolePage> {
  const page = await ConsolePage.open(browser, server);
  await page.goto(`traces/${trace}`);
  await page.usable();
  // The minimap and the refetch of what is cached belong to opening, not to what is measured next.
  await pause(1000);
  return page;
}

/** How quick a span with 20 MB of JSON is, each time that its trace is opened; medians. */
export async function ofJson(browser: Browser, server: PlainProcess, rounds: number): Promise<Bar[]> {
  await sendJson(server);
  const opens: { readonly head: number; readonly longest: number }[] = [];
  for (let round = 0; round < rounds; round += 1) opens.push(await openJson(browser, server));
  return [
    ['JSON of 20 MB: head', median(opens.map(({ head }) => head)), 'ms', 300],
    ['JSON of 20 MB: longest task', median(opens.map(({ longest }) => longest)), 'ms', 100],
  ];
}

async function openJson(browser: Browser, server: PlainProcess) {
  const page = await opened(browser, server, JSON_TRACE);
  await page.forget();
  await page.page.evaluate(`window.since = performance.now(); document.querySelector('.trace-tree .row').click()`);
  const head = (await page.page.evaluate(`new Promise((done) => {
    const look = () => document.querySelector('.span-detail h2') ? painted().then((at) => done(at - since)) : requestAnimationFrame(look);
    look();
  })`)) as number;
  await page.page.keyboard.press('2');
  await page.page.waitForSelector('.json-row', { timeout: 60_000 });
  await pause(1000);
  const { tasks } = await page.noted();
  await page.close();
  // Shorter tasks are not noted.
  return { head, longest: Math.max(50, ...tasks) };
}

async function send({ url, key }: PlainProcess, spans: readonly object[]): Promise<void> {
  const response = await fetch(`${url}/spans`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(spans),
  });
  if (!response.ok) throw new Error(`sending spans: ${response.status} ${await response.text()}`);
}

const KINDS = ['llm', 'tool', 'agent', 'retriever', 'http', 'generic'];

/** Up to 40 levels deep, children near their parents, as agents make them. */
async function sendTrace(server: PlainProcess, trace: string, count: number): Promise<void> {
  const random = numbers(count);
  const begun = Date.now() - 86_400_000;
  const made: { readonly parent: number; readonly depth: number; readonly start: number; readonly length: number }[] =
    [];
  for (let span = 0; span < count; span += 1) {
    let parent = span === 0 ? -1 : Math.max(0, span - 1 - Math.floor(random() * random() * Math.min(span, 60)));
    while ((made[parent]?.depth ?? 0) >= 39) parent = made[parent]?.parent ?? -1;
    const above = made[parent] ?? { depth: -1, start: 0, length: 600_000 };
    const start = above.start + random() * above.length * 0.5;
    made.push({ parent, depth: above.depth + 1, start, length: Math.max(0.5, random() * above.length * 0.5) });
  }
  const base = 1_000_000 + count * 10;
  const spans = made.map(({ parent, start, length }, span) => ({
    id: uuid(base + span),
    trace_id: trace,
    ...(parent >= 0 && { parent_span_id: uuid(base + parent) }),
    name: `step ${Math.floor(random() * 80)}`,
    kind: KINDS[Math.floor(random() * KINDS.length)],
    started_at: new Date(begun + start).toISOString(),
    duration_ms: length,
    cost: random() / 100,
    ...(random() < 0.01 && { status: 'error' }),
  }));
  for (let from = 0; from < count; from += 5000) await send(server, spans.slice(from, from + 5000));
}

function sendJson(server: PlainProcess): Promise<void> {
  const row = (index: number) => ({
    index,
    name: `row ${index}`,
    values: [index, 'some text'],
    nested: { a: { b: index } },
  });
  const rows = Array.from({ length: Math.floor(JSON_BYTES / 85) }, (_, index) => row(index));
  const span = {
    id: uuid(4),
    trace_id: JSON_TRACE,
    name: 'large',
    started_at: new Date().toISOString(),
    duration_ms: 5,
  };
  return send(server, [{ ...span, output_data: JSON.stringify(rows) }]);
}

/** The same numbers from 0 to 1 in every run. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}
