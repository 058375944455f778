import type { ImageReference } from '../../engine/traces/model/attachments.js';
import { mediaIdOf } from '../../engine/traces/model/media-reference.js';
import { DomainError } from '../../engine/errors.js';
import type { Micros } from '../../engine/timestamp.js';
import { invalid } from '../../engine/validation/validation.js';
import type { AttachmentCatalog } from './catalog.js';
import { keptImage } from './extraction.js';
import { MAX_IMAGE_BYTES } from './image.js';
import { isImageType, KEPT_KINDS, mediaOf, mediaType } from './media.js';
import { URL_LIFETIME_SECONDS, type GrantSigner, type UploadGrant } from './signature.js';
import { AWAITED_MS, type AttachmentVault } from './vault.js';

export interface ImageUploadParts {
  readonly catalog: Pick<AttachmentCatalog, 'find' | 'announce' | 'findNamed' | 'isNamed' | 'note' | 'announcedAt'>;
  readonly vault: Pick<AttachmentVault, 'keep' | 'removeUnreferenced'>;
  readonly signer: GrantSigner;
  /** Base of the URLs handed out, without a slash at its end. */
  readonly baseUrl: () => string;
  /** Throws where nothing more of a project may be stored now, as of spans. */
  readonly admit: (projectId: string) => void;
}

/** An image that a client is going to send, and the span that refers to it. */
export interface AnnouncedImage extends ImageReference {
  readonly mediaType: string;
  readonly bytes: number;
}

/** References of a project whose files have not come yet, and those that may wait for their spans. */
const MAX_OPEN = 10_000;
const MAX_AWAITED = 100_000;
const RETRY_AFTER_SECONDS = 60;

/** Takes in images, and other files, that clients send apart from the spans that refer to them. */
export class ImageUploads {
  readonly #parts: ImageUploadParts;

  constructor(parts: ImageUploadParts) {
    this.#parts = parts;
  }

  /**
   * Keeps an image, sent or not, for a span that may come before or after it.
   * @returns its id in references, and where to send it to; null: it is stored already
   * @throws DomainError `invalid`, `too_large`; `overloaded` when too many wait for their spans; those of WriteLog's `admit`
   */
  announce(projectId: string, image: AnnouncedImage): { readonly id: string; readonly url: string | null } {
    const { catalog, signer, baseUrl, admit } = this.#parts;
    const { sha256, bytes, mediaType } = image;
    requireKept(image);
    admit(projectId);
    const now = Date.now() * 1000;
    const room = { open: MAX_OPEN, since: now - AWAITED_MS * 1000, waiting: MAX_AWAITED };
    if (!catalog.announce(projectId, image, now, room))
      throw new DomainError(
        'overloaded',
        `${MAX_OPEN} announced files have not been sent yet, or ${MAX_AWAITED} wait for spans that refer to them: send these first`,
        { retryAfterSeconds: RETRY_AFTER_SECONDS },
      );
    const id = mediaIdOf(sha256);
    if (catalog.find(projectId, sha256) !== undefined) return { id, url: null };
    const expires = Math.floor(Date.now() / 1000) + URL_LIFETIME_SECONDS;
    const grant = signer.upload({ projectId, sha256, expires, bytes, mediaType });
    return { id, url: `${baseUrl()}/attachments/uploads/${grant}` };
  }

  /** Whether a project has, or waits for, an image with this id. */
  isKnown(projectId: string, id: string): boolean {
    return this.#parts.catalog.findNamed(projectId, id) !== undefined;
  }

  /** When an image was announced last, as far as that is known. */
  announcedAt(projectId: string, sha256: string): Micros | null {
    return this.#parts.catalog.announcedAt(projectId, sha256);
  }

  /** What an upload URL allows. @throws DomainError `forbidden` */
  grantOf(text: string): UploadGrant {
    const grant = this.#parts.signer.uploadOf(text);
    if (grant === null) throw new DomainError('forbidden', 'This server did not create this URL');
    if (grant.expires * 1000 < Date.now())
      throw new DomainError('forbidden', 'This URL has expired: announce the image again');
    return grant;
  }

  /**
   * Stores an image that was announced; durable once this resolves.
   * @throws DomainError `invalid` for another one; `not_found` when nothing refers to it any more; `overloaded`, `unavailable`
   */
  async store({ projectId, sha256, bytes: announced, mediaType }: UploadGrant, bytes: Buffer): Promise<void> {
    const { catalog, vault, admit } = this.#parts;
    if (bytes.length !== announced) throw refused(`must have ${announced} bytes, as announced, not ${bytes.length}`);
    const image = await mediaOf(bytes, mediaType);
    if (typeof image === 'string') throw refused(ruleOf(mediaType));
    if (image.sha256 !== sha256) throw refused('must have the SHA-256 that was announced');
    const named = { project_id: projectId, sha256 };
    if (!catalog.isNamed(named)) throw notAwaited();
    admit(projectId);
    catalog.note(projectId, keptImage(image));
    await vault.keep(projectId, [image]);
    // Its span, or its project, may have been deleted meanwhile.
    if (catalog.isNamed(named)) return;
    await vault.removeUnreferenced([named]);
    throw notAwaited();
  }
}

function requireKept({ bytes, mediaType: said }: AnnouncedImage): void {
  if (mediaType(said) === null)
    throw invalid([
      { pointer: '/contentType', detail: `is not stored: only ${KEPT_KINDS} are, other media stays with you` },
    ]);
  if (bytes > MAX_IMAGE_BYTES) {
    const limit = MAX_IMAGE_BYTES / (1024 * 1024);
    throw new DomainError('too_large', `A file of ${bytes} bytes is not stored: it may have at most ${limit} MB`);
  }
}

function ruleOf(said: string): string {
  const type = mediaType(said) ?? said;
  return isImageType(type)
    ? 'must be a JPEG, PNG, WebP or GIF image'
    : `must be of the type that was announced: ${type}`;
}

const refused = (detail: string) => invalid([{ pointer: '', detail: `the file ${detail}` }]);

const notAwaited = () => new DomainError('not_found', 'Nothing refers to this file any more: announce it again');
