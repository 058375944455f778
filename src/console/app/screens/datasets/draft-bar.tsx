import { useState } from 'preact/hooks';
import { changesIn, emptyDraft, mergeOf, type DatasetDraft } from '../../../model/dataset-draft.js';
import { counted } from '../../../model/format.js';
import { Button } from '../../parts/button.js';
import { Icon } from '../../parts/icon.js';
import { Failure } from '../../parts/states.js';
import { useAction } from '../../state/action.js';
import { announce } from '../../state/announce.js';
import { ApiError, call } from '../../state/api.js';
import { setQuery } from '../../state/location.js';
import { datasetsChanged, type Dataset } from './data.js';
import type { KeptDraft } from './tab-props.js';

interface DraftBarProps {
  readonly dataset: Dataset;
  readonly draft: DatasetDraft;
  readonly kept: KeptDraft;
}

/** How many changes there are, to save or to discard. */
export function DraftBar({ dataset: { name, latest_version }, draft, kept }: DraftBarProps) {
  const [message, setMessage] = useState('');
  const { busy, failure, run } = useAction();
  const changes = changesIn(draft);
  if (changes === 0) return null;
  const newest = latest_version?.version_number ?? 0;
  const isBehind = draft.base !== newest;
  const isConflict = failure instanceof ApiError && failure.status === 409;
  const save = async () => {
    try {
      const body = mergeOf(draft, message.trim());
      const { version_number } = await call('POST /v1/datasets/:name+/versions', { params: { name }, body });
      kept.drop(emptyDraft(version_number));
      setMessage('');
      announce(`Version ${version_number} saved`);
      setQuery({ version: null, row: null }, { replace: true });
    } finally {
      // Also after a conflict: the newest version is another one then.
      await datasetsChanged();
    }
  };
  return (
    <form
      class="stack selection draft-bar"
      aria-label="Unsaved changes"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBehind) run(save);
      }}
    >
      {isBehind && (
        <p class="line" role="alert">
          <Icon name="warning" /> Version {newest} was made since you began with version {draft.base}. Your changes are
          kept; if both changed a row, yours replaces it.
          <Button changes onClick={() => kept.change({ ...draft, base: newest })}>
            Apply to version {newest}
          </Button>
        </p>
      )}
      {failure !== null && !(isConflict && isBehind) && <Failure error={failure} />}
      <div class="line">
        <b role="status">{counted(changes, 'change')}</b>
        <span class="soft">
          {draft.added.length} added, {draft.changed.length} changed, {draft.removed.length} removed
          {kept.isFromBefore && '; restored from this tab'}
        </span>
        <input
          class="input grow"
          aria-label="Message of the version"
          placeholder="What changes (optional)"
          maxLength={10_000}
          value={message}
          onInput={({ currentTarget: { value } }) => setMessage(value)}
        />
        <Button
          type="submit"
          look="main"
          changes
          busy={busy}
          refused={isBehind ? `Apply your changes to version ${newest} first` : null}
        >
          Save as version {draft.base + 1}
        </Button>
        <Button
          onClick={() => {
            kept.drop(emptyDraft(newest));
            announce('Changes discarded');
          }}
        >
          Discard
        </Button>
      </div>
    </form>
  );
}
