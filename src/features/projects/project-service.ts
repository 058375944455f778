import { DomainError } from '../../engine/errors.js';
import { changesBetween, type Actor, type AuditLog } from '../../engine/identity/audit.js';
import type { Project, ProjectChange } from '../../engine/identity/identity.js';
import type { IdentityStore } from '../../engine/identity/identity-store.js';
import { normalizeText } from '../../engine/schema/normalize.js';
import { invalid } from '../../engine/validation/validation.js';

/** What a project is called, and how long it keeps its traces. */
export class ProjectService {
  readonly #store: Pick<IdentityStore, 'findProject' | 'changeProject'>;

  readonly #audit: AuditLog;

  constructor(store: Pick<IdentityStore, 'findProject' | 'changeProject'>, audit: AuditLog) {
    this.#store = store;
    this.#audit = audit;
  }

  /** @throws DomainError `not_found` */
  get(id: string): Project {
    const project = this.#store.findProject(id);
    if (project === undefined) throw missing();
    return project;
  }

  /** @throws DomainError `not_found`; `invalid` for a name of nothing but spaces */
  change(id: string, change: ProjectChange, by: Actor): Project {
    const named = change.name === undefined ? {} : { name: usable(change.name) };
    const { retention_days } = change;
    return this.#audit.together(() => {
      const before = this.get(id);
      if (!this.#store.changeProject(id, { ...change, ...named })) throw missing();
      const after = this.get(id);
      const about = { by, project_id: id, subject_name: after.name };
      if (after.name !== before.name)
        this.#audit.done({ event: 'projectRenamed', ...about, changes: [{ field: 'name' }] });
      const changes = changesBetween(before, after, ['retention_days']);
      if (retention_days !== undefined)
        this.#audit.done({ event: 'retentionChanged', ...about, retention_days, changes });
      return after;
    });
  }
}

function usable(name: string): string {
  const trimmed = normalizeText(name).trim();
  if (trimmed === '') throw invalid([{ pointer: '/name', detail: 'must contain a character other than a space' }]);
  return trimmed;
}

function missing(): DomainError {
  return new DomainError('not_found', 'There is no project with this id');
}
