import { questionOf, type Chart } from '../../../model/dashboard.js';
import { addressWith } from '../../../model/list-address.js';
import type { TimeRange } from '../../../model/range.js';
import { Menu, type MenuItem } from '../../parts/menu.js';
import { Answered } from '../../parts/states.js';
import { call } from '../../state/api.js';
import { hrefOf } from '../../state/location.js';
import { zone } from '../../state/preferences.js';
import { useQuery } from '../../state/query.js';
import { mayChange } from '../../state/session.js';
import { ChartShown } from './chart-shown.js';

interface ChartPanelProps {
  readonly chart: Chart;
  readonly range: TimeRange;
  readonly place: { readonly index: number; readonly count: number };
  readonly onEdit: () => void;
  readonly onMove: (by: number) => void;
  readonly onRemove: () => void;
}

const AGAIN_MS = 60_000;

/** A chart of a dashboard, which leads to the list that it counts. */
export function ChartPanel({ chart, range, ...changes }: ChartPanelProps) {
  const query = questionOf(chart, range, zone.value);
  const answer = useQuery({
    // A range is counted back from now: its name is part of the key, the moment is not.
    key: [`/${chart.list}:stats`, query.toString(), range],
    ask: (signal) => call(`GET /${chart.list}:stats`, { query, signal }),
    every: range.range === null ? false : AGAIN_MS,
  });
  const href = hrefOf({ screen: chart.list, query: addressWith(chart.query, range) });
  return (
    <section aria-label={chart.title}>
      <div class="panel-head">
        <h2 class="chart-title clip">
          <a href={href}>
            <bdi>{chart.title}</bdi>
          </a>
        </h2>
        {mayChange() && <Menu icon="more" look="quiet" label={`Change ${chart.title}`} items={itemsOf(changes)} />}
      </div>
      <Answered answer={answer} rows={4}>
        {(found) => <ChartShown chart={chart} range={range} found={found} />}
      </Answered>
    </section>
  );
}

function itemsOf({ place: { index, count }, onEdit, onMove, onRemove }: Omit<ChartPanelProps, 'chart' | 'range'>) {
  const items: MenuItem[] = [
    { label: 'Edit', icon: 'edit', run: onEdit },
    ...(index > 0 ? [{ label: 'Move up', icon: 'up', run: () => onMove(-1) } as const] : []),
    ...(index < count - 1 ? [{ label: 'Move down', icon: 'down', run: () => onMove(1) } as const] : []),
    { label: 'Remove', icon: 'trash', run: onRemove },
  ];
  return items;
}
