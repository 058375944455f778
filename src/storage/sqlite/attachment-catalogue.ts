import type {
  AttachmentCatalogue,
  ReferencedImage,
  ImageReference,
  UnboundReference,
} from '../../domain/attachment/catalogue.js';
import type { KeptImage } from '../../domain/attachment/extraction.js';
import type { Micros } from '../../domain/time/timestamp.js';
import { prepareAttachmentSql, type AttachmentSql } from './attachment-statements.js';
import { guarded, type Database } from './database.js';

/** References of a deleted project that are forgotten together. */
const FORGOTTEN_AT_ONCE = 1_000;

function prepare(db: Database) {
  return {
    find: db.prepare<ReferencedImage, KeptImage>(
      `SELECT sha256, media_type, bytes FROM attachments WHERE ${OF_IMAGE} AND stored = 1`,
    ),
    note: db.prepare<ReferencedImage & KeptImage>(
      `INSERT INTO attachments (project_id, sha256, media_type, bytes, stored)
       VALUES (@project_id, @sha256, @media_type, @bytes, 0) ON CONFLICT DO NOTHING`,
    ),
    name: db.prepare<ImageReference & { project_id: string }>(
      `INSERT INTO attachment_namings (project_id, sha256, trace_id, span_id)
       VALUES (@project_id, @sha256, @trace_id, @span_id)`,
    ),
    markStored: db.prepare<ReferencedImage & { stored: 0 | 1 }>(
      `UPDATE attachments SET stored = @stored WHERE ${OF_IMAGE}`,
    ),
    bind: db.prepare<{ id: number; version: Micros }>(
      'UPDATE attachment_namings SET version = @version WHERE id = @id',
    ),
    /** Forgets references of span versions, which are given as a JSON array. */
    forget: db.prepare<[string], ReferencedImage>(
      `DELETE FROM attachment_namings WHERE version IN (SELECT value FROM json_each(?)) RETURNING project_id, sha256`,
    ),
    forgetSpans: db.prepare<{ projectId: string; spans: string; upTo: Micros }, ReferencedImage>(
      `DELETE FROM attachment_namings WHERE id IN (
         SELECT n.id FROM json_each(@spans) AS s CROSS JOIN attachment_namings AS n
         ON n.span_id = s.value AND n.project_id = @projectId AND n.version <= @upTo)
       RETURNING project_id, sha256`,
    ),
    forgetSomeOfProject: db.prepare<[string, number], ReferencedImage>(
      `DELETE FROM attachment_namings WHERE id IN (SELECT id FROM attachment_namings WHERE project_id = ? LIMIT ?)
       RETURNING project_id, sha256`,
    ),
    unbound: db.prepare<[number, number], UnboundReference>(
      `SELECT id, project_id, sha256, trace_id, span_id FROM attachment_namings
       WHERE version IS NULL AND id > ? ORDER BY id LIMIT ?`,
    ),
    drop: db.prepare<[string], ReferencedImage>(
      `DELETE FROM attachment_namings WHERE id IN (SELECT value FROM json_each(?)) RETURNING project_id, sha256`,
    ),
    leaveOver: db.prepare<ReferencedImage>(
      'INSERT INTO attachment_leftovers (project_id, sha256) VALUES (@project_id, @sha256) ON CONFLICT DO NOTHING',
    ),
    /** Hides an image without references, also while it is not removed yet. */
    hide: db.prepare<ReferencedImage>(`UPDATE attachments SET stored = 0 WHERE ${OF_IMAGE} AND NOT ${NAMED}`),
    leftovers: db.prepare<ReferencedImage & { limit: number }, ReferencedImage>(
      `SELECT project_id, sha256 FROM attachment_leftovers WHERE (project_id, sha256) > (@project_id, @sha256)
       ORDER BY project_id, sha256 LIMIT @limit`,
    ),
    isNamed: db.prepare<ReferencedImage, number>(`SELECT ${NAMED}`).pluck(),
    noLeftover: db.prepare<ReferencedImage>(`DELETE FROM attachment_leftovers WHERE ${OF_IMAGE}`),
    remove: db.prepare<ReferencedImage>(`DELETE FROM attachments WHERE ${OF_IMAGE} AND NOT ${NAMED}`),
  };
}

