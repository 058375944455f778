import { useState } from 'preact/hooks';
import type { CreatedShareLinkRead } from '../../../../features/sharing/schema.js';
import {
  DEFAULT_SHARE_DAYS,
  MAX_SHARE_DAYS,
  TRACE_PARTS,
  type TracePart,
} from '../../../../features/sharing/share-link.js';
import { Dialog } from '../../parts/dialog.js';
import { Field } from '../../parts/field.js';
import { When } from '../../parts/figures.js';
import { Form } from '../../parts/form.js';
import { Once } from '../../parts/once.js';
import { announce } from '../../state/announce.js';
import { call, ofProject } from '../../state/api.js';
import { changedAt } from '../../state/query.js';
import { PART_DETAILS, PART_NAMES } from './part-names.js';
import { ShareLinks } from './share-links.js';

interface ShareDialogProps {
  readonly traceId: string;
  readonly onClose: () => void;
}

/** Makes a link to the trace, shows its URL once, and lists those that there are. */
export function ShareDialog({ traceId, onClose }: ShareDialogProps) {
  const [made, setMade] = useState<CreatedShareLinkRead | null>(null);
  if (made !== null)
    return (
      <Dialog key="made" title="Link created" onClose={onClose}>
        <Once what="URL" text={made.url} onClose={onClose}>
          <p>
            Anyone with this URL can read the trace until <When at={made.expires_at} />.
          </p>
          {made.note !== null && <p class="hint">{made.note}</p>}
        </Once>
      </Dialog>
    );
  return (
    <Dialog title="Share this trace" onClose={onClose} wide>
      <ShareForm traceId={traceId} onMade={setMade} />
      <section class="stack" aria-labelledby="share-links">
        <h3 id="share-links">Links to this trace</h3>
        <ShareLinks traceId={traceId} />
      </section>
    </Dialog>
  );
}

interface ShareFormProps {
  readonly traceId: string;
  readonly onMade: (link: CreatedShareLinkRead) => void;
}

function ShareForm({ traceId, onMade }: ShareFormProps) {
  const [days, setDays] = useState(String(DEFAULT_SHARE_DAYS));
  const [leftOut, setLeftOut] = useState<readonly TracePart[]>([]);
  const send = async () => {
    const link = await call('POST /projects/:project_id/traces/:trace_id/share-links', {
      params: { trace_id: traceId },
      body: { expires_in_days: Number(days), left_out: [...leftOut] },
    });
    announce('Link created: copy its URL now');
    await changedAt(ofProject('/share-links'));
    onMade(link);
  };
  const choose = (part: TracePart, isLeftOut: boolean) =>
    setLeftOut(isLeftOut ? [...leftOut, part] : leftOut.filter((other) => other !== part));
  return (
    <Form action="Create link" icon="links" changes="shares:write" onSend={send}>
      <p class="soft">
        Anyone with the link can read this trace, without an account. It shows no other trace. Masking rules of the
        project apply.
      </p>
      <fieldset class="stack scopes">
        <legend>Leave out</legend>
        {TRACE_PARTS.map((part) => (
          <label key={part} class="line">
            <input
              type="checkbox"
              checked={part === 'attributes' ? leftOut.length > 0 : leftOut.includes(part)}
              disabled={part === 'attributes' && leftOut.some((other) => other !== 'attributes')}
              onChange={(event) => choose(part, event.currentTarget.checked)}
            />
            <span>
              {PART_NAMES[part]} <span class="soft small">{PART_DETAILS[part]}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <p class="soft small">Names, kinds, models, times and whether a span failed are always shown.</p>
      <Field label="Days until it expires" hint={`1 to ${MAX_SHARE_DAYS}`}>
        <input
          class="input"
          type="number"
          min="1"
          max={String(MAX_SHARE_DAYS)}
          required
          value={days}
          onInput={(event) => setDays(event.currentTarget.value)}
        />
      </Field>
    </Form>
  );
}
