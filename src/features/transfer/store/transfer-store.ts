import BetterSqlite3 from 'better-sqlite3';
import { DomainError } from '../../../engine/errors.js';
import type { Micros } from '../../../engine/timestamp.js';
import type { MetadataTransfer, StoredImage, StoredRecord } from '../metadata-transfer.js';
import {
  type Imported,
  type PageOf,
  type RecordPage,
  PAGE_BYTES,
} from '../../../engine/traces/model/transfer/record-page.js';
import type { MetadataPart } from '../parts.js';
import { invalid } from '../../../engine/validation/validation.js';
import { guarded, isDuplicate, transact, type Database } from '../../../engine/metadata/database.js';
import { bounds, type Bound } from './transfer-bounds.js';
import { HeldRows } from './held-rows.js';
import { readCursor, writeCursor } from './transfer-cursor.js';
import { recordPages } from './transfer-pages.js';
import type { Misfit, Take } from './take.js';
import { takers } from './transfer-takers.js';

type ImageRow = StoredImage & { readonly naming: number };

function prepare(db: Database) {
  return {
    // A name of an image that is not bound to a version yet is of a request in progress.
    images: db.prepare<{ projectId: string; sha256: string; naming: number; limit: number }, ImageRow>(
      `SELECT n.id AS naming, n.sha256, a.media_type, a.bytes, n.trace_id, n.span_id FROM attachment_namings AS n
       JOIN attachments AS a ON a.project_id = n.project_id AND a.sha256 = n.sha256
       WHERE n.project_id = @projectId AND (n.sha256, n.id) > (@sha256, @naming) AND n.version IS NOT NULL
       ORDER BY n.sha256, n.id LIMIT @limit`,
    ),
    isShown: db
      .prepare<object, number>(
        `SELECT 1 FROM attachment_namings WHERE project_id = @projectId AND sha256 = @sha256 AND trace_id = @trace_id
         AND span_id = @span_id AND version = @version LIMIT 1`,
      )
      .pluck(),
  };
}

/** What lies beside spans, record by record, in the SQLite file. */
export class SqliteTransferStore implements MetadataTransfer {
  readonly #db: Database;
  readonly #statements: ReturnType<typeof prepare>;
  readonly #take: Readonly<Record<MetadataPart, Take>>;
  readonly #held: HeldRows;
  readonly #bounds: Readonly<Partial<Record<MetadataPart, Bound>>>;
  readonly #pages = new Map<MetadataPart, ReturnType<typeof recordPages>>();

  constructor(db: Database) {
    this.#db = db;
    this.#statements = prepare(db);
    this.#held = new HeldRows(db);
    this.#take = takers(db, this.#held);
    this.#bounds = bounds(db, this.#held);
  }

  page(part: MetadataPart, asOf: Micros, of: PageOf): RecordPage<StoredRecord> {
    const read = this.#pages.get(part) ?? recordPages(this.#db, part);
    this.#pages.set(part, read);
    return guarded(() => this.#db.transaction(() => read(asOf, of))());
  }

  take(part: MetadataPart, projectId: string, records: readonly StoredRecord[]): Imported {
    return transact(this.#db, () => {
      let stored = 0;
      this.#held.begin();
      for (const [index, record] of records.entries()) if (this.#takeOne(part, projectId, record, index)) stored += 1;
      if (stored > 0) this.#bounds[part]?.(projectId, records);
      return { stored, unchanged: records.length - stored };
    });
  }

  images({ projectId, after, limit }: PageOf): RecordPage<StoredImage> {
    const [sha256, naming] = after === null ? ['', 0] : readCursor(after, [2]);
    const values = { projectId, sha256: String(sha256), naming: Number(naming) };
    const rows = guarded(() => this.#statements.images.all({ ...values, limit: limit + 1 }));
    const records: StoredImage[] = [];
    let last = after;
    let before = '';
    let bytes = 0;
    for (const { naming: id, ...image } of rows) {
      if (records.length === limit || bytes > PAGE_BYTES) return { records, next: last, more: true };
      bytes += image.sha256 === before ? 0 : image.bytes;
      records.push(image);
      before = image.sha256;
      last = writeCursor([image.sha256, id]);
    }
    return { records, next: last, more: false };
  }

  isShown(projectId: string, image: Parameters<MetadataTransfer['isShown']>[1], version: Micros): boolean {
    const { sha256, trace_id, span_id } = image;
    return guarded(() => this.#statements.isShown.get({ projectId, sha256, trace_id, span_id, version }) === 1);
  }

  #takeOne(part: MetadataPart, projectId: string, record: StoredRecord, index: number): boolean {
    const taken = withinRules(index, () => this.#take[part](projectId, record));
    if (typeof taken === 'boolean') return taken;
    throw misfit(index, taken);
  }
}

function misfit(index: number, { field, detail, taken }: Misfit): DomainError {
  const issue = { pointer: `/${index}/${field}`, detail };
  return taken === true
    ? new DomainError('conflict', `${issue.pointer} ${detail}; nothing was stored`, { issues: [issue] })
    : invalid([issue]);
}

/** Turns what the tables refuse into what a client can repair. */
function withinRules<T>(index: number, take: () => T): T {
  try {
    return take();
  } catch (error) {
    if (isDuplicate(error))
      throw new DomainError(
        'conflict',
        `/${index} has the name, number or subject of something else in the project; nothing was stored. Import into a project without it.`,
        { cause: error },
      );
    if (error instanceof BetterSqlite3.SqliteError && error.code.startsWith('SQLITE_CONSTRAINT'))
      throw invalid([{ pointer: `/${index}`, detail: 'holds values that contradict each other' }]);
    throw error;
  }
}
