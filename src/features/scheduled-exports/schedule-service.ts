import { randomUUID } from 'node:crypto';
import { DomainError } from '../../engine/errors.js';
import { changesBetween, type AuditLog } from '../../engine/identity/audit.js';
import type { AuditChange, AuditEvent } from '../../engine/signals/catalog/audit.js';
import type { Principal } from '../../engine/identity/identity.js';
import type { Schedule, ScheduleDraft, ScheduleStore } from './schedule.js';
import { MAX_SCHEDULES, type ScheduledExportPatch } from './schema.js';

export interface ScheduleServiceParts {
  readonly store: ScheduleStore;
  readonly audit: AuditLog;
  /** Has whatever is due be exported; null: the operator has set no bucket. */
  readonly wake: (() => void) | null;
}

/** Exports of lists to the operator's bucket, every so often. */
export class ScheduleService {
  readonly #parts: ScheduleServiceParts;

  constructor(parts: ScheduleServiceParts) {
    this.#parts = parts;
  }

  /**
   * The first object has everything that is stored.
   * @throws DomainError `conflict` without a bucket, or with too many
   */
  create(by: Principal, draft: ScheduleDraft): Schedule {
    const { store, audit, wake } = this.#parts;
    const { project_id, user_id } = by;
    if (wake === null)
      throw new DomainError('conflict', 'The operator has set no bucket for scheduled exports (EXPORT_TO)');
    const now = Date.now() * 1000;
    const schedule: Schedule = {
      ...draft,
      ...{ id: randomUUID(), project_id, paused: false, exported_to: 0, object: null, object_to: null, next_at: now },
      ...{ objects: 0, rows: 0, last_object: null, last_at: null, failures: 0, error: null },
      ...{ created_at: now, created_by: user_id },
    };
    const changes = [
      { field: 'list', to: draft.list },
      { field: 'format', to: draft.format },
    ];
    audit.together(() => {
      if (!store.insert(schedule, MAX_SCHEDULES))
        throw new DomainError('conflict', `A project has at most ${MAX_SCHEDULES} scheduled exports: delete one first`);
      this.#tell('scheduledExportCreated', by, schedule, changes);
    });
    wake();
    return schedule;
  }

  list(projectId: string): Schedule[] {
    return this.#parts.store.list(projectId);
  }

  /** @throws DomainError `not_found` */
  get(projectId: string, id: string): Schedule {
    const schedule = this.#parts.store.find(projectId, id);
    if (schedule === undefined) throw new DomainError('not_found', 'There is no scheduled export with this id');
    return schedule;
  }

  /** @throws DomainError `not_found` */
  change(by: Principal, id: string, patch: ScheduledExportPatch): Schedule {
    const { store, audit } = this.#parts;
    const known = this.get(by.project_id, id);
    const every_minutes = patch.every_minutes ?? known.every_minutes;
    const paused = patch.paused ?? known.paused;
    const sooner = Math.min(known.next_at, Date.now() * 1000 + every_minutes * 60e6);
    const changed = { name: patch.name ?? known.name, every_minutes, paused };
    audit.together(() => {
      store.change(known.id, { ...changed, next_at: sooner });
      const changes = changesBetween<typeof changed>(known, changed, ['name', 'every_minutes', 'paused']);
      this.#tell('scheduledExportChanged', by, { ...known, ...changed }, changes);
    });
    this.#parts.wake?.();
    return this.get(by.project_id, id);
  }

  /** Has the next object be made now, also after failures. @throws DomainError `not_found`; `conflict` while it is paused */
  run(by: Principal, id: string): Schedule {
    const { store, audit } = this.#parts;
    const known = this.get(by.project_id, id);
    const { name, every_minutes, paused } = known;
    if (paused) throw new DomainError('conflict', 'The scheduled export is paused: resume it first');
    audit.together(() => {
      store.change(known.id, { name, every_minutes, paused, next_at: Date.now() * 1000 });
      this.#tell('scheduledExportRun', by, known);
    });
    this.#parts.wake?.();
    return this.get(by.project_id, id);
  }

  /** Its objects stay in the bucket. @throws DomainError `not_found` */
  remove(by: Principal, id: string): void {
    const { store, audit } = this.#parts;
    const known = this.get(by.project_id, id);
    audit.together(() => {
      store.remove(known.id);
      this.#tell('scheduledExportDeleted', by, known);
    });
  }

  #tell(event: AuditEvent, by: Principal, { id, name }: Schedule, changes: readonly AuditChange[] = []): void {
    const about = { project_id: by.project_id, subject_id: id, subject_name: name };
    this.#parts.audit.done({ event, by, ...about, changes });
  }
}
