import { Type, type Static } from '@sinclair/typebox';
import { optional } from '../../engine/schema/inputs.js';
import { count, oneOf, orNull, time, uuid } from '../../engine/schema/parts.js';
import { MASKING_ACTIONS, RULE_TYPES } from './rule.js';

/** Most rules of a project. */
export const MAX_RULES = 50;
/** Longest expression and path, in characters. */
export const MAX_EXPRESSION = 500;
/** Most spans that a test looks at. */
export const MAX_TESTED = 1_000;

const RULE_NAME = {
  pattern: '^[a-z][a-z0-9_-]{0,31}$',
  'x-must': 'have 1 to 32 characters: a-z, 0-9, _ and -, the first of them a letter',
};

const ruleFields = {
  type: oneOf(
    RULE_TYPES,
    'What to look for: email addresses, phone numbers, numbers of payment cards, IBANs, API keys, what an expression of your own ' +
      'matches, or the value at a place in JSON.',
  ),
  expression: Type.String({
    minLength: 1,
    maxLength: MAX_EXPRESSION,
    description:
      'Of the type `expression`: a regular expression in the syntax of RE2, which has no backreferences and no lookaround.',
  }),
  path: Type.String({
    minLength: 1,
    maxLength: MAX_EXPRESSION,
    description:
      "Of the type `path`: where the value lies, such as `$.input_data.messages[*].user`, `$.attributes['user.email']` or `$..password`.",
  }),
  countries: Type.Array(
    Type.String({ pattern: '^[A-Z]{2}$', 'x-must': 'be the two letters of a country, such as DE' }),
    {
      minItems: 1,
      maxItems: 20,
      description: 'Of the type `phone`: where numbers without a country code are from.',
    },
  ),
};
const NAME = 'Unique name of the rule: the label that stands for a value, in brackets.';
const ACTION =
  'What becomes of a value: `replace` puts the label in its place, `hash` the label with a hash that is the same for equal values of the ' +
  'project, and `drop` nothing (of a path: null).';

export const MaskingRuleInput = Type.Object(
  {
    name: optional(Type.String({ ...RULE_NAME, description: `${NAME} Default: its type.` })),
    type: ruleFields.type,
    action: optional(oneOf(MASKING_ACTIONS, `${ACTION} Default: replace.`)),
    expression: optional(ruleFields.expression),
    path: optional(ruleFields.path),
    countries: optional({
      ...ruleFields.countries,
      description: `${ruleFields.countries.description ?? ''} Default: US.`,
    }),
  },
  { $id: 'MaskingRuleInput', description: 'What to mask, and how.' },
);
export type MaskingRuleInput = Static<typeof MaskingRuleInput>;

const rules = Type.Array(MaskingRuleInput, {
  maxItems: MAX_RULES,
  description:
    'The rules. Those of the type `path` apply first, then the others in this order. A rule does not see what an earlier one has masked.',
});

export const MaskingInput = Type.Object(
  { rules },
  { $id: 'MaskingInput', description: 'All masking rules of a project.' },
);
export type MaskingInput = Static<typeof MaskingInput>;

const MaskingRuleRead = Type.Object(
  {
    name: Type.String({ description: NAME }),
    type: ruleFields.type,
    action: oneOf(MASKING_ACTIONS, ACTION),
    expression: orNull(ruleFields.expression),
    path: orNull(ruleFields.path),
    countries: orNull(ruleFields.countries),
  },
  { description: 'A rule.' },
);

export const MaskingRead = Type.Object(
  {
    version: count('Grows with every change; 0: the project never had rules.'),
    rules: Type.Array(MaskingRuleRead, { description: 'The rules, in the order in which they apply.' }),
    updated_at: orNull(time('When they were set; null: never. Earlier data is stored as it was sent.')),
  },
  { $id: 'Masking', description: 'The masking rules of a project. They apply to requests from now on.' },
);
export type MaskingRead = Static<typeof MaskingRead>;

export const MaskingTestInput = Type.Object(
  {
    rules: optional({ ...rules, description: 'The rules to try. Default: those of the project.' }),
    query: optional(
      Type.String({
        maxLength: 10_000,
        description:
          'On which stored spans: filters as in the URL of `GET /spans`, such as `span_kind=llm&started_after=1d`. Default: all.',
      }),
    ),
    limit: optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_TESTED,
        description: 'On how many of them, the newest first. Default: 100.',
      }),
    ),
  },
  { $id: 'MaskingTestInput', description: 'Rules to try on stored spans.' },
);
export type MaskingTestInput = Static<typeof MaskingTestInput>;

const Excerpt = Type.Object(
  {
    trace_id: uuid('Trace of the span.'),
    span_id: uuid('The span.'),
    field: Type.String({
      description: 'Field in which the value was found, such as `input_data` or `attributes.user`.',
    }),
    before: Type.String({ description: 'The value with the text around it, as stored.' }),
    after: Type.String({ description: 'The same text with the rule applied.' }),
  },
  { description: 'A value that the rule would mask.' },
);

export const MaskingTestRead = Type.Object(
  {
    spans: count('Spans that were tested.'),
    changed: count('Spans that the rules would change.'),
    complete: Type.Boolean({
      description: 'Whether all spans that were asked for were tested; false: together, their texts were too large.',
    }),
    rules: Type.Array(
      Type.Object(
        {
          name: Type.String({ description: 'Name of the rule.' }),
          spans: count('Spans that it would change.'),
          values: count('Values that it would mask.'),
          excerpts: Type.Array(Excerpt, { description: 'The first few of them.' }),
        },
        { description: 'What one rule would change.' },
      ),
      { description: 'The rules, in their order.' },
    ),
  },
  { $id: 'MaskingTest', description: 'What masking rules would change. Nothing was changed.' },
);
export type MaskingTestRead = Static<typeof MaskingTestRead>;
