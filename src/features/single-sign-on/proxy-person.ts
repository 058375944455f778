import type { IncomingHttpHeaders } from 'node:http';
import { DomainError } from '../../engine/errors.js';
import type { ExternalPerson } from '../../engine/identity/external-sign-in-service.js';
import { rolesOfGroups } from './group-roles.js';
import type { ProxySettings } from './settings.js';

/** All people whom proxies sign in have this issuer. */
const ISSUER = 'proxy';
const NAME = /^[^\p{Cc}\p{Zl}\p{Zp}]{1,200}$/u;

/**
 * Who a trusted proxy says that someone is.
 * @param remoteAddress the other end of the connection, which no header can change
 * @throws DomainError `unauthenticated` when the request comes from elsewhere, whatever its headers say, or the header is not there
 */
export function personOfProxy(
  { header, isTrusted, groupRoles }: ProxySettings,
  headers: IncomingHttpHeaders,
  remoteAddress: string,
): ExternalPerson {
  if (!isTrusted(remoteAddress))
    throw new DomainError('unauthenticated', 'This address is not one of the proxies that may sign people in');
  const value = headers[header];
  const subject = typeof value === 'string' ? value.trim() : '';
  if (!NAME.test(subject)) throw new DomainError('unauthenticated', 'The proxy did not say who you are');
  const roles = groupRoles === null ? null : rolesOfGroups(groupRoles, []);
  return { provider: 'proxy', issuer: ISSUER, subject, name: subject, email: null, roles };
}
