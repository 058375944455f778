import { AttachmentService } from '../features/images/attachment-service.js';
import { NO_SOURCE, VaultIntake } from '../features/images/intake.js';
import { RowFiles } from '../features/images/row-files.js';
import { GrantSigner } from '../features/images/signature.js';
import { AttachmentSweeper } from '../features/images/sweeper.js';
import { ImageUploads } from '../features/images/uploads.js';
import { AttachmentVault } from '../features/images/vault.js';
import type { Micros } from '../engine/timestamp.js';
import { createImageFetcher } from '../features/images/store/image-fetcher.js';
import type { Context } from './context.js';
import type { Storage } from './storage.js';

export interface Attachments {
  /** Lists and serves images. */
  readonly service: AttachmentService;
  /** Takes in images that come apart from their spans. */
  readonly uploads: ImageUploads;
  /** Keeps files of rows of datasets. */
  readonly rowFiles: RowFiles;
  readonly intake: VaultIntake;
  /** For spans that are stored already: names their images again and fetches nothing. */
  readonly restated: VaultIntake;
  readonly vault: AttachmentVault;
  /** Span versions were purged. */
  purged(versions: readonly Micros[]): void;
}

const SIGNING_KEY = 'attachment-urls';

/** Everything about images of spans. */
export function openAttachments(context: Context, { metadata, images, traces }: Storage): Attachments {
  const { config, overrides, events, closers, baseUrl } = context;
  const vault: AttachmentVault = new AttachmentVault({
    store: images,
    catalog: metadata.attachments,
    observer: events,
    onFree: () => sweeper.soon(),
  });
  const sweeper = new AttachmentSweeper(vault, traces.attachments.findVersions, events);
  closers.push(() => sweeper.close());
  const createSource = overrides.createImageFetcher ?? createImageFetcher;
  const source = createSource({ hosts: config.attachments.fetchHosts, observer: events });
  const signer = new GrantSigner(metadata.secret(SIGNING_KEY));
  const service = new AttachmentService({ read: traces.attachments.read, vault, signer, baseUrl, observer: events });
  return {
    service,
    rowFiles: new RowFiles({ vault, attachments: service }),
    uploads: new ImageUploads({
      ...{ catalog: metadata.attachments, vault, signer, baseUrl },
      admit: (projectId) => traces.log.admit(projectId),
    }),
    intake: new VaultIntake(vault, source),
    restated: new VaultIntake(vault, NO_SOURCE, Infinity),
    vault,
    purged(versions) {
      if (vault.forget(versions)) sweeper.soon();
    },
  };
}
