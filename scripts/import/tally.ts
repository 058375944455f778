/** What was read of a source, as far as it can be compared with what the server says afterwards. */
export interface Tally {
  readonly traces: number;
  readonly spans: number;
  /** Spans whose cost the source stated. */
  readonly priced: number;
  /** Spans with tokens and without a cost: the server calculates it, where it knows the model. */
  readonly unpriced: number;
  /** Sum of these costs, in US dollars. */
  readonly cost: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly scores: number;
  readonly prompts: number;
  readonly rows: number;
}

export const NOTHING: Tally = {
  traces: 0,
  spans: 0,
  priced: 0,
  unpriced: 0,
  cost: 0,
  inputTokens: 0,
  outputTokens: 0,
  scores: 0,
  prompts: 0,
  rows: 0,
};

const NAMES = Object.keys(NOTHING) as (keyof Tally)[];

/** @param sign -1: takes it away again */
export function plus(one: Tally, other: Partial<Tally>, sign: 1 | -1 = 1): Tally {
  return Object.fromEntries(NAMES.map((name) => [name, one[name] + sign * (other[name] ?? 0)])) as unknown as Tally;
}
