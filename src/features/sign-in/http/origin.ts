import { addressOf } from '../../../engine/identity/key-uses.js';
import type { SignInOrigin } from '../../../engine/identity/sign-in.js';
import type { RequestOrigin } from '../../../engine/signals/catalog/audit.js';
import type { Opening } from '../../../http/route.js';
import { clientAddress, networkOf } from '../../../http/wire/client-address.js';

/** Longest header that is looked at. */
const MAX_USER_AGENT = 512;

const BROWSERS = [
  ['Edg', 'Edge'],
  ['OPR', 'Opera'],
  ['Firefox', 'Firefox'],
  ['FxiOS', 'Firefox'],
  ['CriOS', 'Chrome'],
  ['Chrome', 'Chrome'],
  ['Safari', 'Safari'],
] as const;
const SYSTEMS = [
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Android', 'Android'],
  ['Windows', 'Windows'],
  ['CrOS', 'ChromeOS'],
  ['Mac OS X', 'macOS'],
  ['Linux', 'Linux'],
] as const;

/** From where someone signs in. */
export function originOf(
  { headers, remoteAddress }: Pick<Opening<unknown>, 'headers' | 'remoteAddress'>,
  trustedProxies: number,
): SignInOrigin {
  return {
    browser: browserOf(headers['user-agent']),
    address: addressOf(clientAddress(headers, remoteAddress, trustedProxies)),
  };
}

/** What the audit log says of a request that needs no principal. */
export function requestOf(
  {
    headers,
    remoteAddress,
    requestId,
  }: Pick<Opening<unknown>, 'headers' | 'remoteAddress'> & { readonly requestId: string },
  trustedProxies: number,
): RequestOrigin {
  return { request_id: requestId, address: networkOf(clientAddress(headers, remoteAddress, trustedProxies)) };
}

/** What a browser is called, in words of this server: the header may say anything. Null: it says nothing. */
export function browserOf(userAgent: string | undefined): string | null {
  if (userAgent === undefined || userAgent === '') return null;
  const text = userAgent.slice(0, MAX_USER_AGENT);
  const named = (among: readonly (readonly [part: string, name: string])[]) =>
    among.find(([part]) => text.includes(part))?.[1];
  const system = named(SYSTEMS);
  return `${named(BROWSERS) ?? 'Another program'}${system === undefined ? '' : ` on ${system}`}`;
}
