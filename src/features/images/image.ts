import { createHash } from 'node:crypto';
import { fileTypeFromBuffer } from 'file-type';

/** Largest image that is kept, in bytes. */
export const MAX_IMAGE_BYTES = 10 * 1024 * 1024;
export const MAX_IMAGES_PER_SPAN = 5;
/** Each image takes a file, and rows of the catalog; a request with more images is better sent as several. */
export const MAX_IMAGES_PER_REQUEST = 500;

/** The image formats that are kept, by the media type that names them in spans and stores, and the ends of their file names. */
export const IMAGE_EXTENSIONS = {
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/webp': 'webp',
  'image/gif': 'gif',
} as const;
export type ImageType = keyof typeof IMAGE_EXTENSIONS;

/** An image to be kept, named by its content: a file as `Media` is. */
export interface Image {
  /** Lower-case hexadecimal. */
  readonly sha256: string;
  readonly type: ImageType;
  readonly bytes: Buffer;
}

/** Why data is not kept as an image. */
export type ImageFlaw = 'no_image' | 'too_large';

/** The image that the bytes are. Its type is told from the first bytes, whatever the client says. */
export async function imageOf(bytes: Buffer): Promise<Image | ImageFlaw> {
  const type = await imageType(bytes);
  if (type === null) return 'no_image';
  if (bytes.length > MAX_IMAGE_BYTES) return 'too_large';
  return { sha256: createHash('sha256').update(bytes).digest('hex'), type, bytes };
}

const DATA_URL = /^data:[^,;]*(?:;[^,;]*)*;base64,/i;
/** Enough of the text to tell an image that is too large from something else. */
const SNIFFED_CHARACTERS = 64 * 1024;

/** An image in base64 (also base64url, with line breaks, or as a data URL). */
export async function imageOfBase64(text: string): Promise<Image | ImageFlaw> {
  const payload = text.startsWith('data:') ? text.replace(DATA_URL, '') : text;
  const compact = /\s/.test(payload) ? payload.replace(/\s+/g, '') : payload;
  if (Buffer.byteLength(compact, 'base64') > MAX_IMAGE_BYTES) {
    const beginning = Buffer.from(compact.slice(0, SNIFFED_CHARACTERS), 'base64');
    return (await imageType(beginning)) === null ? 'no_image' : 'too_large';
  }
  const bytes = Buffer.from(compact, 'base64');
  // The decoder skips what is no base64: then fewer bytes come out than the length of the text says.
  if (bytes.length !== Buffer.byteLength(compact, 'base64')) return 'no_image';
  return imageOf(bytes);
}

async function imageType(bytes: Buffer): Promise<ImageType | null> {
  const mime = (await fileTypeFromBuffer(bytes))?.mime;
  // An animated PNG is a PNG to everything that shows one.
  const type = mime === 'image/apng' ? 'image/png' : mime;
  return type !== undefined && Object.hasOwn(IMAGE_EXTENSIONS, type) ? (type as ImageType) : null;
}
