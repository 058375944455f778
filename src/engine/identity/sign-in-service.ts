import { randomUUID } from 'node:crypto';
import { DomainError } from '../errors.js';
import type { RequestOrigin } from '../signals/catalog/audit.js';
import { uuidOf } from '../schema/ids.js';
import type { Window } from '../schema/page.js';
import type { Micros } from '../timestamp.js';
import { NO_AUDIT_LOG, type Actor, type AuditLog } from './audit.js';
import type { ApiKey, Identity, Principal, Project, User } from './identity.js';
import { requireGrant, type Granter } from './granting.js';
import type { IdentityService } from './identity-service.js';
import { scopesOf, type PersonAccess } from './key-access.js';
import type { ListedSignIn, OpenedSession, SignIn, SignInKey, SignInPreview } from './sign-in.js';
import type { SignInStore } from './sign-in-store.js';
import { createToken, hashOfToken } from './token.js';

const HOUR: Micros = 3600 * 1e6;
const DAY: Micros = 24 * HOUR;
const CODE_LASTS = HOUR;
const SESSION_IDLES = 7 * DAY;
const SESSION_LASTS = 30 * DAY;
const USE_RESOLUTION: Micros = 600 * 1e6;
/** Days after which a session ends, however much it is used. */
export const SESSION_DAYS = SESSION_LASTS / DAY;
/** Bound on what is left behind on ever new devices. By key, not by user: who has a lesser key of a user signs nobody else out. */
const MAX_PER_KEY = 50;
/** Bound on users that nobody is. */
const MAX_UNUSED_INVITES = 100;
const KEY_NAME = 'Console';
const USED_CODE =
  'This sign-in link is unknown, expired after one hour, or already used. To get a new one, run `npm run admin -- signin` on the server machine';

/** What a person signs in with: a code that was handed out, or an API key. */
export type Credentials = { readonly code: string } | { readonly key: string };

/** A code, handed out: the only time it is there. */
export interface HandedOutCode {
  readonly code: string;
  readonly expires_at: Micros;
}

export interface Invite {
  readonly name: string;
  readonly access: PersonAccess;
}

export interface Invitation extends HandedOutCode {
  readonly user: User;
}

export interface SignInServiceParts {
  readonly store: SignInStore;
  readonly identity: IdentityService;
  readonly now?: () => Micros;
  readonly audit?: AuditLog;
  /** Called when a time of last use could not be written. */
  readonly onRecordFailed?: (error: unknown) => void;
  /** Called when a sign-in that is over could not be removed with all that was made for it; null: when none could be. */
  readonly onUpkeepFailed?: (signInId: string | null, error: unknown) => void;
}

/**
 * Signs people in to the console. A sign-in hangs on API keys of one user, one of each project: it opens what they open, with
 * their access, and ends with them.
 */
export class SignInService {
  readonly #store: SignInStore;
  readonly #identity: IdentityService;
  readonly #now: () => Micros;
  readonly #audit: AuditLog;
  readonly #onRecordFailed: (error: unknown) => void;
  readonly #onUpkeepFailed: (signInId: string | null, error: unknown) => void;

  constructor({ store, identity, now, audit, onRecordFailed, onUpkeepFailed }: SignInServiceParts) {
    this.#store = store;
    this.#identity = identity;
    this.#now = now ?? (() => Date.now() * 1000);
    this.#audit = audit ?? NO_AUDIT_LOG;
    this.#onRecordFailed = onRecordFailed ?? (() => undefined);
    this.#onUpkeepFailed = onUpkeepFailed ?? (() => undefined);
  }

