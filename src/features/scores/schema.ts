import { Type, type Static } from '@sinclair/typebox';
import { optional } from '../../engine/schema/inputs.js';
import { oneOf, orNull, time, uuid } from '../../engine/schema/parts.js';
import { MAX_SCORE_TEXT, ScoreName, ScoreValueInput, signalType } from '../../engine/traces/model/score/schema.js';
import { MAX_CATEGORY, SCORE_KINDS, SCORE_SOURCES, SCORED } from '../../engine/traces/model/score/score.js';

/** Most scores in one request. */
export const MAX_SCORES = 1_000;
/** Most definitions of a project. */
export const MAX_DEFINITIONS = 1_000;
const MAX_CATEGORIES = 100;
const MAX_AUTHOR = 200;

export const entityType = oneOf(SCORED, 'What the score is about.');
export const entityId = uuid('Id of the span, trace or session. It need not have arrived yet.');
const source = 'Where the score comes from.';
const author =
  'Who or what gave the score, such as a person or the version of a program. Scores of different authors are separate.';
const COMMENT = 'Why.';
const METADATA = 'Any JSON to store with the score.';

export const ScoreInput = Type.Object(
  {
    entity_type: entityType,
    entity_id: entityId,
    name: ScoreName,
    value: ScoreValueInput,
    source: optional(oneOf(SCORE_SOURCES, `${source} Default: \`sdk\`.`)),
    author: optional(
      Type.String({
        maxLength: MAX_AUTHOR,
        description: `${author} Default: for the source \`human\`, the user of the key.`,
      }),
    ),
    comment: optional(Type.String({ maxLength: MAX_SCORE_TEXT, description: COMMENT })),
    metadata: optional(Type.Record(Type.String(), Type.Unknown(), { description: METADATA })),
  },
  { $id: 'ScoreInput', description: 'A score of a span, trace or session.' },
);
export type ScoreInput = Static<typeof ScoreInput>;

export const SignalInput = Type.Object(
  {
    entity_type: entityType,
    entity_id: entityId,
    name: ScoreName,
    value: ScoreValueInput,
    signal_type: signalType,
  },
  { $id: 'SignalInput', description: 'A score as the Python SDK sends it.' },
);
export type SignalInput = Static<typeof SignalInput>;

export const SignalsInput = Type.Object({
  signals: Type.Array(SignalInput, { maxItems: MAX_SCORES, description: 'The signals.' }),
});

export const ScoreRead = Type.Object(
  {
    id: uuid('Id of the score. It stays the same if the score is written again.'),
    entity_type: entityType,
    entity_id: uuid('Id of the span, trace or session.'),
    name: Type.String({ description: 'Name of the score.' }),
    kind: oneOf(SCORE_KINDS, 'What the value is.'),
    value: Type.Union([Type.Number(), Type.Boolean(), Type.String()], { description: 'The value.' }),
    source: oneOf(SCORE_SOURCES, source),
    author: orNull(Type.String({ description: author })),
    comment: orNull(Type.String({ description: COMMENT })),
    metadata: Type.Record(Type.String(), Type.Unknown(), { description: METADATA }),
    created_at: time('When the stored value was received.'),
  },
  { $id: 'Score', description: 'A score of a span, trace or session.' },
);
export type ScoreRead = Static<typeof ScoreRead>;

const MIN = 'Lowest value, for numbers.';
const MAX = 'Highest value, for numbers.';
const CATEGORIES = 'The only categories that are allowed; null: any.';
const DIRECTION = 'Whether higher or lower values are better. For booleans, true is higher.';
const DESCRIPTION = 'What the score means.';
const direction = oneOf(['higher', 'lower'], DIRECTION);

export const ScoreDefinitionInput = Type.Object(
  {
    kind: oneOf(SCORE_KINDS, 'What the values are. Cannot change while there are scores of this name.'),
    min: optional(Type.Number({ description: MIN })),
    max: optional(Type.Number({ description: MAX })),
    categories: optional(
      Type.Array(Type.String({ minLength: 1, maxLength: MAX_CATEGORY }), {
        minItems: 1,
        maxItems: MAX_CATEGORIES,
        uniqueItems: true,
        description: CATEGORIES,
      }),
    ),
    direction: optional(direction),
    description: optional(Type.String({ maxLength: MAX_SCORE_TEXT, description: DESCRIPTION })),
  },
  { $id: 'ScoreDefinitionInput', description: 'What values a score may have, and what they mean.' },
);
export type ScoreDefinitionInput = Static<typeof ScoreDefinitionInput>;

export const ScoreDefinitionRead = Type.Object(
  {
    name: Type.String({ description: 'Name of the scores.' }),
    kind: oneOf(SCORE_KINDS, 'What the values are.'),
    min: orNull(Type.Number({ description: MIN })),
    max: orNull(Type.Number({ description: MAX })),
    categories: orNull(Type.Array(Type.String(), { description: CATEGORIES })),
    direction: orNull(direction),
    description: orNull(Type.String({ description: DESCRIPTION })),
    created_at: time('When the definition was made, by a first value or by a call.'),
    updated_at: time('When it was last changed.'),
  },
  { $id: 'ScoreDefinition', description: 'What values the scores of a name have.' },
);
export type ScoreDefinitionRead = Static<typeof ScoreDefinitionRead>;
