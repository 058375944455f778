import { setImmediate as nextTurn } from 'node:timers/promises';
import { DomainError } from '../errors.js';
import type { NamedEvaluation } from '../judge/evaluation.js';
import type { Micros } from '../time/timestamp.js';
import type { StoredFeedback } from './feedback.js';

export type EntityType = 'span' | 'trace' | 'session';

/**
 * The spans below an entity: of a trace its spans, of a session those of the traces that belong to it now.
 * Each sees every acknowledged write. Throws DomainError `unavailable`.
 */
export interface EntitySpans {
  /** Span ids in portions, each once. */
  below(
    projectId: string,
    type: 'trace' | 'session',
    id: string,
    signal?: AbortSignal,
  ): AsyncIterable<readonly string[]>;
  exists(projectId: string, type: EntityType, id: string, signal?: AbortSignal): Promise<boolean>;
}

/** Who gave feedback. */
export interface Author {
  readonly id: string;
  /** Null for a reviewer without an account. */
  readonly email: string | null;
  readonly name: string;
}

export interface HumanItem {
  readonly kind: 'human_feedback';
  /** Without its metadata, which may be large and is not listed. */
  readonly feedback: Omit<StoredFeedback, 'metadata'>;
  readonly author: Author;
}

export interface EvaluationItem {
  readonly kind: 'judge_evaluation';
  readonly evaluation: NamedEvaluation;
}

/** Feedback of a person or evaluation by a judge. */
export type UnifiedItem = HumanItem | EvaluationItem;

export type ItemKind = UnifiedItem['kind'];

export interface ItemKey {
  readonly kind: ItemKind;
  readonly id: string;
  readonly created_at: Micros;
}

/** Feedback and evaluations by the spans that they are about. Throws DomainError `unavailable`. */
export interface FeedbackItems {
  /** Keys of all feedback and evaluations of these spans, in no particular order. */
  keysOf(projectId: string, spanIds: readonly string[]): ItemKey[];
  /** Items in the order of their keys. */
  read(keys: readonly ItemKey[]): UnifiedItem[];
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

/** Spans looked up at once: a few milliseconds of work between two turns of the event loop. */
const SPANS_AT_ONCE = 2000;
/** Items read at once: few, as each may be as large as an expected output may be long. */
const ITEMS_AT_ONCE = 25;

/** Human feedback and judges' evaluations together. */
export class UnifiedFeedbackService {
  readonly #spans: EntitySpans;
  readonly #items: FeedbackItems;

  constructor(spans: EntitySpans, items: FeedbackItems) {
    this.#spans = spans;
    this.#items = items;
  }

  /** @throws DomainError `not_found` for an entity that neither exists nor has feedback; `unavailable` */
  async of(
    projectId: string,
    type: EntityType,
    id: string,
    { limit, offset }: UnifiedWindow,
    signal?: AbortSignal,
  ): Promise<UnifiedFeedback> {
    const keys = await this.#keys(projectId, type, id, signal);
    if (keys.length === 0 && !(await this.#spans.exists(projectId, type, id, signal)))
      throw new DomainError('not_found', `There is no ${type} with this id`);
    const human = keys.filter(({ kind }) => kind === 'human_feedback').length;
    const page = keys.sort(newestFirst).slice(offset, limit === null ? undefined : offset + limit);
    return {
      summary: { total: keys.length, human_feedback_count: human, judge_evaluation_count: keys.length - human },
      items: this.#read(page),
    };
  }

  async #keys(projectId: string, type: EntityType, id: string, signal?: AbortSignal): Promise<ItemKey[]> {
    if (type === 'span') return this.#items.keysOf(projectId, [id]);
    const keys: ItemKey[] = [];
    for await (const ids of this.#spans.below(projectId, type, id, signal)) {
      for (let from = 0; from < ids.length; from += SPANS_AT_ONCE) {
        keys.push(...this.#items.keysOf(projectId, ids.slice(from, from + SPANS_AT_ONCE)));
        await nextTurn();
        signal?.throwIfAborted();
      }
    }
    return keys;
  }

  async *#read(keys: readonly ItemKey[]): AsyncGenerator<readonly UnifiedItem[]> {
    for (let from = 0; from < keys.length; from += ITEMS_AT_ONCE) {
      yield this.#items.read(keys.slice(from, from + ITEMS_AT_ONCE));
      await nextTurn();
    }
  }
}

/** Ties are broken by id, so that pages over unchanging feedback show every item once. */
function newestFirst(left: ItemKey, right: ItemKey): number {
  return right.created_at - left.created_at || (left.id < right.id ? 1 : left.id > right.id ? -1 : 0);
}
