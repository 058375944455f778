import type { Readable } from 'node:stream';
import { DomainError } from '../../engine/errors.js';
import { isImageType, MEDIA_EXTENSIONS, type MediaType } from './media.js';
import type { KeptImage } from './extraction.js';
import { PLACES, storedItems, type FoundItem, type Item } from './items.js';
import type {
  ReadAttachmentParts,
  SpanWithImages,
  StoredAttachmentParts,
} from '../../engine/traces/model/attachments.js';
import type { Attachment, AttachmentList } from './schema.js';
import { URL_LIFETIME_SECONDS, type GrantSigner } from './signature.js';
import type { AttachmentVault } from './vault.js';
import type { Signals } from '../../engine/signals/signals.js';
import { isJsonObject } from '../../engine/json-object.js';

export interface AttachmentServiceParts {
  readonly read: ReadAttachmentParts;
  readonly vault: Pick<AttachmentVault, 'find' | 'findMedia' | 'open'>;
  readonly signer: GrantSigner;
  /** Base of the URLs handed out, without a slash at its end. */
  readonly baseUrl: () => string;
  readonly observer: Pick<Signals, 'attachmentServed'>;
}

/** An image of a span, and whether the server keeps it, which its URL does not show. */
export interface SpanImage extends Attachment {
  readonly kept: boolean;
}

/** An image that the server keeps, as a span shows it. */
export interface KeptOfSpan extends Pick<Attachment, 'type' | 'label'> {
  readonly sha256: string;
}

/** Changes what is stored of a span before its images are found. */
export type ChangeParts = (stored: StoredAttachmentParts) => Promise<StoredAttachmentParts>;

/** The parts of a requested presigned URL; any text, since anybody can write one. */
export interface PresignedRequest {
  readonly projectId: string;
  readonly sha256: string;
  readonly expires: string | undefined;
  readonly signature: string | undefined;
}

/** An image, or another file, on its way out. */
export interface OpenedImage {
  readonly sha256: string;
  readonly mediaType: MediaType;
  /** File name, safe in a header. */
  readonly fileName: string;
  readonly bytes: number;
  /** How long the URL still works. */
  readonly secondsLeft: number;
  /** Opens the stream of the bytes. @throws DomainError `not_found`, `unavailable` */
  content(): Promise<Readable>;
}

/** Lists the images of spans with presigned URLs, and serves what these URLs ask for. */
export class AttachmentService {
  readonly #parts: AttachmentServiceParts;

  constructor(parts: AttachmentServiceParts) {
    this.#parts = parts;
  }

  /** @throws DomainError `not_found` when the project has no such span */
  async list(projectId: string, spanId: string, signal?: AbortSignal): Promise<AttachmentList> {
    const images = await this.#all(projectId, { spanId, traceId: null }, signal);
    return { attachments: images.map(({ kept: _kept, ...attachment }) => attachment), count: images.length };
  }

  /** Without other files. @throws DomainError `not_found` when the project has no such span */
  async imagesOf(projectId: string, span: SpanWithImages, signal?: AbortSignal): Promise<SpanImage[]> {
    const all = await this.#all(projectId, span, signal);
    return all.filter(({ media_type }) => media_type === undefined || isImageType(media_type));
  }

