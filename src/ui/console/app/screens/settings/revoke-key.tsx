import type { ApiKeyRead } from '../../../../../transport/http/routes/api-keys/schema.js';
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
      action="Revoke the key"
      path={ofProject(`/api-keys/${id}`)}
      done="The key is revoked"
      onDone={done}
      onClose={onClose}
    >
      <p>
        Every program that uses <bdi>{name}</bdi> is refused from its next request on, for good.{' '}
        {used === null ? (
          'Nothing has used it yet.'
        ) : (
          <>
            It was last used <When at={used} relative />.
          </>
        )}
      </p>
      {id === whoami.value?.key.id && <p class="hint">You are signed in by this key: you will be signed out.</p>}
      <Answered answer={signIns} rows={1}>
        {(all) => {
          const ending = all.filter(({ key }) => key.id === id);
          if (ending.length === 0) return <p>Nobody is signed in by it.</p>;
          const names = [...new Set(ending.map(({ user }) => user.name))];
          return (
            <div>
              {counted(ending.length, 'sign-in ends', 'sign-ins end')} with it, of:
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
