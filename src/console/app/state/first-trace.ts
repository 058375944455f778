import { useEffect, useMemo } from 'preact/hooks';
import { call } from './api.js';
import { place } from './location.js';
import { remembered } from './preferences.js';
import { useQuery } from './query.js';

/** How often a project without traces is asked for its first one: no one waits for this answer. */
const EVERY_MS = 15_000;

/**
 * Whether the project that is shown is known to have no trace. A browser that has seen one there asks no more: whoever deletes
 * all of them has sent traces before, and empty lists say how, too.
 */
export function useLacksTraces(): boolean {
  const project = place.value.project ?? '';
  const seen = useMemo(() => remembered<'some' | ''>(`traces.${project}`, ''), [project]);
  const { data } = useQuery({
    key: ['/traces', 'any'],
    ask: (signal) => call('GET /traces', { query: { limit: 1, fields: 'id' }, signal }),
    enabled: seen.value === '',
    every: (traces) => (traces?.length === 0 ? EVERY_MS : false),
    keep: false,
  });
  useEffect(() => {
    if (data?.length === 1) seen.value = 'some';
  }, [data, seen]);
  return data?.length === 0;
}
