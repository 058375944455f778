import { Button } from '../../parts/button.js';
import { call, type AnswerOf } from '../../state/api.js';
import { useQuery, type Answer } from '../../state/query.js';
import type { SpanHeadRead } from './span-head.js';

type Explanation = AnswerOf<'GET /spans/:id/cost'>;

/** How the cost of a span came about, or why it is not known. */
export function useCost({ id, trace_id }: SpanHeadRead, enabled = true): Answer<Explanation> {
  return useQuery({
    key: [`/spans/${id}/cost`, trace_id],
    ask: (signal) => call('GET /spans/:id/cost', { params: { id }, query: { trace_id }, signal }),
    enabled,
  });
}

/** What can be done about an unknown cost: set the price that its model has not, or calculate by the one that it has by now. */
export type CostRemedy = 'price' | 'reprice';

export function remedyOf(reason: Explanation['reason'] | undefined): CostRemedy | null {
  if (reason === 'no_price') return 'price';
  return reason === 'not_repriced' ? 'reprice' : null;
}

interface RemedyButtonProps {
  readonly remedy: CostRemedy;
  readonly onChoose: (remedy: CostRemedy) => void;
}

export function RemedyButton({ remedy, onChoose }: RemedyButtonProps) {
  const isPrice = remedy === 'price';
  return (
    <Button icon={isPrice ? 'price' : 'refresh'} changes onClick={() => onChoose(remedy)}>
      {isPrice ? 'Set price' : 'Recalculate'}
    </Button>
  );
}
