import type { Window } from '../../../schema/page.js';
import type { Micros } from '../../../timestamp.js';

/** When spans started, inclusive; null: at any time. */
export interface SpanTimes {
  readonly from: Micros | null;
  readonly to: Micros | null;
}

/** Calls of a model whose tokens are known and whose cost is not. */
export interface CallsWithoutCost {
  readonly provider: string | null;
  readonly model: string;
  readonly spans: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** When the latest of them started. */
  readonly latest: Micros;
}

/** The spans whose cost is not known, by model. @throws DomainError `unavailable` */
export interface UnpricedCalls {
  /** Those with most spans first. */
  page(
    projectId: string,
    times: SpanTimes,
    window: Window,
    signal?: AbortSignal,
  ): Promise<{ readonly models: readonly CallsWithoutCost[]; readonly total: number }>;
}
