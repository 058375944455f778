import { AuditUpkeep } from '../features/audit/audit-upkeep.js';
import type { DeletionService } from '../features/deletion/deletion-service.js';
import type { IdentityService } from '../engine/identity/identity-service.js';
import { BelievedClock } from '../features/retention/believed-clock.js';
import { RetentionService } from '../features/retention/retention-service.js';
import { RetentionWork } from '../features/retention/retention-work.js';
import type { Context } from './context.js';
import type { Storage } from './storage.js';

export interface RetentionDependencies {
  readonly deletions: Pick<DeletionService, 'expire'>;
  readonly identity: Pick<IdentityService, 'isGone'>;
  readonly clock: BelievedClock;
}

/** Begins to look at the clock, for all that removes what is old. */
export function openClock({ events, closers }: Context, { metadata, traces }: Storage): BelievedClock {
  const clock = new BelievedClock({
    memory: metadata.clock,
    newestStored: traces.newestAtStart,
    matters: () => metadata.identities.listProjects().some(({ retention_days }) => retention_days !== null),
    observer: events,
  });
  closers.push(() => clock.close());
  clock.start();
  return clock;
}

/** Begins to shorten the audit log to what the operator keeps of it. */
export function openAuditUpkeep(
  { config, events, closers }: Context,
  { metadata }: Storage,
  clock: BelievedClock,
): void {
  const upkeep = new AuditUpkeep({
    store: metadata.audit,
    days: config.auditDays,
    now: () => clock.now(),
    observer: events,
  });
  closers.push(() => upkeep.close());
}

/** Begins to remove what is older than its project keeps it. */
export function openRetention(
  { config, events, governor, closers }: Context,
  { metadata, traces }: Storage,
  { deletions, identity, clock }: RetentionDependencies,
): RetentionService {
  const projects = metadata.identities;
  const old = { traces: traces.oldTraces, feedback: metadata.spansWithFeedback };
  const work = new RetentionWork({
    ...old,
    projects,
    expire: (projectId, below) => deletions.expire(projectId, below),
    purge: () => traces.purgeRemovedTraces(),
    isGone: (projectId) => identity.isGone(projectId),
    governor,
    observer: events,
    clock,
    everyMs: config.retentionIntervalMs,
  });
  closers.push(() => work.close());
  work.start();
  return new RetentionService({
    ...old,
    projects,
    spanBytes: (projectId, signal) => traces.spanBytes.ofProject(projectId, signal),
    nextRunAt: () => work.nextRunAt(),
    clock,
  });
}
