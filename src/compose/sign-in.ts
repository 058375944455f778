import { Callers } from '../http/callers.js';
import type { Route } from '../http/route.js';
import { singleSignOnRoutes } from '../features/single-sign-on/http/routes.js';
import { signInRoutes } from '../features/sign-in/http/routes.js';
import { SessionCookie } from '../http/session-cookie.js';
import type { Context } from './context.js';
import type { Services } from './services.js';

/** What lets people in: who makes a request, and the cookie that says so. */
export interface Authentication {
  readonly callers: Callers;
  readonly cookie: SessionCookie;
}

/** Failed sign-ins of one address, invitations of one project, and projects that one user creates. */
const ATTEMPTS_PER_MINUTE = 10;

export function attemptsPerMinute({ overrides }: Pick<Context, 'overrides'>): number {
  return overrides.signIns?.attemptsPerMinute ?? ATTEMPTS_PER_MINUTE;
}

export function createDoor(
  { baseUrl, config }: Context,
  { identity, signIns, installation }: Services,
): Authentication {
  const cookie = new SessionCookie({ installation, baseUrl, maxAgeSeconds: config.signIns.hours * 3600 });
  return {
    cookie,
    callers: new Callers({ identity, signIns, cookie, baseUrl, trustedProxies: config.http.trustedProxies }),
  };
}

export function authenticationRoutes(
  context: Context,
  services: Services,
  door: Authentication,
  version: string,
): Route[] {
  const { config, baseUrl, events } = context;
  const { singleSignOn } = services;
  const shared = { ...door, baseUrl, trustedProxies: config.http.trustedProxies, observer: events };
  const ofOthers = singleSignOnRoutes({ ...singleSignOn, ...shared });
  const own = signInRoutes({
    ...shared,
    providerSignOut: () => singleSignOn.provider?.signOutUrl(`${baseUrl()}/console`) ?? Promise.resolve(null),
    identity: services.identity,
    signIns: services.signIns,
    ownSessions: services.ownSessions,
    invitations: services.invitations,
    attemptsPerMinute: attemptsPerMinute(context),
    version,
    capabilities: {
      judges: config.judges.llm !== null,
      judge_model: config.judges.llm?.model ?? null,
      otlp_grpc: config.grpcPort !== null,
      public_url: config.http.publicUrl !== null,
      docs: true,
    },
  });
  return [...own, ...ofOthers];
}
