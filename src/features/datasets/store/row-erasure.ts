import type { Database } from '../../../engine/metadata/database.js';

/** Removes what rows said, by its number, unless other rows say it, too, inside a transaction of the caller's. */
export function contentRemoval(db: Database): (content: number) => void {
  const remove = db.prepare<{ content: number }, { dataset: number; bytes: number }>(
    `DELETE FROM dataset_contents WHERE seq = @content AND NOT EXISTS (SELECT 1 FROM dataset_rows WHERE content = @content)
     RETURNING dataset, length(CAST(content AS BLOB)) AS bytes`,
  );
  const addBytes = db.prepare<[number, number]>('UPDATE datasets SET bytes = bytes - ? WHERE seq = ?');
  return (content) => {
    const removed = remove.get({ content });
    if (removed !== undefined) addBytes.run(removed.bytes, removed.dataset);
  };
}

/** Takes what some rows say from every version, inside a transaction of the caller's. @returns a function of their numbers */
export function rowErasure(db: Database): (rows: readonly (string | number)[]) => void {
  const find = db.prepare<[string], { seq: number; content: number }>(
    `SELECT seq, content FROM dataset_rows WHERE seq IN (SELECT value FROM json_each(?)) AND content IS NOT NULL`,
  );
  const erase = db.prepare<[number]>('UPDATE dataset_rows SET content = NULL WHERE seq = ?');
  const removeContent = contentRemoval(db);
  return (rows) => {
    for (const { seq, content } of find.all(JSON.stringify(rows))) {
      erase.run(seq);
      removeContent(content);
    }
  };
}
