import { linkTopic } from '../../../model/link-topic.js';
import type { LinkRead } from '../../../../features/review/http/schema.js';
import { Ending } from '../../parts/ending.js';
import { changedAt } from '../../state/query.js';

interface RevokeLinkProps {
  readonly link: Pick<LinkRead, 'id' | 'prompt_slug' | 'span_ids'>;
  readonly onClose: () => void;
}

export function RevokeLink({ link, onClose }: RevokeLinkProps) {
  return (
    <Ending
      title="Revoke this link?"
      action="Revoke link"
      path={`/feedback-links/${link.id}`}
      done="Link revoked"
      onDone={() => changedAt('/feedback-links')}
      onClose={onClose}
    >
      <p>
        The URL for reviewing <bdi>{linkTopic(link)}</bdi> stops working immediately for everyone who has it. Submitted
        feedback is kept. This cannot be undone.
      </p>
    </Ending>
  );
}
