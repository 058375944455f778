import { count, money, moneyInFull } from '../../../model/format.js';
import { Dialog } from '../../parts/dialog.js';
import { When } from '../../parts/figures.js';
import { Answered } from '../../parts/states.js';
import { RemedyButton, remedyOf, useCost, type CostRemedy } from './span-cost.js';
import type { SpanHeadRead } from './span-head.js';

interface CostDialogProps {
  readonly span: SpanHeadRead;
  readonly onRemedy: (remedy: CostRemedy) => void;
  readonly onClose: () => void;
}

/** How the cost of a span came about, or why it is not known and what to do about it. */
export function CostDialog({ span, onRemedy, onClose }: CostDialogProps) {
  const answer = useCost(span);
  const remedy = remedyOf(answer.data?.reason);
  return (
    <Dialog title="Span cost" onClose={onClose}>
      <Answered answer={answer} rows={4}>
        {({ cost, explanation, price, lines, sum }) => (
          <div class="stack">
            <p>
              <strong title={moneyInFull(cost)}>{cost === null ? 'Unknown' : moneyInFull(cost)}</strong>. {explanation}
            </p>
            {remedy !== null && (
              <p>
                <RemedyButton remedy={remedy} onChoose={onRemedy} />
              </p>
            )}
            {price !== null && (
              <p class="soft">
                {price.source === 'own_price' ? 'Custom price' : 'List price'} of <bdi>{price.provider}</bdi>/
                <bdi>{price.model}</bdi>
                {price.valid_from !== null && (
                  <>
                    , since <When at={price.valid_from} />
                  </>
                )}
              </p>
            )}
            {lines.length > 0 && (
              <div class="table-box">
                <table class="table">
                  <thead>
                    <tr>
                      <th scope="col">Item</th>
                      <th scope="col" class="num">
                        Tokens
                      </th>
                      <th scope="col" class="num">
                        Per million
                      </th>
                      <th scope="col" class="num">
                        Amount
                      </th>
                    </tr>
                  </thead>
                  <tbody>
                    {lines.map((line) => (
                      <tr key={line.class}>
                        <td>{line.class.replace('_', ' ')}</td>
                        <td class="num">{count(line.tokens)}</td>
                        <td class="num">{money(line.per_million)}</td>
                        <td class="num">{moneyInFull(line.amount)}</td>
                      </tr>
                    ))}
                    <tr>
                      <td>Total</td>
                      <td />
                      <td />
                      <td class="num">{moneyInFull(sum)}</td>
                    </tr>
                  </tbody>
                </table>
              </div>
            )}
          </div>
        )}
      </Answered>
    </Dialog>
  );
}
