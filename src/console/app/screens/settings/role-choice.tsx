import { explainRole, isAbove, ROLE_NAMES, type Role } from '../../../../engine/identity/roles.js';
import { Field } from '../../parts/field.js';
import { whoami } from '../../state/session.js';

interface RoleChoiceProps {
  readonly chosen: Role;
  readonly onChoose: (role: Role) => void;
}

/** What someone may do in the project; no one gives more than they have. */
export function RoleChoice({ chosen, onChoose }: RoleChoiceProps) {
  const own = whoami.value?.role ?? null;
  return (
    <Field label="Role">
      <select class="input" value={chosen} onChange={(event) => onChoose(event.currentTarget.value as Role)}>
        {ROLE_NAMES.filter((role) => !isAbove(role, own)).map((role) => (
          <option key={role} value={role}>
            {role}: {explainRole(role)}
          </option>
        ))}
      </select>
    </Field>
  );
}
