import { count } from '../../../model/format.js';
import { boundsOf, rangeOf } from '../../../model/range.js';
import { Rate } from '../../parts/rate.js';
import { Answered } from '../../parts/states.js';
import { hrefOf, place } from '../../state/location.js';
import { useFigures } from '../judges/data.js';

/** Judges shown; all of them are on a screen of their own. */
const SHOWN = 10;

/** What judges found in the time that is shown: of evaluations stored then. */
export function PassRates() {
  const { started_after, started_before } = boundsOf(rangeOf(place.value.query));
  const between = {
    ...(started_after !== undefined && { start_date: started_after }),
    ...(started_before !== undefined && { end_date: started_before }),
  };
  const answer = useFigures({ ...between, limit: SHOWN + 1 });
  const evaluations = (id: string, more: Record<string, string> = {}) =>
    hrefOf({ screen: 'judges', id, query: { tab: 'evaluations', ...between, ...more } });
  return (
    <section class="stack">
      <h2>Judges</h2>
      <Answered answer={answer} rows={4}>
        {(judges) =>
          judges.length === 0 ? (
            <p class="soft">
              None yet. <a href={hrefOf({ screen: 'judges' })}>Create a judge to evaluate new spans.</a>
            </p>
          ) : (
            <div class="table-box" role="region" aria-label="Judges" tabIndex={0}>
              <table class="table">
                <thead>
                  <tr>
                    <th scope="col">Judge</th>
                    <th scope="col" class="num">
                      Evaluations
                    </th>
                    <th scope="col">Passed</th>
                  </tr>
                </thead>
                <tbody>
                  {judges.slice(0, SHOWN).map(({ judge_id, judge_name, evaluations: total, rate, rate_interval }) => (
                    <tr key={judge_id}>
                      <td>
                        <a href={hrefOf({ screen: 'judges', id: judge_id })}>
                          <bdi>{judge_name}</bdi>
                        </a>
                      </td>
                      <td class="num">
                        <a href={evaluations(judge_id)}>{count(total)}</a>
                      </td>
                      <td>
                        <a href={evaluations(judge_id, { evaluation_result: 'true' })}>
                          <Rate of={rate} interval={rate_interval} />
                        </a>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Answered>
      {(answer.data?.length ?? 0) > SHOWN && (
        <p class="small">
          <a href={hrefOf({ screen: 'judges' })}>All judges</a>
        </p>
      )}
    </section>
  );
}
