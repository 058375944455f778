import type { Database } from '../../../engine/metadata/database.js';
import { NamedRows } from '../../../engine/metadata/named-rows.js';
import type { Dashboard, DashboardStore } from '../dashboard.js';

/** Dashboards in the SQLite file. */
export function openDashboards(db: Database): DashboardStore {
  return new NamedRows<Dashboard>(db, {
    name: 'dashboards',
    columns: ['window', 'charts', 'version'],
    json: ['charts'],
  });
}
