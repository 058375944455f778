import type { Named, NamedStore } from '../../engine/named-store.js';
import type { ListDefinition } from '../../engine/traces/model/list/definitions.js';

/** A list as the people of a project want to see it again. */
export interface SavedView extends Named {
  readonly list: ListDefinition['name'];
  /** Filters and order, as in the URL of the list. */
  readonly query: string;
  /** Names of columns, in their order; null: the usual ones. */
  readonly columns: readonly string[] | null;
}

export type SavedViewStore = NamedStore<SavedView>;
