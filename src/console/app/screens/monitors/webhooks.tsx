import { useState } from 'preact/hooks';
import type { DeliveryRead, WebhookRead } from '../../../../features/webhooks/schema.js';
import { count, counted } from '../../../model/format.js';
import { Button } from '../../parts/button.js';
import { DataTable, type Column } from '../../parts/data-table.js';
import { Confirm, Dialog } from '../../parts/dialog.js';
import { When } from '../../parts/figures.js';
import { Once } from '../../parts/once.js';
import { Answered } from '../../parts/states.js';
import { announce, announceError } from '../../state/announce.js';
import { call, ofProject } from '../../state/api.js';
import { changedAt, useQuery } from '../../state/query.js';
import { WebhookForm } from './webhook-form.js';

const PATH = () => ofProject('/webhooks');

type Act = 'deliveries' | 'delete' | 'test' | 'switch' | 'rotate';

/** Who is told of events. */
export function Webhooks() {
  const [making, setMaking] = useState(false);
  const [acting, setActing] = useState<{ readonly on: WebhookRead; readonly by: Act } | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const close = () => setActing(null);
  const answer = useQuery({
    key: [PATH()],
    ask: (signal) => call('GET /projects/:project_id/webhooks', { signal }),
    every: 10_000,
  });
  const start = (on: WebhookRead, by: Act) => {
    if (by === 'deliveries' || by === 'delete') setActing({ on, by });
    else void act(on, by).then((made) => made !== null && setSecret(made));
  };
  return (
    <section class="stack" aria-labelledby="webhooks">
      <div class="line apart">
        <h2 id="webhooks">Destinations</h2>
        <Button icon="plus" changes onClick={() => setMaking(true)}>
          Add destination
        </Button>
      </div>
      <Answered answer={answer} rows={2}>
        {(webhooks) =>
          webhooks.length === 0 ? (
            <p class="soft">No destinations yet. Add a URL, a Slack channel or an email address.</p>
          ) : (
            <DataTable caption="Destinations" columns={columnsOf(start)} rows={webhooks} idOf={({ id }) => id} />
          )
        }
      </Answered>
      {making && <WebhookForm onMade={setSecret} onClose={() => setMaking(false)} />}
      {secret !== null && (
        <Dialog title="Signing secret" onClose={() => setSecret(null)}>
          <Once what="secret" text={secret} onClose={() => setSecret(null)}>
            <p>Check the signature of each request with it.</p>
          </Once>
        </Dialog>
      )}
      {acting?.by === 'deliveries' && (
        <Dialog title="Deliveries" onClose={close}>
          <Deliveries of={acting.on} />
        </Dialog>
      )}
      {acting?.by === 'delete' && (
        <Confirm
          title="Delete this destination?"
          action="Delete destination"
          onConfirm={() => void act(acting.on, 'delete').then(close)}
          onClose={close}
        >
          <p>
            <bdi>{acting.on.name}</bdi> will receive no more events. Waiting deliveries are dropped.
          </p>
        </Confirm>
      )}
    </section>
  );
}

function columnsOf(start: (on: WebhookRead, by: Act) => void): Column<WebhookRead>[] {
  return [
    {
      name: 'name',
      label: 'Destination',
      cell: ({ name, kind, target, events }) => (
        <>
          <bdi>{name}</bdi>{' '}
          <span class="soft">
            {kind} <bdi>{target}</bdi>, {events.length === 0 ? 'all events' : events.join(', ')}
          </span>
        </>
      ),
    },
    {
      name: 'state',
      label: 'State',
      cell: ({ enabled, failures }) => (
        <span class={`badge ${!enabled ? '' : failures > 0 ? 'bad' : 'good'}`}>
          {!enabled ? 'disabled' : failures > 0 ? counted(failures, 'failure') : 'active'}
        </span>
      ),
    },
    { name: 'waiting', label: 'Waiting', figure: true, named: true, cell: ({ waiting }) => count(waiting) },
    {
      name: 'actions',
      label: 'Actions',
      cell: (row) => (
        <span class="line">
          <Button
            icon="play"
            look="quiet"
            changes
            label={`Send a test to ${row.name}`}
            onClick={() => start(row, 'test')}
          />
          <Button
            icon={row.enabled ? 'pause' : 'live'}
            look="quiet"
            changes
            label={`${row.enabled ? 'Disable' : 'Enable'} ${row.name}`}
            onClick={() => start(row, 'switch')}
          />
          {row.kind === 'webhook' && (
            <Button
              icon="key"
              look="quiet"
              changes
              label={`Rotate the secret of ${row.name}`}
              onClick={() => start(row, 'rotate')}
            />
          )}
          <Button
            icon="audit"
            look="quiet"
            label={`Deliveries to ${row.name}`}
            onClick={() => start(row, 'deliveries')}
          />
          <Button icon="trash" look="quiet" changes label={`Delete ${row.name}`} onClick={() => start(row, 'delete')} />
        </span>
      ),
    },
  ];
}

/** @returns a secret that is shown once; null: there is none */
async function act({ id, enabled }: WebhookRead, by: Exclude<Act, 'deliveries'>): Promise<string | null> {
  const params = { webhook_id: id };
  let secret: string | null = null;
  try {
    if (by === 'delete') await call('DELETE /projects/:project_id/webhooks/:webhook_id', { params });
    else if (by === 'test') await call('POST /projects/:project_id/webhooks/:webhook_id:test', { params });
    else if (by === 'rotate')
      ({ secret } = await call('POST /projects/:project_id/webhooks/:webhook_id:rotate', { params }));
    else await call('PATCH /projects/:project_id/webhooks/:webhook_id', { params, body: { enabled: !enabled } });
    announce(by === 'test' ? 'Sending test' : by === 'delete' ? 'Destination deleted' : 'Destination changed');
  } catch (error) {
    announceError(error);
  }
  await changedAt(PATH());
  return secret;
}

function Deliveries({ of }: { readonly of: WebhookRead }) {
  const params = { webhook_id: of.id };
  const answer = useQuery({
    key: [PATH(), of.id, 'deliveries'],
    ask: (signal) => call('GET /projects/:project_id/webhooks/:webhook_id/deliveries', { params, signal }),
    every: 5_000,
    keep: false,
  });
  return (
    <Answered answer={answer} rows={3}>
      {(rows) =>
        rows.length === 0 ? (
          <p class="soft">No deliveries yet.</p>
        ) : (
          <DataTable caption="Deliveries" columns={DELIVERY_COLUMNS} rows={rows} idOf={({ id }) => id} />
        )
      }
    </Answered>
  );
}

const DELIVERY_COLUMNS: Column<DeliveryRead>[] = [
  { name: 'at', label: 'When', cell: ({ tried_at, created_at }) => <When at={tried_at ?? created_at} /> },
  { name: 'event', label: 'Event', cell: ({ event }) => event },
  {
    name: 'state',
    label: 'State',
    cell: ({ state, error, response }) => (
      <span
        class={`badge ${state === 'delivered' ? 'good' : error === null ? '' : 'bad'}`}
        title={response ?? undefined}
      >
        {error ?? state}
      </span>
    ),
  },
  { name: 'status', label: 'Status', figure: true, cell: ({ status }) => status ?? '–' },
  { name: 'ms', label: 'ms', figure: true, cell: ({ ms }) => (ms === null ? '–' : count(ms)) },
  { name: 'attempts', label: 'Attempts', figure: true, cell: ({ attempts }) => count(attempts) },
];
