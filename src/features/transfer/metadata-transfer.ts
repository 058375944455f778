import type { Micros } from '../../engine/timestamp.js';
import type { MetadataPart } from './parts.js';
import type { RecordPage, PageOf, Imported } from '../../engine/traces/model/transfer/record-page.js';

/** A record of a part as its schema says, except for times, which are numbers: `_at` ends their names. */
export type StoredRecord = Readonly<Record<string, unknown>>;

/**
 * What lies beside spans, record by record.
 * @throws DomainError `unavailable`
 */
export interface MetadataTransfer {
  /**
   * Records in a fixed order, of those made up to a moment.
   * @throws DomainError `invalid` when `after` is not from an earlier page of the part
   */
  page(part: MetadataPart, asOf: Micros, of: PageOf): RecordPage<StoredRecord>;
  /**
   * Stores records with the ids that they have, all or none; what is there already stays.
   * @throws DomainError `invalid` when one names what is not there, `conflict` when its place is taken by something else
   */
  take(part: MetadataPart, projectId: string, records: readonly StoredRecord[]): Imported;
  /** Images of a project with the spans that show them, or did in an earlier version, ordered by their hashes. */
  images(of: PageOf): RecordPage<StoredImage>;
  /** Whether an image is noted as shown by a version of a span. */
  isShown(projectId: string, image: Omit<StoredImage, 'media_type' | 'bytes'>, version: Micros): boolean;
}

/** An image, and one span that shows it. */
export interface StoredImage {
  readonly sha256: string;
  readonly media_type: string;
  readonly bytes: number;
  readonly trace_id: string;
  readonly span_id: string;
}
