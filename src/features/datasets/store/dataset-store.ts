import { randomUUID } from 'node:crypto';
import { guarded, isDuplicate, type Database } from '../../../engine/metadata/database.js';
import { TagMoves } from '../../../engine/metadata/tag-moves.js';
import type { Window } from '../../../engine/schema/page.js';
import type { Micros } from '../../../engine/timestamp.js';
import type {
  Dataset,
  DatasetDraft,
  DatasetPatch,
  DatasetStore,
  DatasetTag,
  DatasetTagMove,
  DatasetVersion,
  ListedVersion,
} from '../dataset.js';
import { isIn } from './row-sql.js';

type Row = Omit<Dataset, 'roles'> & { readonly roles: string };
export type VersionRow = Omit<DatasetVersion, 'columns'> & { readonly columns: string };

const COLUMNS = 'id, name, description, roles, last_version, bytes, created_at, updated_at';
const VERSION_COLUMNS =
  'id, dataset_id, number, message, columns, row_count, added, changed, removed, created_at, created_by';
const LISTED =
  "FROM datasets WHERE project_id = @projectId AND deleted_at IS NULL AND (@q = '' OR instr(lower(name), lower(@q)) > 0)";
const MOVES = { table: 'dataset_tag_moves', owner: ['dataset_id'], target: 'number', nowhere: '0' } as const;

function prepare(db: Database) {
  const one = (by: string) =>
    db.prepare<[string, string], Row>(
      `SELECT ${COLUMNS} FROM datasets WHERE project_id = ? AND ${by} = ? AND deleted_at IS NULL`,
    );
  const version = (by: string) =>
    db.prepare<[string, string | number], VersionRow>(
      `SELECT ${VERSION_COLUMNS} FROM dataset_versions WHERE dataset_id = ? AND ${by} = ?`,
    );
  return {
    byName: one('name'),
    byId: one('id'),
    holding: db.prepare<{ projectId: string; rowId: string; limit: number }, Row>(
      `SELECT ${COLUMNS} FROM datasets AS d INDEXED BY datasets_by_project
       WHERE project_id = @projectId AND deleted_at IS NULL AND EXISTS (
         SELECT 1 FROM dataset_rows AS r INDEXED BY sqlite_autoindex_dataset_rows_1
         WHERE r.dataset = d.seq AND r.row_id = @rowId AND r.content IS NOT NULL AND ${isIn('r', 'd.last_version')})
       LIMIT @limit`,
    ),
    versionAt: db.prepare<[string, Micros], VersionRow>(
      `SELECT ${VERSION_COLUMNS} FROM dataset_versions WHERE dataset_id = ? AND created_at <= ? ORDER BY number DESC LIMIT 1`,
    ),
    list: db.prepare<{ projectId: string; q: string } & Window, Row>(
      `SELECT ${COLUMNS} ${LISTED} ORDER BY name LIMIT @limit OFFSET @offset`,
    ),
    count: db.prepare<{ projectId: string; q: string }, number>(`SELECT count(*) ${LISTED}`).pluck(),
    create: db.prepare<object>(
      `INSERT INTO datasets (id, project_id, name, description, roles, created_at, created_by, updated_at)
       VALUES (@id, @projectId, @name, @description, @roles, @created_at, @created_by, @created_at)`,
    ),
    change: db.prepare<object>(
      `UPDATE datasets SET name = coalesce(@name, name), description = coalesce(@description, description),
         roles = coalesce(@roles, roles), updated_at = @at WHERE id = @id AND deleted_at IS NULL`,
    ),
    remove: db.prepare<[Micros, string]>('UPDATE datasets SET deleted_at = ? WHERE id = ? AND deleted_at IS NULL'),
    versionByNumber: version('number'),
    versionById: version('id'),
    versions: db.prepare<{ id: string } & Window, VersionRow & Pick<ListedVersion, 'created_by_name'>>(
      `SELECT ${VERSION_COLUMNS}, (SELECT name FROM users WHERE id = created_by) AS created_by_name
       FROM dataset_versions WHERE dataset_id = @id ORDER BY number DESC LIMIT @limit OFFSET @offset`,
    ),
  };
}

