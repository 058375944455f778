import type { ApiKeyRead } from '../../../../features/api-keys/http/schema.js';
import { counted } from '../../../model/format.js';
import { Ending } from '../../parts/ending.js';
import { When } from '../../parts/figures.js';
import { Answered } from '../../parts/states.js';
import { ofProject } from '../../state/api.js';
import { changedAt } from '../../state/query.js';
import { whoami } from '../../state/session.js';
import { useSignIns } from './sign-ins.js';

interface RevokeKeyProps {
  readonly of: ApiKeyRead;
  readonly onClose: () => void;
}

/** Asks whether a key may be revoked, naming what ends with it. */
export function RevokeKey({ of: { id, name, last_used_at: used }, onClose }: RevokeKeyProps) {
  const signIns = useSignIns();
  const done = () => Promise.all([changedAt(ofProject('/api-keys')), changedAt(ofProject('/sign-ins'))]).then(() => {});
  return (
    <Ending
      title="Revoke this key?"
      action="Revoke key"
      path={ofProject(`/api-keys/${id}`)}
      done="Key revoked"
      onDone={done}
      onClose={onClose}
    >
      <p>
        Requests with <bdi>{name}</bdi> are rejected immediately and permanently.{' '}
        {used === null ? (
          'It has never been used.'
        ) : (
          <>
            Last used <When at={used} relative />.
          </>
        )}
      </p>
      {id === whoami.value?.key.id && <p class="hint">Your session uses this key: you will be signed out.</p>}
      <Answered answer={signIns} rows={1}>
        {(all) => {
          const ending = all.filter(({ key }) => key.id === id);
          if (ending.length === 0) return <p>No active sessions use it.</p>;
          const names = [...new Set(ending.map(({ user }) => user.name))];
          return (
            <div>
              {counted(ending.length, 'session ends', 'sessions end')} with it:
              <ul class="named">
                {names.map((each) => (
                  <li key={each}>
                    <bdi>{each}</bdi>
                  </li>
                ))}
              </ul>
            </div>
          );
        }}
      </Answered>
    </Ending>
  );
}
