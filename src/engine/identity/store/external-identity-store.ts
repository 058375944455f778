import { guarded, type Database } from '../../metadata/database.js';
import type { ExternalIdentity, ExternalIdentityStore } from '../external-identity-store.js';

function prepare(db: Database) {
  return {
    find: db
      .prepare<[string, string], string>('SELECT user_id FROM external_identities WHERE issuer = ? AND subject = ?')
      .pluck(),
    insert: db.prepare<ExternalIdentity>(
      `INSERT INTO external_identities (issuer, subject, user_id, created_at)
       VALUES (@issuer, @subject, @user_id, @created_at)`,
    ),
  };
}

/** Who people are to providers, in the SQLite file. */
export class SqliteExternalIdentityStore implements ExternalIdentityStore {
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database) {
    this.#statements = prepare(db);
  }

  find(issuer: string, subject: string): string | undefined {
    return guarded(() => this.#statements.find.get(issuer, subject));
  }

  insert(identity: ExternalIdentity): void {
    guarded(() => this.#statements.insert.run(identity));
  }
}
