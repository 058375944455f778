import { useState } from 'preact/hooks';
import type { SessionRead } from '../../../../engine/traces/model/list/fields.js';
import { count, counted } from '../../../model/format.js';
import { Button } from '../../parts/button.js';
import { CopyAsCurl, CopyButton } from '../../parts/copy.js';
import { Ending } from '../../parts/ending.js';
import { Cost, Tile, Took, When } from '../../parts/figures.js';
import { HeadingBelow } from '../../parts/heading-below.js';
import { Status } from '../../parts/kind.js';
import { leaveDeleted } from '../../state/deleted.js';
import { hrefOf } from '../../state/location.js';
import { TagChips } from '../trace/tag-chips.js';

/** What a session is and cost, and what can be done with it. */
export function SessionHead({ session }: { readonly session: SessionRead }) {
  const { id, name, has_error, trace_count, error_count, cost, duration, started_at, ended_at, tags } = session;
  const list = (screen: string, query: Readonly<Record<string, string>> = {}) =>
    hrefOf({ screen, query: { session_id: id, range: 'all', ...query } });
  return (
    <header class="stack">
      <div class="screen-head">
        <div class="line">
          <HeadingBelow screen="sessions" label="Sessions" name={name ?? 'Unnamed session'} />
          <Status error={has_error} />
        </div>
        <div class="line">
          <code>{id.slice(0, 8)}…</code>
          <CopyButton text={id} what="Session ID" />
          <CopyAsCurl path={`/sessions/${id}`} />
          <DeleteSession session={session} />
        </div>
      </div>
      <div class="tiles">
        <Tile label="Turns" href={list('traces')}>
          {count(trace_count)}
        </Tile>
        <Tile label="Errors" href={list('spans', { has_error: 'true' })}>
          {count(error_count)}
        </Tile>
        <Tile label="Cost">
          <Cost of={cost} />
        </Tile>
        <Tile label="Total turn duration">
          <Took ms={duration} />
        </Tile>
        <Tile label="Started" note={ended_at === null ? undefined : <>last ended {<When at={ended_at} />}</>}>
          <When at={started_at} relative />
        </Tile>
      </div>
      <TagChips tags={tags} screen="sessions" />
    </header>
  );
}

function DeleteSession({ session: { id, name, trace_count } }: { readonly session: SessionRead }) {
  const [asking, setAsking] = useState(false);
  const gone = () => leaveDeleted({ id, to: { screen: 'sessions' } });
  return (
    <>
      <Button look="quiet" icon="trash" label="Delete session" changes onClick={() => setAsking(true)} />
      {asking && (
        <Ending
          title="Delete this session?"
          action="Delete session"
          path={`/sessions/${id}`}
          done="Session deleted"
          onDone={gone}
          onClose={() => setAsking(false)}
        >
          <p>
            <bdi>{name ?? id}</bdi> is deleted with its {counted(trace_count, 'trace')}, their spans, scores,
            evaluations and feedback. This cannot be undone.
          </p>
        </Ending>
      )}
    </>
  );
}
