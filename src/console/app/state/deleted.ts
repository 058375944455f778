import { hrefOf, navigate, place, type Target } from './location.js';
import { changedAt, queries } from './query.js';

interface Deleted {
  /** Its id or name: nothing is kept that was asked with it. */
  readonly id: string;
  /** The screen that does not show it. */
  readonly to: Target;
  /** What else has changed, as for {@link changedAt}. */
  readonly changed?: readonly unknown[];
}

/** Leads away from what was deleted. Only once nothing of it is shown, the rest is asked again: about it, the server answers 404. */
export async function leaveDeleted({ id, to, changed = [] }: Deleted): Promise<void> {
  navigate(hrefOf(to), { replace: true });
  await new Promise((shown) => setTimeout(shown));
  const queryKey = [place.value.project];
  queries.removeQueries({ queryKey, type: 'inactive', predicate: ({ queryHash }) => queryHash.includes(id) });
  await changedAt(...changed);
}
