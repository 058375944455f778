import { useEffect, useState } from 'preact/hooks';
import type { SavedViewRead } from '../../../../features/saved-views/schema.js';
import { addressOfView } from '../../../model/list-address.js';
import { fieldLabel } from '../../../model/list-query.js';
import type { ScreenProps } from '../../frame/screen-props.js';
import { CopyAsCurl } from '../../parts/copy.js';
import { DataTable, type Column } from '../../parts/data-table.js';
import { When } from '../../parts/figures.js';
import { Answered, Empty, Skeleton } from '../../parts/states.js';
import { call } from '../../state/api.js';
import { hrefOf, navigate } from '../../state/location.js';
import { useQuery } from '../../state/query.js';
import { mayChange } from '../../state/session.js';
import { useViews, views } from './data.js';
import { DeleteView } from './delete-view.js';

/** All saved views; or the list that one of them shows. */
export function Views({ id }: ScreenProps) {
  return id === null ? <ViewList /> : <OpenView key={id} id={id} />;
}

/** Leads on to the list. */
function OpenView({ id }: { readonly id: string }) {
  const answer = useQuery({
    key: [views(), id],
    ask: (signal) => call('GET /projects/:project_id/saved-views/:view_id', { params: { view_id: id }, signal }),
  });
  const { data } = answer;
  useEffect(() => {
    if (data !== undefined) navigate(hrefOfView(data), { replace: true });
  }, [data]);
  return (
    <Answered answer={answer} isPage>
      {() => <Skeleton />}
    </Answered>
  );
}

const hrefOfView = (view: SavedViewRead) => hrefOf({ screen: view.list, query: addressOfView(view) });

function ViewList() {
  const answer = useViews();
  const [going, setGoing] = useState<SavedViewRead | null>(null);
  return (
    <div class="stack">
      <header class="screen-head">
        <h1>Saved views</h1>
        <div class="line">
          <CopyAsCurl path={views()} />
        </div>
      </header>
      <Answered answer={answer} rows={4}>
        {(all) =>
          all.length === 0 ? (
            <Empty title="No saved views yet">
              <p>Open traces, spans or sessions, filter them, and choose Views to save what you see.</p>
            </Empty>
          ) : (
            <DataTable
              caption="Saved views"
              columns={COLUMNS}
              rows={all}
              idOf={({ id }) => id}
              hrefOf={hrefOfView}
              {...(mayChange() && {
                action: { key: 'd', label: 'Delete', icon: 'trash' as const, run: setGoing },
              })}
            />
          )
        }
      </Answered>
      {going !== null && <DeleteView view={going} onClose={() => setGoing(null)} />}
    </div>
  );
}

const COLUMNS: Column<SavedViewRead>[] = [
  { name: 'name', label: 'View', cell: ({ name }) => <bdi>{name}</bdi> },
  { name: 'list', label: 'List', cell: ({ list }) => fieldLabel(list) },
  { name: 'query', label: 'Query', cell: ({ query }) => <bdi class="soft">{query}</bdi>, full: ({ query }) => query },
  { name: 'updated_at', label: 'Updated', named: true, cell: ({ updated_at }) => <When at={updated_at} relative /> },
];
