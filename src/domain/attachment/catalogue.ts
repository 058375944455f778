import type { Micros } from '../time/timestamp.js';
import type { KeptImage } from './extraction.js';

/** A version of a span that names an image. */
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

export interface ReferencedImage {
  readonly project_id: string;
  readonly sha256: string;
}

/**
 * Which images there are, and which span versions name them. What a method wrote is durable when it returns. An image that
 * nothing names any more counts as not stored, and is a leftover until it is removed.
 * A span version is known by the moment it was taken in, which no two share.
 *
 * @throws DomainError `unavailable` when it does not answer.
 */
export interface AttachmentCatalogue {
  /** A fully stored image. */
  find(projectId: string, sha256: string): KeptImage | undefined;
  /**
   * Notes that spans are about to name images, which from then on are not removed; images not known yet are noted as
   * not stored. @returns the ids of the references, in their order.
   */
  name(projectId: string, references: readonly (ImageReference & { readonly image: KeptImage })[]): number[];
  /**
   * Images are fully stored. Those not known any more, as their project was deleted meanwhile, become leftovers.
   * @returns whether there are such
   */
  markStored(projectId: string, sha256s: readonly string[]): boolean;
  /** The image turned out to be gone: sent again, it is stored again. */
  markMissing(projectId: string, sha256: string): void;
  /** Tells which versions name the images. */
  bind(bindings: readonly { readonly id: number; readonly version: Micros }[]): void;
  /** Forgets versions that are gone, in whatever project. @returns how many references that were. */
  forget(versions: readonly Micros[]): number;
  /** Forgets versions of spans up to a moment. @returns the images that they named, by hash */
  forgetSpans(projectId: string, spanIds: readonly string[], upTo: Micros): ReadonlySet<string>;
  /** Forgets some references of a project that is deleted. @returns how many; 0: there are none left */
  forgetSomeOfProject(projectId: string): number;
  /** Those after an id, in order. */
  unbound(after: number, limit: number): UnboundReference[];
  /** Forgets references that turned out to be of no span. */
  drop(ids: readonly number[]): void;
  /** Images that lost a reference since they were looked at: those after one, by project and then by hash. */
  leftovers(after: ReferencedImage, limit: number): ReferencedImage[];
  /**
   * Marks an image that nothing names as not stored, because it is about to be removed.
   * @returns false when it is named again; it is then no leftover any more.
   */
  beginRemoval(image: ReferencedImage): boolean;
  /** The image is gone from the store; forgets it, unless it was named meanwhile. */
  endRemoval(image: ReferencedImage): void;
}
