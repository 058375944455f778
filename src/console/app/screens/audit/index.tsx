import type { AuditEntryRead } from '../../../../features/audit/schema.js';
import { auditChange, auditObject, auditWho } from '../../../model/audit.js';
import { counted } from '../../../model/format.js';
import { CopyAsCurl } from '../../parts/copy.js';
import { DataTable, type Column } from '../../parts/data-table.js';
import { DownloadMenu } from '../../parts/download-menu.js';
import { When } from '../../parts/figures.js';
import { Answered, Empty } from '../../parts/states.js';
import { call } from '../../state/api.js';
import { hrefWith, place } from '../../state/location.js';
import { useQuery } from '../../state/query.js';
import { AuditFilters } from './filters.js';

const LIMIT = 100;
/** What the address may ask for, by the names of the API. */
const FILTERS = ['action', 'actor', 'actor_id', 'object_type', 'object_id', 'start_date', 'end_date'] as const;

/** Who did what in the project, and when. */
export default function Audit() {
  const { query: given } = place.value;
  const offset = Number(given.get('offset') ?? 0) || 0;
  const asked = FILTERS.map((name): [string, string] => [name, given.get(name) ?? '']).filter(
    ([, value]) => value !== '',
  );
  const filters = Object.fromEntries(asked);
  // The server refuses what it does not know.
  const query = { ...filters, limit: LIMIT, offset };
  const answer = useQuery({
    key: ['/audit', query],
    ask: (signal) => call('GET /audit', { query, signal }),
  });
  return (
    <div class="stack">
      <header class="screen-head">
        <h1>Audit log</h1>
        <div class="line">
          <CopyAsCurl path="/audit" query={query} />
          <DownloadMenu path="/audit:export" query={new URLSearchParams(asked)} label="Export" />
        </div>
      </header>
      <p class="soft">Who did what in this project. It has names and IDs, never the contents of prompts or spans.</p>
      <AuditFilters />
      <Answered answer={answer}>
        {({ entries, total }) =>
          entries.length === 0 && offset === 0 ? (
            <Empty title="No entries">
              <p>No entries match these filters, or the server no longer keeps them.</p>
            </Empty>
          ) : (
            <Entries entries={entries} total={total} offset={offset} />
          )
        }
      </Answered>
    </div>
  );
}

interface Page {
  readonly entries: readonly AuditEntryRead[];
  readonly total: number;
  readonly offset: number;
}

function Entries({ entries, total, offset }: Page) {
  return (
    <div class="stack">
      <DataTable caption="Audit log" columns={COLUMNS} rows={entries} idOf={({ number }) => String(number)} />
      <p class="line soft">
        {counted(total, 'entry', 'entries')}
        {offset > 0 && <a href={hrefWith({ offset: offset <= LIMIT ? null : String(offset - LIMIT) })}>Newer</a>}
        {offset + entries.length < total && <a href={hrefWith({ offset: String(offset + LIMIT) })}>Older</a>}
      </p>
    </div>
  );
}

const COLUMNS: Column<AuditEntryRead>[] = [
  { name: 'at', label: 'Time', cell: ({ created_at }) => <When at={created_at} /> },
  {
    name: 'who',
    label: 'Who',
    cell: (entry) => <Only by={{ actor_id: entry.user_id ?? entry.key_id }}>{auditWho(entry)}</Only>,
  },
  {
    name: 'action',
    label: 'Action',
    named: true,
    cell: ({ action }) => (
      <Only by={{ action }}>
        <code>{action}</code>
      </Only>
    ),
  },
  {
    name: 'object',
    label: 'Object',
    named: true,
    cell: (entry) => <Only by={{ object_id: entry.object_id }}>{auditObject(entry)}</Only>,
  },
  {
    name: 'changes',
    label: 'Changes',
    named: true,
    cell: ({ changes }) => <bdi>{changes.map(auditChange).join(', ')}</bdi>,
    full: ({ changes }) => changes.map(auditChange).join('\n'),
  },
  { name: 'address', label: 'Address', named: true, cell: ({ address }) => <bdi>{address ?? ''}</bdi> },
];

/** Shows only the entries that have the same. */
function Only({
  by,
  children,
}: {
  readonly by: Record<string, string | null>;
  readonly children: preact.ComponentChildren;
}) {
  if (Object.values(by).includes(null)) return <bdi>{children}</bdi>;
  return (
    <a href={hrefWith({ ...by, offset: null })}>
      <bdi>{children}</bdi>
    </a>
  );
}
