import { Type, type Static } from '@sinclair/typebox';
import { jobFields } from '../../../engine/work/schema.js';
import { CACHE_READ, ModelName, ProviderName, rate, rates } from '../schema.js';
import { pageRead } from '../../../engine/schema/page.js';
import { count, orNull, time, uuid } from '../../../engine/schema/parts.js';
import { project_id } from '../../../http/parameters.js';

export { ProjectParams } from '../../../http/parameters.js';

/** How the documentation groups these routes. */
export const TAG = 'Model prices';

export const PriceParams = Type.Object({ project_id, provider: ProviderName, model: ModelName });
/** A price that is stored earlier may have another name, by which it is read and deleted. */
export const NewPriceParams = Type.Object({
  project_id,
  provider: ProviderName,
  model: {
    ...ModelName,
    pattern: '^[^/\\u0000-\\u001f\\u007f]([^\\u0000-\\u001f\\u007f]*[^/\\u0000-\\u001f\\u007f])?$',
    'x-must': 'have 1 to 256 characters without control characters, and no slash at either end',
  },
});
export const JobParams = Type.Object({
  project_id,
  job_id: uuid('Id of the job.'),
});

const CacheRead = Type.Union([rate('A rate'), Type.Null()], { description: CACHE_READ });

export const ModelPriceRead = Type.Object(
  {
    provider: Type.String({ description: 'Provider.' }),
    model: Type.String({ description: 'Model.' }),
    ...rates,
    cache_read_per_million: CacheRead,
    list_price: orNull(
      Type.Object(
        { ...rates, cache_read_per_million: CacheRead },
        { description: 'Current list price of the model, for short calls if it has tiers; null: none.' },
      ),
    ),
    created_at: time('When the price was first set.'),
    updated_at: time('When the price was last set.'),
  },
  { $id: 'ModelPrice', description: 'A custom price of a model.' },
);
export type ModelPriceRead = Static<typeof ModelPriceRead>;

export const RepriceJobRead = Type.Object(
  {
    ...jobFields,
    started_after: orNull(time('Only spans that started then or later.')),
    started_before: orNull(time('Only spans that started then or earlier.')),
    provider: orNull(Type.String({ description: 'Only spans of this provider.' })),
    model: orNull(Type.String({ description: 'Only spans of this model.' })),
    total: Type.Union([Type.Integer({ description: 'A number' }), Type.Null()], {
      description: 'Number of spans that the job had to check when it started; null before.',
    }),
    done: count('Number of spans that the job has checked.'),
    examined: count('The same as `done`.'),
    changed: Type.Integer({
      description:
        'Number of spans with a changed cost, except for some whose writing was interrupted by a crash or a failing ' +
        'store.',
    }),
  },
  { $id: 'RepriceJob', description: 'A recalculation of stored costs.' },
);
export type RepriceJobRead = Static<typeof RepriceJobRead>;

export const UnpricedPage = Type.Object(
  {
    models: Type.Array(
      Type.Object(
        {
          provider: orNull(Type.String({ description: 'Provider; null if unknown.' })),
          model: Type.String({ description: 'Model.' }),
          spans: count('Calls without a cost.'),
          input_tokens: count('Their input tokens.'),
          output_tokens: count('Their output tokens.'),
          latest_started_at: time('Start of the latest of them.'),
          has_price: Type.Boolean({
            description: 'Whether a price exists by now, so that recalculating costs gives these calls a cost.',
          }),
        },
        { description: 'A model.' },
      ),
      { description: 'The models of this page, most calls first.' },
    ),
    ...pageRead,
  },
  { $id: 'UnpricedModelPage', description: 'A page of models whose calls have no cost.' },
);

export type UnpricedPage = Static<typeof UnpricedPage>;
