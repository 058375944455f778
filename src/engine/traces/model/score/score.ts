import type { Micros } from '../../../timestamp.js';

/** What a score can be about. */
export const SCORED = ['span', 'trace', 'session'] as const;
export type Scored = (typeof SCORED)[number];

/** Where a score comes from. */
export const SCORE_SOURCES = ['sdk', 'human', 'judge', 'code', 'import'] as const;
export type ScoreSource = (typeof SCORE_SOURCES)[number];

/** What the values of a name are. */
export const SCORE_KINDS = ['numeric', 'boolean', 'categorical', 'text'] as const;
export type ScoreKind = (typeof SCORE_KINDS)[number];

/** Longest name of a score, in characters. */
export const MAX_SCORE_NAME = 128;
/** Longest category, in characters. A longer text as the first value of a name makes its kind `text`. */
export const MAX_CATEGORY = 200;
/** What names of scores begin with that say which variant of an A/B test was chosen. */
export const CHOICE_PREFIX = 'ab.';

export type ScoreValue = number | boolean | string;

/** What someone or something thinks of a span, trace or session. Of one entity, name, source and author, the last write counts. */
export interface Score {
  /** Lower-case UUID, made from entity, name, source and author. */
  readonly id: string;
  readonly entity_type: Scored;
  /** Lower-case UUID. The entity need not be stored. */
  readonly entity_id: string;
  readonly name: string;
  readonly kind: ScoreKind;
  /** A number for `numeric`, a boolean for `boolean`, a string for the others. */
  readonly value: ScoreValue;
  readonly source: ScoreSource;
  /** Empty: not stated. */
  readonly author: string;
  readonly comment: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Only of imported scores: when the score was first taken in. */
  readonly received_at?: Micros;
}

/** The place of a score: its tombstone is there, too. */
export type ScorePlace = Pick<Score, 'id' | 'entity_type' | 'entity_id' | 'name'>;
