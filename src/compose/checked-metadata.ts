import BetterSqlite3 from 'better-sqlite3';
import type { Audit, Extent } from '../engine/traces/model/check/audit.js';
import type { ImageRows } from '../features/images/image-audit.js';
import { requireAll, type AppliedMigration } from '../engine/files/migration-files.js';
import type { Database } from '../engine/metadata/database.js';
import { SqliteImageRows } from '../features/images/store/image-rows.js';
import { DatasetAudit } from '../features/check/store/dataset-audit.js';
import { MetadataAudit } from '../features/check/store/metadata-audit.js';
import { metadataFile } from './metadata-store.js';
import { RecordAudit, type FindStored } from '../features/check/store/record-audit.js';

/** The metadata of a `DATA_DIR`, for reading alone: not even what a killed server left in the log is written to its place. */
export interface CheckedMetadata {
  readonly file: Audit;
  readonly images: ImageRows;
  datasets(extent: Extent): Audit;
  records(extent: Extent, stored: FindStored): Audit;
  /** Whether there is such a project now, or it is being deleted. */
  isKnown(projectId: string): boolean;
  close(): void;
}

/** @throws DomainError `conflict` when the metadata is of an older program; MigrationError when of a newer one; SqliteError */
export function openCheckedMetadata(dataDir: string): CheckedMetadata {
  const database = new BetterSqlite3(metadataFile(dataDir), { readonly: true, fileMustExist: true });
  try {
    database.function('picked', { deterministic: true }, (id: unknown, seed: unknown, share: unknown) =>
      placeOf(`${String(seed)}/${String(id)}`) <= Number(share) ? 1 : 0,
    );
    requireAll(applied(database), 'SQLite');
    const known = database.prepare(
      'SELECT 1 FROM (SELECT id FROM projects UNION SELECT project_id FROM deletions) WHERE id = ?',
    );
    return {
      file: new MetadataAudit(database),
      images: new SqliteImageRows(database),
      datasets: (extent) => new DatasetAudit(database, extent),
      records: (extent, stored) => new RecordAudit(database, extent, stored),
      isKnown: (projectId) => known.get(projectId) !== undefined,
      close: () => void database.close(),
    };
  } catch (error) {
    database.close();
    throw error;
  }
}

function applied(database: Database): AppliedMigration[] {
  return database
    .prepare<[], AppliedMigration>('SELECT version, name, checksum FROM schema_migrations ORDER BY version')
    .all();
}

/** @returns a number from 0 to 1 that depends on the text alone */
function placeOf(text: string): number {
  let sum = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193);
  // The last characters of ids alone would decide otherwise.
  sum = Math.imul(sum ^ (sum >>> 16), 0x85ebca6b);
  return ((sum ^ (sum >>> 13)) >>> 0) / 0xffffffff;
}
