import { linkTopic } from '../../../model/link-topic.js';
import { useState } from 'preact/hooks';
import type { ListedLinkRead } from '../../../../features/review/http/schema.js';
import { linkState } from '../../../model/link-state.js';
import { Dialog } from '../../parts/dialog.js';
import { When } from '../../parts/figures.js';
import { Form } from '../../parts/form.js';
import { announce } from '../../state/announce.js';
import { call } from '../../state/api.js';
import { changedAt } from '../../state/query.js';
import { DaysField } from './days-field.js';

interface ChangeLinkProps {
  readonly link: ListedLinkRead;
  readonly onClose: () => void;
}

/** Has a link end earlier or later, or work again. */
export function ChangeLink({ link, onClose }: ChangeLinkProps) {
  const [days, setDays] = useState('30');
  const expired = linkState(link) === 'expired';
  const send = async () => {
    const body = { expires_in_days: Number(days) };
    await call('PATCH /feedback-links/:link_id', { params: { link_id: link.id }, body });
    announce('Expiry changed');
    await changedAt('/feedback-links');
    onClose();
  };
  return (
    <Dialog title="Change link expiry" onClose={onClose}>
      <Form action="Change expiry" icon="clock" onSend={send} onCancel={onClose}>
        <p>
          The link for reviewing <bdi>{linkTopic(link)}</bdi> {expired ? 'expired' : 'expires'}{' '}
          <When at={link.expires_at} />. Its URL does not change{expired && ', and works again for everyone who has it'}
          .
        </p>
        <DaysField label="Days until it expires" value={days} onValue={setDays} autofocus />
      </Form>
    </Dialog>
  );
}
