import { explainAccess, type AccessName } from '../../../../engine/identity/key-access.js';
import { Field } from '../../parts/field.js';

interface AccessChoiceProps<Access extends AccessName> {
  readonly label: string;
  readonly among: readonly Access[];
  readonly chosen: Access;
  readonly onChoose: (access: Access) => void;
}

/** What a key may do. */
export function AccessChoice<Access extends AccessName>(props: AccessChoiceProps<Access>) {
  const { label, among, chosen, onChoose } = props;
  return (
    <Field label={label}>
      <select class="input" value={chosen} onChange={(event) => onChoose(event.currentTarget.value as Access)}>
        {among.map((access) => (
          <option key={access} value={access}>
            {access}: {explainAccess(access)}
          </option>
        ))}
      </select>
    </Field>
  );
}
