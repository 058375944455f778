import { useState } from 'preact/hooks';
import type { PromptVersionRead } from '../../../../features/prompts/http/schema.js';
import type { Draft } from '../../../model/playground.js';
import { bodyOf, isSameContent, versionOfDraft } from '../../../model/prompt-version.js';
import { Button } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { Field } from '../../parts/field.js';
import { Failure, Skeleton } from '../../parts/states.js';
import { useAction } from '../../state/action.js';
import { announce } from '../../state/announce.js';
import { ApiError, call, ofProject } from '../../state/api.js';
import { setQuery } from '../../state/location.js';
import { changedAt, useQuery } from '../../state/query.js';
import { VersionDiff } from '../prompts/version-diff.js';

interface SaveVersionProps {
  readonly draft: Draft;
  /** The version that the texts are from; null: they are from none. */
  readonly from: PromptVersionRead | null;
  readonly onClose: () => void;
}

/** Makes a message, or all of them, a version of a prompt, after showing how it differs from the version it came from. */
export function SaveVersion({ draft: { messages, promptAt }, from, onClose }: SaveVersionProps) {
  const [slug, setSlug] = useState(from?.prompt ?? '');
  const [at, setAt] = useState<number | null>(() => {
    if (from?.messages !== undefined) return null;
    const system = messages.findIndex(({ role }) => role === 'system');
    return promptAt ?? Math.max(0, system);
  });
  const { busy, failure, run } = useAction();
  const base = useBase(slug, from);
  const config = base.version?.config;
  const version = versionOfDraft(
    {
      isChat: at === null,
      text: messages[at ?? 0]?.content ?? '',
      messages: messages.filter(({ content }) => content !== ''),
      config: config === undefined ? '' : JSON.stringify(config),
    },
    null,
  );
  const save = () =>
    run(async () => {
      const made = await call('POST /v1/tasks/:task_name/prompt/versions/ensure', {
        params: { task_name: slug },
        body: { ...bodyOf(version), model_id: base.version?.model_id ?? null },
      });
      await Promise.all([changedAt('/prompts'), changedAt(ofProject('/prompts')), changedAt('/v1/prompts', slug)]);
      announce(`Saved as version ${made.version} of ${slug}`);
      onClose();
      setQuery({ prompt: slug, version: String(made.version) });
    });
  const refused =
    slug === ''
      ? 'Enter a prompt'
      : version.content === '' || version.messages?.length === 0
        ? 'The message is empty'
        : base.version !== null && isSameContent(base.version, version)
          ? 'Text is unchanged'
          : null;
  return (
    <Dialog title="Save as version" wide onClose={onClose}>
      <Field label="Prompt" hint="An existing prompt gets a new version; otherwise the prompt is created.">
        <input class="input" value={slug} onChange={({ currentTarget: { value } }) => setSlug(value.trim())} />
      </Field>
      {messages.length > 1 && (
        <Field label="Text">
          <select
            class="input"
            value={String(at)}
            onChange={({ currentTarget: { value } }) => setAt(value === 'null' ? null : Number(value))}
          >
            <option value="null">All messages, as a chat version</option>
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
        <VersionDiff
          before={base.version}
          after={version}
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