/** Datasets in the SQLite file. */
export class SqliteDatasetStore implements DatasetStore {
  readonly #statements: ReturnType<typeof prepare>;
  readonly #moves: TagMoves<number>;

  constructor(db: Database) {
    this.#statements = prepare(db);
    this.#moves = new TagMoves(db, MOVES);
  }

  create(projectId: string, { roles, ...draft }: DatasetDraft): Dataset | undefined {
    const id = randomUUID();
    const create = () => this.#statements.create.run({ ...draft, id, projectId, roles: JSON.stringify(roles) });
    if (!this.#unlessTaken(create)) return undefined;
    return this.find(projectId, { id });
  }

  find(projectId: string, by: { readonly name: string } | { readonly id: string }): Dataset | undefined {
    const { byName, byId } = this.#statements;
    const row = guarded(() => ('id' in by ? byId.get(projectId, by.id) : byName.get(projectId, by.name)));
    return row && toDataset(row);
  }

  holding(projectId: string, rowId: string, limit: number): Dataset[] {
    return guarded(() => this.#statements.holding.all({ projectId, rowId, limit }).map(toDataset));
  }

  list(projectId: string, q: string, window: Window): Dataset[] {
    return guarded(() => this.#statements.list.all({ projectId, q, ...window }).map(toDataset));
  }

  count(projectId: string, q: string): number {
    return guarded(() => this.#statements.count.get({ projectId, q }) ?? 0);
  }

  change(id: string, { name, description, roles }: DatasetPatch, at: Micros): boolean {
    const change = () => {
      const set = {
        id,
        name: name ?? null,
        description: description ?? null,
        at,
        roles: roles === undefined ? null : JSON.stringify(roles),
      };
      this.#statements.change.run(set);
    };
    return this.#unlessTaken(change);
  }

  remove(id: string, at: Micros): void {
    guarded(() => this.#statements.remove.run(at, id));
  }

  version(datasetId: string, by: { readonly number: number } | { readonly id: string }): DatasetVersion | undefined {
    const { versionByNumber, versionById } = this.#statements;
    const row = guarded(() =>
      'id' in by ? versionById.get(datasetId, by.id) : versionByNumber.get(datasetId, by.number),
    );
    return row && toVersion(row);
  }

  versionAt(datasetId: string, at: Micros): DatasetVersion | undefined {
    const row = guarded(() => this.#statements.versionAt.get(datasetId, at));
    return row && toVersion(row);
  }

  versions(datasetId: string, window: Window): ListedVersion[] {
    const rows = guarded(() => this.#statements.versions.all({ id: datasetId, ...window }));
    return rows.map(({ created_by_name, ...row }) => ({ ...toVersion(row), created_by_name }));
  }

  tags(datasetId: string): DatasetTag[] {
    return this.#moves.all({ dataset_id: datasetId }).map(({ tag, target }) => ({ tag, version_number: target }));
  }

  tag(datasetId: string, tag: string): number | undefined {
    return this.#moves.find({ dataset_id: datasetId }, tag);
  }

  countTags(datasetId: string): number {
    return this.#moves.count({ dataset_id: datasetId });
  }

  moveTag(datasetId: string, tag: string, number: number | null, at: Micros, by: string): void {
    this.#moves.move({ owner: { dataset_id: datasetId }, tag, target: number, at, by });
  }

  tagMoves(datasetId: string, tag: string, window: Window): DatasetTagMove[] {
    return this.#moves
      .history({ dataset_id: datasetId }, tag, window)
      .map(({ target, ...move }) => ({ ...move, version_number: target }));
  }

  #unlessTaken(write: () => unknown): boolean {
    try {
      guarded(write);
      return true;
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }
}

function toDataset({ roles, ...row }: Row): Dataset {
  return { ...row, roles: JSON.parse(roles) as Dataset['roles'] };
}

function toVersion({ columns, ...row }: VersionRow): DatasetVersion {
  return { ...row, columns: JSON.parse(columns) as string[] };
}
