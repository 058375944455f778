import { useState } from 'preact/hooks';
import type { PromptVersionRead } from '../../../../features/prompts/http/schema.js';
import { counted } from '../../../model/format.js';
import {
  bodyOf,
  draftOfVersion,
  isSameContent,
  namesIn,
  objectIn,
  refusalOf,
  versionOfDraft,
  type VersionContent,
  type VersionDraft,
} from '../../../model/prompt-version.js';
import { Button } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { Field } from '../../parts/field.js';
import { KeptNote } from '../../parts/kept-note.js';
import { Failure } from '../../parts/states.js';
import { useAction } from '../../state/action.js';
import { announce } from '../../state/announce.js';
import { call } from '../../state/api.js';
import { useKeptDraft } from '../../state/kept-draft.js';
import { promptsChanged } from './data.js';
import { MessageFields } from './message-fields.js';
import { VersionDiff } from './version-diff.js';

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
    ...draftOfVersion(base),
    name: slug ?? '',
    model: base?.model_id ?? '',
    metadata: '',
  });
  const { name, model, metadata } = kept.draft;
  const set = (change: Partial<typeof kept.draft>) => kept.change({ ...kept.draft, ...change });
  const version = versionOfDraft(kept.draft, base);
  const isSame = base !== null && isSameContent(version, base);
  const { busy, failure, run } = useAction();
  const parsed = objectIn(metadata);
  const refused = name === '' ? 'Enter a slug' : (refusalOf(kept.draft) ?? (isSame ? 'No changes' : null));
  const save = () =>
    run(async () => {
      const saved = await call('POST /v1/tasks/:task_name/prompt/versions/ensure', {
        params: { task_name: name },
        body: { ...bodyOf(version), model_id: model === '' ? null : model, metadata: parsed ?? {} },
      });
      await promptsChanged();
      announce(
        saved.version <= (latest ?? 0)
          ? `Version ${saved.version} of ${name} already has this content`
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
        <ContentFields draft={kept.draft} version={version} set={set} />
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
        {base !== null && !isSame && <Changes base={base} version={version} />}
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

interface ContentFieldsProps {
  readonly draft: VersionDraft;
  readonly version: VersionContent;
  readonly set: (change: Partial<VersionDraft>) => void;
}

/** The text or the messages, and the config. */
function ContentFields({ draft: { isChat, text, messages, config }, version, set }: ContentFieldsProps) {
  const hint = <NamesIn version={version} />;
  return (
    <>
      <fieldset class="line">
        <legend>Content</legend>
        {[false, true].map((way) => (
          <label key={String(way)} class="line">
            <input type="radio" name="content" checked={isChat === way} onChange={() => set({ isChat: way })} />
            {way ? 'Chat messages' : 'Text'}
          </label>
        ))}
      </fieldset>
      {isChat ? (
        <>
          <MessageFields messages={messages} onChange={(next) => set({ messages: next })} />
          <p class="soft small">{hint}</p>
        </>
      ) : (
        <Field label="Text" hint={hint}>
          <textarea
            class="input mono prompt-editor"
            spellcheck={false}
            value={text}
            onInput={({ currentTarget }) => set({ text: currentTarget.value })}
          />
        </Field>
      )}
      <Field
        label="Config"
        hint="Optional JSON to store with the version, such as model parameters. A different config creates a new version."
        wrong={objectIn(config) === undefined ? 'Must be a JSON object' : null}
      >
        <textarea
          class="input mono"
          spellcheck={false}
          rows={Math.max(2, Math.min(12, config.split('\n', 12).length))}
          placeholder="{}"
          value={config}
          onInput={({ currentTarget }) => set({ config: currentTarget.value })}
        />
      </Field>
    </>
  );
}

function Changes({ base, version }: { readonly base: PromptVersionRead; readonly version: VersionContent }) {
  const [compared, setCompared] = useState(false);
  return (
    <>
      <Button pressed={compared} icon="diff" onClick={() => setCompared(!compared)}>
        Show changes
      </Button>
      {compared && <VersionDiff before={base} after={version} labels={[`Version ${base.version}`, 'New version']} />}
    </>
  );
}

function NamesIn({ version }: { readonly version: VersionContent }) {
  const { variables, places } = namesIn(version);
  const names = [...variables, ...places];
  if (names.length === 0) return <>Write variables as {'{{name}}'}. None found.</>;
  return (
    <>
      {counted(names.length, 'variable')}: <bdi>{names.slice(0, 20).join(', ')}</bdi>
      {names.length > 20 && ' and more'}
    </>
  );
}
