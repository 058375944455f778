import type { Micros } from '../../engine/timestamp.js';

/** What a rule looks for: a kind of personal data, an expression of the project's own, or a place in JSON. */
export const RULE_TYPES = ['email', 'phone', 'card', 'iban', 'api_key', 'expression', 'path'] as const;
export type RuleType = (typeof RULE_TYPES)[number];

/** What becomes of a value: a label, a label with a hash that is the same for equal values, or nothing. */
export const MASKING_ACTIONS = ['replace', 'hash', 'drop'] as const;
export type MaskingAction = (typeof MASKING_ACTIONS)[number];

/** One rule of a project. */
export interface MaskingRule {
  /** Unique among the rules of a project. It is the label that stands for a value. */
  readonly name: string;
  readonly type: RuleType;
  readonly action: MaskingAction;
  /** Of the type `expression`. */
  readonly expression: string | null;
  /** Of the type `path`. */
  readonly path: string | null;
  /** Of the type `phone`: where numbers without a country code are from. */
  readonly countries: readonly string[] | null;
}

/** The rules of a project. */
export interface MaskingRules {
  /** Grows with every change; 0: there never were any. */
  readonly version: number;
  readonly rules: readonly MaskingRule[];
  /** Null: there never were any. */
  readonly updated_at: Micros | null;
}

/** The rules as they are kept, with the key of the hashes, which stays the same. */
export interface KeptRules extends MaskingRules {
  readonly key: Buffer;
}

/** Keeps the rules of projects. Throws DomainError `unavailable`. */
export interface MaskingStore {
  find(projectId: string): KeptRules | undefined;
  /** Puts rules in place of those of a project, as its next version. @param key of a project that has none yet */
  put(projectId: string, rules: readonly MaskingRule[], made: { readonly at: Micros; readonly key: Buffer }): void;
}
