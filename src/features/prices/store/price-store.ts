import type { ModelPrice } from '../model-price.js';
import type { PriceStore } from '../price-store.js';
import { guarded, transact, WatchedStore, type Database } from '../../../engine/metadata/database.js';

const COLUMNS =
  'provider, model, input_per_million, output_per_million, cache_read_per_million, created_at, updated_at';

function prepare(db: Database) {
  return {
    list: db.prepare<[string], ModelPrice>(
      `SELECT ${COLUMNS} FROM model_prices WHERE project_id = ? ORDER BY provider, model`,
    ),
    find: db.prepare<[string, string, string], ModelPrice>(
      `SELECT ${COLUMNS} FROM model_prices WHERE project_id = ? AND provider = ? AND model = ?`,
    ),
    put: db.prepare<ModelPrice & { project_id: string }, number>(
      `INSERT INTO model_prices (project_id, ${COLUMNS})
         VALUES (@project_id, @provider, @model, @input_per_million, @output_per_million, @cache_read_per_million,
           @created_at, @updated_at)
         ON CONFLICT DO UPDATE SET input_per_million = excluded.input_per_million,
           output_per_million = excluded.output_per_million, cache_read_per_million = excluded.cache_read_per_million,
           updated_at = excluded.updated_at`,
    ),
    remove: db.prepare<[string, string, string]>(
      'DELETE FROM model_prices WHERE project_id = ? AND provider = ? AND model = ?',
    ),
  };
}

/** Own prices of projects in the SQLite file. */
export class SqlitePriceStore extends WatchedStore<ReturnType<typeof prepare>> implements PriceStore {
  constructor(db: Database) {
    super(db, prepare);
  }

  list(projectId: string): ModelPrice[] {
    return guarded(() => this.statements.list.all(projectId));
  }

  put(projectId: string, price: ModelPrice): boolean {
    return transact(this.db, () => {
      const isNew = this.statements.find.get(projectId, price.provider, price.model) === undefined;
      this.statements.put.run({ project_id: projectId, ...price });
      return isNew;
    });
  }

  remove(projectId: string, provider: string, model: string): boolean {
    return guarded(() => this.statements.remove.run(projectId, provider, model).changes > 0);
  }
}
