import { Type } from '@sinclair/typebox';
import { COST_REASONS, type CostExplainer, type CostExplanation } from '../../prices/cost-explanation.js';
import { oneOf, orNull, time, uuid } from '../../../engine/schema/parts.js';
import { formatOptionalTimestamp } from '../../../engine/timestamp.js';
import { defineRoute } from '../../../http/route.js';
import { spanQuery } from './get-route.js';

const dollars = (description: string) => Type.Number({ description: `${description}, in US dollars.` });

export const CostRead = Type.Object(
  {
    span_id: uuid('The span.'),
    trace_id: uuid('Its trace.'),
    cost: orNull(dollars('The stored cost; null: not known')),
    source: oneOf(
      ['sent', 'own_price', 'list_price', 'unknown'],
      'Source of the cost: sent by the client, a custom price, or a list price. If the price has changed since, the ' +
        'current one.',
    ),
    reason: oneOf(Object.keys(COST_REASONS), 'Why the cost is what it is, or is unknown.'),
    explanation: Type.String({ description: 'The reason in words, with what to do next.' }),
    provider: orNull(Type.String({ description: 'Provider, as the span names it.' })),
    model: orNull(Type.String({ description: 'Model, as the span names it.' })),
    price: orNull(
      Type.Object(
        {
          source: oneOf(['own_price', 'list_price'], 'Whose price it is.'),
          provider: Type.String({ description: 'Provider whose price it is.' }),
          model: Type.String({ description: 'Model whose price it is.' }),
          valid_from: orNull(
            time('When the price was last set, or since when it is in the list; null: as long as the list knows.'),
          ),
        },
        { description: "The call's current price; also for a cost that was sent, to compare." },
      ),
    ),
    lines: Type.Array(
      Type.Object({
        class: oneOf(
          ['input', 'cache_read', 'cache_write', 'output', 'other'],
          'What is paid for: uncached input tokens, tokens read from a cache or written to one, output tokens, or ' +
            'something that is not paid per token.',
        ),
        tokens: orNull(Type.Number({ description: 'Number of tokens.' })),
        per_million: orNull(dollars('Price per million of them')),
        amount: dollars('Tokens times price'),
      }),
      { description: 'Costs at this price; empty without a price.' },
    ),
    sum: orNull(dollars('The cost at that price, rounded once')),
  },
  { $id: 'CostExplanation', description: "Explanation of a span's cost." },
);

export function getCostRoute(costs: Pick<CostExplainer, 'of'>) {
  return defineRoute({
    method: 'GET',
    path: '/spans/:id/cost',
    operationId: 'explainCost',
    summary: 'Explain the cost of a span',
    description: 'Returns how the cost of a span was determined, or why it is unknown and what to do about it.',
    tag: 'Traces',
    access: 'key',
    params: Type.Object({ id: uuid('Id of the span.') }),
    query: spanQuery,
    responses: { 200: { description: 'The explanation.', schema: CostRead } },
    errors: ['not_found', 'conflict', 'unavailable'],
    async handle({ principal, params: { id }, query: { trace_id: traceId = null }, signal }) {
      return { status: 200, body: costRead(await costs.of(principal.project_id, { id, traceId }, signal)) };
    },
  });
}

function costRead({ price, ...explained }: CostExplanation) {
  return { ...explained, explanation: COST_REASONS[explained.reason], ...pricedBy(price) };
}

function pricedBy(price: CostExplanation['price']) {
  if (price === null) return { price, lines: [] };
  const { lines, valid_from, ...named } = price;
  return { price: { ...named, valid_from: formatOptionalTimestamp(valid_from) }, lines };
}
