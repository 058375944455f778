import { Type, type Static } from '@sinclair/typebox';
import { count, number, orNull, time } from '../../engine/schema/parts.js';

const MAX_LIMIT = 1_000_000_000;

const monthly_limit = Type.Union([Type.Number({ minimum: 0, maximum: MAX_LIMIT }), Type.Null()], {
  description: 'Most US dollars that model calls of a calendar month (UTC) may cost; 0: none may be made; null: any.',
});

export const ModelBudgetInput = Type.Object(
  { monthly_limit },
  { $id: 'ModelBudgetInput', description: "The budget for the server's own model calls." },
);
export type ModelBudgetInput = Static<typeof ModelBudgetInput>;

export const ModelBudgetRead = Type.Object(
  {
    monthly_limit,
    month: Type.String({ description: 'The current calendar month in UTC, such as `2026-11`.' }),
    spent: number('US dollars that the calls of this month cost, as far as their costs are known.'),
    calls: count(
      'Calls of this month that have to be paid for: those that were answered, or given up after they were sent.',
    ),
    unpriced_calls: count(
      'Of these, calls whose cost is unknown, for want of a price or of stated tokens: they do not count toward the budget.',
    ),
    waiting: Type.Boolean({ description: 'Whether new calls wait, because the budget is spent.' }),
    waiting_reason: orNull(Type.String({ description: 'Why calls wait; null: they do not.' })),
    resets_at: time('When the next month begins.'),
    updated_at: orNull(time('When the budget was last set; null: never.')),
  },
  { $id: 'ModelBudget', description: "The budget for the server's own model calls, and what is spent of it." },
);
export type ModelBudgetRead = Static<typeof ModelBudgetRead>;
