import { useState } from 'preact/hooks';
import type { PromptVersionRead } from '../../../../features/prompts/http/schema.js';
import { Button } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { Field } from '../../parts/field.js';
import { Answered, Failure } from '../../parts/states.js';
import { TagField } from '../../parts/tag-field.js';
import { useAction } from '../../state/action.js';
import { announce } from '../../state/announce.js';
import { call } from '../../state/api.js';
import { PRODUCTION, promptsChanged } from './data.js';
import { VersionDiff } from './version-diff.js';
import { LATEST, useTagHistory, useVersion, type TagEntry } from './versions.js';

interface PinDialogProps {
  readonly slug: string;
  readonly tags: readonly TagEntry[];
  readonly proposed: TagEntry;
  readonly onClose: () => void;
}

/** Pins a tag to a version, after what changes for whoever asks for the tag was shown. */
export function PinDialog({ slug, tags, proposed, onClose }: PinDialogProps) {
  const [tag, setTag] = useState(proposed.tag);
  const [number, setNumber] = useState(proposed.version);
  const pinned = tags.find((entry) => entry.tag === tag)?.version ?? null;
  const moves = tag !== LATEST && pinned !== null && pinned !== number;
  const before = useVersion(slug, moves ? pinned : null);
  const after = useVersion(slug, number);
  const { busy, failure, run } = useAction();
  const pin = () =>
    run(async () => {
      await call('POST /projects/:project_id/prompts/:prompt_slug/tags/:tag:pin', {
        params: { prompt_slug: slug, tag },
        body: { version: number },
      });
      await promptsChanged();
      announce(`Tag ${tag} now points to version ${number}`);
      onClose();
    });
  const refused = refusal({
    tag,
    pinned,
    number,
    read: after.data !== undefined && (!moves || before.data !== undefined),
  });
  return (
    <Dialog title="Pin tag" wide onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (refused === null) pin();
        }}
      >
        <Choices slug={slug} tags={tags} entry={{ tag, version: number }} setTag={setTag} setNumber={setNumber} />
        {tag !== '' && pinned === null && <p>{tag} does not point to a version yet.</p>}
        {moves && (
          <Answered answer={before}>
            {(old) => (
              <Answered answer={after}>{(version) => <WhatChanges tag={tag} old={old} version={version} />}</Answered>
            )}
          </Answered>
        )}
        {failure !== null && <Failure error={failure} />}
        <div class="line">
          <Button type="submit" look="main" icon="pin" changes busy={busy} refused={refused}>
            Pin {tag} to version {number}
          </Button>
          <Button onClick={onClose}>Cancel</Button>
          {refused !== null && <span class="soft">{refused}</span>}
        </div>
      </form>
    </Dialog>
  );
}

interface Chosen {
  readonly tag: string;
  readonly pinned: number | null;
  readonly number: number;
  /** Whether what changes can be shown. */
  readonly read: boolean;
}

/** Why the tag cannot be pinned; null: it can. */
function refusal({ tag, pinned, number, read }: Chosen): string | null {
  if (tag === '') return 'Enter a tag';
  if (tag === LATEST) return 'latest always follows the newest version';
  if (pinned === number) return `${tag} already points to version ${number}`;
  return read ? null : 'Loading changes';
}

interface ChoicesProps {
  readonly slug: string;
  readonly tags: readonly TagEntry[];
  readonly entry: TagEntry;
  readonly setTag: (tag: string) => void;
  readonly setNumber: (version: number) => void;
}

function Choices({ slug, tags, entry, setTag, setNumber }: ChoicesProps) {
  const versions = useTagHistory(slug, LATEST).data?.map(({ version }) => version ?? 0) ?? [];
  const numbers = versions.includes(entry.version) ? versions : [entry.version, ...versions];
  return (
    <div class="prompt-fields">
      <TagField
        hint="An existing tag or a new one. Requests for the prompt with this tag get this version."
        tag={entry.tag}
        known={[...new Set([PRODUCTION, ...tags.map(({ tag }) => tag)])].filter((name) => name !== LATEST)}
        onInput={setTag}
      />
      <Field label="Version">
        <select
          class="input"
          value={String(entry.version)}
          onChange={({ currentTarget }) => setNumber(Number(currentTarget.value))}
        >
          {numbers.map((number) => (
            <option key={number} value={String(number)}>
              Version {number}
            </option>
          ))}
        </select>
      </Field>
    </div>
  );
}

interface WhatChangesProps {
  readonly tag: string;
  readonly old: PromptVersionRead;
  readonly version: PromptVersionRead;
}

function WhatChanges({ tag, old, version }: WhatChangesProps) {
  return (
    <section class="stack" aria-label="Changes">
      <p>
        <b>{tag}</b> points to version {old.version}. Changes for requests with this tag:
      </p>
      {old.model_id !== version.model_id && (
        <p>
          Model: <bdi>{old.model_id ?? 'none'}</bdi> → <bdi>{version.model_id ?? 'none'}</bdi>
        </p>
      )}
      <VersionDiff
        before={old}
        after={version}
        labels={[`Version ${old.version}, current ${tag}`, `Version ${version.version}`]}
      />
    </section>
  );
}
