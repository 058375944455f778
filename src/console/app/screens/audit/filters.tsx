import { AUDITED_OBJECTS } from '../../../model/audit.js';
import { Choice } from '../../parts/choice.js';
import { hrefWith, place } from '../../state/location.js';

const OBJECTS = AUDITED_OBJECTS.map((name) => [name, name.replaceAll('_', ' ')] as const);
const ACTORS = [
  ['person', 'people'],
  ['key', 'API keys'],
  ['command', 'commands'],
  ['server', 'the server'],
] as const;

/** Chooses what the list shows. Whatever else the address asks for is named, and can be dropped. */
export function AuditFilters() {
  const { query } = place.value;
  const others = ['action', 'actor_id', 'object_id'].filter((name) => query.has(name));
  return (
    <div class="line">
      <Choice name="object_type" label="Object" options={OBJECTS} />
      <Choice name="actor" label="By" options={ACTORS} any="anyone" />
      {others.map((name) => (
        <a key={name} class="badge" href={hrefWith({ [name]: null, offset: null })}>
          {name} <bdi>{query.get(name)}</bdi> ×
        </a>
      ))}
    </div>
  );
}
