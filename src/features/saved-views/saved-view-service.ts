import type { Issue } from '../../engine/errors.js';
import { changesBetween, type AuditLog } from '../../engine/identity/audit.js';
import type { Principal } from '../../engine/identity/identity.js';
import { newlyNamed, requireFit, requireNamed } from '../../engine/named-store.js';
import { isColumn } from '../../engine/traces/model/list/columns.js';
import { listDefinitions, type ListDefinition } from '../../engine/traces/model/list/definitions.js';
import { invalid } from '../../engine/validation/validation.js';
import type { SavedView, SavedViewStore } from './saved-view.js';
import { MAX_COLUMN_NAMES, MAX_SAVED_VIEWS, type SavedViewInput, type SavedViewPatch } from './schema.js';

const WHAT = 'saved view';

export interface SavedViewParts {
  readonly store: SavedViewStore;
  readonly audit: AuditLog;
  /** What is wrong with filters and order of a list as text. */
  readonly queryIssues: (list: ListDefinition['name'], query: string) => readonly Issue[];
}

/** Lists as the people of a project want to see them again. Everything is inside the caller's project. */
export class SavedViewService {
  readonly #parts: SavedViewParts;

  constructor(parts: SavedViewParts) {
    this.#parts = parts;
  }

  /** @throws DomainError `invalid`; `conflict` with too many, or where another one has the name */
  create(by: Principal, { name, list, query, columns }: SavedViewInput): SavedView {
    const { store, audit } = this.#parts;
    const view = this.#sound({ ...newlyNamed(by, name), list, query: query ?? '', columns: columns ?? null });
    audit.together(() => {
      requireFit(store.insert(view, MAX_SAVED_VIEWS), WHAT, MAX_SAVED_VIEWS);
      audit.done({ event: 'savedViewCreated', by, ...aboutOf(view) });
    });
    return view;
  }

  /** By name. */
  list(projectId: string): SavedView[] {
    return this.#parts.store.list(projectId);
  }

  /** @throws DomainError `not_found` */
  get(projectId: string, id: string): SavedView {
    return requireNamed(this.#parts.store, projectId, id, WHAT);
  }

  /** @throws DomainError `not_found`, `invalid`; `conflict` where another one has the name */
  change(by: Principal, id: string, patch: SavedViewPatch): SavedView {
    const { store, audit } = this.#parts;
    const known = this.get(by.project_id, id);
    const view = this.#sound({
      ...known,
      name: patch.name ?? known.name,
      query: patch.query ?? known.query,
      columns: patch.columns === undefined ? known.columns : patch.columns,
      updated_at: Date.now() * 1000,
    });
    audit.together(() => {
      requireFit(store.replace(view), WHAT, MAX_SAVED_VIEWS);
      const changes = changesBetween<SavedView>(known, view, ['name', 'query', 'columns']);
      audit.done({ event: 'savedViewChanged', by, ...aboutOf(view), changes });
    });
    return view;
  }

  /** @throws DomainError `not_found` */
  remove(by: Principal, id: string): void {
    const { store, audit } = this.#parts;
    const view = this.get(by.project_id, id);
    audit.together(() => {
      store.remove(by.project_id, view.id);
      audit.done({ event: 'savedViewDeleted', by, ...aboutOf(view) });
    });
  }

  /** What no schema says of a view: a list that cannot be read so is no view. */
  issuesOf({ list, query, columns }: Pick<SavedView, 'list' | 'query' | 'columns'>): Issue[] {
    const found = this.#parts.queryIssues(list, query);
    const length = (columns ?? []).join(',').length;
    return [
      ...found.map(({ pointer, detail }) => ({ pointer: '/query', detail: `${pointer} ${detail}` })),
      ...(columns ?? []).flatMap((column, index) =>
        isColumn(listDefinitions[list], column)
          ? []
          : [{ pointer: `/columns/${index}`, detail: `must be a field of ${list}, tags.<key> or scores.<name>` }],
      ),
      ...(length > MAX_COLUMN_NAMES
        ? [{ pointer: '/columns', detail: `must have at most ${MAX_COLUMN_NAMES} characters together` }]
        : []),
    ];
  }

  #sound(view: SavedView): SavedView {
    const issues = this.issuesOf(view);
    if (issues.length > 0) throw invalid(issues);
    return view;
  }
}

function aboutOf({ id, project_id, name }: SavedView) {
  return { project_id, subject_id: id, subject_name: name };
}
