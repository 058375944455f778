import { listIn } from './list-in.js';
import type { Settings } from '../settings.js';

/** How people sign in. */
export function signInGroup(settings: Settings) {
  return {
    signIns: {
      hours: settings.SIGN_IN_HOURS,
      idleMinutes: settings.SIGN_IN_IDLE_MINUTES,
      /** Whether people sign in by single sign-on alone. */
      externalOnly: settings.SIGN_IN_BY === 'single-sign-on',
    },
    singleSignOn: {
      /** Null: no provider signs people in. */
      oidc:
        settings.OIDC_ISSUER === undefined || settings.OIDC_CLIENT_ID === undefined
          ? null
          : {
              issuer: settings.OIDC_ISSUER,
              clientId: settings.OIDC_CLIENT_ID,
              clientSecret: settings.OIDC_CLIENT_SECRET ?? null,
              scopes: settings.OIDC_SCOPES,
              /** Lower case; null: all. */
              allowedDomains:
                settings.OIDC_ALLOWED_DOMAINS === undefined ? null : listIn(settings.OIDC_ALLOWED_DOMAINS),
              groupsClaim: settings.OIDC_GROUPS,
            },
      /** Null: no proxy signs people in. */
      proxy:
        settings.SIGN_IN_PROXY_HEADER === undefined || settings.SIGN_IN_PROXY_ADDRESSES === undefined
          ? null
          : {
              header: settings.SIGN_IN_PROXY_HEADER.toLowerCase(),
              addresses: listIn(settings.SIGN_IN_PROXY_ADDRESSES),
            },
      /** JSON: roles by group and project; null: groups give none. */
      roles: settings.SIGN_IN_ROLES ?? null,
    },
  };
}