/** The images that are kept and the references to them, in the SQLite file. */
export class SqliteAttachmentCatalogue implements AttachmentCatalogue {
  readonly #db: Database;
  readonly #statements: AttachmentSql;

  constructor(db: Database) {
    this.#db = db;
    this.#statements = prepareAttachmentSql(db);
  }

  find(projectId: string, sha256: string): KeptImage | undefined {
    return guarded(() => this.#statements.find.get({ project_id: projectId, sha256 }));
  }

  name(projectId: string, references: readonly (ImageReference & { readonly image: KeptImage })[]): number[] {
    return this.#transaction(() =>
      references.map(({ image, sha256, trace_id, span_id }) => {
        this.#statements.note.run({ ...image, project_id: projectId });
        const { lastInsertRowid } = this.#statements.name.run({ project_id: projectId, sha256, trace_id, span_id });
        return Number(lastInsertRowid);
      }),
    );
  }

  markStored(projectId: string, sha256s: readonly string[]): boolean {
    return this.#transaction(() => {
      let unknown = false;
      for (const sha256 of sha256s) {
        const image = { project_id: projectId, sha256 };
        if (this.#statements.markStored.run({ ...image, stored: 1 }).changes > 0) continue;
        this.#statements.leaveOver.run(image);
        unknown = true;
      }
      return unknown;
    });
  }

  markMissing(projectId: string, sha256: string): void {
    guarded(() => this.#statements.markStored.run({ project_id: projectId, sha256, stored: 0 }));
  }

  bind(bindings: readonly { readonly id: number; readonly version: Micros }[]): void {
    this.#transaction(() => {
      for (const { id, version } of bindings) this.#statements.bind.run({ id, version });
    });
  }

  forget(versions: readonly Micros[]): number {
    return this.#unname(this.#statements.forget, versions).length;
  }

  forgetSpans(projectId: string, spanIds: readonly string[], upTo: Micros): ReadonlySet<string> {
    const spans = JSON.stringify(spanIds);
    const freed = this.#leaveOver(() => this.#statements.forgetSpans.all({ projectId, spans, upTo }));
    return new Set(freed.map(({ sha256 }) => sha256));
  }

  forgetSomeOfProject(projectId: string): number {
    return this.#leaveOver(() => this.#statements.forgetSomeOfProject.all(projectId, FORGOTTEN_AT_ONCE)).length;
  }

  unbound(after: number, limit: number): UnboundReference[] {
    return guarded(() => this.#statements.unbound.all(after, limit));
  }

  drop(ids: readonly number[]): void {
    this.#unname(this.#statements.drop, ids);
  }

  leftovers(after: ReferencedImage, limit: number): ReferencedImage[] {
    return guarded(() => this.#statements.leftovers.all({ ...after, limit }));
  }

  beginRemoval(image: ReferencedImage): boolean {
    return this.#transaction(() => {
      if (this.#statements.isNamed.get(image) === 1) {
        this.#statements.noLeftover.run(image);
        return false;
      }
      this.#statements.markStored.run({ ...image, stored: 0 });
      return true;
    });
  }

  endRemoval(image: ReferencedImage): void {
    this.#transaction(() => {
      this.#statements.remove.run(image);
      this.#statements.noLeftover.run(image);
    });
  }

  #unname(statement: AttachmentSql['forget'], numbers: readonly number[]): ReferencedImage[] {
    if (numbers.length === 0) return [];
    return this.#leaveOver(() => statement.all(JSON.stringify(numbers)));
  }

  #leaveOver(unname: () => ReferencedImage[]): ReferencedImage[] {
    return this.#transaction(() => {
      const freed = unname();
      for (const image of freed) {
        this.#statements.leaveOver.run(image);
        this.#statements.hide.run(image);
      }
      return freed;
    });
  }

  #transaction<T>(work: () => T): T {
    return guarded(() => this.#db.transaction(work).immediate());
  }
}
