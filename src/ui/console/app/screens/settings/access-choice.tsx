import { explainAccess, type KeyAccess } from '../../../../../domain/identity/key-access.js';
import { Field } from '../../parts/field.js';

interface AccessChoiceProps {
  readonly label: string;
  readonly among: readonly KeyAccess[];
  readonly chosen: KeyAccess;
  readonly onChoose: (access: KeyAccess) => void;
}

/** What a key may do. */
export function AccessChoice({ label, among, chosen, onChoose }: AccessChoiceProps) {
  return (
    <Field label={label}>
      <select class="input" value={chosen} onChange={(event) => onChoose(event.currentTarget.value as KeyAccess)}>
        {among.map((access) => (
          <option key={access} value={access}>
            {access}: {explainAccess(access)}
          </option>
        ))}
      </select>
    </Field>
  );
}
