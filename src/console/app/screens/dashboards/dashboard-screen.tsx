import { useState } from 'preact/hooks';
import type { DashboardRead } from '../../../../features/dashboards/schema.js';
import { moved } from '../../../model/list-columns.js';
import { RANGE_PARAMETERS, rangeOf, type TimeRange } from '../../../model/range.js';
import { Button } from '../../parts/button.js';
import { CopyAsCurl } from '../../parts/copy.js';
import { Ending } from '../../parts/ending.js';
import { HeadingBelow } from '../../parts/heading-below.js';
import { RangePicker } from '../../parts/range-picker.js';
import { Answered, Empty } from '../../parts/states.js';
import { announceError } from '../../state/announce.js';
import { leaveDeleted } from '../../state/deleted.js';
import { place } from '../../state/location.js';
import { useQuery } from '../../state/query.js';
import { ChartDialog } from './chart-dialog.js';
import { ChartPanel } from './chart-panel.js';
import { DashboardForm } from './dashboard-form.js';
import { changeDashboard, dashboards, readDashboard, withChart } from './data.js';

/** One dashboard: its charts, all of the same time, which the address may say. */
export function DashboardScreen({ id }: { readonly id: string }) {
  const answer = useQuery({ key: [dashboards(), id], ask: (signal) => readDashboard(id, signal) });
  return (
    <Answered answer={answer} isPage>
      {(dashboard) => {
        const { query } = place.value;
        const isSaid = RANGE_PARAMETERS.some((name) => query.has(name));
        const range = isSaid ? rangeOf(query) : { range: dashboard.window, from: null, to: null };
        return (
          <div class="stack">
            <Head dashboard={dashboard} range={range} />
            <Charts dashboard={dashboard} range={range} />
          </div>
        );
      }}
    </Answered>
  );
}

interface PartProps {
  readonly dashboard: DashboardRead;
  readonly range: TimeRange;
}

function Head({ dashboard, range }: PartProps) {
  const { id, name, charts } = dashboard;
  const [open, setOpen] = useState<'add' | 'edit' | 'delete' | null>(null);
  const close = () => setOpen(null);
  const path = `${dashboards()}/${id}`;
  const gone = () => leaveDeleted({ id, to: { screen: 'dashboards' }, changed: [dashboards()] });
  return (
    <header class="screen-head">
      <div class="line">
        <HeadingBelow screen="dashboards" label="Dashboards" name={name} />
      </div>
      <div class="line">
        <RangePicker range={range} />
        <CopyAsCurl path={path} />
        <Button look={charts.length === 0 ? 'main' : ''} icon="plus" changes onClick={() => setOpen('add')}>
          Add chart
        </Button>
        <Button changes icon="edit" onClick={() => setOpen('edit')}>
          Edit
        </Button>
        <Button changes icon="trash" look="quiet" label={`Delete ${name}`} onClick={() => setOpen('delete')} />
      </div>
      {open === 'add' && (
        <ChartDialog
          title="Add chart"
          chart={null}
          onClose={close}
          onSend={(chart) => changeDashboard(dashboard, { charts: withChart(dashboard, chart) }, 'Chart added')}
        />
      )}
      {open === 'edit' && <DashboardForm dashboard={dashboard} onClose={close} />}
      {open === 'delete' && (
        <Ending
          title="Delete this dashboard?"
          action="Delete dashboard"
          path={path}
          done="Dashboard deleted"
          onDone={gone}
          onClose={close}
        >
          <p>
            <bdi>{name}</bdi> is deleted for everyone in the project. Traces, spans and sessions are not affected.
          </p>
        </Ending>
      )}
    </header>
  );
}

function Charts({ dashboard, range }: PartProps) {
  const { charts } = dashboard;
  const [edited, setEdited] = useState<number | null>(null);
  const chart = charts[edited ?? -1];
  if (charts.length === 0)
    return (
      <Empty title="No charts yet">
        <p>Add a chart here, or open traces, spans or sessions, filter them, and choose Add to dashboard.</p>
      </Empty>
    );
  const change = (next: DashboardRead['charts'], said: string) => {
    changeDashboard(dashboard, { charts: next }, said).catch(announceError);
  };
  return (
    <div class="dashboard">
      {charts.map((shown, index) => (
        <ChartPanel
          key={`${index} ${JSON.stringify(shown)}`}
          chart={shown}
          range={range}
          place={{ index, count: charts.length }}
          onEdit={() => setEdited(index)}
          onMove={(by) => {
            const order = moved(
              charts.map((_chart, at) => String(at)),
              String(index),
              by,
            );
            change(
              order.flatMap((at) => charts[Number(at)] ?? []),
              `Chart ${shown.title} moved`,
            );
          }}
          onRemove={() => change(charts.toSpliced(index, 1), `Chart ${shown.title} removed`)}
        />
      ))}
      {chart !== undefined && edited !== null && (
        <ChartDialog
          title="Edit chart"
          chart={chart}
          onClose={() => setEdited(null)}
          onSend={(next) => changeDashboard(dashboard, { charts: withChart(dashboard, next, edited) }, 'Chart changed')}
        />
      )}
    </div>
  );
}
