import type { DefinitionStore, ScoreDefinition } from '../definition.js';
import { guarded, transact, WatchedStore, type Database } from '../../../engine/metadata/database.js';

type Row = Omit<ScoreDefinition, 'categories'> & { readonly categories: string | null };

const COLUMNS = 'name, kind, min, max, categories, direction, description, created_at, updated_at';

function prepare(db: Database) {
  return {
    list: db.prepare<[string], Row>(`SELECT ${COLUMNS} FROM score_definitions WHERE project_id = ? ORDER BY name`),
    find: db.prepare<[string, string], Row>(
      `SELECT ${COLUMNS} FROM score_definitions WHERE project_id = ? AND name = ?`,
    ),
    count: db.prepare<[string], number>('SELECT count(*) FROM score_definitions WHERE project_id = ?').pluck(),
    put: db.prepare<Row & { project_id: string }>(
      `INSERT INTO score_definitions (project_id, ${COLUMNS})
       VALUES (@project_id, @name, @kind, @min, @max, @categories, @direction, @description, @created_at, @updated_at)
       ON CONFLICT DO UPDATE SET kind = excluded.kind, min = excluded.min, max = excluded.max,
         categories = excluded.categories, direction = excluded.direction, description = excluded.description,
         updated_at = excluded.updated_at`,
    ),
    remove: db.prepare<[string, string]>('DELETE FROM score_definitions WHERE project_id = ? AND name = ?'),
  };
}

/** Definitions of scores in the SQLite file. */
export class SqliteDefinitionStore extends WatchedStore<ReturnType<typeof prepare>> implements DefinitionStore {
  constructor(db: Database) {
    super(db, prepare);
  }

  list(projectId: string): ScoreDefinition[] {
    return guarded(() => this.statements.list.all(projectId).map(toDefinition));
  }

  find(projectId: string, name: string): ScoreDefinition | undefined {
    return guarded(() => {
      const row = this.statements.find.get(projectId, name);
      return row && toDefinition(row);
    });
  }

  count(projectId: string): number {
    return guarded(() => this.statements.count.get(projectId) ?? 0);
  }

  put(projectId: string, definitions: readonly ScoreDefinition[]): void {
    transact(this.db, () => {
      for (const { categories, ...definition } of definitions) {
        const text = categories === null ? null : JSON.stringify(categories);
        this.statements.put.run({ project_id: projectId, ...definition, categories: text });
      }
    });
  }

  remove(projectId: string, name: string): boolean {
    return guarded(() => this.statements.remove.run(projectId, name).changes > 0);
  }
}

function toDefinition({ categories, ...row }: Row): ScoreDefinition {
  return { ...row, categories: categories === null ? null : (JSON.parse(categories) as string[]) };
}
