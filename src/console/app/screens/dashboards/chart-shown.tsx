import { drawingsOf, figuresOf, type Chart } from '../../../model/dashboard.js';
import { addressWith } from '../../../model/list-address.js';
import { LISTS } from '../../../model/list-query.js';
import { changed } from '../../../model/place.js';
import type { TimeRange } from '../../../model/range.js';
import { partsOf, type ChartPart } from '../../../model/score-chart.js';
import { filterOfGroup, type StatisticsRead } from '../../../model/statistics.js';
import { TimeChart } from '../../parts/chart.js';
import { Tile } from '../../parts/figures.js';
import { chooseRange } from '../../parts/range-picker.js';
import { hrefOf } from '../../state/location.js';

interface ChartShownProps {
  readonly chart: Chart;
  readonly range: TimeRange;
  readonly found: StatisticsRead;
}

/** What a chart found, as its kind draws it. */
export function ChartShown(props: ChartShownProps) {
  switch (props.chart.kind) {
    case 'number':
      return <Numbers {...props} />;
    case 'table':
      return <Table {...props} />;
    default:
      return <OverTime {...props} />;
  }
}

function OverTime({ chart, found }: ChartShownProps) {
  const { buckets, bucket_seconds } = found;
  if (bucket_seconds === null || buckets.length === 0) return <p class="soft">No data in this time range.</p>;
  const drawings = drawingsOf(chart, found);
  return (
    <>
      {drawings.map(({ label, kind, format, series }) => (
        <TimeChart
          key={label}
          label={drawings.length === 1 ? chart.title : label}
          isTitled={drawings.length === 1}
          starts={buckets.map(({ start }) => start)}
          bucketSeconds={bucket_seconds}
          kind={kind}
          format={format}
          series={series}
          onRange={(from, to) => chooseRange({ from, to })}
        />
      ))}
    </>
  );
}

function Numbers({ chart, range, found: { totals } }: ChartShownProps) {
  const href = hrefOf({ screen: chart.list, query: addressWith(chart.query, range) });
  return (
    <div class="tiles">
      {figuresOf(chart).map(({ label, format, read }) => (
        <Tile key={label} label={label} href={href}>
          {format(read(totals))}
        </Tile>
      ))}
    </div>
  );
}

/** Figures of each group, or of everything where there are no groups. */
function Table({ chart, range, found }: ChartShownProps) {
  const figures = figuresOf(chart);
  return (
    <div class="table-box" role="region" aria-label={`${chart.title} as a table`} tabIndex={0}>
      <table class="table">
        <caption class="unseen">{chart.title}</caption>
        <thead>
          <tr>
            <th scope="col">{chart.group_by ?? <span class="unseen">Value</span>}</th>
            {figures.map(({ label }) => (
              <th key={label} scope="col" class="num">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {partsOf(found).map((part) => (
            <tr key={part.label}>
              <td>
                <Group chart={chart} range={range} part={part} />
              </td>
              {figures.map(({ label, format, read }) => (
                <td key={label} class="num">
                  {format(read(part.of.totals))}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The name of a group, which leads to what it counts where a filter finds that. */
function Group({
  chart,
  range,
  part: { label, value },
}: Omit<ChartShownProps, 'found'> & { readonly part: ChartPart }) {
  const { list, query, group_by } = chart;
  const filter = value === undefined || group_by === null ? null : filterOfGroup(LISTS[list], group_by, value);
  if (filter === null) return <span class="soft">{label}</span>;
  return (
    <a href={hrefOf({ screen: list, query: changed(addressWith(query, range), filter) })}>
      <bdi>{label}</bdi>
    </a>
  );
}
