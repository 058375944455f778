import { setImmediate as nextTurn } from 'node:timers/promises';
import { DomainError } from '../../engine/errors.js';
import { PortionSize } from '../../engine/work/portions.js';
import type { Window } from '../../engine/schema/page.js';
import type { ListedEvaluation } from './evaluation.js';
import type {
  EvaluationFilter,
  EvaluationOrder,
  EvaluationPlace,
  EvaluationPortion,
  EvaluationSelection,
  EvaluationStore,
} from './evaluation-store.js';
import type { JudgeService } from './judge-service.js';
import type { ResultEvaluations } from './result-evaluations.js';
import type { SpanReader } from '../../engine/traces/model/judged/span-reader.js';

export interface EvaluationListsOptions {
  readonly store: Pick<EvaluationStore, 'newest' | 'portion' | 'read' | 'numbersOfSpan'>;
  readonly judges: Pick<JudgeService, 'requireEver'>;
  readonly spans: Pick<SpanReader, 'traits'>;
  readonly ofResults: Pick<ResultEvaluations, 'find'>;
  /** The exact versions that a report on a judge shows as one, by the name that it has there; null: there is none. */
  readonly versionsNamed: (judgeId: string, name: string) => readonly string[] | null;
}

/** What a list of evaluations is asked for. */
export interface EvaluationQuery {
  readonly filter: Omit<EvaluationFilter, 'versions'>;
  /** An exact version, the name that a report has for some, or `external`; null: any. */
  readonly version: string | null;
  /** Whose results they must be of; null: any span will do. */
  readonly experimentId: string | null;
  readonly window: Window;
  readonly order: EvaluationOrder;
}

/** Evaluations as they are read: together they may be larger than memory. */
export type EvaluationItems = AsyncIterable<readonly ListedEvaluation[]>;

export interface EvaluationPage {
  readonly total: number;
  readonly items: EvaluationItems;
}

const EXTERNAL = 'external' as const;
/** Entries of an index looked at in one turn of the event loop: at most some ten milliseconds of work. */
const ENTRIES = { first: 2_000, most: 20_000 };
/** Read in one turn: so many, or fewer whose reasons have so many characters together. */
const ITEMS_AT_ONCE = 50;
const CHARACTERS_AT_ONCE = 1_000_000;

/** Lists of evaluations by judge and by span. Everything is inside the caller's project. */
export class EvaluationLists {
  readonly #options: EvaluationListsOptions;

  constructor(options: EvaluationListsOptions) {
    this.#options = options;
  }

  /**
   * Evaluations of a judge, also a deleted one. In the order of storing, new ones come at the end: a client that pages sees each
   * once. @throws DomainError `not_found`, `unavailable`; `overloaded` where results of an experiment are asked for
   */
  async ofJudge(
    projectId: string,
    judgeId: string,
    { filter, version, experimentId, window, order }: EvaluationQuery,
    signal?: AbortSignal,
  ): Promise<EvaluationPage> {
    const { judges, store, versionsNamed, ofResults } = this.#options;
    judges.requireEver(projectId, judgeId);
    const versions =
      version === null || version === EXTERNAL ? version : (versionsNamed(judgeId, version) ?? [version]);
    const of: EvaluationSelection = { judgeId, filter: { ...filter, versions }, order, upTo: store.newest() };
    const { total, numbers } =
      experimentId === null
        ? await this.#page(of, window, signal)
        : await ofResults.find({ projectId, experimentId }, of, window, signal);
    return { total, items: this.#read(numbers) };
  }

  /** Newest first. @throws DomainError `not_found` when there is neither an evaluation nor a span */
  async ofSpan(projectId: string, spanId: string): Promise<EvaluationItems> {
    const numbers = this.#options.store.numbersOfSpan(projectId, spanId);
    if (numbers.length === 0 && !(await this.#options.spans.traits(projectId, [spanId])).has(spanId))
      throw new DomainError('not_found', 'There is no span with this id');
    return this.#read(numbers);
  }

  /**
   * Walks through all that the list may hold, in portions between which others get their turns. What is stored meanwhile is
   * not in it.
   */
  async #page(of: EvaluationSelection, { limit, offset }: Window, signal: AbortSignal | undefined) {
    const portions = new PortionSize(ENTRIES);
    const numbers: number[] = [];
    let total = 0;
    let next: EvaluationPlace | null = null;
    do {
      const portion: EvaluationPortion = await portions.turn((size) => {
        const left = { limit: limit - numbers.length, offset: Math.max(0, offset - total) };
        return this.#options.store.portion(of, next, size, left);
      }, signal);
      numbers.push(...portion.numbers);
      total += portion.found;
      next = portion.next;
    } while (next !== null);
    return { total, numbers };
  }

  /** What was deleted since its number was found is left out. */
  async *#read(numbers: readonly number[]): AsyncGenerator<readonly ListedEvaluation[]> {
    for (let at = 0; at < numbers.length;) {
      const portion: ListedEvaluation[] = [];
      let characters = 0;
      const end = at + ITEMS_AT_ONCE;
      for (; at < numbers.length && at < end && characters < CHARACTERS_AT_ONCE; at += 1) {
        const evaluation = this.#options.store.read(numbers[at] ?? 0);
        if (evaluation === undefined) continue;
        characters += charactersOf(evaluation);
        portion.push(evaluation);
      }
      yield portion;
      await nextTurn();
    }
  }
}

function charactersOf({ evaluation_reason, criteria_scores }: ListedEvaluation): number {
  const scores = Object.values(criteria_scores ?? {});
  return scores.reduce((sum, { reason }) => sum + reason.length, evaluation_reason.length);
}
