import type { Database } from '../../../engine/metadata/database.js';
import { NamedRows } from '../../../engine/metadata/named-rows.js';
import type { SavedView, SavedViewStore } from '../saved-view.js';

/** Saved views in the SQLite file. */
export function openSavedViews(db: Database): SavedViewStore {
  return new NamedRows<SavedView>(db, {
    name: 'saved_views',
    columns: ['list', 'query', 'columns'],
    json: ['columns'],
  });
}
