import type { Imported, PageOf, RecordPage } from '../transfer/record-page.js';
import type { Score } from './score.js';
import type { StoredScore } from './scores.js';

/**
 * Takes scores out of a project and into another one.
 * @throws DomainError `unavailable`; from pages also `invalid` when `after` is not from an earlier one
 */
export interface ScoreTransfer {
  /** Scores as they are now, in the order of the store. */
  page(of: PageOf): Promise<RecordPage<StoredScore>>;
  /**
   * Stores scores with their `received_at`, except for those of which a value is there that was received then or later.
   * @throws DomainError those of WriteLog
   */
  take(projectId: string, scores: readonly (Score & { readonly received_at: number })[]): Promise<Imported>;
}
