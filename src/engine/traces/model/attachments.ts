import type { Span } from './span/span.js';
import type { Micros } from '../../timestamp.js';

/** The parts of a span that attachments stand in; an output that cannot hold any may be left out. */
export type AttachmentParts = Pick<Span, 'attributes' | 'output_data'>;

/** What of a stored span may hold images. */
export interface StoredAttachmentParts extends AttachmentParts {
  /** Ids of media that its texts refer to, see `media-reference.ts`. */
  readonly media: readonly string[];
}

/** A span by its id, of the only trace that is meant, or of any. */
export interface SpanWithImages {
  readonly spanId: string;
  /** Null: any. */
  readonly traceId: string | null;
}

/** Reads the spans of a project that have an id: normally one, none when there is no such span. Sees every acknowledged write. */
export type ReadAttachmentParts = (
  projectId: string,
  span: SpanWithImages,
  signal?: AbortSignal,
) => Promise<StoredAttachmentParts[]>;

/**
 * Finds, for references of a project, the stored version of the span that counts now, if it refers to the image. By the ids
 * of the references; absent: it does not. Sees every acknowledged write.
 */
export type FindReferenceVersions = (
  projectId: string,
  references: readonly UnboundReference[],
) => Promise<ReadonlyMap<number, Micros>>;

/** A reference to an image by a version of a span. */
export interface ImageReference {
  readonly sha256: string;
  readonly trace_id: string;
  readonly span_id: string;
}

/** A reference whose span version is not known: its request is under way, failed, or was cut off by a crash. */
export interface UnboundReference extends ImageReference {
  readonly id: number;
  readonly project_id: string;
}
