import type { Database } from '../../../engine/metadata/database.js';
import { TAKEN, type Misfit, type Values } from './take.js';

/** Whether a row of a table is the project's. */
export function ownership(db: Database, table: 'prompts' | 'judges' | 'feedback_links') {
  const find = db.prepare<[unknown, string], number>(`SELECT 1 FROM ${table} WHERE id = ? AND project_id = ?`).pluck();
  return (projectId: string, id: unknown) => find.get(id, projectId) === 1;
}

type Owner = 'project_id' | 'prompt_id';

/**
 * Inserts a row unless its id is there, and then tells whether that is the same thing.
 * @param more SQL of further columns
 * @returns a function of the row's id and owner, and of what makes the row where it is not there: users whom it names, too
 */
export function insertion(db: Database, table: string, columns: readonly string[], owner: Owner, more: Values = {}) {
  const all = { ...Object.fromEntries(columns.map((name) => [name, `@${name}`])), ...more };
  const insert = db.prepare<Values>(
    `INSERT INTO ${table} (${Object.keys(all).join(', ')}) VALUES (${Object.values(all).join(', ')})`,
  );
  const ownerOf = db.prepare<[unknown]>(`SELECT ${owner} FROM ${table} WHERE id = ?`).pluck();
  return (id: unknown, of: unknown, row: () => Values): boolean | Misfit => {
    const known = ownerOf.get(id);
    if (known === undefined) {
      insert.run({ ...row(), id, [owner]: of });
      return true;
    }
    return known === of ? false : { field: 'id', detail: TAKEN, taken: true };
  };
}
