import { useState } from 'preact/hooks';
import type { ApiKeyCreated, ApiKeyRead } from '../../../../features/api-keys/http/schema.js';
import { explainAccess } from '../../../../engine/identity/key-access.js';
import { counted } from '../../../model/format.js';
import { hasExpired } from '../../../model/key-expiry.js';
import { Button } from '../../parts/button.js';
import { CopyAsCurl } from '../../parts/copy.js';
import { DataTable, type Column } from '../../parts/data-table.js';
import { Dialog } from '../../parts/dialog.js';
import { When } from '../../parts/figures.js';
import { Once } from '../../parts/once.js';
import { Answered } from '../../parts/states.js';
import { call, ofProject } from '../../state/api.js';
import { useQuery } from '../../state/query.js';
import { whoami } from '../../state/session.js';
import { KeyForm } from './key-form.js';
import { ExpiringKeys, KeyExpiry } from './key-expiry.js';
import { RevokeKey } from './revoke-key.js';
import { RotateKey } from './rotate-key.js';

/** API keys of the project. */
export default function Keys() {
  const [dialog, setDialog] = useState<'make' | ApiKeyCreated | null>(null);
  const [revoking, setRevoking] = useState<ApiKeyRead | null>(null);
  const [rotating, setRotating] = useState<ApiKeyRead | null>(null);
  const path = ofProject('/api-keys');
  const answer = useQuery({ key: [path], ask: (signal) => call('GET /projects/:project_id/api-keys', { signal }) });
  const close = () => setDialog(null);
  return (
    <div class="stack many-columns">
      <div class="line apart">
        <p class="soft">API keys authenticate programs and people. Revoke a lost or leaked key and create a new one.</p>
        <div class="line">
          <CopyAsCurl path={path} />
          <Button look="main" icon="key" changes onClick={() => setDialog('make')}>
            Create key
          </Button>
        </div>
      </div>
      <Answered answer={answer}>
        {(keys) => (
          <>
            <ExpiringKeys keys={keys} />
            <DataTable
              caption="API keys"
              columns={columnsOf(setRotating, setRevoking)}
              rows={keys}
              idOf={({ id }) => id}
            />
            <p class="soft">{counted(keys.length, 'key')}</p>
          </>
        )}
      </Answered>
      {dialog === 'make' && (
        <Dialog title="Create key" onClose={close}>
          <KeyForm onMade={setDialog} onCancel={close} />
        </Dialog>
      )}
      {dialog !== null && dialog !== 'make' && (
        <Dialog key="made" title="Key created" onClose={close}>
          <Once what="Key" text={dialog.key} onClose={close}>
            <p>
              <bdi>{dialog.name}</bdi> {explainAccess(dialog.access)}. Public key of the pair:{' '}
              <code>{dialog.public_key}</code>.
            </p>
          </Once>
        </Dialog>
      )}
      {rotating !== null && (
        <RotateKey
          of={rotating}
          onMade={(made) => {
            setRotating(null);
            setDialog(made);
          }}
          onClose={() => setRotating(null)}
        />
      )}
      {revoking !== null && <RevokeKey of={revoking} onClose={() => setRevoking(null)} />}
    </div>
  );
}

function columnsOf(rotate: (key: ApiKeyRead) => void, revoke: (key: ApiKeyRead) => void): Column<ApiKeyRead>[] {
  return [
    {
      name: 'name',
      label: 'Name',
      cell: ({ id, name }) => (
        <>
          <bdi>{name}</bdi> {id === whoami.value?.key.id && <span class="badge">used by your session</span>}
        </>
      ),
      full: ({ name }) => name,
    },
    {
      name: 'user',
      label: 'User',
      named: true,
      cell: ({ user_name }) => <bdi>{user_name}</bdi>,
      full: ({ user_name }) => user_name,
    },
    {
      name: 'access',
      label: 'Access',
      cell: ({ access, scopes }) => (
        <span title={scopes.join(', ')}>{access === 'custom' ? counted(scopes.length, 'scope') : access}</span>
      ),
      full: ({ scopes }) => scopes.join(', '),
    },
    { name: 'prefix', label: 'Prefix', cell: ({ prefix }) => <code>{prefix}</code> },
    { name: 'made', label: 'Created', named: true, cell: ({ created_at }) => <When at={created_at} /> },
    {
      name: 'used',
      label: 'Last used',
      named: true,
      cell: ({ last_used_at: used, last_used_from: from }) =>
        used === null ? (
          'never'
        ) : (
          <>
            <When at={used} relative />
            {from !== null && (
              <>
                {' '}
                from <code>{from}</code>
              </>
            )}
          </>
        ),
    },
    { name: 'expires', label: 'Expires', named: true, cell: (key) => <KeyExpiry of={key} /> },
    {
      name: 'actions',
      label: 'Actions',
      cell: (key) => (
        <span class="actions">
          <Button
            look="quiet"
            icon="refresh"
            changes
            label={`Rotate ${key.name}`}
            refused={
              hasExpired(key.expires_at)
                ? 'The key has expired'
                : key.rotated_at !== null
                  ? 'The key was rotated already'
                  : null
            }
            onClick={() => rotate(key)}
          />
          <Button look="quiet" icon="trash" changes label={`Revoke ${key.name}`} onClick={() => revoke(key)} />
        </span>
      ),
    },
  ];
}
