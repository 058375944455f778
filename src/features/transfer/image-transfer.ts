import { imageOfBase64 } from '../images/image.js';
import { isImageType, KEPT_KINDS, mediaOf, mediaType, type Media } from '../images/media.js';
import type { AttachmentVault } from '../images/vault.js';
import type { FindReferenceVersions, ImageReference } from '../../engine/traces/model/attachments.js';
import type { KeptImage } from '../images/extraction.js';
import type { Issue } from '../../engine/errors.js';
import { invalid } from '../../engine/validation/validation.js';
import type { MetadataTransfer } from './metadata-transfer.js';
import type { Imported, PageOf, RecordPage } from '../../engine/traces/model/transfer/record-page.js';
import type { AttachmentRecord } from './records.js';

export interface ImageTransferParts {
  readonly vault: AttachmentVault;
  readonly findVersions: FindReferenceVersions;
  readonly store: Pick<MetadataTransfer, 'images' | 'isShown'>;
}

/** Takes images out of a project and into another one, each once, with the spans that show it. */
export class ImageTransfer {
  readonly #parts: ImageTransferParts;

  constructor(parts: ImageTransferParts) {
    this.#parts = parts;
  }

  /** Images that spans show as they are now; each comes along with the first of them in the page. */
  async page(of: PageOf): Promise<RecordPage<AttachmentRecord>> {
    const { records, ...page } = this.#parts.store.images(of);
    const versions = await this.#versions(of.projectId, records);
    const read: AttachmentRecord[] = [];
    const sent = new Set<string>();
    for (const [index, image] of records.entries()) {
      if (!versions.has(index)) continue;
      read.push({ ...image, base64: sent.has(image.sha256) ? null : await this.#bytes(of.projectId, image.sha256) });
      sent.add(image.sha256);
    }
    return { ...page, records: read };
  }

  /**
   * Stores images for spans that are there already: one that no span shows any more is not stored.
   * @throws DomainError `invalid`, `overloaded`, `unavailable`
   */
  async take(projectId: string, records: readonly AttachmentRecord[]): Promise<Imported> {
    const sent = await imagesOf(records);
    const versions = await this.#versions(projectId, records);
    const wanted = records.flatMap((record, index) => {
      const version = versions.get(index);
      if (version === undefined) return [];
      const kept = this.#parts.vault.find(projectId, record.sha256);
      if (kept !== undefined && this.#parts.store.isShown(projectId, record, version)) return [];
      const image = kept ?? keptImage(sent.get(record.sha256));
      return image === undefined ? [] : [{ record, version, image }];
    });
    await this.#keep(projectId, wanted, sent);
    return { stored: wanted.length, unchanged: records.length - wanted.length };
  }

  /** The versions of the spans that show images now, by the places of these. */
  #versions(projectId: string, images: readonly ImageReference[]): ReturnType<FindReferenceVersions> {
    if (images.length === 0) return Promise.resolve(new Map());
    return this.#parts.findVersions(
      projectId,
      images.map(({ sha256, trace_id, span_id }, id) => ({ id, project_id: projectId, sha256, trace_id, span_id })),
    );
  }

  async #keep(
    projectId: string,
    wanted: readonly { record: AttachmentRecord; version: number; image: KeptImage }[],
    sent: ReadonlyMap<string, Media>,
  ): Promise<void> {
    const { vault } = this.#parts;
    const ids = vault.name(
      projectId,
      wanted.map(({ record: { sha256, trace_id, span_id }, image }) => ({ sha256, trace_id, span_id, image })),
    );
    let isKept = false;
    try {
      await vault.keep(
        projectId,
        wanted.flatMap(({ record }) => sent.get(record.sha256) ?? []),
      );
      isKept = true;
    } finally {
      await vault.settle(ids, isKept ? wanted.map(({ version }, index) => ({ id: ids[index] ?? 0, version })) : []);
    }
  }

  async #bytes(projectId: string, sha256: string): Promise<string | null> {
    const content = await this.#parts.vault.open(projectId, sha256);
    if (content === null) return null;
    const chunks: Buffer[] = [];
    for await (const chunk of content.stream as AsyncIterable<Buffer>) chunks.push(chunk);
    return Buffer.concat(chunks).toString('base64');
  }
}

function keptImage(image: Media | undefined): KeptImage | undefined {
  return image && { sha256: image.sha256, media_type: image.type, bytes: image.bytes.length };
}

/** The files that came along, by their hashes. @throws DomainError `invalid` for what is not kept, or another one */
async function imagesOf(records: readonly AttachmentRecord[]): Promise<Map<string, Media>> {
  const images = new Map<string, Media>();
  const issues: Issue[] = [];
  for (const [index, { base64, sha256, media_type }] of records.entries()) {
    if (base64 === null) continue;
    const isOther = !isImageType(mediaType(media_type) ?? 'image/png');
    const image = isOther ? await mediaOf(Buffer.from(base64, 'base64'), media_type) : await imageOfBase64(base64);
    if (typeof image === 'string')
      issues.push({
        pointer: `/${index}/base64`,
        detail: image === 'too_large' ? 'must be at most 10 MB' : `must be in base64, and one of these: ${KEPT_KINDS}`,
      });
    else if (image.sha256 !== sha256) issues.push({ pointer: `/${index}/sha256`, detail: 'must match the image' });
    else images.set(sha256, image);
  }
  if (issues.length > 0) throw invalid(issues);
  return images;
}
