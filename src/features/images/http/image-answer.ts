import type { IncomingHttpHeaders } from 'node:http';
import type { OpenedImage } from '../attachment-service.js';
import { isImageType } from '../media.js';

/** The answer with an image or file, byte for byte. @param cacheControl how long its client may keep it */
export async function imageAnswer(image: OpenedImage, headers: IncomingHttpHeaders, cacheControl: string) {
  const shared = { ETag: `"${image.sha256}"`, 'Cache-Control': cacheControl };
  if (isKnown(headers['if-none-match'], shared.ETag)) return { status: 304 as const, headers: shared };
  const stream = await image.content();
  return {
    status: 200 as const,
    stream,
    contentType: image.mediaType.startsWith('text/') ? `${image.mediaType}; charset=utf-8` : image.mediaType,
    headers: { ...shared, ...displayHeaders(image), 'Content-Length': String(image.bytes) },
  };
}

/** Shown as an image in any page, and as nothing else; what is no image is a download. `nosniff` comes with every answer. */
function displayHeaders({ fileName, mediaType }: OpenedImage) {
  const isImage = isImageType(mediaType);
  return {
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'Content-Disposition': `${isImage ? 'inline' : 'attachment'}; filename="${fileName}"`,
    ...(isImage && { 'Cross-Origin-Resource-Policy': 'cross-origin' }),
  };
}

function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  const known = ifNoneMatch?.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return known?.some((tag) => tag === etag || tag === '*') ?? false;
}
