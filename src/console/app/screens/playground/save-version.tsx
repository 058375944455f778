import { useState } from 'preact/hooks';
import type { PromptVersionRead } from '../../../../features/prompts/http/schema.js';
import type { Draft } from '../../../model/playground.js';
import { Button } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { Field } from '../../parts/field.js';
import { Failure, Skeleton } from '../../parts/states.js';
import { TextDiff } from '../../parts/text-diff.js';
import { useAction } from '../../state/action.js';
import { announce } from '../../state/announce.js';
import { ApiError, call, ofProject } from '../../state/api.js';
import { setQuery } from '../../state/location.js';
import { changedAt, useQuery } from '../../state/query.js';

interface SaveVersionProps {
  readonly draft: Draft;
  /** The version that the texts are from; null: they are from none. */
  readonly from: PromptVersionRead | null;
  readonly onClose: () => void;
}

/** Makes a message a version of a prompt, after showing how it differs from the version it came from. */
export function SaveVersion({ draft: { messages, promptAt }, from, onClose }: SaveVersionProps) {
  const [slug, setSlug] = useState(from?.prompt ?? '');
  const [at, setAt] = useState(
    promptAt ??
      Math.max(
        0,
        messages.findIndex(({ role }) => role === 'system'),
      ),
  );
  const { busy, failure, run } = useAction();
  const base = useBase(slug, from);
  const content = messages[at]?.content ?? '';
  const save = () =>
    run(async () => {
      const made = await call('POST /v1/tasks/:task_name/prompt/versions/ensure', {
        params: { task_name: slug },
        body: { content, model_id: base.version?.model_id ?? null },
      });
      await Promise.all([changedAt('/prompts'), changedAt(ofProject('/prompts')), changedAt('/v1/prompts', slug)]);
      announce(`Saved as version ${made.version} of ${slug}`);
      onClose();
      setQuery({ prompt: slug, version: String(made.version) });
    });
  const refused =
    slug === ''
      ? 'Enter a prompt'
      : content === ''
        ? 'The message is empty'
        : base.version?.content === content
          ? 'Text is unchanged'
          : null;
  return (
    <Dialog title="Save as version" wide onClose={onClose}>
      <Field label="Prompt" hint="An existing prompt gets a new version; otherwise the prompt is created.">
        <input class="input" value={slug} onChange={({ currentTarget: { value } }) => setSlug(value.trim())} />
      </Field>
      {messages.length > 1 && (
        <Field label="Text">
          <select class="input" value={String(at)} onChange={({ currentTarget: { value } }) => setAt(Number(value))}>
            {messages.map(({ role, content: text }, index) => (
              <option key={index} value={String(index)}>
                {index + 1}. {role}: {text.slice(0, 60)}
              </option>
            ))}
          </select>
        </Field>
      )}
      {base.error !== null && <Failure error={base.error} />}
      {slug !== '' && base.isLoading && <Skeleton rows={3} />}
      {base.version !== null && (
        <TextDiff
          before={base.version.content}
          after={content}
          labels={[`Version ${base.version.version}`, 'New version']}
        />
      )}
      {slug !== '' && base.isNew && <p>This prompt does not exist yet: this is its first version.</p>}
      {failure !== null && <Failure error={failure} />}
      <div class="line">
        <Button look="main" changes busy={busy} refused={refused} onClick={save}>
          Save
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </Dialog>
  );
}

/** The version that a text is compared with: the one it came from, else the newest of the prompt. */
function useBase(slug: string, from: PromptVersionRead | null) {
  const isOwn = slug === from?.prompt;
  const { data, error, isLoading } = useQuery({
    key: ['/v1/prompts', slug],
    ask: (signal) => call('GET /v1/prompts/:prompt_slug', { params: { prompt_slug: slug }, signal }),
    enabled: slug !== '' && !isOwn,
    keep: false,
  });
  const isNew = !isOwn && error instanceof ApiError && error.status === 404;
  return {
    version: isOwn ? from : isNew ? null : (data ?? null),
    isNew,
    isLoading: !isOwn && isLoading,
    error: isOwn || isNew ? null : error,
  };
}
