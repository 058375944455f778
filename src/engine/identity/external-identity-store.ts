import type { Micros } from '../timestamp.js';

/** Who someone is to a provider of single sign-on. */
export interface ExternalIdentity {
  readonly issuer: string;
  readonly subject: string;
  readonly user_id: string;
  readonly created_at: Micros;
}

/** Where it is kept who people are to providers. Guarantees as those of the `IdentityStore`, on the same rows of users. */
export interface ExternalIdentityStore {
  /** Id of the user. */
  find(issuer: string, subject: string): string | undefined;
  insert(identity: ExternalIdentity): void;
}
