import type { Database } from '../../../engine/metadata/database.js';
import { removeOld } from '../../../engine/metadata/tag-moves.js';
import { LAST_DELETION } from '../../../engine/metadata/deletion-numbers.js';
import { isReservedTag, ROW_OVERHEAD_BYTES } from '../../datasets/dataset.js';
import { contentHash } from '../../datasets/files/row-set.js';
import type { MetadataPart } from '../parts.js';
import type { HeldRows } from './held-rows.js';
import { missing, owners, text, type By, type Owners, type Take, type Values } from './take.js';

/** How the records of datasets are stored. */
export function datasetTakers(db: Database, by: By, held: HeldRows) {
  const own = owners(db, 'datasets');
  return {
    datasets: datasetTaker(db, by, own),
    dataset_versions: versionTaker(db, by, own),
    dataset_rows: rowTaker(db, own, held),
    dataset_tag_moves: moveTaker(db, by, own),
  } satisfies Partial<Record<MetadataPart, Take>>;
}

function datasetTaker(db: Database, by: By, own: Owners): Take {
  const named = db
    .prepare<[string, unknown], number>(
      'SELECT 1 FROM datasets WHERE project_id = ? AND name = ? AND deleted_at IS NULL',
    )
    .pluck();
  const insert = db.prepare<Values>(
    `INSERT INTO datasets (id, project_id, name, description, roles, created_at, created_by, updated_at)
     VALUES (@id, @project_id, @name, @description, @roles, @created_at, @created_by, @updated_at)`,
  );
  return (project_id, record) => {
    const there = own.alreadyThere(project_id, record['id']);
    if (there !== undefined) return there;
    if (named.get(project_id, record['name']) === 1)
      return { field: 'name', detail: 'is the name of another dataset: rename one of them', taken: true };
    insert.run({
      ...record,
      project_id,
      roles: text(record['roles']),
      created_by: by(project_id, record['created_by']),
    });
    return true;
  };
}

function versionTaker(db: Database, by: By, own: Owners): Take {
  const known = db
    .prepare<Values, string>('SELECT id FROM dataset_versions WHERE dataset_id = @dataset_id AND number = @number')
    .pluck();
  const elsewhere = db.prepare<[unknown], number>('SELECT 1 FROM dataset_versions WHERE id = ?').pluck();
  const last = db.prepare<[number], number>('SELECT last_version FROM datasets WHERE seq = ?').pluck();
  const insert = db.prepare<Values>(
    `INSERT INTO dataset_versions (id, dataset_id, number, message, columns, row_count, added, changed, removed, created_at, created_by)
     VALUES (@id, @dataset_id, @number, @message, @columns, @row_count, @added, @changed, @removed, @created_at, @created_by)`,
  );
  const isMaking = db
    .prepare<[number, number, number, number], number>(
      `SELECT EXISTS (SELECT 1 FROM dataset_rows WHERE dataset = ? AND from_version > ?)
         OR EXISTS (SELECT 1 FROM dataset_rows WHERE dataset = ? AND to_version > ?)`,
    )
    .pluck();
  const rowsOf = db
    .prepare<Values, number>(
      'SELECT row_count FROM dataset_versions WHERE dataset_id = @dataset_id AND number = @number - 1',
    )
    .pluck();
  const publish = db.prepare<[unknown, number]>('UPDATE datasets SET last_version = ? WHERE seq = ?');
  return (projectId, record) => {
    const { id, dataset_id, number } = record;
    const dataset = own.seqOf(projectId, dataset_id);
    if (dataset === undefined) return missing('dataset_id', 'dataset');
    const stored = known.get({ dataset_id, number });
    if (stored === id) return false;
    if (stored !== undefined || elsewhere.get(id) === 1)
      return {
        field: 'number',
        detail: 'is that of another version of the dataset, which was made since',
        taken: true,
      };
    const newest = last.get(dataset) ?? 0;
    if (isMaking.get(dataset, newest, dataset, newest) === 1)
      return { field: 'number', detail: 'cannot be stored while another version is being created: retry', taken: true };
    if (number !== newest + 1)
      return { field: 'number', detail: 'must follow that of the version before: import versions in order' };
    const rows = (rowsOf.get({ dataset_id, number }) ?? 0) + Number(record['added']) - Number(record['removed']);
    if (record['row_count'] !== rows)
      return {
        field: 'row_count',
        detail: `must be ${rows}: the rows of the version before, with added and without removed`,
      };
    insert.run({ ...record, columns: text(record['columns']), created_by: by(projectId, record['created_by']) });
    publish.run(number, dataset);
    return true;
  };
}

