import { setImmediate as nextTurn } from 'node:timers/promises';
import { DomainError } from '../../engine/errors.js';
import { invalid } from '../../engine/validation/validation.js';
import { NewestKeys, type ItemKey } from './item-keys.js';
import type { EntityType, EntitySpans } from '../../engine/traces/model/entity-spans.js';
import type { UnifiedItem } from './unified-items.js';

/** Feedback and evaluations by the spans that they are about. Throws DomainError `unavailable`. */
export interface FeedbackItems {
  /** Keys of all feedback and evaluations of these spans, in no particular order; null: there are more than `most`. */
  keysOf(projectId: string, spanIds: readonly string[], most: number): ItemKey[] | null;
  /** Keys of all feedback and evaluations of one span, in portions of so many at most, each read when it is asked for. */
  keysOfSpan(projectId: string, spanId: string, most: number): Iterable<readonly ItemKey[]>;
  /** Items in the order of their keys, except for those that are gone meanwhile. */
  read(projectId: string, keys: readonly ItemKey[]): UnifiedItem[];
}

export interface UnifiedWindow {
  readonly limit: number | null;
  readonly offset: number;
}

export interface Summary {
  readonly total: number;
  readonly human_feedback_count: number;
  readonly judge_evaluation_count: number;
}

/** Feedback and evaluations of an entity: the summary at once, the items as they are asked for. */
export interface UnifiedFeedback {
  readonly summary: Summary;
  /** Items newest first, in portions. */
  readonly items: AsyncIterable<readonly UnifiedItem[]>;
}

/** Spans, and items of several spans, looked up at once: a few milliseconds of work between two turns of the event loop. */
const SPANS_AT_ONCE = 2000;
const KEYS_AT_ONCE = 10_000;
/** Items read at once: few, as each may be as large as an expected output may be long. */
const ITEMS_AT_ONCE = 25;
/** Most items of an answer, and before its end: their keys take 16 MB. */
const MAX_ITEMS = 1_000_000;

/** Human feedback and judges' evaluations together. */
export class UnifiedFeedbackService {
  readonly #spans: EntitySpans;
  readonly #items: FeedbackItems;

  constructor(spans: EntitySpans, items: FeedbackItems) {
    this.#spans = spans;
    this.#items = items;
  }

  /**
   * @throws DomainError `not_found` for an entity that neither exists nor has feedback; `invalid` for more items than an answer
   *   may have; `unavailable`
   */
  async of(
    projectId: string,
    type: EntityType,
    id: string,
    { limit, offset }: UnifiedWindow,
    signal?: AbortSignal,
  ): Promise<UnifiedFeedback> {
    const end = limit === null ? Infinity : offset + limit;
    const keys = new NewestKeys(Math.min(end, MAX_ITEMS));
    for await (const portion of this.#keys(projectId, type, id, signal)) {
      keys.add(portion);
      if (keys.total > MAX_ITEMS && end > MAX_ITEMS) throw tooMany(limit);
    }
    if (keys.total === 0 && !(await this.#spans.exists(projectId, type, id, signal)))
      throw new DomainError('not_found', `There is no ${type} with this id`);
    const { total, human } = keys;
    return {
      summary: { total, human_feedback_count: human, judge_evaluation_count: total - human },
      items: this.#read(projectId, keys, offset, Math.min(end, total)),
    };
  }

  /** Keys in portions, however many a span has. */
  async *#keys(
    projectId: string,
    type: EntityType,
    id: string,
    signal?: AbortSignal,
  ): AsyncGenerator<readonly ItemKey[]> {
    let atOnce = SPANS_AT_ONCE;
    for await (const ids of type === 'span' ? [[id]] : this.#spans.below(projectId, type, id, signal)) {
      for (let from = 0; from < ids.length;) {
        const some = ids.slice(from, from + atOnce);
        const keys = this.#items.keysOf(projectId, some, KEYS_AT_ONCE);
        // Neighbours are alike: where these have many, the next ones will, too.
        atOnce = keys === null ? Math.ceil(some.length / 2) : Math.min(atOnce * 2, SPANS_AT_ONCE);
        const [only, ...others] = some;
        if (keys !== null) yield keys;
        else if (only !== undefined && others.length === 0) yield* this.#keysOfSpan(projectId, only, signal);
        if (keys !== null || others.length === 0) from += some.length;
        await nextTurn();
        signal?.throwIfAborted();
      }
    }
  }

  async *#keysOfSpan(projectId: string, id: string, signal?: AbortSignal): AsyncGenerator<readonly ItemKey[]> {
    for (const keys of this.#items.keysOfSpan(projectId, id, KEYS_AT_ONCE)) {
      yield keys;
      await nextTurn();
      signal?.throwIfAborted();
    }
  }

  async *#read(
    projectId: string,
    keys: NewestKeys,
    offset: number,
    end: number,
  ): AsyncGenerator<readonly UnifiedItem[]> {
    for (let from = offset; from < end; from += ITEMS_AT_ONCE) {
      yield this.#items.read(projectId, keys.page(from, Math.min(from + ITEMS_AT_ONCE, end)));
      await nextTurn();
    }
  }
}

function tooMany(limit: number | null): DomainError {
  const detail =
    limit === null
      ? `is required when there are more than ${MAX_ITEMS} items`
      : `must end, with limit, at ${MAX_ITEMS} items`;
  return invalid([{ pointer: limit === null ? '?limit' : '?offset', detail }]);
}
