import { Button } from '../../parts/button.js';
import { Failure, Answered } from '../../parts/states.js';
import { useAction } from '../../state/action.js';
import { announce } from '../../state/announce.js';
import { call, ofProject } from '../../state/api.js';
import { changedAt, useQuery } from '../../state/query.js';
import { ShareLinks } from './share-links.js';

/** Whether traces of the project can be shared by links, and the links that there are. */
export function SharingSettings() {
  const path = ofProject('/sharing');
  const { busy, failure, run } = useAction();
  const answer = useQuery({
    key: [path],
    ask: (signal) => call('GET /projects/:project_id/sharing', { signal }),
  });
  const set = async (allowed: boolean) => {
    await call('PUT /projects/:project_id/sharing', { body: { allowed } });
    announce(allowed ? 'Share links allowed' : 'Share links switched off');
    await changedAt(path);
  };
  return (
    <section class="stack" aria-labelledby="sharing">
      <h2 id="sharing">Share links</h2>
      <Answered answer={answer} rows={1}>
        {({ allowed }) => (
          <div class="line">
            <span>
              {allowed
                ? 'Members can share single traces with people who have no account.'
                : 'Share links are off: existing links do not work, and no one can create new ones. Links are not revoked.'}
            </span>
            <Button changes="admin" busy={busy} onClick={() => run(() => set(!allowed))}>
              {allowed ? 'Switch off share links' : 'Allow share links'}
            </Button>
          </div>
        )}
      </Answered>
      {failure !== null && <Failure error={failure} />}
      <ShareLinks />
    </section>
  );
}
