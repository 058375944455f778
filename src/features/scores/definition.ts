import { MAX_CATEGORY, type ScoreKind, type ScoreValue } from '../../engine/traces/model/score/score.js';
import type { Micros } from '../../engine/timestamp.js';
import { MAX_DEFINITIONS } from './schema.js';

/** What values the scores of a name have in a project. */
export interface ScoreDefinition {
  readonly name: string;
  readonly kind: ScoreKind;
  readonly min: number | null;
  readonly max: number | null;
  /** Null: any. */
  readonly categories: readonly string[] | null;
  readonly direction: 'higher' | 'lower' | null;
  readonly description: string | null;
  readonly created_at: Micros;
  readonly updated_at: Micros;
}

/**
 * Where definitions are kept.
 * @throws DomainError `unavailable` when the store does not answer; nothing is written then
 */
export interface DefinitionStore {
  /** Of a project, by name. */
  list(projectId: string): ScoreDefinition[];
  find(projectId: string, name: string): ScoreDefinition | undefined;
  count(projectId: string): number;
  /** Keeps new definitions, and those that replace others; of these, `created_at` stays. All of them, or none. */
  put(projectId: string, definitions: readonly ScoreDefinition[]): void;
  /** @returns false: there is none */
  remove(projectId: string, name: string): boolean;
}

/** Why a project can have no further definition, beside so many that a request makes; null: it can. */
export function refuseNew(definitions: Pick<DefinitionStore, 'count'>, projectId: string, made: number): string | null {
  if (definitions.count(projectId) + made < MAX_DEFINITIONS) return null;
  return `would be new, and a project has at most ${MAX_DEFINITIONS} score definitions: use an existing name, or delete a definition`;
}

/** The definition that a first value makes. */
export function definitionBy(name: string, value: ScoreValue, at: Micros): ScoreDefinition {
  const open = { min: null, max: null, categories: null, direction: null, description: null };
  return { name, kind: kindOf(value), ...open, created_at: at, updated_at: at };
}

function kindOf(value: ScoreValue): ScoreKind {
  if (typeof value === 'number') return 'numeric';
  if (typeof value === 'boolean') return 'boolean';
  return isCategory(value) ? 'categorical' : 'text';
}

/** In characters, as schemas count them. */
const CATEGORY = new RegExp(`^[^\\r\\n]{1,${MAX_CATEGORY}}$`, 'u');
const isCategory = (text: string) => CATEGORY.test(text);

/** The value as the definition has it, or the rule that it breaks. */
export type Fitted = { readonly value: ScoreValue } | { readonly rule: string };

/** Fits a value to a definition: 0, 1, false and true stand for each other. */
export function fitted({ name, kind, min, max, categories }: ScoreDefinition, value: ScoreValue): Fitted {
  const because = `: the scores named ${JSON.stringify(name)} are ${kind}`;
  switch (kind) {
    case 'boolean':
      if (typeof value === 'boolean') return { value };
      return value === 0 || value === 1 ? { value: value === 1 } : { rule: `must be true or false${because}` };
    case 'numeric': {
      if (typeof value === 'string') return { rule: `must be a number${because}` };
      const number = Number(value) + 0;
      if (min !== null && number < min) return { rule: `must be at least ${min}${because}` };
      if (max !== null && number > max) return { rule: `must be at most ${max}${because}` };
      return { value: number };
    }
    case 'categorical':
      if (typeof value !== 'string') return { rule: `must be a category${because}` };
      if (categories !== null && !categories.includes(value))
        return { rule: `must be one of ${categories.map((one) => JSON.stringify(one)).join(', ')}${because}` };
      return isCategory(value)
        ? { value }
        : { rule: `must be a category of at most ${MAX_CATEGORY} characters on one line${because}` };
    case 'text':
      return typeof value === 'string' ? { value } : { rule: `must be a text${because}` };
  }
}
