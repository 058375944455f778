import { Type, type Static } from '@sinclair/typebox';
import { optional, time as timeInput } from '../../engine/schema/inputs.js';
import { line } from '../../engine/schema/parts.js';

/** Bound that keeps the prices of a project one answer, and in memory. */
export const MAX_PRICES_PER_PROJECT = 10_000;
const MAX_RATE = 1e9;
export const rate = (description: string) => Type.Number({ minimum: 0, maximum: MAX_RATE, description });
const name = (description: string) => line(256, description);

export const ProviderName = name('Provider, as spans name it in `attributes.provider`; case does not matter.');
export const ModelName = name(
  'Model, as spans name it in `attributes.model`, including slashes; its own provider as a prefix makes no ' +
    'difference.',
);

export const rates = {
  input_per_million: rate('US dollars per million input tokens.'),
  output_per_million: rate('US dollars per million output tokens.'),
};
export const CACHE_READ =
  'US dollars per million input tokens read from a cache; null or absent: as other input. Tokens written to a ' +
  'cache are priced as other input.';

export const ModelPriceInput = Type.Object(
  { ...rates, cache_read_per_million: optional(rate(CACHE_READ)) },
  { $id: 'ModelPriceInput', description: 'Price of a model.' },
);
export type ModelPriceInput = Static<typeof ModelPriceInput>;

export const RepriceInput = Type.Object(
  {
    started_after: optional(timeInput('Only spans that started then or later.')),
    started_before: optional(timeInput('Only spans that started then or earlier.')),
    provider: optional(ProviderName),
    model: optional(ModelName),
  },
  { $id: 'RepriceInput', description: 'Spans whose calculated costs to recalculate; if empty, all of them.' },
);
export type RepriceInput = Static<typeof RepriceInput>;
