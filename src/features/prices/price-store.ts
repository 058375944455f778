import type { ModelPrice } from './model-price.js';

/**
 * Where a project's own prices are kept; provider and model are compared without regard to case (of A to Z). A write
 * that returned is durable and seen by every later read.
 * Throws `DomainError('unavailable')` when the store does not answer; nothing is written then.
 */
export interface PriceStore {
  /** Number that changes when another process wrote anything since the last call. */
  changeCounter(): number;
  /** Prices of a project, ascending by provider and model. */
  list(projectId: string): ModelPrice[];
  /** Stores the price; of one that exists, `created_at` stays. @returns whether it is new */
  put(projectId: string, price: ModelPrice): boolean;
  /** Removes a price; false when there is none. */
  remove(projectId: string, provider: string, model: string): boolean;
}