  /** Notes where the console is from now on, for the admin program. @param baseUrl of the URLs handed out */
  openedAt(baseUrl: string): void {
    this.#tidy();
    if (this.#store.address() !== baseUrl) this.#store.setAddress(baseUrl);
  }

  /**
   * A code that signs a user in once, within the hour. It hangs on the keys of the user that read: of each project, or of the
   * given one, the first of full access, else the first. A user without one gets one, whose secret nobody sees.
   * @param newKeyIn names the project of such a key
   * @throws DomainError `not_found`, `conflict`
   */
  makeCode(userId: string, projectId: string | null, newKeyIn: () => string): HandedOutCode {
    this.#tidy();
    return this.#store.transaction(() => {
      const now = this.#now();
      const isUsable = ({ user_id, expires_at: at }: ApiKey) => user_id === userId && (at === null || at > now);
      const found = keysToSignIn(this.#identity.listKeys(projectId).filter(isUsable));
      const keys =
        found.length > 0 ? found : [this.#identity.addKey({ projectId: newKeyIn(), userId, name: KEY_NAME })];
      return this.#insertCode(userId, keys, false);
    });
  }

  /** Makes a user with a key of the project, and a code for them. @throws DomainError `conflict`, `forbidden` */
  invite(projectId: string, { name, access }: Invite, by: Granter): Invitation {
    requireGrant(by, scopesOf(access));
    this.#identity.requireLifetime(by, null);
    this.#tidy();
    return this.#inTransaction(() => {
      if (this.#store.countInvites(projectId, this.#now()) >= MAX_UNUSED_INVITES)
        throw new DomainError('conflict', `${MAX_UNUSED_INVITES} invitations are unused: revoke some, or wait an hour`);
      const user = this.#identity.createUser({ name, invited: true });
      const key = this.#identity.addKey({ projectId, userId: user.id, name: KEY_NAME, access });
      this.#audit.done({ event: 'personInvited', by, project_id: projectId, subject_id: user.id, access });
      return { user, ...this.#insertCode(user.id, [key], true) };
    });
  }

  /** Whom credentials would sign in. A code stays what it is. @throws DomainError `unauthenticated` */
  preview(credentials: Credentials): SignInPreview {
    const { user_id, keys } = this.#standingFor(credentials);
    const identities = keys.map(({ id, project_id }) => this.#identity.describe({ user_id, project_id, key_id: id }));
    const [first] = identities;
    if (first === undefined) throw new DomainError('unauthenticated', USED_CODE);
    return { user: first.user, projects: identities.map(({ project, key: { access } }) => ({ ...project, access })) };
  }

  #standingFor(credentials: Credentials): { readonly user_id: string; readonly keys: readonly SignInKey[] } {
    if ('key' in credentials) {
      const { user_id, project_id, key_id } = this.#identity.authenticate(`Bearer ${credentials.key}`);
      return { user_id, keys: [{ id: key_id, project_id }] };
    }
    const hash = hashOfToken(credentials.code);
    const found = hash === null ? undefined : this.#store.find('code', hash, this.#now());
    if (found === undefined) throw new DomainError('unauthenticated', USED_CODE);
    return found;
  }

  /** The user of a session; undefined: its key was revoked meanwhile. */
  userOf({ user_id, keys: [key] }: SignIn): Identity['user'] | undefined {
    return key && this.#identity.describe({ user_id, project_id: key.project_id, key_id: key.id }).user;
  }

  /** Opens a session. @param origin the request that opens it, with the network of its client @throws DomainError `unauthenticated` */
  signIn(credentials: Credentials, origin?: RequestOrigin): OpenedSession {
    const opened = this.#inTransaction(() => {
      const session = this.#open(credentials);
      const { token: _secret, project_id, projects, with: how, ...actor } = session;
      const by = { ...actor, ...(origin !== undefined && { origin }) };
      this.#audit.done({ event: 'signedIn', by, project_id, projects, with: how });
      return session;
    });
    this.#tidy();
    return opened;
  }

  #open(credentials: Credentials): OpenedSession {
    const { token, hash } = createToken();
    const at = this.#now();
    const session = { hash, at, expiresAt: at + SESSION_IDLES };
    if ('code' in credentials) {
      const code = hashOfToken(credentials.code);
      const known = code === null ? undefined : this.#store.find('code', code, at);
      const [key] = known?.keys ?? [];
      if (code === null || known === undefined || key === undefined || !this.#store.openCode(code, session))
        throw new DomainError('unauthenticated', USED_CODE);
      const { id: sign_in_id, user_id, keys } = known;
      const opened = { token, sign_in_id, user_id, key_id: key.id, project_id: key.project_id };
      return { ...opened, projects: keys.length, with: 'link' };
    }
    const { user_id, key_id, project_id } = this.#identity.authenticate(`Bearer ${credentials.key}`);
    const sign_in_id = randomUUID();
    const draft = { id: sign_in_id, user_id, stage: 'session', invited: false, hash, created_at: at } as const;
    this.#insert({ ...draft, expires_at: session.expiresAt }, [key_id]);
    return { token, sign_in_id, user_id, key_id, project_id, projects: 1, with: 'key' };
  }

  /** The session with a secret; undefined when there is none, or no longer. */
  session(token: string): SignIn | undefined {
    const hash = hashOfToken(token);
    return hash === null ? undefined : this.#store.find('session', hash, this.#now());
  }

  /**
   * For whom a session acts in a project. Using it keeps it.
   * @param projectId in any form of an id; null: the first of its projects
   * @param from the address of the client
   * @throws DomainError `forbidden` for a project that it does not open
   */
  principal(session: SignIn, projectId: string | null, from?: () => string): Principal {
    const wanted = projectId === null ? null : uuidOf(projectId);
    const key = session.keys.find(({ project_id }) => wanted === null || project_id === wanted);
    if (key === undefined) throw new DomainError('forbidden', 'This session does not have access to the project');
    const principal = this.#identity.principalOfKey(key.id, session.id, from);
    this.#recordUse(session);
    return principal;
  }

  /** Projects that a session opens, the oldest first. */
  projectsOf({ keys }: SignIn): Project[] {
    const ids = new Set(keys.map(({ project_id }) => project_id));
    return this.#identity.listProjects().filter(({ id }) => ids.has(id));
  }

  signOut({ id, user_id, keys: [key] }: SignIn, origin?: RequestOrigin): void {
    this.#inTransaction(() => {
      this.#store.end(id);
      if (key === undefined) return;
      const by = { user_id, key_id: key.id, sign_in_id: id, ...(origin !== undefined && { origin }) };
      this.#audit.done({ event: 'signedOut', by, project_id: key.project_id });
    });
  }

  /** Sign-ins to a project and codes for it, newest first. */
  list(projectId: string, window: Window): ListedSignIn[] {
    return this.#store.list(projectId, window, this.#now());
  }

  /** Ends what a sign-in opens of a project. @throws DomainError `not_found` */
  end(projectId: string, id: string, by: Actor): void {
    this.#inTransaction(() => {
      if (!this.#store.endInProject(projectId, id, this.#now()))
        throw new DomainError('not_found', 'There is no session with this id');
      this.#audit.done({ event: 'signInEnded', by, project_id: projectId, subject_id: id });
    });
  }

  /** One transaction, with what the audit log is told meanwhile. */
  #inTransaction<T>(work: () => T): T {
    return this.#audit.together(() => this.#store.transaction(work));
  }

  #insertCode(userId: string, keys: readonly Pick<ApiKey, 'id'>[], invited: boolean): HandedOutCode {
    const { token, hash } = createToken();
    const created_at = this.#now();
    const expires_at = created_at + CODE_LASTS;
    const draft = { id: randomUUID(), user_id: userId, stage: 'code', invited, hash, created_at, expires_at } as const;
    this.#insert(
      draft,
      keys.map(({ id }) => id),
    );
    return { code: token, expires_at };
  }

  #insert(...row: Parameters<SignInStore['insert']>): void {
    const [, keyIds] = row;
    this.#store.transaction(() => {
      this.#store.insert(...row);
      for (const keyId of keyIds) this.#store.keepNewest(keyId, MAX_PER_KEY);
    });
  }

  /** Removes what is over. That it fails keeps no start, and nobody from signing in. */
  #tidy(): void {
    try {
      this.#store.removeOver(this.#now(), this.#onUpkeepFailed);
    } catch (error) {
      this.#onUpkeepFailed(null, error);
    }
  }

  #recordUse({ id, created_at, last_used_at }: SignIn): void {
    const at = this.#now();
    if (at - (last_used_at ?? 0) < USE_RESOLUTION) return;
    try {
      this.#store.recordUse(id, { at, expiresAt: Math.min(at + SESSION_IDLES, created_at + SESSION_LASTS) });
    } catch (error) {
      this.#onRecordFailed(error);
    }
  }
}

/** Of each project the first key of full access, else the first that reads. @param keys ascending by creation */
function keysToSignIn(keys: readonly ApiKey[]): ApiKey[] {
  const best = new Map<string, ApiKey>();
  for (const access of ['full', 'read'])
    for (const key of keys) if (key.access === access && !best.has(key.project_id)) best.set(key.project_id, key);
  return [...best.values()];
}
