import { spanList, traceList } from '../../../../engine/traces/model/list/definitions.js';
import { compact, count, duration, money, percent } from '../../../model/format.js';
import { boundsOf, rangeOf } from '../../../model/range.js';
import { tokensOf, type StatisticsRead } from '../../../model/statistics.js';
import { TimeChart } from '../../parts/chart.js';
import { CopyAsCurl } from '../../parts/copy.js';
import { Cost, Took, Tile } from '../../parts/figures.js';
import { RangePicker } from '../../parts/range-picker.js';
import { Answered, Empty } from '../../parts/states.js';
import { TourShown } from '../../parts/tour.js';
import { call } from '../../state/api.js';
import { hrefOf, place, setQuery } from '../../state/location.js';
import { zone } from '../../state/preferences.js';
import { useQuery } from '../../state/query.js';
import { Breakdown } from './breakdown.js';
import { PassRates } from './pass-rates.js';

/** What happened lately, at a glance; every figure leads to the list that it counts. */
export default function Overview() {
  const range = rangeOf(place.value.query);
  const query = { ...boundsOf(range), time_zone: zone.value };
  const answer = useQuery({
    key: ['/traces', 'stats', query],
    ask: (signal) => call('GET /traces:stats', { query, signal }),
    every: range.range === null ? false : 30_000,
  });
  return (
    <div class="stack overview">
      <header class="screen-head">
        <h1>Overview</h1>
        <div class="line">
          <RangePicker range={range} />
          <CopyAsCurl path="/traces:stats" query={query} />
        </div>
      </header>
      <TourShown />
      <Answered answer={answer} rows={6}>
        {(stats) => (stats.totals.count === 0 ? <NoTraces /> : <Figures stats={stats} />)}
      </Answered>
      {answer.data?.totals.count !== 0 && (
        <div class="breakdowns" hidden={answer.data === undefined && answer.error === null}>
          <Breakdown list={spanList} title="Models" field="model" filters={{ span_kind: 'llm' }} />
          <Breakdown list={traceList} title="Traces by name" field="name" />
          <Breakdown list={spanList} title="Prompts" field="prompt_slug" withoutNone />
          <PassRates />
        </div>
      )}
    </div>
  );
}

/** Nothing in this time: a newcomer is led to the first trace, others to another time. */
function NoTraces() {
  const query = { limit: 1, fields: 'id' };
  const answer = useQuery({ key: ['/traces', 'any'], ask: (signal) => call('GET /traces', { query, signal }) });
  return (
    <Answered answer={answer} rows={2}>
      {(any) =>
        any.length === 0 ? (
          <Empty title="No traces yet">
            <p>
              <a href={hrefOf({ screen: 'first' })}>Send your first trace</a>. It takes a minute.
            </p>
          </Empty>
        ) : (
          <Empty title="No traces in this time range">
            <p>
              <a href={hrefOf({ screen: 'overview', query: { range: 'all' } })}>Show all traces</a>, or choose another
              time range above.
            </p>
          </Empty>
        )
      }
    </Answered>
  );
}

/** Parameters of this view that the lists take, too. */
function sameTime(): Record<string, string> {
  return Object.fromEntries([...place.value.query].filter(([name]) => ['range', 'from', 'to'].includes(name)));
}

function Figures({ stats }: { readonly stats: StatisticsRead }) {
  const { totals, buckets, bucket_seconds } = stats;
  const { count: all = 0, error_count: errors = 0, tokens, duration_ms } = totals;
  const traces = (query: Record<string, string>) => hrefOf({ screen: 'traces', query: { ...sameTime(), ...query } });
  const starts = buckets.map(({ start }) => start);
  const shared = {
    starts,
    bucketSeconds: bucket_seconds ?? 1,
    onRange: (from: string, to: string) => setQuery({ from, to, range: null }),
  };
  const of = (read: (bucket: (typeof buckets)[number]) => number | null) => buckets.map(read);
  return (
    <div class="stack">
      <div class="tiles">
        <Tile label="Traces" href={traces({})}>
          {count(all)}
        </Tile>
        <Tile label="With errors" href={traces({ has_error: 'true' })} note={`${percent(errors / all)} of traces`}>
          {count(errors)}
        </Tile>
        <Tile label="Cost" href={traces({ sort_by: 'cost' })}>
          <Cost of={totals.cost} />
        </Tile>
        <Tile
          label="Tokens"
          href={traces({})}
          note={`${compact(tokens?.['input'])} in, ${compact(tokens?.['output'])} out`}
        >
          {compact(tokensOf(totals))}
        </Tile>
        <Tile label="Duration (p50)" href={traces({ sort_by: 'duration_ms' })} note="half take longer">
          <Took ms={duration_ms?.p50} />
        </Tile>
        <Tile label="Duration (p95)" href={traces({ sort_by: 'duration_ms' })} note="5% take longer">
          <Took ms={duration_ms?.p95} />
        </Tile>
      </div>
      <div class="charts">
        <TimeChart
          {...shared}
          label="Traces"
          kind="bars"
          format={compact}
          series={[
            {
              label: 'without errors',
              look: 'count',
              values: of(({ count: started = 0, error_count = 0 }) => started - error_count),
            },
            { label: 'with errors', look: 'error', values: of((bucket) => bucket.error_count ?? 0) },
          ]}
        />
        <TimeChart
          {...shared}
          label="Duration"
          kind="lines"
          format={duration}
          series={[
            { label: 'median (p50)', look: '1', values: of((bucket) => bucket.duration_ms?.p50 ?? null) },
            { label: 'slowest 5% (p95)', look: '2', values: of((bucket) => bucket.duration_ms?.p95 ?? null) },
          ]}
        />
        <TimeChart
          {...shared}
          label="Cost"
          kind="bars"
          format={money}
          series={[{ label: 'cost', look: 'count', values: of((bucket) => bucket.cost ?? null) }]}
        />
        <TimeChart
          {...shared}
          label="Tokens"
          kind="bars"
          format={compact}
          series={[
            { label: 'input', look: '1', values: of((bucket) => bucket.tokens?.['input'] ?? null) },
            { label: 'output', look: '3', values: of((bucket) => bucket.tokens?.['output'] ?? null) },
          ]}
        />
      </div>
    </div>
  );
}
