import type { UsageName, UsageNames } from '../own-usage.js';
import type { UsageOf } from '../../../engine/traces/model/usage.js';
import { guarded, type Database } from '../../../engine/metadata/database.js';

/** Judges, trials, optimizations and people by name, from the SQLite file; whatever is of another project has none. */
export class SqliteUsageNames implements UsageNames {
  readonly #names;

  constructor(db: Database) {
    const ofJob = (columns: string, table: string) =>
      `SELECT g.key, ${columns} FROM asked AS g CROSS JOIN jobs AS b ON b.id = g.id AND b.project_id = @projectId
       JOIN ${table} AS s ON s.id = b.subject_id`;
    // Ids stand in tags of spans, which clients can send, too.
    this.#names = db.prepare<{ projectId: string; groups: string }, UsageName & { readonly key: number }>(
      `WITH asked AS (SELECT key, value ->> 'purpose' AS purpose, value ->> 'id' AS id FROM json_each(@groups)),
         people AS (SELECT DISTINCT user_id AS id FROM api_keys WHERE project_id = @projectId)
       SELECT g.key, j.name, j.id AS subject_id FROM asked AS g CROSS JOIN judges AS j ON j.id = g.id
       WHERE g.purpose = 'judge' AND j.project_id = @projectId
       UNION ALL ${ofJob('s.name, s.id', 'judges')} WHERE g.purpose = 'calibration'
       UNION ALL ${ofJob('s.slug, s.id', 'prompts')} WHERE g.purpose = 'optimization'
       UNION ALL SELECT g.key, u.name, u.id FROM asked AS g JOIN people USING (id) JOIN users AS u USING (id)
       WHERE g.purpose = 'playground'`,
    );
  }

  of(projectId: string, groups: readonly Pick<UsageOf, 'purpose' | 'id'>[]): (UsageName | undefined)[] {
    const asked = JSON.stringify(groups.map(({ purpose, id }) => ({ purpose, id })));
    const found = guarded(() => this.#names.all({ projectId, groups: asked }));
    const byPlace = new Map(found.map(({ key, name, subject_id }) => [key, { name, subject_id }]));
    return groups.map((_, index) => byPlace.get(index));
  }
}
