import type { PromptVersionRead } from '../../../../features/prompts/http/schema.js';
import { Confirm } from '../../parts/dialog.js';
import { Failure } from '../../parts/states.js';
import { useAction } from '../../state/action.js';
import { announce } from '../../state/announce.js';
import { call } from '../../state/api.js';
import { hrefOf, navigate } from '../../state/location.js';
import { forget, promptsChanged } from './data.js';
import { useTagHistory, type TagEntry } from './versions.js';

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
      await call('DELETE /projects/:project_id/prompts/:prompt_slug/versions/:version', {
        params: { prompt_slug: slug, version },
      });
      navigate(hrefOf(isOnly ? { screen: 'prompts' } : { screen: 'prompts', id: slug }), { replace: true });
      forget(...(isOnly ? [] : [slug, 'version', version]));
      await promptsChanged();
      announce(isOnly ? `Prompt ${slug} deleted` : `Version ${version} deleted`);
      onClose();
    });
  return (
    <Confirm
      title={isOnly ? 'Delete prompt' : `Delete version ${version}`}
      action={isOnly ? `Delete prompt ${slug}` : `Delete version ${version}`}
      busy={busy || others.data === undefined}
      onConfirm={remove}
      onClose={onClose}
    >
      <p>
        Version {version} of <bdi>{slug}</bdi> is deleted permanently; its number is not reused. Its completions are
        kept.
      </p>
      {isOnly && <p>It is the only version, so the prompt is deleted too.</p>}
      <p class="soft">If a tag, judge or optimization uses it, the server refuses and says why.</p>
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
      await call('DELETE /projects/:project_id/prompts/:prompt_slug/tags/:tag', { params: { prompt_slug: slug, tag } });
      await promptsChanged();
      announce(`Tag ${tag} removed`);
      onClose();
    });
  return (
    <Confirm title={`Remove tag ${tag}`} action={`Remove ${tag}`} busy={busy} onConfirm={remove} onClose={onClose}>
      <p>
        It points to version {version}. Requests for <bdi>{slug}</bdi> with this tag will get 404
        {tag === 'production' && ', and judges and optimizations will use the newest version'}. Its history is kept, and
        you can pin it again.
      </p>
      {failure !== null && <Failure error={failure} />}
    </Confirm>
  );
}
