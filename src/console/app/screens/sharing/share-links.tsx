import { useState } from 'preact/hooks';
import type { ShareLinkRead } from '../../../../features/sharing/schema.js';
import { counted, NOTHING } from '../../../model/format.js';
import { linkState } from '../../../model/link-state.js';
import { Button } from '../../parts/button.js';
import { DataTable, type Column } from '../../parts/data-table.js';
import { Ending } from '../../parts/ending.js';
import { When } from '../../parts/figures.js';
import { Answered } from '../../parts/states.js';
import { call, ofProject } from '../../state/api.js';
import { hrefOf } from '../../state/location.js';
import { changedAt, useQuery } from '../../state/query.js';
import { LinkStateBadge } from '../links/link-state-badge.js';
import { PART_NAMES } from './part-names.js';

/** How many are listed: the newest. */
const LIMIT = 100;

/** Links that share a trace, or any of the project, with what became of them. @param traceId absent: any */
export function ShareLinks({ traceId }: { readonly traceId?: string }) {
  const [revoking, setRevoking] = useState<ShareLinkRead | null>(null);
  const path = ofProject('/share-links');
  const query = { limit: LIMIT, ...(traceId !== undefined && { trace_id: traceId }) };
  const answer = useQuery({
    key: [path, query],
    ask: (signal) => call('GET /projects/:project_id/share-links', { query, signal }),
  });
  return (
    <Answered answer={answer} rows={2}>
      {(links) => (
        <>
          {links.length === 0 ? (
            <p class="soft">No share links{traceId === undefined ? ' in this project' : ''}.</p>
          ) : (
            <DataTable
              caption="Share links"
              columns={columnsOf(traceId === undefined, setRevoking)}
              rows={links}
              idOf={({ id }) => id}
            />
          )}
          {links.length === LIMIT && <p class="soft small">Showing the newest {LIMIT}.</p>}
          {revoking !== null && (
            <Ending
              title="Revoke this link?"
              action="Revoke link"
              path={ofProject(`/share-links/${revoking.id}`)}
              done="Link revoked"
              onDone={() => changedAt(path)}
              onClose={() => setRevoking(null)}
            >
              <p>Its URL stops working immediately for everyone who has it. This cannot be undone.</p>
            </Ending>
          )}
        </>
      )}
    </Answered>
  );
}

function columnsOf(isOfProject: boolean, revoke: (link: ShareLinkRead) => void): Column<ShareLinkRead>[] {
  const trace: Column<ShareLinkRead> = {
    name: 'trace',
    label: 'Trace',
    cell: ({ trace_id }) => (
      <a href={hrefOf({ screen: 'traces', id: trace_id })}>
        <code>{trace_id.slice(0, 8)}…</code>
      </a>
    ),
  };
  return [
    ...(isOfProject ? [trace] : []),
    { name: 'state', label: 'State', cell: (link) => <LinkStateBadge link={link} /> },
    {
      name: 'ends',
      label: 'Expires or revoked',
      named: true,
      cell: (link) => <When at={link.revoked_at ?? link.expires_at} relative />,
    },
    { name: 'by', label: 'Created by', named: true, cell: ({ created_by }) => <bdi>{created_by.name}</bdi> },
    {
      name: 'left',
      label: 'Left out',
      named: true,
      cell: ({ left_out }) => left_out.map((part) => PART_NAMES[part]).join(', ') || NOTHING,
    },
    {
      name: 'uses',
      label: 'Opened',
      named: true,
      cell: ({ uses, last_used_at }) =>
        uses === 0 ? (
          'never'
        ) : (
          <>
            {counted(uses, 'time')}, last <When at={last_used_at} relative />
          </>
        ),
    },
    {
      name: 'actions',
      label: 'Actions',
      cell: (link) => (
        <Button
          look="quiet"
          icon="trash"
          changes="shares:write"
          label="Revoke link"
          refused={linkState(link) === 'open' ? null : `Already ${linkState(link)}`}
          onClick={() => revoke(link)}
        />
      ),
    },
  ];
}
