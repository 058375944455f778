import type { Readable } from 'node:stream';

/** A stored image, to be sent on. Whoever gets it reads or destroys the stream. */
export interface StoredContent {
  readonly stream: Readable;
  readonly bytes: number;
}

/**
 * Keeps images by project and content hash. Guarantees:
 * - once `put` resolves, the image is complete and survives a crash of the machine; before that, and when it rejects,
 *   a reader sees the whole image or none, never a part;
 * - putting an image again, also at the same time, changes nothing;
 * - `remove` of what is not there does nothing;
 * - nothing is ever found under another project.
 *
 * @throws DomainError `unavailable` when it does not answer or is full.
 */
export interface AttachmentStore {
  /** @param sha256 lower-case hexadecimal, of exactly these bytes */
  put(projectId: string, sha256: string, bytes: Buffer, mediaType: string): Promise<void>;
  /** The image; null when there is none. */
  get(projectId: string, sha256: string): Promise<StoredContent | null>;
  remove(projectId: string, sha256: string): Promise<void>;
}

/** Where images lie while a snapshot is read. What is deleted meanwhile is in `removed` until the snapshot ends. */
export interface HeldImages {
  readonly folder: string;
  readonly removed: string;
}
