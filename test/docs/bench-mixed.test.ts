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
    expect(await bench('--help')).to.match(/--burst <n>[\s\S]*--only <text>[\s\S]*--checkout <dir>[\s\S]*--no-write/);
  });

  it('times each read beside a load, against nobody, and the first reads after writes @slow', async function () {
    this.timeout(120_000);
    const table = await bench('--seconds', '2', '--spans', '240', '--burst', '500', '--only', '2,000', '--no-write');
    const value = String.raw`(n/a|\d[\d.,]*)`;
    const row = (rate: string) =>
      String.raw`${value} / ${value} +${value} / ${value} +[1-9]\d* +0 +${rate}${value} / ${value}$`;
    for (const read of [
      'traces, newest 50',
      'a trace by id',
      'spans of a trace',
      'spans, newest 50',
      'sessions, newest 50',
      'traces with errors by cost',
    ]) {
      expect(table).to.match(new RegExp(`^nobody +${read} .* 1\\.00 / 1\\.00 `, 'm'));
      expect(table).to.match(new RegExp(`^nobody again +${read} +${row('')}`, 'm'));
      expect(table).to.match(new RegExp(`^${PACED} +${read} +${row(String.raw`[\d.,]+ +`)}`, 'm'));
    }
    const [, rate] = new RegExp(`^${PACED} .* ([\\d.,]+) +${value} / ${value}$`, 'm').exec(table) ?? [];
    // As fast as it is asked, or more slowly where the machine has no more to give.
    expect(Number(rate?.replace(',', ''))).to.be.within(1, 2_200);
    expect(table).to.match(
      /^First read of the newest 50 traces after one write: [\d.,]+ ms \(median of 20\); after 500 traces/m,
    );
  });
});
