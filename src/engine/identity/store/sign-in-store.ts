import type { Window } from '../../schema/page.js';
import type { ListedSignIn, SignIn, SignInDraft, SignInKey, SignInStage } from '../sign-in.js';
import type { SessionOfCode, SessionOfUser, SessionUse, SignInStore } from '../sign-in-store.js';
import type { Micros } from '../../timestamp.js';
import { guarded, transact, type Database } from '../../metadata/database.js';
import { scopesOfColumns } from './key-rows.js';
import { prepareSignIns } from './sign-in-statements.js';
import { userRemoval } from './user-removal.js';

/** Sign-ins in the SQLite file. */
export class SqliteSignInStore implements SignInStore {
  readonly #db: Database;
  readonly #statements: ReturnType<typeof prepareSignIns>;
  readonly #removeUsers: ReturnType<typeof userRemoval>;

  constructor(db: Database) {
    this.#db = db;
    this.#statements = prepareSignIns(db);
    this.#removeUsers = userRemoval(db);
  }

  transaction<T>(work: () => T): T {
    return transact(this.#db, work);
  }

  insert({ invited, ...draft }: SignInDraft, keyIds: readonly string[]): void {
    const { insert, insertKey } = this.#statements;
    this.transaction(() => {
      insert.run({ ...draft, invited: invited ? 1 : 0 });
      for (const keyId of keyIds) insertKey.run(draft.id, keyId);
    });
  }

  find(stage: SignInStage, hash: Buffer, now: Micros): SignIn | undefined {
    const rows = guarded(() => this.#statements.find.all({ stage, hash, now }));
    const [first] = rows;
    if (first === undefined) return undefined;
    const { id, user_id, provider, created_at, last_used_at } = first;
    const invited = first.invited === 1;
    // If all have expired, the person who uses one learns that.
    const valid = rows.filter(({ expired }) => expired === 0);
    const keys = (valid.length > 0 ? valid : rows).map(({ key_id, project_id }): SignInKey => ({
      id: key_id,
      project_id,
    }));
    return { id, user_id, invited, provider, created_at, last_used_at, keys };
  }

  openCode(code: Buffer, session: SessionOfCode): boolean {
    const { openCode, moveInList } = this.#statements;
    return this.transaction(() => {
      if (openCode.run({ code, ...session }).changes === 0) return false;
      moveInList.run({ hash: session.hash, at: session.at });
      return true;
    });
  }

  attach(id: string, keyId: string): void {
    guarded(() => this.#statements.insertKey.run(id, keyId));
  }

  recordUse(id: string, use: SessionUse): void {
    guarded(() => this.#statements.recordUse.run({ id, ...use }));
  }

  ofUser(userId: string, count: number, now: Micros): SessionOfUser[] {
    const sessions = new Map<string, SessionOfUser & { keys: SessionOfUser['keys'][number][] }>();
    for (const row of guarded(() => this.#statements.ofUser.all({ userId, count, now }))) {
      const { key_id, project_id, project_name, ...session } = row;
      const known = sessions.get(row.id) ?? { ...session, keys: [] };
      known.keys.push({ id: key_id, project_id, project_name });
      sessions.set(row.id, known);
    }
    return [...sessions.values()];
  }

  ofMember(projectId: string, userId: string, now: Micros): string[] {
    return guarded(() => this.#statements.ofMember.all({ projectId, id: userId, now }));
  }

  userIn(projectId: string, id: string, now: Micros): string | undefined {
    return guarded(() => this.#statements.userIn.get({ projectId, id, now }));
  }

  list(projectId: string, window: Window, now: Micros): ListedSignIn[] {
    const rows = guarded(() => this.#statements.list.all({ projectId, ...window, now }));
    return rows.map(({ user_id, user_name, key_id, key_name, access, scopes, personal, role, ...row }) => ({
      ...row,
      user: { id: user_id, name: user_name },
      key: { id: key_id, name: key_name, access: scopesOfColumns({ access, scopes, personal, role }).access },
    }));
  }

  countInvites(projectId: string, now: Micros): number {
    return guarded(() => this.#statements.countInvites.get({ projectId, now }) ?? 0);
  }

  end(id: string): void {
    guarded(() => this.#statements.end.run(id));
  }

  endInProject(projectId: string, id: string, now: Micros): boolean {
    const { standing, endInProject } = this.#statements;
    return this.transaction(() => {
      const unusedInvite = standing.get({ projectId, id, now });
      if (unusedInvite === undefined) return false;
      if (unusedInvite === 1) this.#remove(id);
      else endInProject.run({ projectId, id });
      return true;
    });
  }

  endInvite(id: string): void {
    this.transaction(() => this.#remove(id));
  }

  keepNewest(keyId: string, count: number): void {
    guarded(() => this.#statements.keepNewest.run({ keyId, count }));
  }

  removeOver(now: Micros, onFailed: (signInId: string, error: unknown) => void): void {
    this.transaction(() => {
      for (const id of this.#statements.over.all({ now })) {
        try {
          this.#db.transaction(() => this.#remove(id))();
        } catch (error) {
          onFailed(id, error);
          // The user and the key stay, rather than all that is over later.
          this.#statements.end.run(id);
        }
      }
    });
  }

  address(): string | null {
    return guarded(() => this.#statements.address.get() ?? null);
  }

  setAddress(url: string): void {
    guarded(() => this.#statements.setAddress.run(url));
  }

  #remove(id: string): void {
    const { ofUnusedInvite, end, removeKey, removeMember, notePerson } = this.#statements;
    const invite = ofUnusedInvite.get({ id });
    end.run(id);
    if (invite === undefined) return;
    removeKey.run(invite.key_id);
    removeMember.run({ projectId: invite.project_id, id: invite.user_id });
    this.#removeUsers([invite.user_id]);
    // An import may name users who were invited: they stay as long as its records.
    notePerson.run({ projectId: invite.project_id, id: invite.user_id });
  }
}
