import { randomUUID } from 'node:crypto';
import { DomainError } from '../errors.js';
import type { RequestOrigin } from '../signals/catalog/audit.js';
import { uuidOf } from '../schema/ids.js';
import type { Window } from '../schema/page.js';
import type { Micros } from '../timestamp.js';
import { inTransaction, NO_AUDIT_LOG, type AuditLog } from './audit.js';
import type { ApiKey, Identity, Principal, Project } from './identity.js';
import type { Granter } from './granting.js';
import type { IdentityService } from './identity-service.js';
import { keysToSignIn } from './keys-to-sign-in.js';
import { PERSONAL_KEY } from './member-service.js';
import { SessionEnds, type SessionLasts } from './session-ends.js';
import type {
  Credentials,
  HandedOutCode,
  ListedSignIn,
  OpenedSession,
  Opening,
  SignIn,
  SignInKey,
  SignInOrigin,
  SignInPreview,
} from './sign-in.js';
import type { SignInStore } from './sign-in-store.js';
import { addressOf } from './key-uses.js';
import { createToken, hashOfToken } from './token.js';

const HOUR: Micros = 3600 * 1e6;
const CODE_LASTS = HOUR;
/** Bound on what is left behind on ever new devices. By key, not by user: who has a lesser key of a user signs nobody else out. */
const MAX_PER_KEY = 50;
const NOWHERE: SignInOrigin = { browser: null, address: null };
const USED_CODE =
  'This sign-in link is unknown, expired after one hour, or already used. To get a new one, run `npm run admin -- signin` on the server machine';

export interface SignInServiceParts {
  readonly store: SignInStore;
  readonly identity: IdentityService;
  readonly now?: () => Micros;
  readonly audit?: AuditLog;
  readonly lasts?: SessionLasts;
  /** Whether those alone sign people in who vouch for them, and the server's own machine; default: no. */
  readonly externalOnly?: boolean;
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
  readonly #ends: SessionEnds;
  readonly #externalOnly: boolean;
  readonly #onRecordFailed: (error: unknown) => void;
  readonly #onUpkeepFailed: (signInId: string | null, error: unknown) => void;

  constructor({ store, identity, now, audit, lasts, externalOnly, ...parts }: SignInServiceParts) {
    this.#store = store;
    this.#identity = identity;
    this.#now = now ?? (() => Date.now() * 1000);
    this.#audit = audit ?? NO_AUDIT_LOG;
    this.#ends = new SessionEnds(lasts);
    this.#externalOnly = externalOnly ?? false;
    this.#onRecordFailed = parts.onRecordFailed ?? (() => undefined);
    this.#onUpkeepFailed = parts.onUpkeepFailed ?? (() => undefined);
  }

  /** Notes where the console is from now on, for the admin program. @param baseUrl of the URLs handed out */
  openedAt(baseUrl: string): void {
    this.tidy();
    if (this.#store.address() !== baseUrl) this.#store.setAddress(baseUrl);
  }

  /**
   * A code that signs a user in once, within the hour. It hangs on the keys of the user that read all: of each project, or of the
   * given one, that which stands for them, else the one of the most scopes. A user without one gets one, whose secret nobody sees.
   * @param newKeyIn names the project of such a key
   * @throws DomainError `not_found`, `conflict`
   */
  makeCode(userId: string, projectId: string | null, newKeyIn: () => string): HandedOutCode {
    this.tidy();
    return this.#store.transaction(() => {
      const now = this.#now();
      const isUsable = ({ user_id, expires_at: at }: ApiKey) => user_id === userId && (at === null || at > now);
      const found = keysToSignIn(this.#identity.listKeys(projectId).filter(isUsable));
      const keys =
        found.length > 0
          ? found
          : [this.#identity.addKey({ projectId: newKeyIn(), userId, name: PERSONAL_KEY, personal: true })];
      return this.handOutCode(userId, keys, false);
    });
  }

  /** Hands out a code for keys of a user. @param invited whether both were made for it, and go if nobody uses it */
  handOutCode(userId: string, keys: readonly Pick<ApiKey, 'id'>[], invited: boolean): HandedOutCode {
    const { token, hash } = createToken();
    const created_at = this.#now();
    const expires_at = created_at + CODE_LASTS;
    const draft = { id: randomUUID(), user_id: userId, stage: 'code', invited, hash, created_at, expires_at } as const;
    this.#insert(
      { ...draft, ...NOWHERE, provider: null },
      keys.map(({ id }) => id),
    );
    return { code: token, expires_at };
  }

