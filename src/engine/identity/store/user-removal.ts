import type { Database } from '../../metadata/database.js';

interface Reference {
  readonly in: string;
  readonly column: string;
}

/** The columns that name users and keep them: those of tables whose rows do not go with the user. The schema says which. */
function references(db: Database): Reference[] {
  return db
    .prepare<[], Reference>(
      `SELECT t.name AS "in", f."from" AS "column" FROM sqlite_schema AS t JOIN pragma_foreign_key_list(t.name) AS f
       WHERE t.type = 'table' AND f."table" = 'users' AND f.on_delete <> 'CASCADE'`,
    )
    .all();
}

/** SQL for whether nothing refers to a user, except for rows of some tables. */
export const unnamed = (db: Database, user: string, except: readonly string[] = []) =>
  references(db)
    .filter((by) => !except.includes(by.in))
    .map((by) => `NOT EXISTS (SELECT 1 FROM ${by.in} WHERE ${by.column} = ${user})`)
    .join(' AND ');

/** Removes those of some users that nothing refers to, inside a transaction of the caller's; others stay. */
export function userRemoval(db: Database): (ids: readonly string[]) => void {
  const remove = db.prepare<[string]>(
    `DELETE FROM users WHERE id IN (SELECT value FROM json_each(?)) AND ${unnamed(db, 'users.id')}`,
  );
  return (ids) => {
    remove.run(JSON.stringify(ids));
  };
}
