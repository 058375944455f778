import type { Micros } from '../../engine/timestamp.js';
import type { WholeKind, WholeShape } from '../../engine/traces/model/judged/whole-reader.js';
import type { JudgeSettings } from './judge.js';

/** Without another setting: the seconds without a new span, and the tokens that are shown. */
const QUIET_SECONDS: Readonly<Record<WholeKind, number>> = { trace: 30, session: 600 };
const CONTEXT_TOKENS = 8_000;
/** As `tokensOf` estimates them. */
const CHARACTERS_OF_TOKEN = 4;

/** Most characters of traces and sessions that are held together, which one alone may exceed. */
export const MAX_CHARACTERS_TOGETHER = 4_000_000;
/** How often a judge evaluates one trace or session by itself: one that changes forever costs no more than this. */
export const MAX_AUTOMATIC = 20;
/** How many automatic runs about one trace or session may fail in a row, before no change of it queues another. */
export const MAX_FAILED_IN_ROW = 5;
/**
 * Most traces and sessions that new spans have queued, of all projects together, whether they wait for quiet or are due: with more,
 * a judge looks at new spans later.
 */
export const MAX_CHANGES = 50_000;
/** The longest wait for a trace or session to become quiet, from when it was queued; then it is evaluated as it is. */
export const LONGEST_QUIET: Micros = 86_400e6;

/** What a judge is shown of traces or sessions; null: it evaluates spans. */
export function shapeOf({ subject, context_tokens, context_kinds }: JudgeSettings): WholeShape | null {
  // Jobs from before have no subject.
  if (subject !== 'trace' && subject !== 'session') return null;
  const maxCharacters = (context_tokens ?? CONTEXT_TOKENS) * CHARACTERS_OF_TOKEN;
  return { kind: subject, maxCharacters, kinds: context_kinds };
}

/** How many of what a judge is shown may be held together, at most so many. */
export function together(judge: JudgeSettings, most: number): number {
  const { maxCharacters = 0 } = shapeOf(judge) ?? {};
  return maxCharacters === 0 ? most : Math.max(1, Math.min(most, Math.floor(MAX_CHARACTERS_TOGETHER / maxCharacters)));
}

/** How long a trace or session is to have had no new span before a judge evaluates it by itself. */
export function quietOf({ subject, quiet_seconds }: JudgeSettings): Micros {
  return subject === 'span' ? 0 : (quiet_seconds ?? QUIET_SECONDS[subject]) * 1e6;
}
