import type { BootstrapResult } from '../engine/identity/bootstrap.js';
import type { IdentityService } from '../engine/identity/identity-service.js';
import type { Context } from './context.js';

/** Interval of looks whether a deletion is done. */
const LOOK_MS = 500;

/**
 * Makes the project and key that a start makes sure of. Where that project is still being deleted, it is made as soon as nothing is
 * left of it.
 * @throws what {@link IdentityService.bootstrap} does
 */
export function ensureInitialProject(
  { config, events, closers }: Pick<Context, 'config' | 'events' | 'closers'>,
  identity: Pick<IdentityService, 'bootstrap'>,
): BootstrapResult['created'] {
  const { created, initKeyRevoked, initProjectGoing } = identity.bootstrap(config.init);
  if (initKeyRevoked) events.initKeyRevoked();
  if (!initProjectGoing) return created;
  events.initProjectGoing({ project: config.init.projectId });
  const timer = setInterval(() => {
    try {
      if (identity.bootstrap(config.init).initProjectGoing) return;
    } catch {
      // The store did not answer: whatever is wrong with it is told elsewhere, and the next look tries again.
      return;
    }
    clearInterval(timer);
    events.initProjectMade({ project: config.init.projectId });
  }, LOOK_MS).unref();
  closers.push(() => {
    clearInterval(timer);
  });
  return null;
}