function rowTaker(db: Database, own: Owners, held: HeldRows): Take {
  const known = db
    .prepare<Values, number>(
      'SELECT to_version IS NULL FROM dataset_rows WHERE dataset = @dataset AND row_id = @row_id AND from_version = @from_version',
    )
    .pluck();
  const overlaps = db
    .prepare<Values, number>(
      `SELECT 1 FROM dataset_rows WHERE dataset = @dataset AND row_id = @row_id AND from_version <> @from_version
         AND from_version < coalesce(@to_version, 9e15) AND coalesce(to_version, 9e15) > @from_version LIMIT 1`,
    )
    .pluck();
  const last = db.prepare<[number], number>('SELECT last_version FROM datasets WHERE seq = ?').pluck();
  const { addBytes, contentOf } = contentTaker(db);
  const insert = db.prepare<Values>(
    `INSERT INTO dataset_rows (dataset, row_id, position, from_version, to_version, content, trace_id, span_id, after_deletion)
     VALUES (@dataset, @row_id, @position, @from_version, @to_version, @content, @trace_id, @span_id, ${LAST_DELETION})`,
  );
  const end = db.prepare<Values>(
    'UPDATE dataset_rows SET to_version = @to_version WHERE dataset = @dataset AND row_id = @row_id AND from_version = @from_version',
  );
  return (projectId, record) => {
    const dataset = own.seqOf(projectId, record['dataset_id']);
    if (dataset === undefined) return missing('dataset_id', 'dataset');
    const [from, to] = [Number(record['from_version']), record['to_version'] as number | null];
    if (to !== null && to <= from) return { field: 'to_version', detail: 'must be above from_version' };
    const newest = last.get(dataset) ?? 0;
    if (Math.max(from, to ?? 0) > newest) return missing('from_version', 'version');
    const row = { ...record, dataset };
    if (record['content'] !== null && Object.hasOwn(record['content'] as object, 'row_id'))
      return { field: 'content', detail: 'must not have a column row_id: that is the id' };
    const isOpen = known.get(row);
    if (isOpen === 0 || (isOpen === 1 && to === null)) return false;
    if (overlaps.get(row) === 1) return { field: 'row_id', detail: 'has another row in the same version', taken: true };
    held.know(dataset, newest);
    if (isOpen === 1) {
      end.run(row);
      held.ended(dataset, to);
      return true;
    }
    addBytes(dataset, ROW_OVERHEAD_BYTES);
    insert.run({ ...row, content: contentOf(dataset, record['content']) });
    held.began(dataset, from, to);
    return true;
  };
}

/** Stores the contents of rows, each once, and counts the bytes of datasets. */
function contentTaker(db: Database) {
  const content = db
    .prepare<[number, Buffer], number>('SELECT seq FROM dataset_contents WHERE dataset = ? AND hash = ?')
    .pluck();
  const insertContent = db
    .prepare<[number, Buffer, string], number>(
      'INSERT INTO dataset_contents (dataset, hash, content) VALUES (?, ?, ?) RETURNING seq',
    )
    .pluck();
  const count = db.prepare<[number, number]>('UPDATE datasets SET bytes = bytes + ? WHERE seq = ?');
  const addBytes = (dataset: number, bytes: number) => count.run(bytes, dataset);
  const contentOf = (dataset: number, row: unknown): number | null => {
    if (row === null) return null;
    const [hash, json] = [contentHash(row as Readonly<Record<string, unknown>>), JSON.stringify(row)];
    const said = content.get(dataset, hash);
    if (said !== undefined) return said;
    addBytes(dataset, Buffer.byteLength(json));
    return insertContent.get(dataset, hash, json) ?? null;
  };
  return { addBytes, contentOf };
}

function moveTaker(db: Database, by: By, own: Owners): Take {
  const known = db
    .prepare<Values, number>(
      `SELECT 1 FROM dataset_tag_moves WHERE dataset_id = @dataset_id AND tag = @tag AND moved_at = @moved_at AND number = @number LIMIT 1`,
    )
    .pluck();
  const exists = db
    .prepare<Values, number>('SELECT 1 FROM dataset_versions WHERE dataset_id = @dataset_id AND number = @number')
    .pluck();
  const insert = db.prepare<Values>(
    `INSERT INTO dataset_tag_moves (dataset_id, tag, number, moved_at, moved_by)
     VALUES (@dataset_id, @tag, @number, @moved_at, @moved_by)`,
  );
  const removeOldMoves = db.prepare<Values>(removeOld({ table: 'dataset_tag_moves', owner: ['dataset_id'] }));
  return (projectId, record) => {
    if (own.seqOf(projectId, record['dataset_id']) === undefined) return missing('dataset_id', 'dataset');
    if (isReservedTag(String(record['tag'])))
      return { field: 'tag', detail: 'is reserved: it names a version by itself' };
    const row = { ...record, number: record['number'] ?? 0 };
    if (row.number !== 0 && exists.get(row) === undefined) return missing('number', 'version');
    if (known.get(row) === 1) return false;
    insert.run({ ...row, moved_by: by(projectId, record['moved_by']) });
    removeOldMoves.run(row);
    return true;
  };
}
