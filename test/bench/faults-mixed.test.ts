import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const run = promisify(execFile);
const main = fileURLToPath(new URL('../../bench/main.js', import.meta.url));
const bench = async (...args: string[]) => (await run(process.execPath, [main, 'mixed', ...args])).stdout;
const PACED = '2,000 spans/s, 20 at a time';

describe('npm run bench -- mixed', () => {
  it('tells its options', async () => {
    expect(await bench('--help')).to.match(
      /--burst <n>[\s\S]*--rounds <n>[\s\S]*--readers <n>[\s\S]*--pause <ms>[\s\S]*--only <text>[\s\S]*--checkout <dir>[\s\S]*--no-write/,
    );
  });

  it('times each read beside a load, against nobody, and the first reads after writes @slow', async function () {
    this.timeout(300_000);
    const tiny = ['--seconds', '2', '--spans', '240', '--burst', '500', '--rounds', '2', '--readers', '2'];
    const table = await bench(...tiny, '--only', '2,000', '--no-write');
    const value = String.raw`(n/a|\d[\d.,]*)`;
    const pair = `${value} / ${value}`;
    const verdict = (bound: string) => String.raw`≤ ${bound}: (NOT )?met, ${value} %`;
    const row = (bounds: string, rate: string, unit: string) =>
      `${pair} +${pair} +${bounds}[1-9]\\d* +0 +${rate}${pair} +${pair} ${unit}$`;
    for (const [read, bound] of [
      ['traces, newest 50', '2'],
      ['a trace by id', '2'],
      ['spans of a trace', '2'],
      ['spans, newest 50', '2'],
      ['sessions, newest 50', '3'],
      ['traces with errors by cost', '3'],
      ['spans with errors by cost', '3'],
    ] as const) {
      const bounds = `${verdict(bound)} +${verdict('2')} +`;
      expect(table).to.match(new RegExp(`^nobody +${read} .* 1\\.00 / 1\\.00 `, 'm'));
      expect(table).to.match(new RegExp(`^nobody again +${read} +${row('', '', 'ms a read')}`, 'm'));
      expect(table).to.match(new RegExp(`^${PACED} +${read} +${row(bounds, '[\\d.,]+ +', 'µs a span')}`, 'm'));
    }
    const [, rate] = new RegExp(`^${PACED} .* ([\\d.,]+) +${pair} +${pair} µs a span$`, 'm').exec(table) ?? [];
    // As fast as it is asked, or more slowly where the machine has no more to give.
    expect(Number(rate?.replace(',', ''))).to.be.within(1, 2_200);
    expect(table).to.match(
      /^First read of the newest 50 traces after one write: [\d.,]+ ms, after nothing, [^:]*: [\d.,]+ ms \(medians of 2\); after 500 traces/m,
    );
    expect(table).to.match(new RegExp(`^p50 of lists by time or id: ${PACED} +[a-z].* ${verdict('2')}$`, 'm'));
    expect(table).to.match(new RegExp(`^rate: ${PACED} +${value} +≥ 0.95: (NOT )?met`, 'm'));
    expect(table).to.match(/^first read after one write +[\d.]+ +≤ 2: (NOT )?met/m);
    expect(table).to.match(/^first read after a burst, ms +[\d.,]+ +≤ 300: (NOT )?met/m);
  });
});
