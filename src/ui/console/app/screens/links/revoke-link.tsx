import type { LinkRead } from '../../../../../transport/http/routes/feedback/link-schema.js';
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
      action="Revoke the link"
      path={`/feedback-links/${id}`}
      done="The link is revoked"
      onDone={() => changedAt('/feedback-links')}
      onClose={onClose}
    >
      <p>
        Its URL, by which <bdi>{prompt_slug}</bdi> is reviewed, stops working at once, for everybody who has it, and for
        good. Feedback that was given by it stays.
      </p>
    </Ending>
  );
}
