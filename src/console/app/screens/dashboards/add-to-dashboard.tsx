import { useState } from 'preact/hooks';
import { scoreOf } from '../../../../engine/traces/model/list/columns.js';
import type { Chart } from '../../../model/dashboard.js';
import { filtersOf } from '../../../model/list-address.js';
import { fieldLabel } from '../../../model/list-query.js';
import { Field } from '../../parts/field.js';
import { announce } from '../../state/announce.js';
import { call } from '../../state/api.js';
import { hrefOf, navigate } from '../../state/location.js';
import { changedAt } from '../../state/query.js';
import { ChartDialog } from './chart-dialog.js';
import { changeDashboard, dashboards, readDashboard, useDashboards, withChart, type CountedList } from './data.js';

interface AddToDashboardProps extends CountedList {
  readonly onClose: () => void;
}

/** Puts a chart of what a list counts on a dashboard, which may be new. */
export function AddToDashboard({ list, query, onClose }: AddToDashboardProps) {
  const [id, setId] = useState('');
  const [name, setName] = useState('');
  const known = useDashboards().data ?? [];
  const send = async (chart: Chart) => {
    let at = id;
    if (id === '') {
      const made = await call('POST /projects/:project_id/dashboards', { body: { name, charts: [chart] } });
      await changedAt(dashboards());
      announce('Dashboard created');
      at = made.id;
    } else {
      const dashboard = await readDashboard(id);
      await changeDashboard(dashboard, { charts: withChart(dashboard, chart) }, 'Chart added');
    }
    navigate(hrefOf({ screen: 'dashboards', id: at }));
  };
  return (
    <ChartDialog
      title="Add to dashboard"
      chart={chartOf({ list, query })}
      refused={id === '' && name.trim() === '' ? 'Enter a name' : null}
      onSend={send}
      onClose={onClose}
    >
      <Field label="Dashboard">
        <select class="input" value={id} onChange={(event) => setId(event.currentTarget.value)}>
          <option value="">New dashboard</option>
          {known.map((dashboard) => (
            <option key={dashboard.id} value={dashboard.id}>
              {dashboard.name}
            </option>
          ))}
        </select>
      </Field>
      {id === '' && (
        <Field label="Name of the new dashboard">
          <input
            class="input"
            autocomplete="off"
            maxLength={200}
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </Field>
      )}
    </ChartDialog>
  );
}

/** The chart that stands above a list. */
function chartOf({ list, query }: CountedList): Chart {
  const chosen = query.get('chart') ?? '';
  const score = scoreOf(chosen);
  const shared = { list: list.name, query: filtersOf(query), bucket: null };
  if (score === null)
    return { ...shared, title: fieldLabel(list.name), measures: ['count', 'errors'], group_by: null, kind: 'bars' };
  return { ...shared, title: `Mean of ${score}`, measures: [chosen], group_by: query.get('chart_by'), kind: 'lines' };
}
