import type { PromptVersionRead } from '../../../../../transport/http/routes/prompts/schema.js';
import { Confirm } from '../../parts/dialog.js';
import { Failure } from '../../parts/states.js';
import { useAction } from '../../state/action.js';
import { announce } from '../../state/announce.js';
import { call } from '../../state/api.js';
import { hrefOf, navigate } from '../../state/location.js';
import { forget, ofPrompt, promptsChanged, useTagHistory, type TagEntry } from './data.js';

interface DeleteVersionProps {
  readonly version: PromptVersionRead;
  readonly onClose: () => void;
}

/** Deletes a version; with the only one goes the prompt. */
export function DeleteVersion({ version: { prompt: slug, version }, onClose }: DeleteVersionProps) {
  const { busy, failure, run } = useAction();
  const others = useTagHistory(slug, 'latest', 0, 2);
  const isOnly = others.data?.length === 1;
  const remove = () =>
    run(async () => {
      await call(ofPrompt(slug, `/versions/${version}`), { method: 'DELETE' });
      navigate(hrefOf(isOnly ? { screen: 'prompts' } : { screen: 'prompts', id: slug }), { replace: true });
      forget(...(isOnly ? [] : [slug, 'version', version]));
      await promptsChanged();
      announce(isOnly ? `The prompt ${slug} is deleted` : `Version ${version} is deleted`);
      onClose();
    });
  return (
    <Confirm
      title={isOnly ? 'Delete the prompt' : `Delete version ${version}`}
      action={isOnly ? `Delete the prompt ${slug}` : `Delete version ${version}`}
      busy={busy || others.data === undefined}
      onConfirm={remove}
      onClose={onClose}
    >
      <p>
        Version {version} of <bdi>{slug}</bdi> goes for good; its number is not given again. Completions that were made
        with it stay.
      </p>
      {isOnly && <p>It is the only version: the prompt goes with it.</p>}
      <p class="soft">The server keeps it, and says why, while a tag, a judge or an optimisation needs it.</p>
      {failure !== null && <Failure error={failure} />}
    </Confirm>
  );
}

interface RemoveTagProps {
  readonly slug: string;
  readonly entry: TagEntry;
  readonly onClose: () => void;
}

/** Removes a tag; its history stays. */
export function RemoveTag({ slug, entry: { tag, version }, onClose }: RemoveTagProps) {
  const { busy, failure, run } = useAction();
  const remove = () =>
    run(async () => {
      await call(ofPrompt(slug, `/tags/${tag}`), { method: 'DELETE' });
      await promptsChanged();
      announce(`The tag ${tag} is removed`);
      onClose();
    });
  return (
    <Confirm title={`Remove the tag ${tag}`} action={`Remove ${tag}`} busy={busy} onConfirm={remove} onClose={onClose}>
      <p>
        It points at version {version}. Whoever asks for <bdi>{slug}</bdi> by this tag gets 404 from then on
        {tag === 'production' && ', and judges and optimisations use the newest version'}. Its history stays, and it can
        be pinned again.
      </p>
      {failure !== null && <Failure error={failure} />}
    </Confirm>
  );
}
