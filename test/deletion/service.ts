import type { DeletedThing, StoredSpans } from '../../src/engine/traces/model/deletion/stored-spans.js';
import { CALIBRATION_TRIAL, trialWithoutSpans } from '../../src/features/calibration/calibration-trial.js';
import { DeletionService } from '../../src/features/deletion/deletion-service.js';
import { NO_AUDIT_LOG } from '../../src/engine/identity/audit.js';
import type { MetadataStore } from '../../src/compose/metadata-store.js';

/** Deletion over both stores, without images; of jobs, those of trials. */
export function openDeletions(metadata: MetadataStore, spans: StoredSpans, hiddenWaitMs = 500): DeletionService {
  return new DeletionService({
    images: {
      forgetSpans: () => new Set<string>(),
      removeSomeFree: () => Promise.resolve(),
      forgetSomeOfProject: () => false,
      removeFreeOfProject: () => Promise.resolve(),
    },
    onImagesLeft: () => undefined,
    store: metadata.deletions,
    spans,
    scores: { removeScores: () => Promise.resolve() },
    lists: { tracesById: () => Promise.resolve(new Map()) },
    jobs: metadata.jobs,
    withoutSpans: { [CALIBRATION_TRIAL]: trialWithoutSpans },
    observer: { deletionFinished: () => undefined, deletionFailed: () => undefined },
    audit: NO_AUDIT_LOG,
    onProjectOrdered: () => undefined,
    hiddenWaitMs,
  });
}

/** All things of some portions. */
export async function allOf(portions: AsyncIterable<readonly DeletedThing[]>): Promise<DeletedThing[]> {
  const all: DeletedThing[] = [];
  for await (const portion of portions) for (const thing of portion) all.push(thing);
  return all;
}
