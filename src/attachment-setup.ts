import { join } from 'node:path';
import type { Closers } from './clickhouse-setup.js';
import type { Config } from './config/config.js';
import type { AttachmentStore } from './domain/attachment/attachment-store.js';
import { AttachmentService } from './domain/attachment/attachment-service.js';
import { NO_SOURCE, VaultIntake } from './domain/attachment/intake.js';
import { GrantSigner } from './domain/attachment/signature.js';
import { AttachmentSweeper } from './domain/attachment/sweeper.js';
import { AttachmentVault } from './domain/attachment/vault.js';
import type { Micros } from './domain/time/timestamp.js';
import type { Events } from './observability/events.js';
import { FileAttachmentStore } from './storage/attachments/file-store.js';
import { createImageFetcher } from './storage/attachments/image-fetcher.js';
import type { SpanAttachments } from './storage/clickhouse/span-attachments.js';
import { SqliteAttachmentCatalogue } from './storage/sqlite/attachment-catalogue.js';
import type { Database } from './storage/sqlite/database.js';
import { readSecret } from './storage/sqlite/secrets.js';

export interface AttachmentsOptions {
  readonly config: Config;
  readonly database: Database;
  readonly events: Events;
  readonly closers: Closers;
  /** Addresses that images may be fetched from although they are not public. */
  readonly fetchableAddresses: readonly string[];
}

export interface Attachments {
  readonly intake: VaultIntake;
  /** For spans that are stored already: names their images anew and fetches nothing. */
  readonly restated: VaultIntake;
  /** For the purge of span versions. */
  purged(versions: readonly Micros[]): void;
  /** Once spans are deleted. */
  readonly deleted: Pick<
    AttachmentVault,
    'forgetSpans' | 'removeSomeFree' | 'forgetSomeOfProject' | 'removeFreeOfProject'
  >;
  /** Once the spans can be read: what lists and serves images, and the sweeps. */
  serve(spans: SpanAttachments, baseUrl: () => string): AttachmentService;
}

const DIRECTORY = 'attachments';
const SIGNING_KEY = 'attachment-urls';

/** Everything about images of spans. Part of the composition root. */
export async function openAttachments(options: AttachmentsOptions): Promise<Attachments> {
  const { config, database, events, closers } = options;
  const store = await openStore(config, closers);
  let sweeper: AttachmentSweeper | undefined;
  const vault = new AttachmentVault({
    store,
    catalogue: new SqliteAttachmentCatalogue(database),
    observer: events,
    onFree: () => sweeper?.soon(),
  });
  const source = createImageFetcher({
    hosts: config.attachments.fetchHosts,
    extraAddresses: options.fetchableAddresses,
    observer: events,
  });
  return {
    intake: new VaultIntake(vault, source),
    restated: new VaultIntake(vault, NO_SOURCE, Infinity),
    deleted: vault,
    purged(versions) {
      if (vault.forget(versions)) sweeper?.soon();
    },
    serve(spans, baseUrl) {
      const sweeping = new AttachmentSweeper(vault, spans.findVersions, events);
      sweeper = sweeping;
      closers.push(() => sweeping.close());
      const signer = new GrantSigner(readSecret(database, SIGNING_KEY));
      return new AttachmentService({ read: spans.read, vault, signer, baseUrl, observer: events });
    },
  };
}

/** The S3 client is imported only here: a server without a bucket starts without it. */
async function openStore(config: Config, closers: Closers): Promise<AttachmentStore> {
  if (config.attachments.s3 === null) return FileAttachmentStore.open(join(config.dataDir, DIRECTORY));
  const { S3AttachmentStore } = await import('./storage/attachments/s3-store.js');
  const store = new S3AttachmentStore(config.attachments.s3);
  closers.push(() => store.close());
  return store;
}
