import type { BootstrapResult } from '../engine/identity/bootstrap.js';
import type { IdentityService } from '../engine/identity/identity-service.js';
import { say } from '../engine/signals/lines.js';
import type { Context } from './context.js';

/** Interval of looks whether a deletion is done. */
const LOOK_MS = 500;

/**
 * Makes the project and key that a start makes sure of. Where that project is still being deleted, it is made as soon as nothing is
 * left of it.
 * @throws what {@link IdentityService.bootstrap} does
 */
export function ensureInitialProject(
  { config, log, closers }: Pick<Context, 'config' | 'log' | 'closers'>,
  identity: Pick<IdentityService, 'bootstrap'>,
): BootstrapResult['created'] {
  const { created, initKeyRevoked, initProjectGoing } = identity.bootstrap(config.init);
  if (initKeyRevoked) say(log, 'initKeyRevoked');
  if (!initProjectGoing) return created;
  say(log, 'initProjectGoing', { project: config.init.projectId });
  const timer = setInterval(() => {
    try {
      if (identity.bootstrap(config.init).initProjectGoing) return;
    } catch {
      // The store did not answer: whatever is wrong with it is told elsewhere, and the next look tries again.
      return;
    }
    clearInterval(timer);
    say(log, 'initProjectMade', { project: config.init.projectId });
  }, LOOK_MS).unref();
  closers.push(() => {
    clearInterval(timer);
  });
  return null;
}