  /** Whom credentials would sign in. A code stays what it is. @throws DomainError `unauthenticated` */
  preview(credentials: Credentials): SignInPreview {
    const { user_id, keys, invited } = this.#standingFor(credentials);
    const identities = keys.map(({ id, project_id }) => this.#identity.describe({ user_id, project_id, key_id: id }));
    const [first] = identities;
    if (first === undefined) throw new DomainError('unauthenticated', USED_CODE);
    const projects = identities.map(({ project, key: { access, role } }) => ({ ...project, access, role }));
    return { user: first.user, projects, invited };
  }

  #standingFor(credentials: Credentials): Pick<SignIn, 'user_id' | 'keys' | 'invited'> {
    if ('code' in credentials) return this.ofCode(credentials.code);
    const { user_id, project_id, key_id } = this.#ofKey(credentials.key);
    return { user_id, keys: [{ id: key_id, project_id }], invited: false };
  }

  /** @throws DomainError `unauthenticated`, `forbidden` where keys sign no one in */
  #ofKey(key: string): Principal {
    if (this.#externalOnly) throw externalOnly();
    return this.#identity.authenticate(`Bearer ${key}`);
  }

  /** What a code opens, which stays what it is. @throws DomainError `unauthenticated` */
  ofCode(code: string): SignIn {
    const hash = hashOfToken(code);
    const found = hash === null ? undefined : this.#store.find('code', hash, this.#now());
    if (found === undefined) throw new DomainError('unauthenticated', USED_CODE);
    return found;
  }

  /** Whether the person of a session is in none of some projects. */
  mayJoin({ user_id }: SignIn, projects: readonly Pick<Project, 'id'>[]): boolean {
    return projects.every(({ id }) => this.#identity.members.roleOf(id, user_id) === null);
  }

  /** The user of a session; undefined: its key was revoked meanwhile. */
  userOf({ user_id, keys: [key] }: SignIn): Identity['user'] | undefined {
    return key && this.#identity.describe({ user_id, project_id: key.project_id, key_id: key.id }).user;
  }

  /**
   * Opens a session.
   * @param request the one that opens it, with the network of its client
   * @throws DomainError `unauthenticated`, `forbidden` where people sign in otherwise
   */
  signIn(credentials: Credentials, origin: SignInOrigin = NOWHERE, request?: RequestOrigin): OpenedSession {
    const opened = inTransaction(this.#audit, this.#store, () => {
      if ('code' in credentials) return this.#signInByCode(credentials.code, origin, request);
      const { user_id, key_id, project_id } = this.#ofKey(credentials.key);
      return this.open(user_id, [{ id: key_id, project_id }], { origin, request, how: 'key' });
    });
    this.tidy();
    return opened;
  }

