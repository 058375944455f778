import type { Governor } from '../../work/governor.js';
import type { ClickHouseClient } from '../clickhouse/client/client.js';
import type { CommitLog } from '../write/commit-log.js';
import type { ReadsInProgress, Settle, SettleMany } from '../read/reads-in-progress.js';
import type { WordIndexer } from '../search/word-indexer.js';

/** The parts of the store that deletions use. */
export interface DeletionSource {
  readonly client: ClickHouseClient;
  readonly log: CommitLog;
  readonly settle: Settle;
  readonly settleMany: SettleMany;
  readonly reads: ReadsInProgress;
  readonly governor: Pick<Governor, 'listsAreRead'>;
  readonly indexer: WordIndexer;
  /** Resolves once nothing that is set aside of a project is tried again. */
  readonly forgetAside: (projectId: string) => Promise<void>;
  /** Resolves once none of its newest scores are stored anymore. */
  readonly forgetNewestScores: (projectId: string) => Promise<void>;
  /** Forgets spans of a project that were sent in parts. */
  readonly forgetPartial: (projectId: string) => void;
  /** The traces of a project that cannot be recomputed in any way. */
  readonly stale: (projectId: string) => readonly string[];
  /** Resolves once nothing is being written for purging what left `superseded` before the call. */
  readonly purgeWritten: () => Promise<void>;
  /** Called after a deletion. */
  readonly deleted: () => void;
}
