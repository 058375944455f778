import { expect } from 'chai';
import { boundRows, type Beside, type Read } from '../../bench/mixed-bounds.js';
import { WRITERS } from '../../bench/mixed-loads.js';

const READS: Read[] = [
  { name: 'a list', heavy: false, request: () => ({ path: '/' }) },
  { name: 'another list', heavy: false, request: () => ({ path: '/' }) },
  { name: 'a sorted list', heavy: true, request: () => ({ path: '/' }) },
];
const FIRST = { afterWrite: 13, afterNothing: 10, afterBurst: 301 };

/** Each read took, in milliseconds, what stands in its list. */
function beside(name: string, times: number[][], rate = NaN, failures: string[] = []): Beside {
  return { name, rate, calls: times.map((latencies, at) => ({ name: READS[at]?.name ?? '', latencies, failures })) };
}

const QUIET = beside(WRITERS.nobody, [[10], [20], [10]]);

describe('bounds of the bench of reads beside writes', () => {
  it('hold for the worst read of a kind, and are told with the share that it takes', () => {
    const rows = boundRows([QUIET, beside(WRITERS.small, [[12], [32], [33, 33, 55]])], READS, FIRST);
    expect(rows).to.deep.equal([
      [`p50 of lists by time or id: ${WRITERS.small}`, 'another list', '1.60', '≤ 2: met, 80.0 %'],
      [`p50 of filtered and sorted lists, sessions: ${WRITERS.small}`, 'a sorted list', '3.30', '≤ 3: NOT met, 110 %'],
      [`p95 to p50: ${WRITERS.small}`, 'a sorted list', '1.67', '≤ 2: met, 83.3 %'],
      ['first read after one write', '', '1.30', '≤ 2: met, 65.0 %'],
      ['first read after a burst, ms', '', '301', '≤ 300: NOT met, 100 %'],
    ]);
  });

  it('are not met by a read that failed', () => {
    const rows = boundRows([QUIET, beside(WRITERS.paced, [[10], [20], [10]], 1_900, ['503'])], READS, FIRST);
    const verdicts = rows.map(([bound = '', , , target = '']) => [bound.replace(/:.*/, ''), target]);
    expect(verdicts.slice(0, 4)).to.deep.equal([
      ['p50 of lists by time or id', '≤ 2: NOT met, n/a %'],
      ['p50 of filtered and sorted lists, sessions', '≤ 3: NOT met, n/a %'],
      ['p95 to p50', '≤ 2: NOT met, n/a %'],
      ['rate', '≥ 0.95: met, 100 %'],
    ]);
  });

  it('hold for no read where no bound is named', () => {
    const rows = boundRows([QUIET, beside(WRITERS.singles, [[99], [99], [99]], 10)], READS, FIRST);
    expect(rows.map(([bound]) => bound)).to.deep.equal(['first read after one write', 'first read after a burst, ms']);
  });
});
