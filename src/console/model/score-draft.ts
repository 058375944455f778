import { scoreText } from './format.js';
import { scoreProperty, type Property } from './list-query.js';
import type { ScoreKind, ScoreValue } from '../../engine/traces/model/score/score.js';
import type { ScoreDefinitionRead } from '../../features/scores/schema.js';

/** Kinds as people read them. */
export const KIND_LABELS: Readonly<Record<ScoreKind, string>> = {
  numeric: 'number',
  boolean: 'yes or no',
  categorical: 'category',
  text: 'text',
};

const YES = /^(yes|true)$/i;
const NO = /^(no|false)$/i;
/** What the API takes as the first value of a category. */
const CATEGORY = /^[^\r\n]{1,200}$/u;

/** The kinds that a new name may have by its first value, the likeliest first. */
export function kindsOf(text: string): ScoreKind[] {
  const said = text.trim();
  if (said === '') return [];
  if (YES.test(said) || NO.test(said)) return ['boolean', 'categorical'];
  if (!CATEGORY.test(said)) return ['text'];
  if (numberOf(said) === null) return ['categorical'];
  return said === '0' || said === '1' ? ['numeric', 'boolean', 'categorical'] : ['numeric', 'categorical'];
}

/** What was entered, as the API takes it. What does not fit stays a text: the API is to refuse it by name. */
export function valueIn(text: string, kind: ScoreKind): ScoreValue {
  const said = text.trim();
  if (kind === 'numeric') return numberOf(said) ?? said;
  if (kind !== 'boolean') return said;
  return YES.test(said) || said === '1' ? true : NO.test(said) || said === '0' ? false : said;
}

/** A value as it is entered again. */
export function enteredAs(value: ScoreValue): string {
  return typeof value === 'boolean' ? scoreText(value) : String(value);
}

function numberOf(said: string): number | null {
  const number = Number(said);
  return said === '' || !Number.isFinite(number) ? null : number;
}

/** What can be chosen instead of entered; null: the value is entered. */
export function optionsOf({
  kind,
  categories,
}: Pick<ScoreDefinitionRead, 'kind' | 'categories'>): readonly string[] | null {
  return kind === 'boolean' ? ['yes', 'no'] : kind === 'categorical' ? categories : null;
}

/** What a score means: as someone said it, else what its values are. */
export function aboutScore(definition: ScoreDefinitionRead): string {
  return definition.description ?? rulesOf(definition);
}

/** What a list can be filtered by of a score: its values, as far as they are known. */
export function filterOfScore(definition: ScoreDefinitionRead): Property {
  const { name, kind, categories } = definition;
  const values = kind === 'boolean' ? ['true', 'false'] : categories;
  return {
    ...scoreProperty(name),
    ...(kind !== 'numeric' && { description: aboutScore(definition) }),
    ...(values !== null && { values }),
    hasRanges: kind === 'numeric',
  };
}

/** What a definition says of its values, such as `0 to 1, higher is better`. */
export function rulesOf({ kind, min, max, categories, direction }: ScoreDefinitionRead): string {
  const bounds =
    min !== null && max !== null
      ? `${min} to ${max}`
      : min !== null
        ? `at least ${min}`
        : max !== null
          ? `at most ${max}`
          : null;
  const rules = [bounds, categories?.join(', ') ?? null, direction === null ? null : `${direction} is better`];
  return rules.filter((rule) => rule !== null).join(', ') || KIND_LABELS[kind];
}
