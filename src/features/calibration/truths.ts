import { truthOf, type Truth } from './opinion.js';
import type { Correction, JudgedResult } from './correction.js';

/** The right result for a span according to all people who gave feedback on it. */
export interface SpanTruth extends Truth {
  readonly span_id: string;
  readonly row_key?: string | null;
}

/**
 * The truth of each corrected span, the one corrected last first. Of each user the newest correction counts;
 * users who differ are outvoted, and when they are equal in number the newest correction decides. The score is the mean of
 * the scores that go with that verdict.
 */
export function truthsOf(corrections: readonly Correction[]): SpanTruth[] {
  const spans = new Map<string, Map<string, Correction & { readonly evaluation: JudgedResult }>>();
  for (const correction of corrections) {
    const { span_id, user_id, evaluation } = correction;
    if (evaluation === null) continue;
    const users = spans.get(span_id) ?? new Map<string, Correction & { readonly evaluation: JudgedResult }>();
    // The user moves to the end: corrections come in the order of time.
    users.delete(user_id);
    users.set(user_id, { ...correction, evaluation });
    spans.delete(span_id);
    spans.set(span_id, users);
  }
  return [...spans]
    .map(([span_id, users]) => {
      const row_key = [...users.values()].at(-1)?.row_key ?? null;
      const truths = [...users.values()].map((correction) => truthOf(correction, correction.evaluation));
      const passes = truths.filter(({ passed }) => passed).length;
      const passed = 2 * passes === truths.length ? (truths.at(-1)?.passed ?? false) : 2 * passes > truths.length;
      const scores = truths.flatMap((truth) => (truth.passed === passed && truth.score !== null ? [truth.score] : []));
      const score = scores.length === 0 ? null : scores.reduce((sum, each) => sum + each, 0) / scores.length;
      return { span_id, ...(row_key !== null && { row_key }), passed, score };
    })
    .reverse();
}
