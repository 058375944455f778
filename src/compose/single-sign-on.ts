import { BlockList, isIP } from 'node:net';
import { ConfigError } from '../config/config.js';
import { ExternalSignInService } from '../engine/identity/external-sign-in-service.js';
import type { IdentityService } from '../engine/identity/identity-service.js';
import type { SignInService } from '../engine/identity/sign-in-service.js';
import { AttemptCookie } from '../features/single-sign-on/attempt-cookie.js';
import { parseGroupRoles, type RolesByGroup } from '../features/single-sign-on/group-roles.js';
import { CALLBACK_PATH, SSO_PATH } from '../features/single-sign-on/http/routes.js';
import { Provider } from '../features/single-sign-on/provider.js';
import type { OidcSettings, ProxySettings } from '../features/single-sign-on/settings.js';
import type { Context } from './context.js';
import type { Storage } from './storage.js';

/** Who else may say who somebody is. */
export interface SingleSignOn {
  readonly externals: ExternalSignInService;
  readonly provider: Provider | null;
  readonly proxy: ProxySettings | null;
  readonly attempt: AttemptCookie;
}

interface People {
  readonly identity: IdentityService;
  readonly signIns: SignInService;
  readonly installation: string;
}

/** @throws ConfigError */
export function openSingleSignOn(
  { config: { singleSignOn, signIns: settings }, baseUrl, events, overrides }: Context,
  { metadata, audit }: Storage,
  { identity, signIns, installation }: People,
): SingleSignOn {
  const groupRoles = groupRolesIn(singleSignOn.roles);
  const { oidc, proxy } = singleSignOn;
  if (settings.externalOnly && oidc === null && proxy === null)
    throw new ConfigError([
      'SIGN_IN_BY=single-sign-on needs OIDC_ISSUER or SIGN_IN_PROXY_HEADER, or no one could sign in',
    ]);
  const now = overrides.signIns?.now;
  return {
    externals: new ExternalSignInService({
      ...{ store: metadata.identities, identity, signIns, audit },
      ...(now && { now }),
    }),
    provider:
      oidc === null
        ? null
        : new Provider({
            settings: settingsOf(oidc, groupRoles),
            secret: metadata.secret('single-sign-on'),
            redirectUri: () => baseUrl() + CALLBACK_PATH,
            ...(now && { now: () => Math.floor(now() / 1000) }),
            onFailed: (error) => events.singleSignOnFailed({ error: plain(error) }),
          }),
    proxy: proxy === null ? null : { header: proxy.header, isTrusted: trusting(proxy.addresses), groupRoles },
    attempt: new AttemptCookie({ installation, baseUrl, path: SSO_PATH }),
  };
}

type Oidc = NonNullable<Context['config']['singleSignOn']['oidc']>;

function settingsOf(oidc: Oidc, groupRoles: RolesByGroup | null): OidcSettings {
  const { protocol, hostname } = new URL(oidc.issuer);
  if (protocol !== 'https:' && !/^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname))
    throw new ConfigError(['OIDC_ISSUER must be an https:// URL, unless the provider runs on this machine']);
  return { ...oidc, groupRoles };
}

function groupRolesIn(text: string | null): RolesByGroup | null {
  if (text === null) return null;
  try {
    return parseGroupRoles(text);
  } catch (error) {
    throw new ConfigError([`SIGN_IN_ROLES must ${error instanceof Error ? error.message : String(error)}`]);
  }
}

/** Whether an address is in some networks, such as `10.0.0.0/8` or `127.0.0.1`. @throws ConfigError */
function trusting(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefix] = network.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    const bits = family === 'ipv6' ? 128 : 32;
    const length = prefix === undefined ? bits : /^\d{1,3}$/.test(prefix) ? Number(prefix) : NaN;
    if (isIP(address) === 0 || !(length <= bits))
      throw new ConfigError([`SIGN_IN_PROXY_ADDRESSES must be addresses or networks, not "${network.slice(0, 100)}"`]);
    list.addSubnet(address, length, family);
  }
  return (remote) => {
    const plain = remote.replace(/^::ffff:(?=\d+\.)/i, '');
    const family = isIP(plain);
    return family !== 0 && list.check(plain, family === 6 ? 'ipv6' : 'ipv4');
  };
}

/** An error in its words alone: what it hangs on may hold what the provider sent. */
function plain(error: unknown): unknown {
  if (!(error instanceof Error)) return 'unknown';
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return `${error.name}: ${error.message}${cause}`;
}
