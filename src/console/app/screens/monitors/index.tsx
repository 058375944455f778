import { useState } from 'preact/hooks';
import type { MonitorRead } from '../../../../features/monitors/schema.js';
import type { ScreenProps } from '../../frame/screen-props.js';
import { Button } from '../../parts/button.js';
import { CopyAsCurl } from '../../parts/copy.js';
import { DataTable, type Column } from '../../parts/data-table.js';
import { When } from '../../parts/figures.js';
import { Answered, Empty } from '../../parts/states.js';
import { call, ofProject } from '../../state/api.js';
import { hrefOf } from '../../state/location.js';
import { useQuery } from '../../state/query.js';
import { valueText } from './draft.js';
import { MonitorForm } from './monitor-form.js';
import { MonitorScreen } from './monitor-screen.js';
import { StateBadge } from './state-badge.js';
import { Webhooks } from './webhooks.js';

/** Monitors with their states, and who is told of events; or one monitor. */
export default function Monitors({ id }: ScreenProps) {
  return id === null ? <MonitorList /> : <MonitorScreen key={id} id={id} />;
}

function MonitorList() {
  const [making, setMaking] = useState(false);
  const path = ofProject('/monitors');
  const answer = useQuery({
    key: [path],
    ask: (signal) => call('GET /projects/:project_id/monitors', { signal }),
    every: 10_000,
  });
  return (
    <div class="stack">
      <header class="screen-head">
        <h1>Monitors</h1>
        <div class="line">
          <CopyAsCurl path={path} />
          <Button look="main" icon="plus" changes onClick={() => setMaking(true)}>
            New monitor
          </Button>
        </div>
      </header>
      <div class="stack parts">
        <Answered answer={answer} rows={4}>
          {(monitors) =>
            monitors.length === 0 ? (
              <Empty title="No monitors yet">
                <p>A monitor watches a metric of your project and notifies destinations when it passes a threshold.</p>
              </Empty>
            ) : (
              <DataTable
                caption="Monitors"
                columns={COLUMNS}
                rows={monitors}
                idOf={({ id }) => id}
                hrefOf={({ id }) => hrefOf({ screen: 'monitors', id })}
              />
            )
          }
        </Answered>
        <Webhooks />
      </div>
      {making && <MonitorForm monitor={null} onClose={() => setMaking(false)} />}
    </div>
  );
}

const COLUMNS: Column<MonitorRead>[] = [
  {
    name: 'name',
    label: 'Monitor',
    cell: ({ name, summary }) => (
      <>
        <bdi>{name}</bdi> <span class="soft">{summary}</span>
      </>
    ),
    full: ({ summary }) => summary,
  },
  { name: 'state', label: 'State', cell: (monitor) => <StateBadge monitor={monitor} /> },
  { name: 'since', label: 'Since', named: true, cell: ({ since }) => <When at={since} relative /> },
  {
    name: 'value',
    label: 'Value',
    figure: true,
    named: true,
    cell: (monitor) => valueText(monitor, monitor.value),
  },
];
