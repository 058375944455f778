import { useState } from 'preact/hooks';
import type { PromptVersionRead } from '../../../../features/prompts/http/schema.js';
import { placeholdersOf } from '../../../../features/optimization/placeholders.js';
import { counted } from '../../../model/format.js';
import { Button } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { Field } from '../../parts/field.js';
import { KeptNote } from '../../parts/kept-note.js';
import { Failure } from '../../parts/states.js';
import { TextDiff } from '../../parts/text-diff.js';
import { useAction } from '../../state/action.js';
import { announce } from '../../state/announce.js';
import { call } from '../../state/api.js';
import { useKeptDraft } from '../../state/kept-draft.js';
import { promptsChanged } from './data.js';

interface EditorDialogProps {
  /** Null: the prompt is to be made. */
  readonly slug: string | null;
  /** The version that is begun from; null: nothing. */
  readonly base: PromptVersionRead | null;
  /** The newest version that there is; null: the prompt is to be made. */
  readonly latest: number | null;
  readonly onSaved: (version: PromptVersionRead) => void;
  readonly onClose: () => void;
}

/** Writes a new version of a prompt; the first one makes the prompt. */
export function EditorDialog({ slug, base, latest, onSaved, onClose }: EditorDialogProps) {
  const kept = useKeptDraft(slug === null ? 'prompt' : `prompt.${slug}.${base?.version ?? 0}`, {
    name: slug ?? '',
    // A text area knows no carriage returns; a text that has them gets them back.
    text: base?.content.replace(/\r\n?/g, '\n') ?? '',
    model: base?.model_id ?? '',
    metadata: '',
  });
  const { name, text, model, metadata } = kept.draft;
  const set = (change: Partial<typeof kept.draft>) => kept.change({ ...kept.draft, ...change });
  const content = base?.content.includes('\r\n') === true ? text.replaceAll('\n', '\r\n') : text;
  const [compared, setCompared] = useState(false);
  const { busy, failure, run } = useAction();
  const parsed = metadataOf(metadata);
  const refused =
    name === '' ? 'Enter a slug' : content === '' ? 'Enter a text' : content === base?.content ? 'No changes' : null;
  const save = () =>
    run(async () => {
      const saved = await call('POST /v1/tasks/:task_name/prompt/versions/ensure', {
        params: { task_name: name },
        body: { content, model_id: model === '' ? null : model, metadata: parsed ?? {} },
      });
      await promptsChanged();
      announce(
        saved.version <= (latest ?? 0)
          ? `Version ${saved.version} of ${name} already has this text`
          : `Version ${saved.version} of ${name} saved`,
      );
      kept.drop();
      onSaved(saved);
      onClose();
    });
  return (
    <Dialog title={slug === null ? 'New prompt' : `New version of ${slug}`} wide onClose={onClose}>
      <KeptNote kept={kept} />
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (refused === null && parsed !== undefined) save();
        }}
      >
        {slug === null && (
          <Field
            label="Slug"
            hint="Name used in code: letters, digits, dots, underscores, hyphens, spaces and slashes."
          >
            <input
              class="input"
              maxLength={128}
              autofocus
              value={name}
              onInput={({ currentTarget }) => set({ name: currentTarget.value })}
            />
          </Field>
        )}
        <Field label="Text" hint={<VariablesIn content={content} />}>
          <textarea
            class="input mono prompt-editor"
            spellcheck={false}
            value={text}
            onInput={({ currentTarget }) => set({ text: currentTarget.value })}
          />
        </Field>
        <div class="prompt-fields">
          <Field label="Model" hint="Optional, for example openai/gpt-4o.">
            <input
              class="input"
              maxLength={512}
              value={model}
              onInput={({ currentTarget }) => set({ model: currentTarget.value })}
            />
          </Field>
          <Field
            label="Metadata"
            hint="Optional JSON stored with the version."
            wrong={parsed === undefined ? 'Must be a JSON object' : null}
          >
            <input
              class="input mono"
              placeholder="{}"
              value={metadata}
              onInput={({ currentTarget }) => set({ metadata: currentTarget.value })}
            />
          </Field>
        </div>
        {base !== null && content !== base.content && (
          <>
            <Button pressed={compared} icon="diff" onClick={() => setCompared(!compared)}>
              Show changes
            </Button>
            {compared && (
              <TextDiff before={base.content} after={content} labels={[`Version ${base.version}`, 'New version']} />
            )}
          </>
        )}
        {failure !== null && <Failure error={failure} />}
        <div class="line">
          <Button type="submit" look="main" changes busy={busy} refused={refused}>
            {slug === null ? 'Create prompt' : 'Save new version'}
          </Button>
          <Button
            onClick={() => {
              kept.drop();
              onClose();
            }}
          >
            Cancel
          </Button>
          <span class="soft">{slug !== null && 'Tags do not move. '}This tab keeps your draft until you save it.</span>
        </div>
      </form>
    </Dialog>
  );
}

function VariablesIn({ content }: { readonly content: string }) {
  const names = placeholdersOf(content);
  if (names.length === 0) return <>Write variables as {'{{name}}'}. None found.</>;
  return (
    <>
      {counted(names.length, 'variable')}: <bdi>{names.slice(0, 20).join(', ')}</bdi>
      {names.length > 20 && ' and more'}
    </>
  );
}

/** Undefined: the text is no object. */
function metadataOf(text: string): Record<string, unknown> | undefined {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
