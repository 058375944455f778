import { count } from '../../model/format.js';
import { RANGE_PARAMETERS } from '../../model/range.js';
import type { ListDefinition } from '../../../engine/traces/model/list/definitions.js';
import { fieldLabel, selectionOf } from '../../model/list-query.js';
import { call } from '../state/api.js';
import { zone } from '../state/preferences.js';
import { useQuery } from '../state/query.js';
import { TimeChart } from './chart.js';
import { chooseRange } from './range-picker.js';
import { Failure } from './states.js';

/** The measures that are shown here. */
const MEASURES = 'count,errors';

export interface OverTimeProps {
  readonly list: ListDefinition;
  readonly query: URLSearchParams;
  /** False while the rows are not there: they come first. */
  readonly enabled: boolean;
  /** Milliseconds after which it is asked again. */
  readonly every: number | false;
}

/** How many objects of a list there are over time, and how many of them have errors. Choosing buckets bounds the list. */
export function Histogram(props: OverTimeProps) {
  const { list } = props;
  const answer = useOverTime(props, { measures: MEASURES });
  const { data, error } = answer;
  if (error !== null) return <Failure error={error} retry={() => void answer.refetch()} />;
  // Its place is kept, so that rows do not move when it comes.
  if (data === undefined) return <div class="histogram" aria-busy />;
  if (data.bucket_seconds === null || data.buckets.length === 0) return null;
  const errors = data.buckets.map(({ error_count = 0 }) => error_count);
  const others = data.buckets.map(({ count: all = 0 }, index) => all - (errors[index] ?? 0));
  return (
    <div class="histogram" aria-busy={answer.isFetching}>
      <TimeChart
        label={`${fieldLabel(list.name)} over time`}
        starts={data.buckets.map(({ start }) => start)}
        bucketSeconds={data.bucket_seconds}
        kind="bars"
        height={56}
        format={count}
        series={[
          { label: 'without errors', look: 'count', values: others },
          { label: 'with errors', look: 'error', values: errors },
        ]}
        onRange={(from, to) => chooseRange({ from, to })}
      />
    </div>
  );
}

/** Statistics of what a list shows, over time. @param more what is measured, and by what it is grouped */
export function useOverTime({ list, query, enabled, every }: OverTimeProps, more: Readonly<Record<string, string>>) {
  const path = `/${list.name}:stats`;
  const asked = selectionOf(query);
  for (const [name, value] of Object.entries(more)) asked.set(name, value);
  asked.set('time_zone', zone.value);
  // A range is counted back from now: its name is part of the key, the moment is not.
  const range = RANGE_PARAMETERS.map((name) => query.get(name));
  return useQuery({
    key: [path, asked.toString(), range],
    enabled,
    every,
    ask: (signal) => call(`GET /${list.name}:stats`, { query: asked, signal }),
  });
}
