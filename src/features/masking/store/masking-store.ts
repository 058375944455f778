import { guarded, type Database } from '../../../engine/metadata/database.js';
import type { Micros } from '../../../engine/timestamp.js';
import type { KeptRules, MaskingRule, MaskingStore } from '../rule.js';

interface Row {
  readonly version: number;
  readonly rules: string;
  readonly hash_key: Buffer;
  readonly updated_at: Micros;
}

function prepare(db: Database) {
  return {
    find: db.prepare<[string], Row>(
      'SELECT version, rules, hash_key, updated_at FROM masking_rules WHERE project_id = ?',
    ),
    put: db.prepare<{ projectId: string; rules: string; key: Buffer; at: Micros }>(
      `INSERT INTO masking_rules (project_id, version, rules, hash_key, updated_at) VALUES (@projectId, 1, @rules, @key, @at)
       ON CONFLICT (project_id) DO UPDATE SET version = version + 1, rules = @rules, updated_at = @at`,
    ),
  };
}

/** Masking rules in the SQLite file. Threads that read bodies have one on a connection that only reads. */
export class SqliteMaskingStore implements MaskingStore {
  readonly #db: Database;
  #statements: ReturnType<typeof prepare> | null = null;

  constructor(db: Database) {
    this.#db = db;
  }

  find(projectId: string): KeptRules | undefined {
    const row = guarded(() => this.#prepared().find.get(projectId));
    if (row === undefined) return undefined;
    const { version, rules, hash_key: key, updated_at } = row;
    return { version, rules: JSON.parse(rules) as MaskingRule[], key, updated_at };
  }

  put(
    projectId: string,
    rules: readonly MaskingRule[],
    { at, key }: { readonly at: Micros; readonly key: Buffer },
  ): void {
    guarded(() => this.#prepared().put.run({ projectId, rules: JSON.stringify(rules), key, at }));
  }

  #prepared(): ReturnType<typeof prepare> {
    return (this.#statements ??= prepare(this.#db));
  }
}
