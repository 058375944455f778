import type { OwnSessionRead } from '../../../../features/sign-in/http/schema.js';
import { Button } from '../../parts/button.js';
import { DataTable, type Column } from '../../parts/data-table.js';
import { When } from '../../parts/figures.js';
import { Answered, Failure } from '../../parts/states.js';
import { useAction } from '../../state/action.js';
import { announce } from '../../state/announce.js';
import { call } from '../../state/api.js';
import { changedAt, useQuery } from '../../state/query.js';

const PATH = '/console/sessions';

/** Where the signed-in person is signed in. */
export function OwnSessions() {
  const answer = useQuery({ key: [PATH], ask: (signal) => call('GET /console/sessions', { signal }) });
  const { busy, failure, run } = useAction();
  const end = (session: OwnSessionRead | null) =>
    run(async () => {
      if (session === null) await call('DELETE /console/sessions');
      else await call('DELETE /console/sessions/:sign_in_id', { params: { sign_in_id: session.id } });
      announce(session === null ? 'Other sessions ended' : 'Session ended');
      await changedAt(PATH);
    });
  return (
    <>
      <h2>Your sessions</h2>
      <p class="soft">Browsers in which you are signed in, to any project. End those that you do not know.</p>
      {failure !== null && <Failure error={failure} />}
      <Answered answer={answer}>
        {(sessions) => (
          <>
            <DataTable caption="Your sessions" columns={columnsOf(end)} rows={sessions} idOf={({ id }) => id} />
            <div class="line">
              <Button
                icon="sign-out"
                busy={busy}
                refused={sessions.some(({ current }) => !current) ? null : 'There is no other session'}
                onClick={() => end(null)}
              >
                End all other sessions
              </Button>
            </div>
          </>
        )}
      </Answered>
    </>
  );
}

function columnsOf(end: (session: OwnSessionRead) => void): Column<OwnSessionRead>[] {
  return [
    {
      name: 'browser',
      label: 'Browser',
      cell: ({ browser, current }) => (
        <>
          {browser ?? 'Unknown'} {current && <span class="badge">this browser</span>}
        </>
      ),
    },
    { name: 'address', label: 'Address', named: true, cell: ({ address }) => <code>{address ?? 'unknown'}</code> },
    {
      name: 'used',
      label: 'Last seen',
      named: true,
      cell: ({ last_used_at, created_at }) => <When at={last_used_at ?? created_at} relative />,
    },
    { name: 'since', label: 'Since', named: true, cell: ({ created_at }) => <When at={created_at} /> },
    {
      name: 'projects',
      label: 'Projects',
      named: true,
      cell: ({ projects }) => <bdi>{projects.map(({ name }) => name).join(', ')}</bdi>,
    },
    {
      name: 'actions',
      label: 'Actions',
      cell: (session) => (
        <Button
          look="quiet"
          icon="sign-out"
          label={session.current ? 'Sign out here' : `End the session of ${session.browser ?? 'an unknown browser'}`}
          onClick={() => end(session)}
        />
      ),
    },
  ];
}
