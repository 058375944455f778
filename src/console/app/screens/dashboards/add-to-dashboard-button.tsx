import { LazyDialog } from '../../parts/lazy-dialog.js';
import type { CountedList } from './data.js';

/** Opens the form that puts what a list counts on a dashboard. */
export function AddToDashboardButton(props: CountedList) {
  return (
    <LazyDialog
      icon="dashboards"
      label="Add to dashboard"
      isSmall
      changes="dashboards:write"
      load={() => import('./index.js').then(({ AddToDashboard }) => AddToDashboard)}
      given={props}
    />
  );
}
