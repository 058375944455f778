import type { AnnouncedRoom, OpenReference, ReferencedImage } from '../catalog.js';
import type { ImageReference } from '../../../engine/traces/model/attachments.js';
import type { KeptImage } from '../extraction.js';
import type { Micros } from '../../../engine/timestamp.js';
import type { Database } from '../../../engine/metadata/database.js';

const OF_IMAGE = 'project_id = @project_id AND sha256 = @sha256';
const STORED = `EXISTS (SELECT 1 FROM attachments WHERE ${OF_IMAGE} AND stored = 1)`;
const WAITING = 'project_id = @project_id AND version IS NULL AND announced_at IS NOT NULL';
const NAMED = `(EXISTS (SELECT 1 FROM attachment_namings WHERE ${OF_IMAGE})
  OR EXISTS (SELECT 1 FROM dataset_files WHERE ${OF_IMAGE}))`;

/** The prepared SQL of the catalog of images. */
export function prepareAttachmentSql(db: Database) {
  return {
    find: db.prepare<ReferencedImage, KeptImage>(
      `SELECT sha256, media_type, bytes FROM attachments WHERE ${OF_IMAGE} AND stored = 1`,
    ),
    beginningWith: db.prepare<{ project_id: string; beginning: string }, KeptImage>(
      `SELECT sha256, media_type, bytes FROM attachments
       WHERE project_id = @project_id AND sha256 >= @beginning AND sha256 < @beginning || 'g' AND stored = 1`,
    ),
    namedWith: db
      .prepare<{ project_id: string; beginning: string }, string>(
        `SELECT DISTINCT sha256 FROM attachment_namings
         WHERE project_id = @project_id AND sha256 >= @beginning AND sha256 < @beginning || 'g'`,
      )
      .pluck(),
    announceAgain: db.prepare<ImageReference & { project_id: string; at: Micros }>(
      `UPDATE attachment_namings SET announced_at = @at, arrived = ${STORED}
       WHERE ${OF_IMAGE} AND trace_id = @trace_id AND span_id = @span_id AND version IS NULL AND announced_at IS NOT NULL`,
    ),
    announce: db.prepare<ImageReference & AnnouncedRoom & { project_id: string; at: Micros }>(
      `INSERT INTO attachment_namings (project_id, sha256, trace_id, span_id, announced_at, arrived)
       SELECT @project_id, @sha256, @trace_id, @span_id, @at, ${STORED}
       WHERE (SELECT count(*) FROM attachment_namings WHERE ${WAITING} AND arrived = 0 AND announced_at > @since) < @open
         AND (SELECT count(*) FROM attachment_namings WHERE ${WAITING}) < @waiting`,
    ),
    /** The image of references has come. */
    arrive: db.prepare<ReferencedImage>(
      `UPDATE attachment_namings SET arrived = 1 WHERE ${OF_IMAGE} AND version IS NULL AND announced_at IS NOT NULL`,
    ),
    announcedAt: db
      .prepare<ReferencedImage, Micros | null>(`SELECT max(announced_at) FROM attachment_namings WHERE ${OF_IMAGE}`)
      .pluck(),
    kept: db.prepare<[string], { count: number; bytes: number }>(
      'SELECT count(*) AS count, ifnull(sum(bytes), 0) AS bytes FROM attachments WHERE project_id = ? AND stored = 1',
    ),
    allBytes: db.prepare<[], number>('SELECT ifnull(sum(bytes), 0) FROM attachments WHERE stored = 1').pluck(),
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
    /** Takes numbers as a JSON array. */
    forget: db.prepare<[string], ReferencedImage>(
      `DELETE FROM attachment_namings WHERE version IN (SELECT value FROM json_each(?)) RETURNING project_id, sha256`,
    ),
    forgetSpans: db.prepare<{ projectId: string; spans: string; upTo: Micros; orderedAt: Micros }, ReferencedImage>(
      `DELETE FROM attachment_namings WHERE id IN (
         SELECT n.id FROM json_each(@spans) AS s CROSS JOIN attachment_namings AS n
         ON n.span_id = s.value AND n.project_id = @projectId
           AND (n.version <= @upTo OR (n.version IS NULL AND n.announced_at <= @orderedAt)))
       RETURNING project_id, sha256`,
    ),
    forgetSomeOfProject: db.prepare<[string, number], ReferencedImage>(
      `DELETE FROM attachment_namings WHERE id IN (SELECT id FROM attachment_namings WHERE project_id = ? LIMIT ?)
       RETURNING project_id, sha256`,
    ),
    unbound: db.prepare<[number, number], OpenReference>(
      `SELECT id, project_id, sha256, trace_id, span_id, announced_at FROM attachment_namings
       WHERE version IS NULL AND id > ? ORDER BY id LIMIT ?`,
    ),
    drop: db.prepare<[string], ReferencedImage>(
      `DELETE FROM attachment_namings WHERE id IN (SELECT value FROM json_each(?)) RETURNING project_id, sha256`,
    ),
    /** Takes objects of `id` and `announced_at` as a JSON array. */
    dropAsRead: db.prepare<[string], ReferencedImage>(
      `DELETE FROM attachment_namings WHERE id IN (
         SELECT n.id FROM json_each(?) AS r CROSS JOIN attachment_namings AS n ON n.id = json_extract(r.value, '$.id')
         WHERE n.version IS NULL AND n.announced_at IS json_extract(r.value, '$.announced_at'))
       RETURNING project_id, sha256`,
    ),
    leaveOver: db.prepare<ReferencedImage>(
      'INSERT INTO attachment_leftovers (project_id, sha256) VALUES (@project_id, @sha256) ON CONFLICT DO NOTHING',
    ),
    /** An image without references is not answered any more, also while it is not removed yet. */
    hide: db.prepare<ReferencedImage>(`UPDATE attachments SET stored = 0 WHERE ${OF_IMAGE} AND NOT ${NAMED}`),
    leftovers: db.prepare<ReferencedImage & { limit: number }, ReferencedImage>(
      `SELECT project_id, sha256 FROM attachment_leftovers WHERE (project_id, sha256) > (@project_id, @sha256)
       ORDER BY project_id, sha256 LIMIT @limit`,
    ),
    isOfDataset: db
      .prepare<ReferencedImage & { datasetId: string }, number>(
        `SELECT EXISTS (SELECT 1 FROM dataset_files AS f CROSS JOIN dataset_contents AS c ON c.seq = f.content
           CROSS JOIN datasets AS d ON d.seq = c.dataset
         WHERE f.project_id = @project_id AND f.sha256 = @sha256 AND d.id = @datasetId)`,
      )
      .pluck(),
    isNamed: db.prepare<ReferencedImage, number>(`SELECT ${NAMED}`).pluck(),
    noLeftover: db.prepare<ReferencedImage>(`DELETE FROM attachment_leftovers WHERE ${OF_IMAGE}`),
    remove: db.prepare<ReferencedImage>(`DELETE FROM attachments WHERE ${OF_IMAGE} AND NOT ${NAMED}`),
  };
}

/** The statements that {@link prepareAttachmentSql} prepares. */
export type AttachmentSql = ReturnType<typeof prepareAttachmentSql>;
