import type { Window } from '../schema/page.js';
import type { Micros } from '../timestamp.js';
import type { ListedSignIn, OwnSignIn, SignIn, SignInDraft, SignInKey, SignInOrigin, SignInStage } from './sign-in.js';

/** A new session in the place of a code. */
export interface SessionOfCode extends SignInOrigin {
  readonly hash: Buffer;
  readonly at: Micros;
  readonly expiresAt: Micros;
}

/** That a session was used; null: the address is not known. */
export interface SessionUse {
  readonly at: Micros;
  readonly expiresAt: Micros;
  readonly address: string | null;
}

/** A session of a person, with the keys that it hangs on. */
export interface SessionOfUser extends Omit<OwnSignIn, 'projects'> {
  readonly keys: readonly (SignInKey & { readonly project_name: string })[];
}

/**
 * Where sign-ins are kept. One that is over (`expires_at` has come, or no key of it is left) is nowhere to be found, whether or
 * not its row was removed yet. Guarantees as those of the `IdentityStore`, on the same rows of users and keys.
 */
export interface SignInStore {
  /** Runs `work` as one transaction that excludes other writers: all of it is kept, or nothing. */
  transaction<T>(work: () => T): T;
  /** @param keyIds keys that it hangs on, one of each project */
  insert(signIn: SignInDraft, keyIds: readonly string[]): void;
  find(stage: SignInStage, hash: Buffer, now: Micros): SignIn | undefined;
  /** Makes a session of a code; false when it is none anymore. */
  openCode(code: Buffer, session: SessionOfCode): boolean;
  /** Has a sign-in hang on a further key, of a project that it does not open. */
  attach(id: string, keyId: string): void;
  recordUse(id: string, use: SessionUse): void;
  /** So many of the newest sessions of a user. */
  ofUser(userId: string, count: number, now: Micros): SessionOfUser[];
  /** Ids of the sessions of a user that open a project. */
  ofMember(projectId: string, userId: string, now: Micros): string[];
  /** Whose a sign-in to a project is; undefined: there is none. */
  userIn(projectId: string, id: string, now: Micros): string | undefined;
  /** Sign-ins of a project, newest first. */
  list(projectId: string, window: Window, now: Micros): ListedSignIn[];
  /** Number of invitations of a project that no one has used yet. */
  countInvites(projectId: string, now: Micros): number;
  end(id: string): void;
  /** Ends what a sign-in opens of a project; false when that is nothing. */
  endInProject(projectId: string, id: string, now: Micros): boolean;
  /** Ends an invitation with the user and the key that were made for it, unless someone used them. */
  endInvite(id: string): void;
  /** Ends the sign-ins that hang on a key except for so many of the newest. */
  keepNewest(keyId: string, count: number): void;
  /**
   * Removes some rows of sign-ins that are over, with the keys of invitations that no one used, and their users unless something
   * refers to them.
   * @param onFailed called for a sign-in that goes alone, as its user or key cannot be removed
   */
  removeOver(now: Micros, onFailed: (signInId: string, error: unknown) => void): void;
  /** Base of the URLs that the server handed out last; null when none is known. */
  address(): string | null;
  setAddress(url: string): void;
}
