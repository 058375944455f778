import type { Micros } from '../../engine/timestamp.js';
import type { KeptImage } from './extraction.js';
import type { ImageReference, UnboundReference } from '../../engine/traces/model/attachments.js';

/** A reference that waits for its span version. */
export interface OpenReference extends UnboundReference {
  /** When a client announced the image, whose span may come later; null: the request that brought it is over, or under way. */
  readonly announced_at: Micros | null;
}

/** How many references of a project may be announced. */
export interface AnnouncedRoom {
  /** Of images that have not come and were announced after a moment: others are overdue. */
  readonly open: number;
  readonly since: Micros;
  /** Of all that wait for their spans. */
  readonly waiting: number;
}

export interface ReferencedImage {
  readonly project_id: string;
  readonly sha256: string;
}

/**
 * The images that there are, and which span versions refer to them. Writes are durable when the method returns. An image
 * without references counts as not stored, and is a leftover until it is removed.
 * A span version is known by the moment it was taken in, which no two share.
 *
 * @throws DomainError `unavailable` when it does not answer.
 */
export interface AttachmentCatalog {
  /** A fully stored image. */
  find(projectId: string, sha256: string): KeptImage | undefined;
  /** A fully stored image by its id in references, see `engine/traces/model/media-reference.ts`. */
  findMedia(projectId: string, mediaId: string): KeptImage | undefined;
  /**
   * Notes that a client announced an image of a span; another time, that it did so now.
   * @returns false: there is no room for it
   */
  announce(projectId: string, reference: ImageReference, at: Micros, room: AnnouncedRoom): boolean;
  /** The hash of an image that anything refers to, also one that is not stored, by its id; undefined: nothing does. */
  findNamed(projectId: string, mediaId: string): string | undefined;
  /** Whether anything refers to an image. */
  isNamed(image: ReferencedImage): boolean;
  /** Whether rows of a dataset keep a file that was sent for them. */
  isOfDataset(image: ReferencedImage, datasetId: string): boolean;
  /** Notes an image that is about to be stored, and that something refers to. */
  note(projectId: string, image: KeptImage): void;
  /** When an image was announced last, as far as that is known. */
  announcedAt(projectId: string, sha256: string): Micros | null;
  /** How many images of a project are fully stored, and their bytes together. */
  kept(projectId: string): { readonly count: number; readonly bytes: number };
  /** Bytes of all that are fully stored, of all projects; reads each. */
  allBytes(): number;
  /**
   * Notes that spans are about to refer to images, which from then on are not removed; images not known yet are noted as
   * not stored. @returns the ids of the references, in their order.
   */
  name(projectId: string, references: readonly (ImageReference & { readonly image: KeptImage })[]): number[];
  /**
   * Notes that images are fully stored. Those not known any more, as their project was deleted meanwhile, become leftovers.
   * @returns whether there are such
   */
  markStored(projectId: string, sha256s: readonly string[]): boolean;
  /** Notes that an image turned out to be gone: sent again, it is stored again. */
  markMissing(projectId: string, sha256: string): void;
  /** Gives references their span versions. */
  bind(bindings: readonly { readonly id: number; readonly version: Micros }[]): void;
  /** Forgets the references of span versions that are gone, in whatever project. @returns how many there were */
  forget(versions: readonly Micros[]): number;
  /**
   * Forgets the references of spans in versions up to a moment, and those that wait for a span, if they were announced before the
   * deletion was ordered.
   * @returns the hashes of their images
   */
  forgetSpans(projectId: string, spanIds: readonly string[], upTo: Micros, orderedAt: Micros): ReadonlySet<string>;
  /** Forgets some references of a project that is deleted. @returns how many; 0: there are none left */
  forgetSomeOfProject(projectId: string): number;
  /** Unbound references after an id, in the order of their ids. */
  unbound(after: number, limit: number): OpenReference[];
  /** Forgets references that turned out to be of no span. */
  drop(ids: readonly number[]): void;
  /** The same, unless they were bound or announced again since they were read. */
  dropAsRead(references: readonly OpenReference[]): void;
  /** Has the next sweep look at images: it removes those that nothing refers to, known or not. */
  doubt(images: readonly ReferencedImage[]): void;
  /** Images that lost a reference since they were looked at: those after one, by project and then by hash. */
  leftovers(after: ReferencedImage, limit: number): ReferencedImage[];
  /**
   * Marks an image without references as not stored, because it is about to be removed.
   * @returns false when it has a reference again; it is then no leftover any more.
   */
  beginRemoval(image: ReferencedImage): boolean;
  /** Forgets an image that is gone from the store, unless it got a reference meanwhile. */
  endRemoval(image: ReferencedImage): void;
}
