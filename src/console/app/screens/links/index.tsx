import { linkTopic } from '../../../model/link-topic.js';
import { useState } from 'preact/hooks';
import type { ListedLinkRead } from '../../../../features/review/http/schema.js';
import { counted } from '../../../model/format.js';
import { linkState } from '../../../model/link-state.js';
import type { ScreenProps } from '../../frame/screen-props.js';
import { Button } from '../../parts/button.js';
import { CopyAsCurl } from '../../parts/copy.js';
import { DataTable, type Column } from '../../parts/data-table.js';
import { When } from '../../parts/figures.js';
import { Icon } from '../../parts/icon.js';
import { Answered, Empty } from '../../parts/states.js';
import { call } from '../../state/api.js';
import { hrefOf, hrefWith, place } from '../../state/location.js';
import { useQuery } from '../../state/query.js';
import { whoami } from '../../state/session.js';
import { ChangeLink } from './change-link.js';
import { FeedbackCount } from './feedback-count.js';
import { LinkFeedback } from './link-feedback.js';
import { LinkStateBadge } from './link-state-badge.js';
import { MakeLink } from './make-link.js';
import { RevokeLink } from './revoke-link.js';

const LIMIT = 50;

/** Feedback links: who may review what, until when, and what came of it. */
export default function Links({ id }: ScreenProps) {
  return id === null ? <LinkList /> : <LinkFeedback id={id} />;
}

function LinkList() {
  const [making, setMaking] = useState(false);
  const offset = Number(place.value.query.get('offset') ?? 0) || 0;
  // One more than is shown says whether there are others.
  const query = { limit: LIMIT + 1, offset };
  const answer = useQuery({
    key: ['/feedback-links', query],
    ask: (signal) => call('GET /feedback-links', { query, signal }),
  });
  return (
    <div class="stack links">
      <header class="screen-head">
        <h1>Feedback links</h1>
        <div class="line">
          <CopyAsCurl path="/feedback-links" query={{ limit: LIMIT, offset }} />
          <Button look="main" icon="plus" changes onClick={() => setMaking(true)}>
            Create link
          </Button>
        </div>
      </header>
      <p class="soft">Anyone with the link can review the newest completions of a prompt, without an account.</p>
      {whoami.value?.capabilities.public_url === false && (
        <p class="hint">
          <Icon name="warning" /> <code>PUBLIC_URL</code> is not set: links may work only on the server’s own machine.
          Set it to the address that others use.
        </p>
      )}
      <Answered answer={answer}>{(links) => <Page links={links} offset={offset} />}</Answered>
      {making && <MakeLink onClose={() => setMaking(false)} />}
    </div>
  );
}

function Page({ links, offset }: { readonly links: readonly ListedLinkRead[]; readonly offset: number }) {
  const [acting, setActing] = useState<{ readonly on: ListedLinkRead; readonly by: LinkAction } | null>(null);
  const close = () => setActing(null);
  const shown = links.slice(0, LIMIT);
  if (shown.length === 0 && offset === 0)
    return (
      <Empty title="No feedback links yet">
        <p>
          Create one for a <a href={hrefOf({ screen: 'prompts' })}>prompt</a>, and send it to someone who knows what
          good answers look like.
        </p>
      </Empty>
    );
  return (
    <div class="stack">
      <DataTable
        caption="Feedback links"
        columns={columnsOf((on, by) => setActing({ on, by }))}
        rows={shown}
        idOf={({ id }) => id}
        hrefOf={({ id }) => hrefOf({ screen: 'links', id })}
      />
      <p class="line soft">
        {offset > 0 ? `Links ${offset + 1} to ${offset + shown.length}` : counted(shown.length, 'link')}
        {offset > 0 && <a href={hrefWith({ offset: offset <= LIMIT ? null : String(offset - LIMIT) })}>Newer links</a>}
        {links.length > LIMIT && (
          <>
            , more: <a href={hrefWith({ offset: String(offset + LIMIT) })}>Older links</a>
          </>
        )}
      </p>
      {acting?.by === 'change' && <ChangeLink link={acting.on} onClose={close} />}
      {acting?.by === 'revoke' && <RevokeLink link={acting.on} onClose={close} />}
    </div>
  );
}

type LinkAction = 'change' | 'revoke';

function columnsOf(act: (on: ListedLinkRead, by: LinkAction) => void): Column<ListedLinkRead>[] {
  return [
    { name: 'prompt', label: 'Prompt', cell: (link) => <bdi>{linkTopic(link)}</bdi> },
    { name: 'state', label: 'State', cell: (link) => <LinkStateBadge link={link} /> },
    {
      name: 'ends',
      label: 'Ends',
      named: true,
      cell: (link) => <When at={link.revoked_at ?? link.expires_at} relative />,
    },
    { name: 'made', label: 'Created', named: true, cell: ({ created_at }) => <When at={created_at} /> },
    { name: 'by', label: 'Created by', named: true, cell: ({ created_by }) => <bdi>{created_by.name}</bdi> },
    {
      name: 'reviewers',
      label: 'Reviewers',
      figure: true,
      cell: ({ reviewer_count: reviewers }) => counted(reviewers, 'reviewer'),
    },
    { name: 'feedback', label: 'Feedback', named: true, figure: true, cell: (link) => <FeedbackCount link={link} /> },
    {
      name: 'actions',
      label: 'Actions',
      cell: (link) => (
        <span class="line">
          <Button
            look="quiet"
            icon="edit"
            changes
            label={`Change when the link for ${linkTopic(link)} expires`}
            refused={link.revoked_at === null ? null : 'Already revoked'}
            onClick={() => act(link, 'change')}
          />
          <Button
            look="quiet"
            icon="trash"
            changes
            label={`Revoke the link for ${linkTopic(link)}`}
            refused={linkState(link) === 'open' ? null : `Already ${linkState(link)}`}
            onClick={() => act(link, 'revoke')}
          />
        </span>
      ),
    },
  ];
}
