import { hrefOf, navigate, place, type Target } from './location.js';
import { queries } from './query.js';

interface Deleted {
  /** Its id or name: nothing is kept that was asked with it. */
  readonly id: string;
  /** The screen that does not show it. */
  readonly to: Target;
  /** What else has changed: the beginning of its keys, behind the project. */
  readonly changed?: readonly unknown[];
}

/** Leads away from what was deleted, and has the rest asked again: about what was deleted, the server answers 404. */
export async function leaveDeleted({ id, to, changed = [] }: Deleted): Promise<void> {
  navigate(hrefOf(to), { replace: true });
  await new Promise((shown) => setTimeout(shown));
  const queryKey = [place.value.project];
  queries.removeQueries({ queryKey, type: 'inactive', predicate: ({ queryHash }) => queryHash.includes(id) });
  // Until the script of the other screen has come, this one is still there.
  await queries.invalidateQueries({
    queryKey: [...queryKey, ...changed],
    predicate: ({ queryHash }) => !queryHash.includes(id),
  });
}
