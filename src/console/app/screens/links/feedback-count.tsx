import type { ListedLinkRead } from '../../../../features/review/http/schema.js';
import { count, counted } from '../../../model/format.js';
import { hrefOf } from '../../state/location.js';
import { useLinkFeedback } from './feedback-query.js';

/** How much feedback came by a link; no one is asked where no reviewer has given a name. */
export function FeedbackCount({ link }: { readonly link: Pick<ListedLinkRead, 'id' | 'reviewer_count'> }) {
  const none = link.reviewer_count === 0;
  const { data, error } = useLinkFeedback(link.id, { limit: 1, offset: 0 }, { enabled: !none });
  if (none) return <>none</>;
  if (error !== null) return <span title={error.message}>unknown</span>;
  if (data === undefined) return <span class="soft">…</span>;
  return (
    <a href={hrefOf({ screen: 'links', id: link.id })} aria-label={counted(data.total, 'piece', 'pieces')}>
      {count(data.total)}
    </a>
  );
}