  /** The images of a span that the server keeps, in the order of its lists. @throws DomainError `not_found` as {@link imagesOf} */
  async keptOf(
    projectId: string,
    span: SpanWithImages,
    change: ChangeParts,
    signal?: AbortSignal,
  ): Promise<KeptOfSpan[]> {
    const spans = await Promise.all((await this.#stored(projectId, span, signal)).map(change));
    const { vault } = this.#parts;
    const items = spans.flatMap((stored) => PLACES.flatMap((place) => storedItems(place, stored)));
    const ofItems = items.flatMap(({ item, source }) => {
      const kept = source.by === 'hash' ? vault.find(projectId, source.sha256) : undefined;
      if (source.by !== 'hash' || kept === undefined) return [];
      const { type, label } = described(item);
      return [{ sha256: source.sha256, type, label, mediaType: kept.media_type }];
    });
    const ofTexts = [...new Set(spans.flatMap(({ media }) => media))].flatMap((id) => {
      const kept = vault.findMedia(projectId, id);
      return kept === undefined
        ? []
        : [{ sha256: kept.sha256, type: 'image', label: null, mediaType: kept.media_type }];
    });
    return [...ofItems, ...ofTexts]
      .filter(({ mediaType }) => isImageType(mediaType))
      .map(({ sha256, type, label }) => ({ sha256, type, label }));
  }

  /** A stored image whose reader is known to be allowed to. @throws DomainError `not_found` */
  openKept(projectId: string, sha256: string): OpenedImage {
    return this.#opened(projectId, sha256, 0);
  }

  async #stored(projectId: string, span: SpanWithImages, signal?: AbortSignal): Promise<StoredAttachmentParts[]> {
    const spans = await this.#parts.read(projectId, span, signal);
    if (spans.length === 0) throw new DomainError('not_found', 'There is no span with this id.');
    return spans;
  }

  async #all(projectId: string, span: SpanWithImages, signal?: AbortSignal): Promise<SpanImage[]> {
    const spans = await this.#stored(projectId, span, signal);
    const items = spans.flatMap((stored) => PLACES.flatMap((place) => storedItems(place, stored)));
    const shown = items.flatMap((found) => this.#shown(projectId, found) ?? []);
    const media = new Set(spans.flatMap((stored) => stored.media));
    return [...shown, ...[...media].flatMap((id) => this.#shownMedia(projectId, id) ?? [])];
  }

  /** A stored image, or other file, that texts refer to by this id, with a presigned URL. @throws DomainError `not_found` */
  media(projectId: string, id: string): KeptImage & { readonly url: string; readonly expires: number } {
    const image = this.#parts.vault.findMedia(projectId, id);
    if (image === undefined) throw new DomainError('not_found', 'No media with this id is stored');
    return { ...image, ...this.#presigned(projectId, image.sha256) };
  }

  /** A stored image or file by its hash, with a presigned URL; null: it is not stored. */
  file(projectId: string, sha256: string): (KeptImage & { readonly url: string }) | null {
    const found = this.#parts.vault.find(projectId, sha256);
    return found === undefined ? null : { ...found, url: this.#presigned(projectId, sha256).url };
  }

  /** @throws DomainError `forbidden` unless the URL is one that was handed out, as it was, and not expired; `not_found` */
  open({ projectId, sha256, expires, signature }: PresignedRequest): OpenedImage {
    const until = expires !== undefined && /^\d{1,12}$/.test(expires) ? Number(expires) : 0;
    const genuine = this.#parts.signer.verify({ projectId, sha256, expires: until }, signature ?? '');
    if (!genuine) throw new DomainError('forbidden', 'This server did not create this URL');
    const secondsLeft = until - Math.floor(Date.now() / 1000);
    if (secondsLeft <= 0) throw new DomainError('forbidden', 'This URL has expired: list the images of the span again');
    return this.#opened(projectId, sha256, secondsLeft);
  }

  #opened(projectId: string, sha256: string, secondsLeft: number): OpenedImage {
    const image = this.#parts.vault.find(projectId, sha256);
    if (image === undefined) throw gone();
    const mediaType = image.media_type as MediaType;
    return {
      sha256,
      mediaType,
      fileName: `${sha256.slice(0, 16)}.${MEDIA_EXTENSIONS[mediaType]}`,
      bytes: image.bytes,
      secondsLeft,
      content: () => this.#content(projectId, sha256),
    };
  }

  async #content(projectId: string, sha256: string): Promise<Readable> {
    const content = await this.#parts.vault.open(projectId, sha256);
    if (content === null) throw gone();
    this.#parts.observer.attachmentServed({ bytes: content.bytes });
    return content.stream;
  }

  #shown(projectId: string, { item, source }: FoundItem): SpanImage | null {
    if (source.by === 'data') return null;
    if (source.by === 'hash' && this.#parts.vault.find(projectId, source.sha256) !== undefined)
      return { ...described(item), url: this.#presigned(projectId, source.sha256).url, kept: true };
    return source.url === null ? null : { ...described(item), url: source.url, kept: false };
  }

  #shownMedia(projectId: string, id: string): SpanImage | null {
    const image = this.#parts.vault.findMedia(projectId, id);
    if (image === undefined) return null;
    const { sha256, media_type } = image;
    const type = isImageType(media_type) ? 'image' : media_type.startsWith('audio/') ? 'audio' : 'file';
    return { type, label: null, media_type, url: this.#presigned(projectId, sha256).url, kept: true };
  }

  /** @returns a URL, and the Unix time in seconds at which it ends */
  #presigned(projectId: string, sha256: string): { readonly url: string; readonly expires: number } {
    const expires = Math.floor(Date.now() / 1000) + URL_LIFETIME_SECONDS;
    const signature = this.#parts.signer.sign({ projectId, sha256, expires });
    const query = `expires=${expires}&signature=${signature}`;
    return { url: `${this.#parts.baseUrl()}/attachments/${projectId}/${sha256}?${query}`, expires };
  }
}

function gone(): DomainError {
  return new DomainError('not_found', 'This image was deleted with the last span that used it');
}

function described({ type, label, width, height, viewport }: Item): Omit<Attachment, 'url'> {
  const shownViewport = typeof viewport === 'string' || isJsonObject(viewport) ? { viewport } : {};
  return {
    type: typeof type === 'string' && type !== '' ? type : 'image',
    label: typeof label === 'string' ? label : null,
    ...(typeof width === 'number' ? { width } : {}),
    ...(typeof height === 'number' ? { height } : {}),
    ...shownViewport,
  };
}
