import { useState } from 'preact/hooks';
import type { DashboardSummary } from '../../../../features/dashboards/schema.js';
import { counted } from '../../../model/format.js';
import { rangeLabel } from '../../../model/range.js';
import type { ScreenProps } from '../../frame/screen-props.js';
import { Button } from '../../parts/button.js';
import { CopyAsCurl } from '../../parts/copy.js';
import { DataTable, type Column } from '../../parts/data-table.js';
import { When } from '../../parts/figures.js';
import { Answered, Empty } from '../../parts/states.js';
import { hrefOf, place } from '../../state/location.js';
import { Views } from '../views/views-screen.js';
import { dashboards, useDashboards } from './data.js';
import { DashboardForm } from './dashboard-form.js';
import { DashboardScreen } from './dashboard-screen.js';

export { ViewsDialog } from '../views/views-dialog.js';
export { AddToDashboard } from './add-to-dashboard.js';

/** Dashboards, or one of them; and saved views, which share most of what they are made of. */
export default function Dashboards({ id }: ScreenProps) {
  if (place.value.screen === 'views') return <Views id={id} />;
  return id === null ? <DashboardList /> : <DashboardScreen key={id} id={id} />;
}

function DashboardList() {
  const [making, setMaking] = useState(false);
  const answer = useDashboards();
  return (
    <div class="stack">
      <header class="screen-head">
        <h1>Dashboards</h1>
        <div class="line">
          <a class="button" href={hrefOf({ screen: 'views' })}>
            Saved views
          </a>
          <CopyAsCurl path={dashboards()} />
          <Button look="main" icon="plus" changes onClick={() => setMaking(true)}>
            New dashboard
          </Button>
        </div>
      </header>
      <Answered answer={answer} rows={4}>
        {(all) =>
          all.length === 0 ? (
            <Empty title="No dashboards yet">
              <p>A dashboard shows charts of costs, errors, durations and scores to everyone in the project.</p>
            </Empty>
          ) : (
            <DataTable
              caption="Dashboards"
              columns={COLUMNS}
              rows={all}
              idOf={({ id }) => id}
              hrefOf={({ id }) => hrefOf({ screen: 'dashboards', id })}
            />
          )
        }
      </Answered>
      {making && <DashboardForm dashboard={null} onClose={() => setMaking(false)} />}
    </div>
  );
}

const COLUMNS: Column<DashboardSummary>[] = [
  { name: 'name', label: 'Dashboard', cell: ({ name }) => <bdi>{name}</bdi> },
  { name: 'charts', label: 'Charts', cell: ({ chart_count }) => counted(chart_count, 'chart') },
  {
    name: 'window',
    label: 'Time',
    cell: ({ window }) => rangeLabel({ range: window, from: null, to: null }, (time) => time),
  },
  { name: 'updated_at', label: 'Updated', named: true, cell: ({ updated_at }) => <When at={updated_at} relative /> },
];
