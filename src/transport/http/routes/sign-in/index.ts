import type { IdentityService } from '../../../../domain/identity/identity-service.js';
import type { SignInService } from '../../../../domain/identity/sign-in-service.js';
import type { SignInObserver } from '../../../../observability/events/requests.js';
import type { Callers } from '../../callers.js';
import { SignInAttempts } from './attempts.js';
import { MinuteLimit } from '../../minute-limit.js';
import type { Route } from '../../route.js';
import type { SessionCookie } from '../../session-cookie.js';
import { createInviteRoute } from './create-invite.js';
import { previewSignInRoute } from './preview-sign-in.js';
import { createSessionRoute } from './create-session.js';
import { deleteSessionRoute } from './delete-session.js';
import { endSignInRoute } from './end-sign-in.js';
import { listSignInsRoute } from './list-sign-ins.js';
import type { Capabilities } from './schema.js';
import { whoAmIRoute } from './who-am-i.js';

export interface SignInRoutesParts {
  readonly identity: IdentityService;
  readonly signIns: SignInService;
  readonly callers: Callers;
  readonly cookie: SessionCookie;
  /** Base of the URLs handed out. */
  readonly baseUrl: () => string;
  readonly trustedProxies: number;
  /** Failed sign-ins of one address, and invitations of one project. */
  readonly attemptsPerMinute: number;
  readonly version: string;
  readonly capabilities: Capabilities;
  readonly observer: SignInObserver;
}

/** Signing in to the console, and who is signed in. */
export function signInRoutes({ attemptsPerMinute, ...parts }: SignInRoutesParts): Route[] {
  const attempts = new SignInAttempts({ ...parts, perMinute: attemptsPerMinute });
  return [
    createSessionRoute({ ...parts, attempts }),
    previewSignInRoute({ ...parts, attempts }),
    deleteSessionRoute(parts),
    whoAmIRoute(parts),
    createInviteRoute({ ...parts, attempts: new MinuteLimit(attemptsPerMinute) }),
    listSignInsRoute(parts.signIns),
    endSignInRoute(parts.signIns),
  ];
}
