import { Type, type Static } from '@sinclair/typebox';
import type { Issue } from '../../engine/errors.js';
import { optional } from '../../engine/schema/inputs.js';
import { Normalizer } from '../../engine/schema/normalize.js';
import { byKey, oneOf, orNull, uuid } from '../../engine/schema/parts.js';
import { ChoiceName, VariantKey, VariantValue, type SpanChoice } from '../../engine/traces/model/score/schema.js';
import { CHOICE_PREFIX, MAX_CATEGORY } from '../../engine/traces/model/score/score.js';
import { fitting } from '../../engine/validation/fitting.js';
import { compile, invalid } from '../../engine/validation/validation.js';
import { exactly } from './given-value.js';
import { entityId, entityType } from './schema.js';
import { ScoreReader, textOf, type ReadContext, type ReadScores } from './score-reader.js';

const MAX_VARIANTS = 100;
const VARIANTS = {
  propertyNames: { minLength: 1, maxLength: MAX_CATEGORY, 'x-must': `have keys of 1 to ${MAX_CATEGORY} characters` },
  maxProperties: MAX_VARIANTS,
};

export const ChoiceInput = Type.Object(
  {
    entity_type: entityType,
    entity_id: entityId,
    choice_name: ChoiceName,
    variant_key: VariantKey,
    variant_value: optional(VariantValue),
    variants: byKey(VariantValue, { ...VARIANTS, description: 'What each variant stands for, by its key.' }),
    weights: optional(byKey(Type.Number({ minimum: 0 }), { ...VARIANTS, description: 'How often each is chosen.' })),
    duration_days: Type.Number({
      exclusiveMinimum: 0,
      maximum: 36_500,
      description: 'How many days the test runs, from its first choice on.',
    }),
  },
  { $id: 'AbChoiceInput', description: 'A variant that was chosen in an A/B test, as the Python SDK sends it.' },
);
export type ChoiceInput = Static<typeof ChoiceInput>;

export const ChoiceRead = Type.Object(
  {
    ab_choice_id: orNull(uuid('Id of the score that says which variant was chosen; null: the test has ended.')),
    test_status: oneOf(['running', 'completed'], 'Whether the test still runs. If not, the choice is not stored.'),
    message: Type.String({ description: 'The same in words.' }),
  },
  { $id: 'AbChoice', description: 'What became of the choice.' },
);
export type ChoiceRead = Static<typeof ChoiceRead>;

const validator = compile(ChoiceInput);

/** @throws DomainError `invalid` with every issue */
export function readChoice(body: unknown): ChoiceInput {
  const { values, require } = fitting(validator, body);
  const { variant_key: chosen, variants, weights } = values;
  const issues: Issue[] = [];
  if (variants !== undefined && chosen !== undefined && !Object.hasOwn(variants, chosen))
    issues.push({ pointer: '/variant_key', detail: 'must be one of the variants' });
  const keys = (of: object) => JSON.stringify(Object.keys(of).sort());
  if (variants !== undefined && weights != null && keys(weights) !== keys(variants))
    issues.push({ pointer: '/weights', detail: 'must have the same keys as the variants' });
  return require(issues);
}

const DAY_MICROS = 24 * 60 * 60 * 1e6;

/**
 * The score that a choice becomes; null once the test has ended, which began when its score was defined: by the first choice.
 * @throws DomainError `invalid` where the name belongs to scores of another kind, or can have none
 */
export function scoreOfChoice(input: ChoiceInput, context: ReadContext): ReadScores | null {
  const issues: Issue[] = [];
  const pointers: Readonly<Record<string, string>> = { name: 'choice_name', value: 'variant_key' };
  const normalizer = new Normalizer('', issues);
  const reader = new ScoreReader(context);
  const about = { entity_type: input.entity_type, entity_id: input.entity_id, ...choiceScore(input) };
  const score = reader.read(about, exactly(textOf(input.variant_key)), {
    id: (property, id) => normalizer.id(property, id),
    fail: (property, detail) => normalizer.fail(pointers[property] ?? property, detail),
  });
  if (issues.length > 0) throw invalid(issues);
  const [test] = reader.used;
  const ends = (test?.created_at ?? Infinity) + input.duration_days * DAY_MICROS;
  return Date.now() * 1000 < ends ? { scores: [score], defined: reader.defined } : null;
}

/** The score that says which variant was chosen, except for its value. */
export function choiceScore({ choice_name, variant_value }: Omit<SpanChoice, 'variant_key'>) {
  return {
    name: `${CHOICE_PREFIX}${choice_name}`,
    ...(variant_value != null && { metadata: { variant_value } }),
  };
}
