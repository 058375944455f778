import { Type, type Static } from '@sinclair/typebox';
import { optional, time as timeInput } from '../schema/inputs.js';
import { jobFields } from '../job/schema.js';
import { count, line, orNull, time } from '../schema/parts.js';

const MAX_RATE = 1e9;
const rate = (description: string) => Type.Number({ minimum: 0, maximum: MAX_RATE, description });
const name = (description: string) => line(256, description);

export const ProviderName = name('Provider, as spans name it in `attributes.provider`; case does not matter.');
export const ModelName = name('Model, as spans name it in `attributes.model`; a slash is written `%2F`.');

const rates = {
  input_per_million: rate('US dollars per million input tokens.'),
  output_per_million: rate('US dollars per million output tokens.'),
};
const CACHE_READ =
  'US dollars per million input tokens that were read from a cache; null or absent: as other input. Tokens written ' +
  'to a cache are priced as other input.';

export const ModelPriceInput = Type.Object(
  { ...rates, cache_read_per_million: optional(rate(CACHE_READ)) },
  { $id: 'ModelPriceInput', description: 'A price to be set.' },
);
export type ModelPriceInput = Static<typeof ModelPriceInput>;

export const ModelPriceRead = Type.Object(
  {
    provider: Type.String({ description: 'Provider.' }),
    model: Type.String({ description: 'Model.' }),
    ...rates,
    cache_read_per_million: Type.Union([rate('A rate'), Type.Null()], { description: CACHE_READ }),
    created_at: time('When it was first set.'),
    updated_at: time('When it was last set.'),
  },
  { $id: 'ModelPrice', description: "A price of the project's own." },
);
export type ModelPriceRead = Static<typeof ModelPriceRead>;

export const RepriceInput = Type.Object(
  {
    started_after: optional(timeInput('Only spans that started then or later.')),
    started_before: optional(timeInput('Only spans that started then or earlier.')),
    provider: optional(ProviderName),
    model: optional(ModelName),
  },
  { $id: 'RepriceInput', description: 'Which spans are priced anew; all that have a calculated cost when empty.' },
);
export type RepriceInput = Static<typeof RepriceInput>;

export const RepriceJobRead = Type.Object(
  {
    ...jobFields,
    started_after: orNull(time('Only spans that started then or later.')),
    started_before: orNull(time('Only spans that started then or earlier.')),
    provider: orNull(Type.String({ description: 'Only spans of this provider.' })),
    model: orNull(Type.String({ description: 'Only spans of this model.' })),
    total: Type.Union([Type.Integer({ description: 'A number' }), Type.Null()], {
      description: 'How many spans there were to look at when it began; null before.',
    }),
    done: count('How many of them were looked at.'),
    examined: count('The same as `done`.'),
    changed: Type.Integer({
      description: 'How many spans got another cost, but for some whose writing a crash or a failing store cut off.',
    }),
  },
  { $id: 'RepriceJob', description: 'A recalculation of stored costs.' },
);
export type RepriceJobRead = Static<typeof RepriceJobRead>;
