import { linkTopic } from '../../../model/link-topic.js';
import { useState } from 'preact/hooks';
import type { ListedFeedbackRead } from '../../../../features/feedback/list-schema.js';
import { counted, NOTHING } from '../../../model/format.js';
import { linkState } from '../../../model/link-state.js';
import { Button } from '../../parts/button.js';
import { CopyAsCurl } from '../../parts/copy.js';
import { DataTable, type Column } from '../../parts/data-table.js';
import { When } from '../../parts/figures.js';
import { HeadingBelow } from '../../parts/heading-below.js';
import { Pager } from '../../parts/pager.js';
import { Answered, Empty } from '../../parts/states.js';
import { call, pathOf } from '../../state/api.js';
import { hrefOf, place } from '../../state/location.js';
import { useQuery } from '../../state/query.js';
import { ChangeLink } from './change-link.js';
import { useLinkFeedback } from './feedback-query.js';
import { LinkStateBadge } from './link-state-badge.js';
import { RevokeLink } from './revoke-link.js';

const LIMIT = 50;

/** One link, and all that reviewers said by it. */
export function LinkFeedback({ id }: { readonly id: string }) {
  const [revoking, setRevoking] = useState(false);
  const [changing, setChanging] = useState(false);
  const params = { link_id: id };
  const answer = useQuery({
    key: ['/feedback-links', id],
    ask: (signal) => call('GET /feedback-links/:link_id', { params, signal }),
    keep: false,
  });
  const offset = Number(place.value.query.get('offset') ?? 0) || 0;
  const query = { include: 'completion', limit: LIMIT, offset };
  const feedback = useLinkFeedback(id, query);
  return (
    <div class="stack links many-columns">
      <Answered answer={answer} rows={2} isPage>
        {(link) => (
          <>
            <header class="screen-head">
              <div class="line">
                <HeadingBelow screen="links" label="Feedback links" name={linkTopic(link)}>
                  Feedback on <bdi>{linkTopic(link)}</bdi>
                </HeadingBelow>
              </div>
              <div class="line">
                <CopyAsCurl path={pathOf('GET /feedback-links/:link_id/feedback', { params })} query={query} />
                <Button
                  icon="edit"
                  changes
                  refused={link.revoked_at === null ? null : 'Already revoked'}
                  onClick={() => setChanging(true)}
                >
                  Change expiry
                </Button>
                <Button
                  look="quiet"
                  icon="trash"
                  changes
                  refused={linkState(link) === 'open' ? null : `Already ${linkState(link)}`}
                  onClick={() => setRevoking(true)}
                >
                  Revoke
                </Button>
              </div>
            </header>
            <p class="line">
              <LinkStateBadge link={link} />
              <span>
                Created <When at={link.created_at} /> by <bdi>{link.created_by.name}</bdi>, {ENDED[linkState(link)]}{' '}
                <When at={link.revoked_at ?? link.expires_at} />, {counted(link.reviewer_count, 'reviewer')}
              </span>
            </p>
            {changing && <ChangeLink link={link} onClose={() => setChanging(false)} />}
            {revoking && <RevokeLink link={link} onClose={() => setRevoking(false)} />}
          </>
        )}
      </Answered>
      {answer.error === null && (
        <Answered answer={feedback}>
          {({ feedback: rows, total }) =>
            total === 0 ? (
              <Empty title="No feedback from this link yet">
                <p>Feedback appears here as soon as a reviewer submits it.</p>
              </Empty>
            ) : (
              <>
                <DataTable
                  caption="Feedback from this link"
                  columns={COLUMNS}
                  rows={rows}
                  idOf={({ id: feedbackId }) => feedbackId}
                />
                <Pager offset={offset} limit={LIMIT} shown={rows.length} total={total} />
              </>
            )
          }
        </Answered>
      )}
    </div>
  );
}

const ENDED = { open: 'expires', expired: 'expired', revoked: 'revoked' } as const;

const COLUMNS: readonly Column<ListedFeedbackRead>[] = [
  {
    name: 'completion',
    label: 'Completion',
    cell: ({ completion, completion_id }) => <Completion completion={completion} id={completion_id} />,
    full: ({ completion }) => completion?.output_data ?? undefined,
  },
  {
    name: 'thumb',
    label: 'Verdict',
    cell: ({ thumbs_up }) => <span class={`badge ${thumbs_up ? 'good' : 'bad'}`}>{thumbs_up ? 'good' : 'bad'}</span>,
  },
  { name: 'by', label: 'Reviewer', cell: ({ created_by }) => <bdi>{created_by.name}</bdi> },
  { name: 'when', label: 'Submitted', named: true, cell: ({ created_at }) => <When at={created_at} /> },
  {
    name: 'reason',
    label: 'Reason',
    named: true,
    cell: ({ reason }) => <Text of={reason} />,
    full: ({ reason }) => reason ?? '',
  },
  {
    name: 'expected',
    label: 'Expected output',
    named: true,
    cell: ({ expected_output }) => <Text of={expected_output} />,
    full: ({ expected_output }) => expected_output ?? '',
  },
  {
    name: 'version',
    label: 'Version',
    named: true,
    figure: true,
    cell: ({ prompt_version }) => prompt_version ?? NOTHING,
  },
];

function Text({ of }: { readonly of: string | null }) {
  return of === null ? <>{NOTHING}</> : <bdi>{of}</bdi>;
}

function Completion({
  completion,
  id,
}: {
  readonly completion: ListedFeedbackRead['completion'];
  readonly id: string;
}) {
  if (completion == null) return <span title={id}>span not found</span>;
  return (
    <a href={hrefOf({ screen: 'traces', id: completion.trace_id, query: { span: id } })}>
      <bdi>{completion.output_data?.slice(0, 200) ?? completion.name}</bdi>
    </a>
  );
}
