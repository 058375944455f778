import { count, counted } from '../../../model/format.js';
import { TimeChart } from '../../parts/chart.js';
import { When } from '../../parts/figures.js';
import { Answered } from '../../parts/states.js';
import { call, ofProject } from '../../state/api.js';
import { useQuery } from '../../state/query.js';
import { conditionOf, valueText, type Draft } from './draft.js';

const MOST_SHOWN = 10;

/** What a condition would have done over the last 30 days. */
export function Preview({ draft }: { readonly draft: Draft }) {
  const body = conditionOf(draft);
  const format = (value: number | null) => valueText(body, value);
  const answer = useQuery({
    key: [ofProject('/monitors'), 'test', body],
    ask: (signal) => call('POST /projects/:project_id/monitors:test', { body, signal }),
    keep: false,
  });
  return (
    <Answered answer={answer} rows={3}>
      {({ points, fired, changes, checks, without_data }) => {
        const [first, second] = points.map(({ at }) => Date.parse(at));
        const firings = changes.filter(({ state }) => state === 'firing');
        const threshold = Number(draft.threshold);
        return (
          <div class="stack">
            <p>
              Would have fired {counted(fired, 'time')}. There was no data at {counted(without_data, 'check')} of{' '}
              {count(checks)}.
            </p>
            <TimeChart
              label="Value and threshold"
              starts={points.map(({ at }) => at)}
              bucketSeconds={Math.round(((second ?? 0) - (first ?? 0)) / 1000) || 60}
              series={[
                { label: 'Value', look: 'count', values: points.map(({ value }) => value) },
                { label: 'Threshold', look: 'error', values: points.map(() => threshold) },
              ]}
              kind="lines"
              format={format}
            />
            {firings.length > 0 && (
              <ul class="small">
                {firings.slice(0, MOST_SHOWN).map(({ at, value }) => (
                  <li key={at}>
                    <When at={at} /> at {format(value)}
                  </li>
                ))}
              </ul>
            )}
          </div>
        );
      }}
    </Answered>
  );
}
