import type { ListDefinition } from '../../../../engine/traces/model/list/definitions.js';
import { LazyDialog } from '../../parts/lazy-dialog.js';
import { useViews } from './data.js';

export interface ListShown {
  readonly list: ListDefinition;
  readonly query: URLSearchParams;
  readonly columns: readonly string[];
}

/** Opens the saved views of a list; says which one is shown. */
export function ViewsButton(props: ListShown) {
  const shown = props.query.get('view');
  const { data } = useViews({ enabled: shown !== null });
  const name = data?.find(({ id }) => id === shown)?.name;
  return (
    <LazyDialog
      icon="views"
      label={name === undefined ? 'Views' : `View: ${name}`}
      load={() => import('../dashboards/index.js').then(({ ViewsDialog }) => ViewsDialog)}
      given={props}
    />
  );
}
