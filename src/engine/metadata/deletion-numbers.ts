import { guarded, type Database } from './database.js';

/**
 * SQL for the number of the deletion that was ordered last: rows that deletions concern keep that of when they were written, in
 * `after_deletion`. Numbers grow and are never given twice, so that a deletion tells rows that came after its order from those
 * before, whatever the clock said or an import says.
 */
export const LAST_DELETION = "(SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'deletions')";

/** What {@link LAST_DELETION} says now. */
export function lastDeletionOf(db: Database): () => number {
  const read = db.prepare<[], number>(`SELECT ${LAST_DELETION}`).pluck();
  return () => guarded(() => read.get() ?? 0);
}

/**
 * Whether deletions of a project are under way, also some that are not ordered yet, and the last one before all of these: what is
 * written now may be about what they have yet to find.
 */
export function deletionsUnderWay(
  db: Database,
): (projectId: string) => { readonly before: number; readonly any: boolean } {
  const read = db.prepare<[string], { readonly first: number | null; readonly last: number }>(
    `SELECT (SELECT min(seq) FROM deletions WHERE project_id = ?) AS first, ${LAST_DELETION} AS last`,
  );
  return (projectId) => {
    const { first = null, last = 0 } = guarded(() => read.get(projectId)) ?? {};
    return { before: first === null ? last : first - 1, any: first !== null };
  };
}
