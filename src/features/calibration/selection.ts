import type { JudgedSpan } from '../../engine/traces/model/judged/span-reader.js';
import type { ExampleCorrection } from './correction.js';
import { exampleLine, HEADING } from './example-text.js';
import { tokensOf } from '../../engine/excerpt.js';
import { stepOf, type ExamplePool, type PoolEntry } from './example-pool.js';

/** Most examples: models read more without care. */
const MAX_EXAMPLES = 20;
/** Examples that did not fit into the budget, after which no other is tried. */
const MAX_MISSES = 20;
/** Weights: similarity counts more than how new a correction is. */
const LIKENESS = 0.7;
const RECENCY = 0.3;

/** The line that shows a judge one corrected span. */
export interface Example {
  readonly span_id: string;
  readonly line: string;
}

/**
 * The examples for a span, the best first. The span itself is never among them, so that its own evaluation
 * stays evidence. Thumbs down come before thumbs up, and among them the most similar and newest; but
 * when there are both passes and fails, both are shown: the second one has the other verdict than the first. Examples
 * that do not fit into the budget are skipped. The same pool, span and budget always give the same lines.
 */
export function selectExamples(
  pool: ExamplePool,
  span: Pick<JudgedSpan, 'id' | 'input' | 'output'>,
  budget: number,
  isAllowed: (correction: ExampleCorrection) => boolean = () => true,
): Example[] {
  const ranked = rank(pool, span, isAllowed);
  const examples: Example[] = [];
  let left = budget - tokensOf(HEADING);
  const take = (entry: PoolEntry): boolean => {
    const line = entry.line ?? exampleLine(entry);
    const tokens = tokensOf(line) + 1;
    if (tokens > left) return false;
    left -= tokens;
    examples.push({ span_id: entry.correction.span_id, line });
    return true;
  };
  const first = ranked.slice(0, MAX_MISSES).find(take);
  if (first === undefined) return [];
  const others = ranked.filter((entry) => entry.truth.passed !== first.truth.passed);
  const other = others.slice(0, MAX_MISSES).find(take);
  let misses = 0;
  for (const entry of ranked) {
    if (examples.length >= MAX_EXAMPLES || misses >= MAX_MISSES) break;
    if (entry !== first && entry !== other && !take(entry)) misses += 1;
  }
  return examples;
}

/** The message that shows a judge these examples. */
export function examplesMessage(examples: readonly Example[]): string {
  return [HEADING, ...examples.map(({ line }) => line)].join('\n');
}

/** Corrections of the pool, the best first. */
function rank(
  pool: ExamplePool,
  span: Pick<JudgedSpan, 'id' | 'input' | 'output'>,
  isAllowed: (correction: ExampleCorrection) => boolean,
): PoolEntry[] {
  const candidates = [...pool.entries()].filter(
    ({ correction }) => correction.span_id !== span.id && isAllowed(correction),
  );
  const likeness = pool.likeness(stepOf(span));
  const valued = candidates.map((entry, index) => ({
    entry,
    value: LIKENESS * (likeness.get(entry.correction.span_id) ?? 0) + (RECENCY * (index + 1)) / candidates.length,
  }));
  const tier = ({ correction }: PoolEntry) => (correction.thumbs_up ? 1 : 0);
  valued.sort(
    (a, b) =>
      tier(a.entry) - tier(b.entry) || b.value - a.value || b.entry.correction.revision - a.entry.correction.revision,
  );
  return valued.map(({ entry }) => entry);
}
