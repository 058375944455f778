import { DomainError } from '../errors.js';
import type { Project } from '../identity/identity.js';
import type { IdentityStore } from '../identity/identity-store.js';
import { normaliseText } from '../schema/normalise.js';
import { invalid } from '../validation/validation.js';

/** What a project is called. */
export class ProjectService {
  readonly #store: Pick<IdentityStore, 'findProject' | 'renameProject'>;

  constructor(store: Pick<IdentityStore, 'findProject' | 'renameProject'>) {
    this.#store = store;
  }

  /** @throws DomainError `not_found` */
  get(id: string): Project {
    const project = this.#store.findProject(id);
    if (project === undefined) throw missing();
    return project;
  }

  /** @throws DomainError `not_found`; `invalid` for a name of nothing but spaces */
  rename(id: string, name: string): Project {
    const trimmed = normaliseText(name).trim();
    if (trimmed === '') throw invalid([{ pointer: '/name', detail: 'must have other characters than spaces' }]);
    if (!this.#store.renameProject(id, trimmed)) throw missing();
    return this.get(id);
  }
}

function missing(): DomainError {
  return new DomainError('not_found', 'There is no project with this id');
}
