import { useState } from 'preact/hooks';
import type { MonitorRead, StateChangeRead } from '../../../../features/monitors/schema.js';
import { count } from '../../../model/format.js';
import { Button } from '../../parts/button.js';
import { CopyAsCurl } from '../../parts/copy.js';
import { DataTable, type Column } from '../../parts/data-table.js';
import { Ending } from '../../parts/ending.js';
import { When } from '../../parts/figures.js';
import { HeadingBelow } from '../../parts/heading-below.js';
import { Answered } from '../../parts/states.js';
import { announce, announceError } from '../../state/announce.js';
import { call, ofProject } from '../../state/api.js';
import { leaveDeleted } from '../../state/deleted.js';
import { hrefOf } from '../../state/location.js';
import { changedAt, useQuery } from '../../state/query.js';
import { valueText } from './draft.js';
import { MonitorForm } from './monitor-form.js';
import { StateBadge } from './state-badge.js';

const HOUR_MS = 3_600_000;

/** One monitor: its condition, its state, and its history. */
export function MonitorScreen({ id }: { readonly id: string }) {
  const params = { monitor_id: id };
  const monitor = useQuery({
    key: [ofProject('/monitors'), id],
    ask: (signal) => call('GET /projects/:project_id/monitors/:monitor_id', { params, signal }),
    every: 10_000,
  });
  return (
    <Answered answer={monitor} isPage>
      {(found) => (
        <div class="stack">
          <Head monitor={found} />
          <p>
            <StateBadge monitor={found} /> since <When at={found.since} />. Fires if: {found.summary}.
          </p>
          {found.query !== '' && (
            <p>
              Filters:{' '}
              <a href={hrefOf({ screen: found.list, query: new URLSearchParams(found.query) })}>
                <bdi>{found.query}</bdi>
              </a>
            </p>
          )}
          <p class="soft">
            {found.checked_at === null ? (
              'Not checked yet.'
            ) : (
              <>
                Last checked <When at={found.checked_at} />:{' '}
                {found.value === null ? 'no value' : valueText(found, found.value)}
                {found.count !== null && ` (count: ${count(found.count)})`}
              </>
            )}
          </p>
          {found.error !== null && <p class="bad">{found.error}</p>}
          <History monitor={found} />
        </div>
      )}
    </Answered>
  );
}

function Head({ monitor }: { readonly monitor: MonitorRead }) {
  const [open, setOpen] = useState<'change' | 'delete' | null>(null);
  const close = () => setOpen(null);
  const { id, name, enabled, muted_until } = monitor;
  const params = { monitor_id: id };
  const isMuted = muted_until !== null && Date.parse(muted_until) > Date.now();
  const change = async (body: { readonly enabled?: boolean; readonly muted_until?: string | null }) => {
    try {
      await call('PATCH /projects/:project_id/monitors/:monitor_id', { params, body });
      announce('Monitor changed');
    } catch (error) {
      announceError(error);
    }
    await changedAt(ofProject('/monitors'));
  };
  const path = `${ofProject('/monitors')}/${id}`;
  const gone = () => leaveDeleted({ id, to: { screen: 'monitors' }, changed: [ofProject('/monitors')] });
  const muteTo = new Date(Date.now() + HOUR_MS).toISOString();
  return (
    <header class="screen-head">
      <div class="line">
        <HeadingBelow screen="monitors" label="Monitors" name={name} />
      </div>
      <div class="line">
        <CopyAsCurl path={path} />
        <Button changes onClick={() => void change({ muted_until: isMuted ? null : muteTo })}>
          {isMuted ? 'Unmute' : 'Mute for an hour'}
        </Button>
        <Button changes icon={enabled ? 'pause' : 'play'} onClick={() => void change({ enabled: !enabled })}>
          {enabled ? 'Disable' : 'Enable'}
        </Button>
        <Button changes icon="edit" onClick={() => setOpen('change')}>
          Edit
        </Button>
        <Button changes icon="trash" look="quiet" label={`Delete ${name}`} onClick={() => setOpen('delete')} />
      </div>
      {open === 'change' && <MonitorForm monitor={monitor} onClose={close} />}
      {open === 'delete' && (
        <Ending
          title="Delete this monitor?"
          action="Delete monitor"
          path={path}
          done="Monitor deleted"
          onDone={gone}
          onClose={close}
        >
          <p>
            <bdi>{name}</bdi> stops, and its history is deleted. This cannot be undone.
          </p>
        </Ending>
      )}
    </header>
  );
}

function History({ monitor }: { readonly monitor: MonitorRead }) {
  const { id } = monitor;
  const params = { monitor_id: id };
  const changes = useQuery({
    key: [ofProject('/monitors'), id, 'history'],
    ask: (signal) => call('GET /projects/:project_id/monitors/:monitor_id/history', { params, signal }),
    every: 10_000,
  });
  return (
    <section class="stack" aria-labelledby="history">
      <h2 id="history">State changes</h2>
      <Answered answer={changes} rows={3}>
        {(rows) =>
          rows.length === 0 ? (
            <p class="soft">None yet.</p>
          ) : (
            <DataTable
              caption="State changes"
              columns={columnsOf(monitor)}
              rows={rows}
              idOf={({ at, state }) => `${at} ${state}`}
            />
          )
        }
      </Answered>
    </section>
  );
}

const columnsOf = (monitor: MonitorRead): Column<StateChangeRead>[] => [
  { name: 'at', label: 'When', cell: ({ at }) => <When at={at} /> },
  {
    name: 'state',
    label: 'State',
    cell: ({ state }) => (
      <span class={`badge ${state === 'firing' ? 'bad' : state === 'ok' ? 'good' : ''}`}>
        {state.replace('_', ' ')}
      </span>
    ),
  },
  {
    name: 'value',
    label: 'Value',
    figure: true,
    cell: ({ value }) => valueText(monitor, value),
  },
  { name: 'count', label: 'Count', figure: true, cell: (change) => count(change.count) },
];
