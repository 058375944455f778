import { AUDIT_ACTIONS } from '../../../../engine/signals/catalog/audit.js';
import { hrefWith, setQuery } from '../../state/location.js';

const ACTORS = ['person', 'key', 'command', 'server'];
const ACTIONS = AUDIT_ACTIONS.map(({ action }) => action);

/** Chooses what the list shows; whatever else the address asks for is named, and can be dropped. */
export function AuditFilters({ given }: { readonly given: URLSearchParams }) {
  const others = ['actor_id', 'object_type', 'object_id'].filter((name) => given.has(name));
  return (
    <div class="line">
      <Choice name="action" label="Action" values={ACTIONS} given={given} />
      <Choice name="actor" label="By" values={ACTORS} given={given} />
      {others.map((name) => (
        <a key={name} class="badge" href={hrefWith({ [name]: null, offset: null })}>
          {name}: <bdi>{given.get(name)}</bdi> ×
        </a>
      ))}
    </div>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly label: string;
  readonly values: readonly string[];
  readonly given: URLSearchParams;
}

function Choice({ name, label, values, given }: ChoiceProps) {
  return (
    <label class="line">
      {label}
      <select
        value={given.get(name) ?? ''}
        onChange={({ currentTarget: { value } }) => setQuery({ [name]: value === '' ? null : value, offset: null })}
      >
        <option value="">any</option>
        {values.map((value) => (
          <option key={value} value={value}>
            {value}
          </option>
        ))}
      </select>
    </label>
  );
}
