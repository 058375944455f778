import type { Database } from '../../../engine/metadata/database.js';

/**
 * Removes examples of pinned versions of judges, inside a transaction of the caller's. The versions that showed them are lost.
 * @param chosen SQL of their numbers
 * @returns a function of what the SQL names, and of now
 */
export function exampleRemoval(db: Database, chosen: string): (values: { readonly at: number }) => void {
  const lose = db.prepare<object>(
    `UPDATE judge_pins SET lost_at = coalesce(lost_at, @at)
     WHERE seq IN (SELECT pin FROM judge_pin_corrections WHERE example IN ${chosen})`,
  );
  const remove = [
    db.prepare<object>(`DELETE FROM judge_pin_corrections WHERE example IN ${chosen}`),
    db.prepare<object>(`DELETE FROM judge_pin_examples WHERE seq IN ${chosen}`),
  ];
  return (values) => {
    for (const statement of [lose, ...remove]) statement.run(values);
  };
}
