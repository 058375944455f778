import type { RequestOrigin } from '../signals/catalog/audit.js';
import type { Micros } from '../timestamp.js';
import type { Identity } from './identity.js';
import type { AccessName } from './key-access.js';
import type { Role } from './roles.js';

/** Whether someone may sign in by a code, or has signed in. */
export type SignInStage = 'code' | 'session';

/** A key that a sign-in hangs on. */
export interface SignInKey {
  readonly id: string;
  readonly project_id: string;
}

/** A sign-in that is not over. */
export interface SignIn {
  /** Lower-case UUID. */
  readonly id: string;
  readonly user_id: string;
  /** Of a code: whether user and key were made for it. */
  readonly invited: boolean;
  /** Null: they signed in by a link, or with a key. */
  readonly provider: SignInProvider | null;
  readonly created_at: Micros;
  /** Exact to about ten minutes. */
  readonly last_used_at: Micros | null;
  /** Keys that are not revoked, one of each project, ascending by creation of the project; at least one. */
  readonly keys: readonly SignInKey[];
}

/** From where someone signs in. */
export interface SignInOrigin {
  /** What the browser is called; null: it did not say. */
  readonly browser: string | null;
  /** Null: unknown. */
  readonly address: string | null;
}

/** A session that was opened now. */
export interface OpenedSession {
  /** Its secret, which only the browser keeps. */
  readonly token: string;
  readonly sign_in_id: string;
  readonly user_id: string;
  readonly with: 'key' | 'link' | SignInProvider;
  /** The first key that it hangs on, and its project. */
  readonly key_id: string;
  readonly project_id: string;
  /** How many projects it opens. */
  readonly projects: number;
}

/** Who vouches for someone who signs in neither by a link nor with a key. */
export type SignInProvider = 'oidc' | 'proxy';

/** What a person signs in with: a code that was handed out, or an API key. */
export type Credentials = { readonly code: string } | { readonly key: string };

/** A code, handed out: the only time it is there. */
export interface HandedOutCode {
  readonly code: string;
  readonly expires_at: Micros;
}

/** How a session is opened. */
export interface Opening {
  readonly origin: SignInOrigin;
  /** The request that opens it, with the network of its client. */
  readonly request: RequestOrigin | undefined;
  readonly how: 'key' | SignInProvider;
}

export interface SignInDraft extends SignInOrigin {
  readonly provider: SignInProvider | null;
  readonly id: string;
  readonly user_id: string;
  readonly stage: SignInStage;
  /** User and key were made for it, and go if it is never used. */
  readonly invited: boolean;
  readonly hash: Buffer;
  readonly created_at: Micros;
  readonly expires_at: Micros;
}

/** Whom credentials sign in, and to which projects with what access. */
export interface SignInPreview {
  readonly user: Identity['user'];
  readonly projects: readonly (Identity['project'] & { readonly access: AccessName; readonly role: Role | null })[];
  /** Whether they are those of an invitation, which someone who is signed in may take as who they are. */
  readonly invited: boolean;
}

/** A session as the person sees it whose it is. */
export interface OwnSignIn extends SignInOrigin {
  readonly id: string;
  readonly projects: readonly Identity['project'][];
  readonly created_at: Micros;
  readonly last_used_at: Micros | null;
  readonly expires_at: Micros;
}

/** A sign-in as the people of a project see it. */
export interface ListedSignIn extends SignInOrigin {
  readonly id: string;
  readonly stage: SignInStage;
  readonly user: { readonly id: string; readonly name: string };
  /** The key of the project. */
  readonly key: { readonly id: string; readonly name: string; readonly access: AccessName };
  readonly created_at: Micros;
  readonly last_used_at: Micros | null;
  readonly expires_at: Micros;
}

/** Where people open the console. @param baseUrl of the URLs handed out */
export function consoleUrl(baseUrl: string): string {
  return `${baseUrl}/console`;
}

/** URL that signs in by a code, which is in the fragment: that gets into no log and no referrer. */
export function signInUrl(baseUrl: string, code: string): string {
  return `${consoleUrl(baseUrl)}#code=${code}`;
}
