import { transact, type Database } from '../../../engine/metadata/database.js';
import { AT_ONCE, TEXTS_AT_ONCE } from './row-sql.js';

function prepare(db: Database) {
  return {
    removed: db.prepare<[], { id: string; seq: number }>(
      'SELECT id, seq FROM datasets WHERE deleted_at IS NOT NULL LIMIT 1',
    ),
    // What was found of its rows goes before what says that they are gone.
    comparisons: db.prepare<{ id: string; seq: number }>(
      `DELETE FROM comparisons WHERE seq IN (
         SELECT c.seq FROM datasets AS d CROSS JOIN comparisons AS c INDEXED BY comparisons_by_dataset
           ON c.dataset_id = d.id AND c.created_at <= d.rows_erased_at
         WHERE d.seq = @seq AND d.id = @id LIMIT ${TEXTS_AT_ONCE})`,
    ),
    parts: ['dataset_rows', 'dataset_contents', 'dataset_versions', 'dataset_tag_moves'].map((table, index) => {
      const of = index < 2 ? 'dataset = @seq' : 'dataset_id = @id';
      return db.prepare<{ id: string; seq: number }>(
        `DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table} WHERE ${of} LIMIT ${index === 1 ? TEXTS_AT_ONCE : AT_ONCE})`,
      );
    }),
    remove: db.prepare<{ id: string; seq: number }>('DELETE FROM datasets WHERE seq = @seq AND id = @id'),
  };
}

/** Removes portions of datasets that were deleted. The result says whether there may be more. */
export function datasetRemoval(db: Database): () => boolean {
  const { removed, comparisons, parts, remove } = prepare(db);
  return () =>
    transact(db, () => {
      const dataset = removed.get();
      if (dataset === undefined) return false;
      for (const part of [comparisons, ...parts]) if (part.run(dataset).changes > 0) return true;
      remove.run(dataset);
      return true;
    });
}
