import { createHash } from 'node:crypto';
import { isUtf8 } from 'node:buffer';
import { fileTypeFromBuffer } from 'file-type';
import { IMAGE_EXTENSIONS, imageOf, MAX_IMAGE_BYTES, type ImageFlaw, type ImageType } from './image.js';

/** What is kept beside images, by media type, with the ends of file names. Whoever gets it gets a file: no page shows it. */
const OTHER_EXTENSIONS = {
  'audio/aac': 'aac',
  'audio/flac': 'flac',
  'audio/mp4': 'm4a',
  'audio/mpeg': 'mp3',
  'audio/ogg': 'ogg',
  'audio/wav': 'wav',
  'application/json': 'json',
  'application/pdf': 'pdf',
  'text/csv': 'csv',
  'text/markdown': 'md',
  'text/plain': 'txt',
} as const;

/** All media types that are kept. */
export const MEDIA_EXTENSIONS = { ...IMAGE_EXTENSIONS, ...OTHER_EXTENSIONS };
export type MediaType = keyof typeof MEDIA_EXTENSIONS;

/** What programs call some of them, too. */
const ALIASES: ReadonlyMap<string, MediaType> = new Map([
  ['image/jpg', 'image/jpeg'],
  ['audio/m4a', 'audio/mp4'],
  ['audio/x-m4a', 'audio/mp4'],
  ['audio/mp3', 'audio/mpeg'],
  ['audio/oga', 'audio/ogg'],
  ['audio/opus', 'audio/ogg'],
  ['audio/vnd.wave', 'audio/wav'],
  ['audio/wave', 'audio/wav'],
  ['audio/x-wav', 'audio/wav'],
  ['audio/x-flac', 'audio/flac'],
]);
/** Types that no first bytes tell: whatever is a text is of them. */
const TEXTS: ReadonlySet<string> = new Set(['application/json', 'text/csv', 'text/markdown', 'text/plain']);

/** The media types that may be announced. */
export const ANNOUNCED_TYPES: readonly string[] = [...Object.keys(MEDIA_EXTENSIONS), ...ALIASES.keys()];

/** In words, for whoever sends something else. */
export const KEPT_KINDS = 'JPEG, PNG, WebP and GIF images, audio, PDF and text files';

/** A file to be kept, named by its content. */
export interface Media {
  /** Lower-case hexadecimal. */
  readonly sha256: string;
  readonly type: MediaType;
  readonly bytes: Buffer;
}

/** The type that is kept of one that was said; null: none is. */
export function mediaType(said: string): MediaType | null {
  const type = said.split(';')[0]?.trim().toLowerCase() ?? '';
  return ALIASES.get(type) ?? (Object.hasOwn(MEDIA_EXTENSIONS, type) ? (type as MediaType) : null);
}

export function isImageType(type: string): type is ImageType {
  return Object.hasOwn(IMAGE_EXTENSIONS, type);
}

/** The file that bytes are, if their content is of the kind that was said: an image, audio, a PDF or a text. */
export async function mediaOf(bytes: Buffer, said: string): Promise<Media | ImageFlaw> {
  const type = mediaType(said);
  if (type === null) return 'no_image';
  if (isImageType(type)) return imageOf(bytes);
  if (bytes.length > MAX_IMAGE_BYTES) return 'too_large';
  const found = TEXTS.has(type) ? textType(bytes, type) : await foundType(bytes);
  const isSaid = found === type || (found?.startsWith('audio/') === true && type.startsWith('audio/'));
  if (found === null || !isSaid) return 'no_image';
  return { sha256: createHash('sha256').update(bytes).digest('hex'), type: found, bytes };
}

function textType(bytes: Buffer, type: MediaType): MediaType | null {
  return isUtf8(bytes) && !bytes.includes(0) ? type : null;
}

async function foundType(bytes: Buffer): Promise<MediaType | null> {
  return mediaType((await fileTypeFromBuffer(bytes))?.mime ?? '');
}
