import { useState } from 'preact/hooks';
import type { PromptVersionRead } from '../../../../features/prompts/http/schema.js';
import { Button } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { Field } from '../../parts/field.js';
import { Failure } from '../../parts/states.js';
import { useAction } from '../../state/action.js';
import { announce } from '../../state/announce.js';
import { call } from '../../state/api.js';
import { promptsChanged } from './data.js';

interface ModelDialogProps {
  readonly version: PromptVersionRead;
  readonly onClose: () => void;
}

/** Binds a model to a version, or unbinds it: the only thing of a version that ever changes. */
export function ModelDialog({ version: { prompt: slug, version, model_id }, onClose }: ModelDialogProps) {
  const [model, setModel] = useState(model_id ?? '');
  const { busy, failure, run } = useAction();
  const bind = (to: string | null) =>
    run(async () => {
      await call('PATCH /projects/:project_id/prompts/:prompt_slug/versions/:version', {
        params: { prompt_slug: slug, version },
        body: { model_id: to },
      });
      await promptsChanged();
      announce(to === null ? `Model removed from version ${version}` : `Version ${version} now uses model ${to}`);
      onClose();
    });
  return (
    <Dialog title={`Model of version ${version}`} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (model !== '') bind(model);
        }}
      >
        <Field label="Model" hint="For example openai/gpt-4o. Clients that fetch the version receive it.">
          <input
            class="input"
            maxLength={512}
            value={model}
            onInput={({ currentTarget }) => setModel(currentTarget.value)}
          />
        </Field>
        {failure !== null && <Failure error={failure} />}
        <div class="line">
          <Button type="submit" look="main" changes busy={busy} refused={model === '' ? 'Enter a model' : null}>
            Save model
          </Button>
          {model_id !== null && (
            <Button changes busy={busy} onClick={() => bind(null)}>
              Remove model
            </Button>
          )}
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  );
}
