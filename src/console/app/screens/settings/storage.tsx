import type { Static } from '@sinclair/typebox';
import type { StorageRead } from '../../../../features/projects/http/schema.js';
import { bytes, count, percent } from '../../../model/format.js';
import { CopyAsCurl } from '../../parts/copy.js';
import { Tile, When } from '../../parts/figures.js';
import { Answered } from '../../parts/states.js';
import { call, ofProject } from '../../state/api.js';
import { hrefOf } from '../../state/location.js';
import { useQuery } from '../../state/query.js';

type Stored = Static<typeof StorageRead>;
type OnDisk = Stored['server']['disks'][number];

/** What the project stores, and the room that is left. */
export function Storage() {
  const path = ofProject('/storage');
  const answer = useQuery({ key: [path], ask: (signal) => call('GET /projects/:project_id/storage', { signal }) });
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
            {stored.server.disks.map((disk) => (
              <Disk key={disk.name} disk={disk} stored={stored.server.stored_bytes} />
            ))}
            <p>Disk sizes cover all projects together.</p>
          </>
        )}
      </Answered>
    </section>
  );
}

function Tiles({ spans, traces, sessions, attachments }: Stored) {
  const all = (screen: string) => hrefOf({ screen, query: { range: 'all', internal: 'true', experiments: 'true' } });
  return (
    <>
      <div class="tiles">
        <Tile label="Spans" href={all('spans')} note={`about ${bytes(spans.estimated_bytes)}, by share of all rows`}>
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
        Counts include the server’s internal model calls and experiments.
      </p>
    </>
  );
}

type Kind = keyof Stored['server']['stored_bytes'];

/** What lies on disks, and how each is drawn. */
const KINDS: Readonly<Record<Kind, { readonly look: string; readonly label: string }>> = {
  spans: { look: '1', label: 'spans' },
  rollups: { look: '2', label: 'trace and session metrics' },
  words: { look: '4', label: 'search index' },
  attachments: { look: '5', label: 'images' },
  sqlite: { look: '3', label: 'SQLite' },
};

const DISKS: Readonly<Record<string, string>> = { data: 'DATA_DIR', clickhouse: 'ClickHouse', attachments: 'images' };

/** A disk, with what all projects together have on it. */
function Disk({ disk, stored }: { readonly disk: OnDisk; readonly stored: Stored['server']['stored_bytes'] }) {
  const { name, holds, free_bytes: free, total_bytes: total } = disk;
  const held = holds.map((kind) => ({ ...KINDS[kind], size: stored[kind] }));
  const other = Math.max(0, total - free - held.reduce((sum, { size }) => sum + size, 0));
  const parts = [
    ...held,
    { look: '8', label: 'other files', size: other },
    { look: 'free', label: 'free', size: free },
  ];
  return (
    <div class="stack">
      <h3>
        Disk of <code>{DISKS[name] ?? name}</code>: {bytes(free)} free of {bytes(total)}
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
      <Outlook {...disk} />
    </div>
  );
}

function Outlook({ free_bytes: free, min_free_bytes: least, grows_bytes_per_day: pace, days_left: days }: OnDisk) {
  const refused = free < least;
  return (
    <p class={refused ? 'line bad' : undefined}>
      {least > 0 &&
        (refused
          ? `Spans are rejected until a tenth more than ${bytes(least)} is free. `
          : `${bytes(least)} are reserved. `)}
      {pace === null && 'The growth rate is known after the server has run for one hour.'}
      {pace !== null && days === null && 'Stored data is not growing.'}
      {days !== null && `Grows by ${bytes(pace)} per day: spans will be rejected in ${count(days)} days.`}
    </p>
  );
}
