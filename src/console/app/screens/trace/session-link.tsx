import { call } from '../../state/api.js';
import { hrefOf } from '../../state/location.js';
import { useQuery } from '../../state/query.js';

/** A session by its name; by its id while that is asked for, and where it has none. */
export function SessionLink({ id }: { readonly id: string }) {
  const name = useQuery({
    key: ['/sessions', id, 'name'],
    ask: async (signal) => {
      const [session] = await call('GET /sessions', { query: { id, fields: 'name', limit: 1 }, signal });
      return session?.name ?? '';
    },
  }).data;
  const isNamed = name !== undefined && name !== '';
  return (
    <a class="clip" href={hrefOf({ screen: 'sessions', id })} title={isNamed ? `${name} (${id})` : id}>
      {isNamed ? <bdi>{name}</bdi> : <code>{id.slice(0, 8)}…</code>}
    </a>
  );
}
