import { useState } from 'preact/hooks';
import type { SavedViewRead } from '../../../../features/saved-views/schema.js';
import { addressOfView, viewOf } from '../../../model/list-address.js';
import { Button } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { Field } from '../../parts/field.js';
import { Form } from '../../parts/form.js';
import { Answered } from '../../parts/states.js';
import { announce } from '../../state/announce.js';
import { call } from '../../state/api.js';
import { hrefOf, navigate, setQuery } from '../../state/location.js';
import { changedAt } from '../../state/query.js';
import { useViews, views } from './data.js';
import { DeleteView } from './delete-view.js';
import type { ListShown } from './views-button.js';

interface ViewsDialogProps extends ListShown {
  readonly onClose: () => void;
}

/** The saved views of a list, and what is shown now as another one. */
export function ViewsDialog({ list, query, columns, onClose }: ViewsDialogProps) {
  const answer = useViews();
  const [going, setGoing] = useState<SavedViewRead | null>(null);
  const shown = query.get('view');
  if (going !== null)
    return (
      <DeleteView
        view={going}
        onClose={() => setGoing(null)}
        onDeleted={() => {
          if (going.id === shown) setQuery({ view: null }, { replace: true });
        }}
      />
    );
  return (
    <Dialog title={`Views of ${list.name}`} onClose={onClose}>
      <div class="stack">
        <Answered answer={answer} rows={3}>
          {(all) => {
            const ofList = all.filter((view) => view.list === list.name);
            const open = ofList.find(({ id }) => id === shown);
            return (
              <>
                {ofList.length === 0 && <p class="soft">None yet. Save what you see for everyone in the project.</p>}
                <ul class="goals">
                  {ofList.map((view) => (
                    <li key={view.id} class="line">
                      <a
                        class="goal"
                        href={hrefOf({ screen: list.name, query: addressOfView(view) })}
                        {...(view === open && { 'aria-current': 'true' as const })}
                        onClick={onClose}
                      >
                        <bdi class="clip">{view.name}</bdi>
                      </a>
                      <Button
                        look="quiet"
                        icon="trash"
                        label={`Delete ${view.name}`}
                        changes="dashboards:write"
                        onClick={() => setGoing(view)}
                      />
                    </li>
                  ))}
                </ul>
                {open !== undefined && <Update view={open} now={viewOf(list, query, columns)} onClose={onClose} />}
              </>
            );
          }}
        </Answered>
        <SaveView now={viewOf(list, query, columns)} onClose={onClose} />
      </div>
    </Dialog>
  );
}

interface NowProps {
  readonly now: ReturnType<typeof viewOf>;
  readonly onClose: () => void;
}

function Update({ view: { id, name }, now, onClose }: NowProps & { readonly view: SavedViewRead }) {
  const send = async () => {
    const { query, columns } = now;
    await call('PATCH /projects/:project_id/saved-views/:view_id', {
      params: { view_id: id },
      body: { query, columns },
    });
    await changedAt(views());
    announce(`View ${name} updated`);
    onClose();
  };
  return (
    <Form action="Update view" changes="dashboards:write" onSend={send}>
      <p>
        Keep the current filters, order and columns as <bdi>{name}</bdi>:
      </p>
    </Form>
  );
}

function SaveView({ now, onClose }: NowProps) {
  const [name, setName] = useState('');
  const send = async () => {
    const made = await call('POST /projects/:project_id/saved-views', { body: { name, ...now } });
    await changedAt(views());
    announce(`View ${name} saved`);
    onClose();
    navigate(hrefOf({ screen: now.list, query: addressOfView(made) }), { replace: true });
  };
  return (
    <Form
      action="Save view"
      icon="plus"
      changes="dashboards:write"
      refused={name.trim() === '' ? 'Enter a name' : null}
      onSend={send}
    >
      {(wrong) => (
        <Field
          label="Save as"
          hint="Filters, time, order and columns, for everyone in the project"
          wrong={wrong['name'] ?? null}
        >
          <input
            class="input"
            autocomplete="off"
            maxLength={200}
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </Field>
      )}
    </Form>
  );
}
