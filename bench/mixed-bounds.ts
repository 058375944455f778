import { against, figure, percentile } from './figures.js';
import type { FirstReads } from './first-reads.js';
import { PACED_SPANS_PER_SECOND, WRITERS } from './mixed-loads.js';
import type { Outcome, TimedCall } from './timed-calls.js';

/** Bounds that reads beside writes have to keep. */
export const BOUNDS = {
  /** p50 of a read beside these writers, to its p50 with nobody writing. */
  p50: {
    [WRITERS.small]: 2,
    [WRITERS.paced]: 2,
    [WRITERS.floodOfOther]: 2.5,
    [WRITERS.singlesOfOther]: 2.5,
  } as Readonly<Partial<Record<string, number>>>,
  /** A filtered or sorted list, or one of sessions, may take this much of the above. */
  heavy: 1.5,
  /** p95 of a read beside these writers, to its p50 beside the same. */
  p95: 2,
  /** Spans/s written, to those that the paced writers want to. */
  pacedRate: 0.95,
  /** First read after a single write, which it has ClickHouse take, to that after nothing. */
  firstReadAfterWrite: 2,
  /** First read after a burst of traces, in milliseconds. */
  firstReadAfterBurst: 300,
};

/** A read that bounds hold for. */
export interface Read extends TimedCall {
  /** Whether it filters or sorts by more than time or id, or is of sessions. */
  readonly heavy: boolean;
}

/** Measurements of all reads beside one kind of writers. */
export interface Beside {
  /** Who wrote. */
  readonly name: string;
  readonly calls: readonly Outcome[];
  /** Spans/s written; NaN with nobody writing. */
  readonly rate: number;
}

/** The ratios of one read beside writers, and their bounds. */
export interface Standing {
  readonly read: Read;
  readonly p50: number;
  readonly p50Bound: number;
  readonly p95: number;
}

/** Empty where no bounds hold beside these writers. A call that failed meets none. */
export function standings({ name, calls }: Beside, quiet: Beside | undefined, reads: readonly Read[]): Standing[] {
  const bound = BOUNDS.p50[name];
  if (bound === undefined || calls.length === 0) return [];
  return reads.map((read, at) => {
    const { latencies = [], failures = [] } = calls[at] ?? {};
    const p50 = failures.length > 0 ? Infinity : percentile(latencies, 50);
    return {
      read,
      p50: p50 / percentile(quiet?.calls[at]?.latencies ?? [], 50),
      p50Bound: bound * (read.heavy ? BOUNDS.heavy : 1),
      p95: failures.length > 0 ? Infinity : percentile(latencies, 95) / p50,
    };
  });
}

/** How a ratio stands to its bound, and which share of it that is. */
export function verdict(value: number, comparison: '≥' | '≤', bound: number): string {
  return `${against(value, comparison, bound)}, ${figure((100 * value) / bound)} %`;
}

export const BOUND_COLUMNS = ['bound', 'worst of', 'measured', 'target'];

/** One line for each bound: of those that hold for several reads, how the worst of these stands. */
export function boundRows(measured: readonly Beside[], reads: readonly Read[], first: FirstReads): string[][] {
  const quiet = measured.find(({ name }) => name === WRITERS.nobody);
  const rateOf = (writers: string) => measured.find(({ name }) => name === writers)?.rate;
  const paced = rateOf(WRITERS.paced);
  return [
    ...measured.flatMap((beside) => rowsBeside(beside.name, standings(beside, quiet, reads))),
    ...(paced === undefined
      ? []
      : [line(`rate: ${WRITERS.paced}`, '', paced / PACED_SPANS_PER_SECOND, '≥', BOUNDS.pacedRate)]),
    line('first read after one write', '', first.afterWrite / first.afterNothing, '≤', BOUNDS.firstReadAfterWrite),
    line('first read after a burst, ms', '', first.afterBurst, '≤', BOUNDS.firstReadAfterBurst),
  ];
}

function rowsBeside(writers: string, all: readonly Standing[]): string[][] {
  const light = all.filter(({ read }) => !read.heavy);
  const heavy = all.filter(({ read }) => read.heavy);
  const p50 = (what: string, of: readonly Standing[]) =>
    worst(of, 'p50').map(({ read, p50: ratio, p50Bound }) =>
      line(`p50 of ${what}: ${writers}`, read.name, ratio, '≤', p50Bound),
    );
  return [
    ...p50('lists by time or id', light),
    ...p50('filtered and sorted lists, sessions', heavy),
    ...worst(all, 'p95').map(({ read, p95 }) => line(`p95 to p50: ${writers}`, read.name, p95, '≤', BOUNDS.p95)),
  ];
}

/** The one with the largest ratio, where there is one. */
function worst(of: readonly Standing[], ratio: 'p50' | 'p95'): Standing[] {
  return [...of].sort((a, b) => b[ratio] - a[ratio]).slice(0, 1);
}

function line(bound: string, read: string, value: number, comparison: '≥' | '≤', target: number): string[] {
  return [bound, read, figure(value), verdict(value, comparison, target)];
}
