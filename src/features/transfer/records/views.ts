import { time, uuid } from '../../../engine/schema/parts.js';
import { DASHBOARD_FIELDS } from '../../dashboards/schema.js';
import { VIEW_FIELDS } from '../../saved-views/schema.js';
import { person, record } from './record.js';

const since = {
  created_at: time('When it was created.'),
  created_by: person('Who created it.'),
  updated_at: time('When it was last changed.'),
};

export const saved_views = record('SavedView', 'A saved view of a list.', {
  id: uuid('Id of the view.'),
  ...VIEW_FIELDS,
  ...since,
});

export const dashboards = record('Dashboard', 'A dashboard with its charts.', {
  id: uuid('Id of the dashboard.'),
  ...DASHBOARD_FIELDS,
  ...since,
});
