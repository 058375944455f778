import { createHash } from 'node:crypto';
import type { AttachmentStore } from './attachment-store.js';
import type { ReferencedImage } from './catalog.js';
import type { Audit, AuditedPage, Extent, Suspect } from '../../engine/traces/model/check/audit.js';

/** What the metadata says of an image. */
export interface AuditedImage extends ReferencedImage {
  readonly bytes: number;
  readonly stored: boolean;
  /** Whether any row of a dataset names it, or any span version, also one that may not be stored yet. */
  readonly named: boolean;
  /** Whether a row of a dataset, or a stored span version, names it. */
  readonly shown: boolean;
  /** Whether the next sweep looks at it. */
  readonly leftover: boolean;
}

/** The images that the metadata knows of. */
export interface ImageRows {
  count(): number;
  /** Those after one, by project and hash. @param share of them, from 0 to 1, that the seed picks */
  page(after: ReferencedImage, limit: number, seed: number, share: number): AuditedImage[];
  find(projectId: string, sha256: string): AuditedImage | undefined;
  /** Whether the next sweep looks for it. */
  isLeftover(projectId: string, sha256: string): boolean;
}

/** The files of images in a folder, some at a time; a name that is none of an image comes as `unknown`. */
export type ImageFiles = () => AsyncIterable<readonly (ReferencedImage | { readonly unknown: string })[]>;

export interface ImageAuditParts {
  readonly rows: ImageRows;
  readonly store: Pick<AttachmentStore, 'get'>;
  /** Null: they are in a bucket, whose objects are not listed. */
  readonly files: ImageFiles | null;
  readonly extent: Extent;
  /** Removes those of some images that no span names; absent: none is removed. */
  readonly remove?: (images: readonly ReferencedImage[]) => Promise<void>;
}

const PAGE = 200;
const NONE: ReferencedImage = { project_id: '', sha256: '' };

/** Images against what spans show: each is stored with the bytes that it is named after, and no others are. */
export class ImageAudit implements Audit {
  readonly title = 'images';
  readonly unit = 'images';
  readonly #parts: ImageAuditParts;

  constructor(parts: ImageAuditParts) {
    this.#parts = parts;
  }

  async total(): Promise<number> {
    const { sample } = this.#parts.extent;
    const all = this.#parts.rows.count();
    return sample === null ? all : Math.min(all, sample);
  }

  async *pages(): AsyncGenerator<AuditedPage> {
    const { rows, files, extent } = this.#parts;
    const share = extent.sample === null ? 1 : extent.sample / Math.max(1, rows.count());
    for (let after: ReferencedImage | undefined = NONE; after !== undefined;) {
      const page: readonly AuditedImage[] = rows.page(after, PAGE, extent.seed, share);
      const suspects: Suspect[] = [];
      for (const image of page) suspects.push(...(await this.#examine(image)));
      if (page.length > 0) yield { checked: page.length, suspects };
      after = page.at(-1);
    }
    if (files === null) return;
    for await (const some of files())
      yield {
        checked: 0,
        suspects: some.flatMap((file) =>
          'unknown' in file
            ? { flaw: 'file_unknown' as const, project: '', id: file.unknown }
            : this.#unknownFile(file),
        ),
      };
  }

  async again(suspects: readonly Suspect[]): Promise<readonly Suspect[]> {
    const found: Suspect[] = [];
    for (const suspect of suspects) {
      if (suspect.flaw === 'file_unknown') {
        found.push(suspect);
        continue;
      }
      const { project: project_id, id: sha256 } = suspect;
      const known = this.#parts.rows.find(project_id, sha256);
      if (known !== undefined) found.push(...(await this.#examine(known)));
      else if (await this.#isStored(project_id, sha256)) found.push(...this.#unknownFile({ project_id, sha256 }));
    }
    return found;
  }

  async mend(suspects: readonly Suspect[]): Promise<void> {
    await this.#parts.remove?.(suspects.map(({ project, id }) => ({ project_id: project, sha256: id })));
  }

  async #examine({
    project_id: project,
    sha256,
    bytes,
    stored,
    named,
    shown,
    leftover,
  }: AuditedImage): Promise<Suspect[]> {
    const suspect = { project, id: sha256 };
    if (!named) return leftover ? [] : [{ ...suspect, flaw: 'image_unreferenced' }];
    if (!stored) return shown ? [{ ...suspect, flaw: 'image_missing', detail: `${bytes} bytes` }] : [];
    const content = await this.#parts.store.get(project, sha256);
    if (content === null) return [{ ...suspect, flaw: 'image_missing', detail: `${bytes} bytes` }];
    const hash = createHash('sha256');
    try {
      for await (const piece of content.stream as AsyncIterable<Buffer>) hash.update(piece);
    } catch (error) {
      return [{ ...suspect, flaw: 'image_damaged', detail: error instanceof Error ? error.message : String(error) }];
    }
    const right = content.bytes === bytes && hash.digest('hex') === sha256;
    return right ? [] : [{ ...suspect, flaw: 'image_damaged', detail: `${content.bytes} bytes of ${bytes}` }];
  }

  #unknownFile({ project_id: project, sha256 }: ReferencedImage): Suspect[] {
    const { rows } = this.#parts;
    if (rows.find(project, sha256) !== undefined || rows.isLeftover(project, sha256)) return [];
    return [{ flaw: 'image_unreferenced', project, id: sha256, detail: 'only a file' }];
  }

  async #isStored(projectId: string, sha256: string): Promise<boolean> {
    const content = await this.#parts.store.get(projectId, sha256);
    content?.stream.destroy();
    return content !== null;
  }
}
