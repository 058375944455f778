import { linkTopic } from '../../../model/link-topic.js';
import { useState } from 'preact/hooks';
import type { CreatedLinkRead } from '../../../../features/review/http/schema.js';
import { Dialog } from '../../parts/dialog.js';
import { Field } from '../../parts/field.js';
import { When } from '../../parts/figures.js';
import { Form } from '../../parts/form.js';
import { Once } from '../../parts/once.js';
import { announce } from '../../state/announce.js';
import { call, ofProject } from '../../state/api.js';
import { place } from '../../state/location.js';
import { changedAt, useQuery } from '../../state/query.js';
import { DaysField } from './days-field.js';

/** Makes a link, and shows its URL, once. */
export function MakeLink({ onClose }: { readonly onClose: () => void }) {
  const [made, setMade] = useState<CreatedLinkRead | null>(null);
  if (made === null)
    return (
      <Dialog title="Create feedback link" onClose={onClose}>
        <LinkForm onMade={setMade} onCancel={onClose} />
      </Dialog>
    );
  return (
    <Dialog key="made" title="Link created" onClose={onClose}>
      <Once what="URL" text={made.url ?? ''} onClose={onClose}>
        <p>
          For reviewing <bdi>{linkTopic(made)}</bdi> until <When at={made.expires_at} />.
        </p>
        {made.note !== null && <p class="hint">{made.note}</p>}
      </Once>
    </Dialog>
  );
}

interface LinkFormProps {
  readonly onMade: (link: CreatedLinkRead) => void;
  readonly onCancel: () => void;
}

function LinkForm({ onMade, onCancel }: LinkFormProps) {
  const [slug, setSlug] = useState(place.value.query.get('prompt_slug') ?? '');
  const [days, setDays] = useState('30');
  const prompts = useQuery({
    key: [ofProject('/prompts'), 'slugs'],
    ask: (signal) => call('GET /projects/:project_id/prompts', { signal }),
  });
  const send = async () => {
    const body = { prompt_slug: slug, link_type: 'prompt_completion' as const, expires_in_days: Number(days) };
    const link = await call('POST /feedback-links', { body });
    announce('Link created: copy its URL now');
    await changedAt('/feedback-links');
    onMade(link);
  };
  return (
    <Form
      action="Create link"
      icon="links"
      refused={slug === '' ? 'Enter a prompt' : null}
      onSend={send}
      onCancel={onCancel}
    >
      <Field
        label="Prompt"
        hint={prompts.data?.length === 0 ? 'This project has no prompts yet' : 'Reviewers see its newest completions'}
      >
        <input
          class="input"
          list="link-prompts"
          required
          autofocus
          autocomplete="off"
          value={slug}
          onInput={(event) => setSlug(event.currentTarget.value)}
        />
      </Field>
      <datalist id="link-prompts">
        {prompts.data?.map((prompt) => (
          <option key={prompt.slug} value={prompt.slug} />
        ))}
      </datalist>
      <DaysField label="Days until it expires" value={days} onValue={setDays} />
    </Form>
  );
}
