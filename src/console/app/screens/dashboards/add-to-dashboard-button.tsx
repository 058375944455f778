import type { ListDefinition } from '../../../../engine/traces/model/list/definitions.js';
import { LazyDialog } from '../../parts/lazy-dialog.js';

export interface CountedList {
  readonly list: ListDefinition;
  readonly query: URLSearchParams;
}

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
