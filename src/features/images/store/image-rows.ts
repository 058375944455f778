import type { AuditedImage, ImageRows } from '../image-audit.js';
import type { Database } from '../../../engine/metadata/database.js';

interface Row extends Omit<AuditedImage, 'stored' | 'named' | 'shown' | 'leftover'> {
  readonly stored: number;
  readonly named: number;
  readonly shown: number;
  readonly leftover: number;
}

const OF_IMAGE = 'project_id = a.project_id AND sha256 = a.sha256';
const OF_ROWS = `EXISTS (SELECT 1 FROM dataset_files WHERE ${OF_IMAGE})`;
const ROWS = `SELECT project_id, sha256, bytes, stored,
  (EXISTS (SELECT 1 FROM attachment_namings WHERE ${OF_IMAGE}) OR ${OF_ROWS}) AS named,
  (EXISTS (SELECT 1 FROM attachment_namings WHERE ${OF_IMAGE} AND version IS NOT NULL) OR ${OF_ROWS}) AS shown,
  EXISTS (SELECT 1 FROM attachment_leftovers WHERE ${OF_IMAGE}) AS leftover
  FROM attachments AS a`;

/** The images that the metadata knows of. */
export class SqliteImageRows implements ImageRows {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  count(): number {
    return this.#db.prepare<[], number>('SELECT count(*) FROM attachments').pluck().get() ?? 0;
  }

  page(after: { project_id: string; sha256: string }, limit: number, seed: number, share: number): AuditedImage[] {
    const picked = share >= 1 ? '' : 'AND picked(sha256, @seed, @share)';
    return this.#db
      .prepare<object, Row>(
        `${ROWS} WHERE (project_id, sha256) > (@project_id, @sha256) ${picked} ORDER BY project_id, sha256 LIMIT @limit`,
      )
      .all({ ...after, limit, ...(picked === '' ? {} : { seed, share }) })
      .map(audited);
  }

  find(projectId: string, sha256: string): AuditedImage | undefined {
    const row = this.#db
      .prepare<[string, string], Row>(`${ROWS} WHERE project_id = ? AND sha256 = ?`)
      .get(projectId, sha256);
    return row && audited(row);
  }

  isLeftover(projectId: string, sha256: string): boolean {
    const found = this.#db.prepare('SELECT 1 FROM attachment_leftovers WHERE project_id = ? AND sha256 = ?');
    return found.get(projectId, sha256) !== undefined;
  }
}

function audited({ stored, named, shown, leftover, ...image }: Row): AuditedImage {
  return { ...image, stored: stored === 1, named: named === 1, shown: shown === 1, leftover: leftover === 1 };
}
