import { DomainError } from '../errors.js';
import { uuidOf } from '../schema/ids.js';
import type { Micros } from '../timestamp.js';
import type { RequestOrigin } from '../signals/catalog/audit.js';
import { inTransaction, NO_AUDIT_LOG, type AuditLog } from './audit.js';
import type { IdentityService } from './identity-service.js';
import type { OwnSignIn, SignIn, SignInKey } from './sign-in.js';
import type { SignInStore } from './sign-in-store.js';

/** Maximum number of sessions shown to a person. */
const MAX_OWN = 100;

export interface OwnSessionsParts {
  readonly store: SignInStore;
  readonly identity: Pick<IdentityService, 'scopesOfKey'>;
  readonly now?: () => Micros;
  readonly audit?: AuditLog;
}

/** What a person learns of their own sessions, and ends of them. */
export class OwnSessions {
  readonly #store: SignInStore;
  readonly #identity: Pick<IdentityService, 'scopesOfKey'>;
  readonly #now: () => Micros;
  readonly #audit: AuditLog;

  constructor({ store, identity, now, audit }: OwnSessionsParts) {
    this.#store = store;
    this.#identity = identity;
    this.#now = now ?? (() => Date.now() * 1000);
    this.#audit = audit ?? NO_AUDIT_LOG;
  }

  /**
   * Sessions of the person of a session, the newest first. One that opens more than this one is none of them: whoever has a
   * lesser key of a person learns of no other session of theirs, and ends none.
   */
  list(session: SignIn): OwnSignIn[] {
    return this.#store
      .ofUser(session.user_id, MAX_OWN, this.#now())
      .filter(({ keys }) => keys.every((key) => this.#opens(session, key)))
      .map(({ keys, ...one }) => ({
        ...one,
        projects: keys.map(({ project_id, project_name }) => ({ id: project_id, name: project_name })),
      }));
  }

  /**
   * Ends a session of the same person.
   * @param origin the request, with the network of its client
   * @throws DomainError `not_found` when it is not listed
   */
  end(session: SignIn, id: string, origin?: RequestOrigin): void {
    if (!this.list(session).some((one) => one.id === uuidOf(id)))
      throw new DomainError('not_found', 'There is no session with this id');
    this.#endWhole(session, [uuidOf(id)], origin);
  }

  /** Ends all other sessions of the same person, as far as they are listed. @param origin as for `end` */
  endOthers(session: SignIn, origin?: RequestOrigin): void {
    const others = this.list(session).filter(({ id }) => id !== session.id);
    this.#endWhole(
      session,
      others.map(({ id }) => id),
      origin,
    );
  }

  #endWhole({ id, user_id, keys: [key] }: SignIn, ended: readonly string[], origin?: RequestOrigin): void {
    inTransaction(this.#audit, this.#store, () => {
      for (const subject_id of ended) {
        this.#store.end(subject_id);
        if (key === undefined) continue;
        const by = { user_id, key_id: key.id, sign_in_id: id, ...(origin !== undefined && { origin }) };
        this.#audit.done({ event: 'signInEnded', by, project_id: key.project_id, subject_id });
      }
    });
  }

  /** Whether a session opens all that a key opens. */
  #opens(session: SignIn, key: SignInKey): boolean {
    const own = session.keys.find(({ project_id }) => project_id === key.project_id);
    if (own === undefined) return false;
    if (own.id === key.id) return true;
    const scopes = this.#identity.scopesOfKey(own.id);
    return this.#identity.scopesOfKey(key.id).every((scope) => scopes.includes(scope));
  }
}
