import { useState } from 'preact/hooks';
import { ROLES, type Role } from '../../../../features/datasets/dataset.js';
import { Dialog } from '../../parts/dialog.js';
import { Field } from '../../parts/field.js';
import { Form } from '../../parts/form.js';
import { announce } from '../../state/announce.js';
import { call } from '../../state/api.js';
import { datasetRenamed, datasetsChanged, type Dataset } from './data.js';
import { NameFields, type NamedDraft } from './name-fields.js';

interface EditDatasetProps {
  readonly dataset: Dataset;
  readonly onClose: () => void;
}

/** Renames a dataset, and changes what it and its columns are for. */
export function EditDataset({ dataset, onClose }: EditDatasetProps) {
  const [draft, setDraft] = useState<NamedDraft>({ name: dataset.name, description: dataset.description });
  const [roles, setRoles] = useState<Dataset['roles']>(dataset.roles);
  const columns = [...new Set([...(dataset.latest_version?.columns ?? []), ...Object.keys(dataset.roles)])];
  const save = async () => {
    const body = { ...draft, name: draft.name.trim(), roles };
    const changed = await call('PATCH /v1/datasets/:name+', { params: { name: dataset.name }, body });
    announce(`Dataset ${changed.name} saved`);
    onClose();
    await (changed.name === dataset.name ? datasetsChanged() : datasetRenamed(dataset.name, changed));
  };
  return (
    <Dialog title="Edit dataset" wide={columns.length > 0} onClose={onClose}>
      <Form action="Save" refused={draft.name.trim() === '' ? 'Enter a name' : null} onSend={save} onCancel={onClose}>
        {(wrong) => (
          <>
            <NameFields
              draft={draft}
              hint="Programs that use the old name get 404. Experiments show the new one."
              wrong={wrong}
              onSet={setDraft}
            />
            {columns.length > 0 && <RoleFields columns={columns} roles={roles} onChange={setRoles} />}
            {wrong['roles'] !== undefined && <p class="bad small">{wrong['roles']}</p>}
          </>
        )}
      </Form>
    </Dialog>
  );
}

interface RoleFieldsProps {
  readonly columns: readonly string[];
  readonly roles: Dataset['roles'];
  readonly onChange: (roles: Dataset['roles']) => void;
}

function RoleFields({ columns, roles, onChange }: RoleFieldsProps) {
  return (
    <fieldset class="labelled">
      <legend>Columns</legend>
      <p class="soft small">
        Input columns go into a prompt without variables. A prompt sees an expected column only if a run names it;
        judges see it as {'{{expected}}'}. Without any role, the column “expected” is the expected output, and all
        others are inputs.
      </p>
      <div class="field-grid">
        {columns.map((column) => (
          <Field key={column} label={column}>
            <select
              class="input"
              value={Object.hasOwn(roles, column) ? roles[column] : ''}
              onChange={({ currentTarget: { value } }) => {
                const { [column]: _before, ...others } = roles;
                onChange(value === '' ? others : { ...others, [column]: value as Role });
              }}
            >
              <option value="">No role</option>
              {ROLES.map((role) => (
                <option key={role} value={role}>
                  {role}
                </option>
              ))}
            </select>
          </Field>
        ))}
      </div>
    </fieldset>
  );
}
