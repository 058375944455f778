import type { Window } from '../../schema/page.js';
import type { ListedSignIn, SignIn, SignInDraft, SignInStage } from '../sign-in.js';
import type { SessionOfCode, SessionOfUser, SessionUse } from '../sign-in-store.js';
import type { Micros } from '../../timestamp.js';
import type { Database } from '../../metadata/database.js';
import { notePeople } from './imported-people.js';
import type { ScopesRead } from './key-rows.js';
import { roleIn } from './member-store.js';

/** Rows that are removed at once: before a user goes, every table that names users is looked through. */
const AT_ONCE = 20;

interface FoundRow extends Omit<SignIn, 'keys' | 'invited'> {
  readonly invited: 0 | 1;
  readonly key_id: string;
  readonly project_id: string;
  readonly expired: 0 | 1;
}

interface ListedRow extends Omit<ListedSignIn, 'user' | 'key'>, ScopesRead {
  readonly user_id: string;
  readonly user_name: string;
  readonly key_id: string;
  readonly key_name: string;
}

interface SessionRow extends Omit<SessionOfUser, 'keys'> {
  readonly key_id: string;
  readonly project_id: string;
  readonly project_name: string;
}

/** A sign-in, each of its keys that is not revoked, and the project of that. */
const STANDING = `sign_ins AS s JOIN sign_in_keys AS of ON of.sign_in_id = s.id
  JOIN api_keys AS k ON k.id = of.key_id AND k.revoked_at IS NULL`;

interface UnusedInvite {
  readonly user_id: string;
  readonly key_id: string;
  readonly project_id: string;
}

type InProject = { readonly projectId: string; readonly id: string };

export function prepareSignIns(db: Database) {
  return {
    ...codeStatements(db),
    ...listStatements(db),
    ...endStatements(db),
    ...inviteStatements(db),
    ...addressStatements(db),
  };
}

function codeStatements(db: Database) {
  return {
    insert: db.prepare<Omit<SignInDraft, 'invited'> & { invited: 0 | 1 }>(
      `INSERT INTO sign_ins (id, user_id, stage, invited, hash, created_at, expires_at, browser, address, provider)
       VALUES (@id, @user_id, @stage, @invited, @hash, @created_at, @expires_at, @browser, @address, @provider)`,
    ),
    insertKey: db.prepare<[string, string]>(
      `INSERT INTO sign_in_keys (sign_in_id, key_id, project_id, created_at)
       SELECT s.id, k.id, k.project_id, s.created_at FROM sign_ins AS s JOIN api_keys AS k WHERE s.id = ? AND k.id = ?`,
    ),
    find: db.prepare<{ stage: SignInStage; hash: Buffer; now: Micros }, FoundRow>(
      `SELECT s.id, s.user_id, s.invited, s.provider, s.created_at, s.last_used_at, k.id AS key_id, k.project_id,
         k.expires_at IS NOT NULL AND k.expires_at <= @now AS expired
       FROM ${STANDING} JOIN projects AS p ON p.id = k.project_id
       WHERE s.hash = @hash AND s.stage = @stage AND s.expires_at > @now ORDER BY p.created_at, p.id`,
    ),
    openCode: db.prepare<SessionOfCode & { code: Buffer }>(
      `UPDATE sign_ins SET stage = 'session', hash = @hash, created_at = @at, last_used_at = @at, expires_at = @expiresAt,
         browser = @browser, address = @address
       WHERE hash = @code AND stage = 'code' AND expires_at > @at`,
    ),
    moveInList: db.prepare<{ hash: Buffer; at: Micros }>(
      'UPDATE sign_in_keys SET created_at = @at WHERE sign_in_id = (SELECT id FROM sign_ins WHERE hash = @hash)',
    ),
    recordUse: db.prepare<SessionUse & { id: string }>(
      `UPDATE sign_ins SET last_used_at = @at, expires_at = @expiresAt, address = ifnull(@address, address) WHERE id = @id`,
    ),
  };
}

