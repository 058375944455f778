import type { Static } from '@sinclair/typebox';
import type { StorageRead } from '../../../../../transport/http/routes/projects/schema.js';
import { bytes, count, percent } from '../../../model/format.js';
import { CopyAsCurl } from '../../parts/copy.js';
import { Tile, When } from '../../parts/figures.js';
import { Answered } from '../../parts/states.js';
import { call, ofProject } from '../../state/api.js';
import { hrefOf } from '../../state/location.js';
import { useQuery } from '../../state/query.js';

type Stored = Static<typeof StorageRead>;

/** What the project stores, and the room that is left. */
export function Storage() {
  const path = ofProject('/storage');
  const answer = useQuery({ key: [path], ask: (signal) => call<Stored>(path, { signal }) });
  return (
    <section class="stack" aria-labelledby="storage">
      <div class="line apart">
        <h2 id="storage">Storage</h2>
        <CopyAsCurl path={path} />
      </div>
      <Answered answer={answer} rows={4}>
        {(stored) => (
          <>
            <Tiles {...stored} />
            <Disk {...stored.server} />
          </>
        )}
      </Answered>
    </section>
  );
}

function Tiles({ spans, traces, sessions, attachments }: Stored) {
  const all = (screen: string) => hrefOf({ screen, query: { range: 'all', internal: 'true' } });
  return (
    <>
      <div class="tiles">
        <Tile
          label="Spans"
          href={all('spans')}
          note={`about ${bytes(spans.estimated_bytes)}, by their share of all rows`}
        >
          {count(spans.count)}
        </Tile>
        <Tile label="Traces" href={all('traces')}>
          {count(traces.count)}
        </Tile>
        <Tile label="Sessions" href={all('sessions')}>
          {count(sessions.count)}
        </Tile>
        <Tile label="Images" note={bytes(attachments.bytes)}>
          {count(attachments.count)}
        </Tile>
      </div>
      <p>
        {spans.oldest_started_at !== null && (
          <>
            The oldest span started <When at={spans.oldest_started_at} />.{' '}
          </>
        )}
        The counts include the server’s own calls of models.
      </p>
    </>
  );
}

function Disk({ embedded, database_bytes: spans, sqlite_bytes: sqlite, disk }: Stored['server']) {
  if (disk === null)
    return (
      <p>
        Spans are stored by {embedded ? 'this server' : 'another ClickHouse'}: {bytes(spans)} of all projects; SQLite
        has {bytes(sqlite)}.
      </p>
    );
  const { free_bytes: free, total_bytes: total } = disk;
  const other = Math.max(0, total - free - spans - sqlite);
  const parts = [
    { look: '1', label: 'spans of all projects', size: spans },
    { look: '3', label: 'SQLite of all projects', size: sqlite },
    { look: '8', label: 'other things', size: other },
    { look: 'free', label: 'free', size: free },
  ];
  return (
    <div class="stack">
      <h3>
        Disk of <code>DATA_DIR</code>: {bytes(free)} free of {bytes(total)}
      </h3>
      <div class="share" aria-hidden="true">
        {parts.map(({ look, size }) => (
          <span key={look} class={`look-${look}`} style={{ flexGrow: size }} />
        ))}
      </div>
      <ul class="line legend">
        {parts.map(({ look, label, size }) => (
          <li key={look} class="line">
            <span class={`swatch look-${look}`} /> {label}: {bytes(size)} ({percent(total === 0 ? null : size / total)})
          </li>
        ))}
      </ul>
    </div>
  );
}
