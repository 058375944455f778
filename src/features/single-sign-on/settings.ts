import type { RolesByGroup } from './group-roles.js';

/** What an operator says of the provider of OpenID Connect. */
export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  /** Null: a public client. */
  readonly clientSecret: string | null;
  /** Separated by spaces. */
  readonly scopes: string;
  /** Lower case; null: all. */
  readonly allowedDomains: readonly string[] | null;
  /** The claim that names groups. */
  readonly groupsClaim: string;
  /** Null: groups give nothing. */
  readonly groupRoles: RolesByGroup | null;
}

/** What an operator says of the proxies that sign people in. */
export interface ProxySettings {
  /** Lower case. */
  readonly header: string;
  /** Whether an address is one of those proxies. */
  readonly isTrusted: (address: string) => boolean;
  readonly groupRoles: RolesByGroup | null;
}
