import type { AttachmentService } from './attachment-service.js';
import { keptImage, type KeptImage } from './extraction.js';
import type { Media } from './media.js';
import type { AttachmentVault } from './vault.js';

export interface RowFilesParts {
  readonly vault: Pick<AttachmentVault, 'name' | 'keep' | 'release' | 'isOfDataset'>;
  readonly attachments: Pick<AttachmentService, 'file'>;
}

/** A file, and the row of a dataset that is going to name it. */
export interface RowFile {
  readonly datasetId: string;
  readonly rowId: string;
  readonly file: Media;
}

/**
 * Keeps the files of rows of datasets. A row names them in its column `attachments`, by their hashes: they stay as long as a row of any
 * version does, which the database itself notes with the row. A hash of a file that was not sent for the dataset counts as none.
 */
export class RowFiles {
  readonly #parts: RowFilesParts;

  constructor(parts: RowFilesParts) {
    this.#parts = parts;
  }

  /**
   * Stores files, durably, and then does the work that writes the rows; of work that fails, the next sweep removes them.
   * @throws DomainError `overloaded`, `unavailable`, and what the work throws
   */
  async during<T>(projectId: string, files: readonly RowFile[], work: () => Promise<T>): Promise<T> {
    if (files.length === 0) return work();
    const { vault } = this.#parts;
    const references = files.map(({ datasetId, rowId, file }) => {
      return { sha256: file.sha256, trace_id: datasetId, span_id: rowId, image: keptImage(file) };
    });
    const ids = vault.name(projectId, references);
    try {
      await vault.keep(
        projectId,
        files.map(({ file }) => file),
      );
      return await work();
    } finally {
      vault.release(ids);
    }
  }

  /** A file with a presigned URL; null: it is not stored for the dataset, as where the row was imported from another server. */
  find(projectId: string, datasetId: string, sha256: string): (KeptImage & { readonly url: string }) | null {
    if (!this.#parts.vault.isOfDataset(projectId, sha256, datasetId)) return null;
    return this.#parts.attachments.file(projectId, sha256);
  }
}
