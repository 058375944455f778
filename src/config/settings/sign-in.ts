import { Type } from '@sinclair/typebox';
import { choice, HTTP_URL, text, whole } from './kinds.js';

/** How long sessions last, and single sign-on: who else may say who somebody is. */
export const signInSettings = {
  SIGN_IN_HOURS: whole({
    default: 720,
    minimum: 1,
    maximum: 720,
    description: 'Hours after which a session of the console ends, however much it is used: by default 30 days.',
  }),
  SIGN_IN_IDLE_MINUTES: whole({
    default: 10_080,
    minimum: 5,
    maximum: 43_200,
    description: 'Minutes without use after which a session of the console ends: by default 7 days.',
  }),
  SIGN_IN_BY: choice(['any', 'single-sign-on'], {
    default: 'any',
    description:
      '`single-sign-on`: people sign in to the console by that alone. API keys are for programs then, invitations are for people who are ' +
      'signed in, and the links that `npm run admin` prints still work. `any`: by a link or an API key, too.',
  }),
  OIDC_ISSUER: Type.Optional(
    text({
      pattern: HTTP_URL,
      must: 'be the http:// or https:// URL of an OpenID Connect provider',
      defaultText: 'off',
      description:
        'Issuer of an OpenID Connect provider. Set it with `OIDC_CLIENT_ID` to let people sign in to the console by it.',
    }),
  ),
  OIDC_CLIENT_ID: Type.Optional(text({ description: 'Client id of this server at the provider.' })),
  OIDC_CLIENT_SECRET: Type.Optional(
    text({
      secret: true,
      description: 'Client secret at the provider. Unset: a public client, secured by PKCE alone.',
    }),
  ),
  OIDC_SCOPES: text({
    default: 'openid profile email',
    pattern: '^openid( [\\x21\\x23-\\x5b\\x5d-\\x7e]+)*$',
    must: 'begin with openid, and name scopes separated by spaces',
    description: 'Scopes requested from the provider. Some providers send groups only for a scope such as `groups`.',
  }),
  OIDC_ALLOWED_DOMAINS: Type.Optional(
    text({
      pattern: '^[A-Za-z0-9.-]+(\\s*,\\s*[A-Za-z0-9.-]+)*$',
      must: 'be domains such as example.com, separated by commas',
      defaultText: 'all',
      description: 'Domains whose verified email addresses may sign in by the provider, separated by commas.',
    }),
  ),
  OIDC_GROUPS: text({
    default: 'groups',
    pattern: '^[\\x21-\\x7e]{1,200}$',
    must: 'be the name of a claim',
    description: 'Claim of the ID token that names the groups of a person.',
  }),
  SIGN_IN_ROLES: Type.Optional(
    text({
      defaultText: 'none',
      description:
        'Roles by group and project id, as JSON: `{"engineering": {"<project id>": "member"}}`. The group `*` means everyone. ' +
        'Applied at each sign-in.',
    }),
  ),
  SIGN_IN_PROXY_HEADER: Type.Optional(
    text({
      pattern: '^[A-Za-z0-9-]{1,100}$',
      must: 'be the name of a header',
      defaultText: 'off',
      description:
        'Header in which a proxy in front names the person who signed in there. It counts only from `SIGN_IN_PROXY_ADDRESSES`.',
    }),
  ),
  SIGN_IN_PROXY_ADDRESSES: Type.Optional(
    text({
      pattern: '^[0-9A-Fa-f.:/]+(\\s*,\\s*[0-9A-Fa-f.:/]+)*$',
      must: 'be addresses or networks such as 10.0.0.0/8, separated by commas',
      description:
        'Addresses or networks of the proxies that may sign people in: the other end of the connection itself.',
    }),
  ),
};