function listStatements(db: Database) {
  return {
    ofUser: db.prepare<{ userId: string; count: number; now: Micros }, SessionRow>(
      `SELECT s.id, s.created_at, s.last_used_at, s.expires_at, s.browser, s.address,
         k.id AS key_id, k.project_id, p.name AS project_name
       FROM (SELECT * FROM sign_ins WHERE user_id = @userId AND stage = 'session' AND expires_at > @now
         ORDER BY created_at DESC, id LIMIT @count) AS s
       JOIN sign_in_keys AS of ON of.sign_in_id = s.id JOIN api_keys AS k ON k.id = of.key_id AND k.revoked_at IS NULL
       JOIN projects AS p ON p.id = k.project_id
       ORDER BY s.created_at DESC, s.id, p.created_at, p.id`,
    ),
    ofMember: db
      .prepare<InProject & { now: Micros }, string>(
        `SELECT s.id FROM ${STANDING}
         WHERE s.user_id = @id AND s.stage = 'session' AND k.project_id = @projectId AND s.expires_at > @now`,
      )
      .pluck(),
    userIn: db
      .prepare<InProject & { now: Micros }, string>(
        `SELECT s.user_id FROM ${STANDING} WHERE s.id = @id AND k.project_id = @projectId AND s.expires_at > @now`,
      )
      .pluck(),
    list: db.prepare<Window & { projectId: string; now: Micros }, ListedRow>(
      `SELECT s.id, s.stage, s.created_at, s.last_used_at, s.expires_at, s.browser, s.address, u.id AS user_id,
         u.name AS user_name, k.id AS key_id, k.name AS key_name, k.access, k.scopes, k.personal, ${roleIn('k')} AS role
       FROM sign_in_keys AS of INDEXED BY sign_in_keys_in_order
       CROSS JOIN sign_ins AS s ON s.id = of.sign_in_id CROSS JOIN api_keys AS k ON k.id = of.key_id AND k.revoked_at IS NULL
       CROSS JOIN users AS u ON u.id = s.user_id
       WHERE of.project_id = @projectId AND s.expires_at > @now
       ORDER BY of.created_at DESC, of.sign_in_id LIMIT @limit OFFSET @offset`,
    ),
    countInvites: db
      .prepare<{ projectId: string; now: Micros }, number>(
        `SELECT count(*) FROM ${STANDING}
         WHERE k.project_id = @projectId AND s.stage = 'code' AND s.invited AND s.expires_at > @now`,
      )
      .pluck(),
  };
}

function endStatements(db: Database) {
  return {
    end: db.prepare<[string]>('DELETE FROM sign_ins WHERE id = ?'),
    standing: db
      .prepare<InProject & { now: Micros }, number>(
        `SELECT s.stage = 'code' AND s.invited FROM ${STANDING}
         WHERE s.id = @id AND k.project_id = @projectId AND s.expires_at > @now`,
      )
      .pluck(),
    endInProject: db.prepare<InProject>(
      `DELETE FROM sign_in_keys
       WHERE sign_in_id = @id AND key_id IN (SELECT id FROM api_keys WHERE project_id = @projectId)`,
    ),
    keepNewest: db.prepare<{ keyId: string; count: number }>(
      `DELETE FROM sign_ins WHERE id IN (
         SELECT s.id FROM sign_in_keys AS of JOIN sign_ins AS s ON s.id = of.sign_in_id
         WHERE of.key_id = @keyId ORDER BY s.created_at DESC, s.rowid DESC LIMIT -1 OFFSET @count)`,
    ),
    over: db
      .prepare<{ now: Micros }, string>(
        `SELECT id FROM sign_ins WHERE expires_at <= @now ORDER BY expires_at LIMIT ${AT_ONCE}`,
      )
      .pluck(),
  };
}

/** Who was invited goes with a code that was never used. */
function inviteStatements(db: Database) {
  return {
    // The invited person may have signed in by another code in the meantime.
    ofUnusedInvite: db.prepare<{ id: string }, UnusedInvite>(
      `SELECT s.user_id, k.id AS key_id, k.project_id FROM ${STANDING}
       WHERE s.id = @id AND s.stage = 'code' AND s.invited AND k.last_used_at IS NULL
         AND NOT EXISTS (SELECT 1 FROM sign_in_keys WHERE key_id = k.id AND sign_in_id <> @id)`,
    ),
    removeKey: db.prepare<[string]>('DELETE FROM api_keys WHERE id = ?'),
    removeMember: db.prepare<InProject>(
      `DELETE FROM members WHERE project_id = @projectId AND user_id = @id
         AND NOT EXISTS (SELECT 1 FROM api_keys WHERE user_id = @id AND project_id = @projectId)`,
    ),
    // Someone may have made another key for the user meanwhile.
    notePerson: db.prepare<InProject>(
      notePeople('SELECT id FROM users WHERE id = @id AND NOT EXISTS (SELECT 1 FROM api_keys WHERE user_id = @id)'),
    ),
  };
}

function addressStatements(db: Database) {
  return {
    address: db.prepare<[], string>('SELECT url FROM console_address').pluck(),
    setAddress: db.prepare<[string]>(
      'INSERT INTO console_address (only, url) VALUES (1, ?) ON CONFLICT DO UPDATE SET url = excluded.url',
    ),
  };
}
