import type { LinkRead } from '../../../../features/review/http/schema.js';
import { Ending } from '../../parts/ending.js';
import { changedAt } from '../../state/query.js';

interface RevokeLinkProps {
  readonly link: Pick<LinkRead, 'id' | 'prompt_slug'>;
  readonly onClose: () => void;
}

export function RevokeLink({ link: { id, prompt_slug }, onClose }: RevokeLinkProps) {
  return (
    <Ending
      title="Revoke this link?"
      action="Revoke link"
      path={`/feedback-links/${id}`}
      done="Link revoked"
      onDone={() => changedAt('/feedback-links')}
      onClose={onClose}
    >
      <p>
        The URL for reviewing <bdi>{prompt_slug}</bdi> stops working immediately for everyone who has it. Submitted
        feedback is kept. This cannot be undone.
      </p>
    </Ending>
  );
}
