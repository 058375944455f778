import type { DashboardService } from '../features/dashboards/dashboard-service.js';
import type { SavedViewService } from '../features/saved-views/saved-view-service.js';
import type { DeletionService } from '../features/deletion/deletion-service.js';
import { ImageTransfer } from '../features/transfer/image-transfer.js';
import { ImportPace } from '../features/transfer/import-pace.js';
import { TransferService } from '../features/transfer/transfer-service.js';
import type { MaskerOf } from '../features/masking/maskers.js';
import type { Attachments } from './attachments.js';
import type { Context } from './context.js';
import type { Storage } from './storage.js';

export interface TransferFollowers {
  readonly masker: MaskerOf;
  readonly attachments: Pick<Attachments, 'vault'>;
  readonly deletions: Pick<DeletionService, 'settled'>;
  readonly savedViews: Pick<SavedViewService, 'issuesOf'>;
  readonly dashboards: Pick<DashboardService, 'issuesOf'>;
  /** Called when prompts or prices of a project came in. */
  readonly onImported: (projectId: string) => void;
  /** Called before metadata of a project is read. */
  readonly onRead: (projectId: string) => void;
}

/** Opens what takes projects out and in. */
export function openTransfer(
  { config, governor }: Context,
  { metadata, traces, watermark, audit }: Storage,
  { masker, attachments: { vault }, deletions, savedViews, dashboards, onImported, onRead }: TransferFollowers,
): TransferService {
  const images = new ImageTransfer({ vault, findVersions: traces.attachments.findVersions, store: metadata.transfer });
  const { maxTagBytes } = config.ingest;
  const pace = new ImportPace({ governor, rolledUp: (projectId) => traces.rollUp(projectId) });
  const stores = {
    metadata: metadata.transfer,
    definitions: metadata.scoreDefinitions,
    spans: traces.transfer,
    scores: traces.scoreTransfer,
    images,
  };
  const deletionsDone = (projectId: string) => deletions.settled(projectId);
  const hooks = { deletionsDone, onImported, onRead };
  const rules = { savedViews, dashboards };
  return new TransferService({ ...stores, ...hooks, ...rules, masker, maxTagBytes, pace, room: watermark, audit });
}
