import type { Remote } from '../transfer/remote.js';
import type { SpanSample } from './span-sample.js';
import { MARK } from './step.js';
import type { Tally } from './tally.js';

/** A figure of the source beside the server's. */
export interface Compared {
  readonly figure: string;
  readonly source: number;
  readonly server: number;
  readonly same: boolean;
}

interface Totals {
  readonly count: number;
  readonly cost: number | null;
  readonly tokens: Readonly<Record<string, number | null>>;
}

/** Half a cent: both are sums of many numbers. */
const TOLERANCE = 0.005;

/** What was read of a source beside what the server says of the spans with its mark. */
export async function compareWith(remote: Remote, mark: string, tally: Tally): Promise<Compared[]> {
  const query = new URLSearchParams({ measures: 'count,cost,tokens', internal: 'true', experiments: 'true' });
  query.append(`tags.${MARK}`, mark);
  const { totals } = await remote.get<{ readonly totals: Totals }>(`/spans:stats?${query.toString()}`);
  const { count, cost, tokens } = totals;
  const figures: (readonly [string, number, number | null])[] = [
    ['spans', tally.spans, count],
    // Where the server reads them from what it is sent, it alone knows how many they are.
    ...(tally.inputTokens + tally.outputTokens === 0
      ? []
      : ([
          ['input tokens', tally.inputTokens, tokens['input'] ?? null],
          ['output tokens', tally.outputTokens, tokens['output'] ?? null],
        ] as const)),
  ];
  const compared = figures.map(([figure, source, server]) => ({
    figure,
    source,
    server: server ?? 0,
    same: source === (server ?? 0),
  }));
  const [source, server] = [inCents(tally.cost), inCents(cost ?? 0)];
  // What the source says no cost of, the server calculates: then it has more.
  const same =
    tally.unpriced === 0 ? Math.abs(tally.cost - (cost ?? 0)) < TOLERANCE : (cost ?? 0) > tally.cost - TOLERANCE;
  return [...compared, { figure: 'cost in US dollars', source, server, same }];
}

/** The spans that this run read beside those that the server has of the same time, which may be more. */
export async function compareSample(remote: Remote, sample: SpanSample): Promise<Compared[]> {
  const source = sample.spans;
  if (source === null || source === 0) return [];
  const server = await sample.countOn(remote);
  return [{ figure: 'spans of this time', source, server, same: server >= source }];
}

const inCents = (cost: number) => Math.round(cost * 100) / 100;