  #signInByCode(code: string, origin: SignInOrigin, request: RequestOrigin | undefined): OpenedSession {
    const { token, hash } = createToken();
    const at = this.#now();
    const session = { hash, at, expiresAt: this.#ends.of(at), ...origin };
    const hashOfCode = hashOfToken(code);
    const known = hashOfCode === null ? undefined : this.#store.find('code', hashOfCode, at);
    const [key] = known?.keys ?? [];
    if (known?.invited === true && this.#externalOnly) throw externalOnly();
    if (hashOfCode === null || known === undefined || key === undefined || !this.#store.openCode(hashOfCode, session))
      throw new DomainError('unauthenticated', USED_CODE);
    const { id: sign_in_id, user_id, keys } = known;
    const opened = { token, sign_in_id, user_id, key_id: key.id, project_id: key.project_id };
    return this.#told({ ...opened, projects: keys.length, with: 'link' }, request);
  }

  /** Opens a session that hangs on keys of a user, one of each project: at least one. It is part of a transaction of the caller's. */
  open(userId: string, keys: readonly SignInKey[], { origin, request, how }: Opening): OpenedSession {
    const [first] = keys;
    if (first === undefined) throw new DomainError('forbidden', 'This person has no project');
    const { token, hash } = createToken();
    const created_at = this.#now();
    const id = randomUUID();
    const provider = how === 'key' ? null : how;
    const draft = { id, user_id: userId, stage: 'session', invited: false, hash, created_at, ...origin } as const;
    this.#insert(
      { ...draft, provider, expires_at: this.#ends.of(created_at) },
      keys.map((key) => key.id),
    );
    const opened = { token, sign_in_id: id, user_id: userId, key_id: first.id, project_id: first.project_id };
    return this.#told({ ...opened, projects: keys.length, with: how }, request);
  }

  #told(session: OpenedSession, origin: RequestOrigin | undefined): OpenedSession {
    const { token: _secret, project_id, projects, with: how, ...actor } = session;
    const by = { ...actor, ...(origin !== undefined && { origin }) };
    this.#audit.done({ event: 'signedIn', by, project_id, projects, with: how });
    return session;
  }

  /** Has a session open a further project, by a key of its user. */
  attach(id: string, keyId: string): void {
    this.#store.attach(id, keyId);
  }

  /** The session with a secret; undefined when there is none, or no longer. */
  session(token: string): SignIn | undefined {
    const hash = hashOfToken(token);
    const now = this.#now();
    const found = hash === null ? undefined : this.#store.find('session', hash, now);
    return found === undefined || this.#ends.isPast(found, now) ? undefined : found;
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
    this.#recordUse(session, from);
    return principal;
  }

  /** Projects that a session opens, the oldest first. */
  projectsOf({ keys }: SignIn): Project[] {
    const ids = new Set(keys.map(({ project_id }) => project_id));
    return this.#identity.listProjects().filter(({ id }) => ids.has(id));
  }

  signOut({ id, user_id, keys: [key] }: SignIn, origin?: RequestOrigin): void {
    inTransaction(this.#audit, this.#store, () => {
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

  /**
   * Ends what a sign-in opens of a project.
   * @throws DomainError `not_found`, `forbidden` when it is that of somebody above whoever asks
   */
  end(projectId: string, id: string, by: Granter): void {
    inTransaction(this.#audit, this.#store, () => {
      const user = this.#store.userIn(projectId, id, this.#now());
      if (user !== undefined) this.#identity.members.requireNotAbove(by, projectId, user);
      if (!this.#store.endInProject(projectId, id, this.#now()))
        throw new DomainError('not_found', 'There is no session with this id');
      this.#audit.done({ event: 'signInEnded', by, project_id: projectId, subject_id: id });
    });
  }

  /** Ends what all sessions of somebody open of a project. @throws DomainError as `end` does */
  endAllOf(projectId: string, userId: string, by: Granter): void {
    const id = uuidOf(userId);
    if (this.#identity.members.roleOf(projectId, id) === null)
      throw new DomainError('not_found', 'The project has no person with this id');
    this.#identity.members.requireNotAbove(by, projectId, id);
    inTransaction(this.#audit, this.#store, () => {
      for (const signIn of this.#store.ofMember(projectId, id, this.#now())) this.end(projectId, signIn, by);
    });
  }

  #insert(...row: Parameters<SignInStore['insert']>): void {
    const [, keyIds] = row;
    this.#store.transaction(() => {
      this.#store.insert(...row);
      for (const keyId of keyIds) this.#store.keepNewest(keyId, MAX_PER_KEY);
    });
  }

  /** Removes what is over. That it fails keeps no start, and nobody from signing in. */
  tidy(): void {
    try {
      this.#store.removeOver(this.#now(), this.#onUpkeepFailed);
    } catch (error) {
      this.#onUpkeepFailed(null, error);
    }
  }

  #recordUse(session: SignIn, from?: () => string): void {
    const at = this.#now();
    if (!this.#ends.isUseNoted(session, at)) return;
    try {
      this.#store.recordUse(session.id, {
        at,
        expiresAt: this.#ends.of(session.created_at, at),
        address: addressOf(from?.()),
      });
    } catch (error) {
      this.#onRecordFailed(error);
    }
  }
}

function externalOnly(): DomainError {
  return new DomainError('forbidden', 'People sign in to this server by single sign-on alone');
}
