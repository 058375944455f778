import { randomUUID } from 'node:crypto';
import type { Database } from '../../metadata/database.js';

/** A user, as records name one. */
export interface Person {
  readonly id: string;
  readonly name: string;
}

/** SQL that notes users without keys as people of a project, with which they go: `users` selects their ids. */
export const notePeople = (users: string) =>
  `INSERT INTO imported_people (project_id, source_id, user_id)
   SELECT @projectId, id, id FROM (${users}) WHERE true ON CONFLICT DO NOTHING`;

/**
 * Finds or makes the users that imported records name, inside a transaction of the caller's. A user is known in a project
 * who has, or had, a key of it, gave feedback by a link of it, or came with an import of it: whoever else has the id of a
 * record is someone else, so that no one speaks for users of other projects, or learns of them.
 */
export function importedPeople(db: Database): (projectId: string, person: Person) => string {
  const known = db
    .prepare<{ projectId: string; id: string }, string>(
      `SELECT user_id FROM api_keys WHERE project_id = @projectId AND user_id = @id
       UNION ALL
       SELECT user_id FROM imported_people WHERE project_id = @projectId AND source_id = @id
       UNION ALL
       SELECT user_id FROM imported_people WHERE user_id = @id AND project_id = @projectId
       UNION ALL
       SELECT g.user_id FROM feedback_guests AS g CROSS JOIN feedback_links AS l ON l.id = g.link_id
       WHERE g.user_id = @id AND l.project_id = @projectId
       LIMIT 1`,
    )
    .pluck();
  const taken = db.prepare<[string], number>('SELECT 1 FROM users WHERE id = ?').pluck();
  const insert = db.prepare<{ id: string; name: string; at: number }>(
    'INSERT INTO users (id, name, email, created_at) VALUES (@id, @name, NULL, @at)',
  );
  const note = db.prepare<{ projectId: string; sourceId: string; id: string }>(
    'INSERT INTO imported_people (project_id, source_id, user_id) VALUES (@projectId, @sourceId, @id)',
  );
  return (projectId, person) => {
    const found = known.get({ projectId, id: person.id });
    if (found !== undefined) return found;
    const id = taken.get(person.id) === undefined ? person.id : randomUUID();
    insert.run({ id, name: person.name, at: Date.now() * 1000 });
    note.run({ projectId, sourceId: person.id, id });
    return id;
  };
}
